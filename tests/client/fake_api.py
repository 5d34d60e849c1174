"""A stand-in for the Messages API on loopback: logs every request, answers from a small script.

Shapes as Claude Code 2.1.332 asks for them (seen Nov 2026): server-sent events for a turn, plain
JSON for the rest. It holds no model: the words of the prompt decide what comes back.
"""

import itertools
import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Block = dict[str, Any]
MODEL = "claude-made-up"


class FakeApi:
    """The server."""

    def __init__(self) -> None:
        self.script: dict[str, tuple[str, Mapping[str, Any]]] = {}
        """The tool call that a prompt brings, by the whole prompt: (name, input)."""
        self.requests: list[dict[str, Any]] = []
        """Bodies of all message requests, in the order of their arrival."""
        self._numbers = itertools.count(1)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def asked(self, prompt: str) -> list[dict[str, Any]]:
        """The requests that bring this prompt to the agent; later ones, with it as history, not."""
        return [body for body in self.requests if body.get("tools") and prompt in asked(body)]

    def answer(self, body: Mapping[str, Any]) -> tuple[list[Block], str]:
        """Content and stop reason: text after a tool's result, else what the script says."""
        number = next(self._numbers)
        if "format" in (body.get("output_config") or {}):
            return [{"type": "text", "text": '{"title": "Made up"}'}], "end_turn"
        done = any(block.get("type") == "tool_result" for block in fresh(body))
        for words in () if done or not body.get("tools") else asked(body):
            if words in self.script:
                name, inputs = self.script[words]
                call = {"id": f"toolu_{number:06}", "name": name, "input": dict(inputs)}
                return [{"type": "tool_use", **call}], "tool_use"
        return [{"type": "text", "text": f"Answer to: {last_words(body)}"}], "end_turn"


def fresh(body: Mapping[str, Any]) -> list[Block]:
    """All blocks behind the last message of the assistant, whatever their role."""
    blocks: list[Block] = []
    for message in body.get("messages", ()):
        blocks = [] if message["role"] == "assistant" else blocks + content(message)
    return blocks


def content(message: Mapping[str, Any]) -> list[Block]:
    """A message's blocks, each with its role."""
    found = message["content"]
    blocks = [{"type": "text", "text": found}] if isinstance(found, str) else found
    return [{**block, "role": message["role"]} for block in blocks]


def asked(body: Mapping[str, Any]) -> list[str]:
    """The texts of role user behind the last message of the assistant."""
    return [block["text"] for block in fresh(body) if block["role"] == "user" and "text" in block]


def last_words(body: Mapping[str, Any]) -> str:
    """The beginning of the last text of role user, wherever it stands."""
    blocks = [block for message in body.get("messages", ()) for block in content(message)]
    said = [block["text"] for block in blocks if block["role"] == "user" and "text" in block]
    return " ".join(said[-1].split())[:60] if said else "nothing"


def texts(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(role, text) of everything that the model is shown; tool results as JSON."""
    system = body.get("system") or []
    for block in [{"type": "text", "text": system}] if isinstance(system, str) else system:
        yield "system prompt", block.get("text", "")
    for message in body.get("messages", ()):
        for block in content(message):
            yield message["role"], block.get("text") or json.dumps(block, ensure_ascii=False)


def times(body: Mapping[str, Any], text: str) -> int:
    """How often the model is shown a text, in whatever place."""
    return json.dumps(body).count(json.dumps(text)[1:-1])


def _handler(api: FakeApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._reply(b"")

        def do_GET(self) -> None:
            self._reply(b"{}")

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(data or b"{}")
            if "count_tokens" in self.path:
                self._reply(b'{"input_tokens": 10}')
            elif not self.path.startswith("/v1/messages"):
                self._reply(b"{}")
            else:
                api.requests.append(body)
                blocks, reason = api.answer(body)
                if body.get("stream"):
                    self._reply(b"".join(_events(blocks, reason)), "text/event-stream")
                else:
                    self._reply(json.dumps(_message(blocks, reason)).encode())

        def _reply(self, data: bytes, kind: str = "application/json") -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("request-id", f"req_{next(api._numbers)}")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _message(blocks: list[Block], reason: str | None) -> dict[str, Any]:
    return {
        "id": f"msg_{id(blocks):x}",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 10},
    }


def _events(blocks: list[Block], reason: str) -> Iterator[bytes]:
    yield _event("message_start", message=_message([], None))
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield _event("content_block_start", index=index, content_block=start)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stop = {"stop_reason": reason, "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage={"output_tokens": 10})
    yield _event("message_stop")


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()
