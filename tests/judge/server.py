"""A stand-in for the Messages and Batches API on loopback. It holds no model: a plan says for each
request what comes back, right answers and every way of going wrong; the server counts tokens."""

import itertools
import json
import random
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
FENCE = re.compile(r"\[begin ([0-9a-f]+)\]\n(.*)\n\[end \1\]\Z", re.DOTALL)


class Act(StrEnum):
    """What the server does with one request; a label is answered as it is."""

    JUNK = "junk"
    PROSE = "prose"
    LIST = "list"
    REFUSAL = "refusal"
    NO_ID = "no-id"
    FOREIGN_ID = "foreign-id"
    DOUBLED = "doubled"
    FOREIGN_LABEL = "foreign-label"
    NO_LABEL = "no-label"
    MORE_KEYS = "more-keys"
    NUMBER = "number"
    CUT = "cut"
    EMPTY = "empty"
    NO_CONTENT = "no-content"
    NOT_JSON = "not-json"
    S400 = "400"
    S401 = "401"
    S403 = "403"
    S429 = "429"
    S500 = "500"
    S529 = "529"
    HANG = "hang"
    REDIRECT = "redirect"
    CLOSE = "close"
    # Of a batch alone.
    ERRORED = "errored"
    EXPIRED = "expired"
    MISSING = "missing"


BAD = tuple(act for act in Act if act not in (Act.ERRORED, Act.EXPIRED, Act.MISSING))
STATUSES = {a: int(a.value) for a in (Act.S400, Act.S401, Act.S403, Act.S429, Act.S500, Act.S529)}
Plan = Callable[[Mapping[str, str], str], str]
"""The case as it was sent, and the model; returns a label or an act."""


@dataclass
class Received:
    """One request of the Messages API, or one entry of a batch."""

    body: Body
    headers: Mapping[str, str]
    tokens_in: int
    tokens_out: int = 0

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def user(self) -> str:
        return str(self.body["messages"][0]["content"])

    @property
    def case(self) -> Body:
        """What stands in the fence."""
        found = FENCE.match(self.user)
        assert found, "the fence is broken"
        case = json.loads(found[2])
        assert isinstance(case, dict)
        return case


@dataclass
class Made:
    """A batch."""

    id: str
    entries: list[Body]
    headers: Mapping[str, str]
    created: datetime = field(default_factory=lambda: datetime.now(UTC))


class Server:
    """See the module."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.received: list[Received] = []
        self.batches: dict[str, Made] = {}
        self.ended = True
        """Batches are done at once."""
        self.refused: dict[str, int] = {}
        """Statuses in place of batches, by id."""
        self.odd: dict[tuple[str, str], bytes] = {}
        """Bodies in place of answers, by method and end of the path."""
        self.trickles = ""
        """Paths that begin so are answered with a byte now and then, for half a minute."""
        self.floods = False
        """Every answer goes on as fast as it can."""
        self.flooded = 0
        """Bytes of such answers that somebody took."""
        self.elsewhere: list[str] = []
        """Paths that were asked for and are none of the two APIs."""
        self.price: Mapping[str, tuple[float, float]] = {}
        self.redirect_to = ""
        self.draft = ""
        """Where it is set, the sentence that every request is answered with."""
        self.on_request: Callable[[], None] = lambda: None
        self.on_batch: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._leaving = threading.Event()
        self._shuffle = random.Random(7)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._leaving.set()
        self._server.shutdown()
        self._server.server_close()

    def calls(self, model: str = "") -> int:
        return sum(1 for r in self.received if r.model.startswith(model))

    @property
    def bill_usd(self) -> float:
        """What all that was answered costs, by the server's own count."""
        return sum(
            (r.tokens_in * self.price[r.model][0] + r.tokens_out * self.price[r.model][1]) / 1e6
            for r in self.received
            if r.tokens_out
        )

    # What the handler calls.

    def message(self, body: Body, headers: Mapping[str, str]) -> tuple[str, bytes]:
        """(act, body of the answer)"""
        text = json.dumps(body, ensure_ascii=False)
        request = Received(body, headers, len(text.encode()) // 4)
        with self._lock:
            self.received.append(request)
            number = next(self._numbers)
        self.on_request()
        act = "" if self.draft else self.plan(request.case, request.model)
        if act in STATUSES or act in (Act.HANG, Act.REDIRECT, Act.CLOSE):
            return act, b""
        said, reason = json.dumps({"sentence": self.draft}), "end_turn"
        if not self.draft:
            said, reason = spoken(act, str(request.case["id"]))
        request.tokens_out = 40 + len(said) // 4
        if act == Act.NOT_JSON:
            return act, b"<html>busy</html>"
        message: Body = {
            "id": f"msg_{number:06}", "type": "message", "role": "assistant",
            "model": request.model, "content": [{"type": "text", "text": said}],
            "stop_reason": reason, "stop_sequence": None,
            "usage": {"input_tokens": request.tokens_in, "output_tokens": request.tokens_out},
        }  # fmt: skip
        if act == Act.NO_CONTENT:
            message["content"] = None
        return act, json.dumps(message).encode()

    def make_batch(self, body: Body, headers: Mapping[str, str]) -> bytes:
        with self._lock:
            made = Made(f"msgbatch_{next(self._numbers):04}", body["requests"], headers)
            self.batches[made.id] = made
        self.on_batch()
        return json.dumps(self.state(made)).encode()

    def state(self, made: Made) -> Body:
        number = len(made.entries)
        counts = {"processing": 0, "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0}
        counts["succeeded" if self.ended else "processing"] = number
        created = made.created.isoformat().replace("+00:00", "Z")
        return {
            "id": made.id, "type": "message_batch",
            "processing_status": "ended" if self.ended else "in_progress",
            "request_counts": counts, "created_at": created, "ended_at": None,
            "expires_at": created, "archived_at": None, "cancel_initiated_at": None,
            "results_url": f"{self.redirect_to or self.url}/v1/messages/batches/{made.id}/results",
        }  # fmt: skip

    def results(self, made: Made) -> bytes:
        """In no order; a foreign line and a torn one among them."""
        lines = ['{"custom_id": "nobody", "result": {"type": "succeeded"}}', "{torn"]
        for entry in made.entries:
            act, data = self.message(entry["params"], made.headers)
            if act == Act.MISSING:
                continue
            result: Body = {"type": act} if act in (Act.ERRORED, Act.EXPIRED) else {
                "type": "succeeded", "message": json.loads(data) if data[:1] == b"{" else None
            }  # fmt: skip
            lines.append(json.dumps({"custom_id": entry["custom_id"], "result": result}))
        self._shuffle.shuffle(lines)
        return "\n".join(lines).encode()

    def wait(self) -> None:
        """A request that is never answered."""
        self._leaving.wait(60)

    def trickle(self) -> Iterator[bytes]:
        """An answer that goes on and on."""
        for _ in range(600):
            yield b" "
            if self._leaving.wait(0.05):
                return


def spoken(act: str, name: str) -> tuple[str, str]:
    """Text and stop reason."""
    good = {"id": name, "label": "wrong-result"}
    texts: dict[str, str] = {
        Act.JUNK: '{"id": "' + name,
        Act.PROSE: "It is wrong-result, I would say.",
        Act.LIST: json.dumps([good]),
        Act.NO_ID: json.dumps({"label": "wrong-result"}),
        Act.FOREIGN_ID: json.dumps(good | {"id": "0123456789abcdef"}),
        Act.DOUBLED: f'{{"id": "{name}", "label": "wrong-result", "label": "missed-item"}}',
        Act.FOREIGN_LABEL: json.dumps(good | {"label": "obey-me'); DROP TABLE cases; --"}),
        Act.NO_LABEL: json.dumps({"id": name}),
        Act.MORE_KEYS: json.dumps(good | {"text": "new words"}),
        Act.NUMBER: json.dumps(good | {"label": 3}),
        Act.CUT: json.dumps(good),
        Act.EMPTY: "",
        Act.REFUSAL: json.dumps(good),
    }
    reason = {Act.CUT: "max_tokens", Act.REFUSAL: "refusal"}.get(Act(act), "end_turn") if (
        act in list(Act)
    ) else "end_turn"  # fmt: skip
    return texts.get(act, json.dumps(good | {"label": act})), reason


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            parts = path.strip("/").split("/")
            made = server.batches.get(parts[3]) if len(parts) > 3 else None
            if self._strange(path):
                return
            if path == "/v1/messages/batches":
                rows = [server.state(one) for one in reversed(server.batches.values())]
                page = {"data": rows, "has_more": False, "first_id": None, "last_id": None}
                self._reply(200, json.dumps(page).encode())
            elif made and made.id in server.refused:
                self._fault(server.refused[made.id], {})
            elif made and parts[4:] == ["results"]:
                self._reply(200, server.results(made), "application/x-jsonl")
            elif made:
                self._reply(200, json.dumps(server.state(made)).encode())
            else:
                self._lost()

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            path = self.path.partition("?")[0]
            if path == "/v1/messages/batches":
                data = server.make_batch(body, headers)
                if not self._strange(path):
                    self._reply(200, data)
            elif self._strange(path):
                pass
            elif path != "/v1/messages":
                self._lost()
            else:
                act, data = server.message(body, headers)
                if act == Act.HANG:
                    server.wait()
                elif act == Act.CLOSE:
                    self.close_connection = True
                elif act in STATUSES or act == Act.REDIRECT:
                    self._fault(STATUSES.get(Act(act), 307), body)
                else:
                    self._reply(200, data)

        def _strange(self, path: str) -> bool:
            """Answers in an odd way, where one is planned."""
            body = next((body for (method, end), body in server.odd.items()
                         if method == self.command and path.endswith(end)), None)  # fmt: skip
            if body is not None:
                self._reply(200, body)
            elif server.floods:
                self._flood()
            elif server.trickles and path.startswith(server.trickles):
                self._trickle()
            else:
                return False
            return True

        def _trickle(self) -> None:
            try:
                self.send_response(200)
                self.send_header("Content-Length", "1000000")
                self.end_headers()
                for data in server.trickle():
                    self.wfile.write(data)
            except OSError:
                pass
            self.close_connection = True

        def _flood(self) -> None:
            try:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                while server.flooded < 1 << 30:
                    server.flooded += self.wfile.write(b" " * (1 << 16))
            except OSError:
                pass
            self.close_connection = True

        def _lost(self) -> None:
            server.elsewhere.append(self.path)
            self._reply(404, b'{"type": "error", "error": {"type": "not_found_error"}}')

        def _fault(self, status: int, body: Body) -> None:
            """Errors quote what was sent, as real ones may, in every place."""
            words = re.sub(r"[^A-Za-z]+", "_", json.dumps(body))[-300:]
            quoted = {"type": words, "message": json.dumps(body)}
            data = json.dumps({"type": "error", "error": quoted}).encode()
            self._reply(status, data, request_id=f"req_{words}")

        def _reply(
            self, status: int, data: bytes, kind: str = "application/json", request_id: str = ""
        ) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("request-id", request_id or f"req_{next(server._numbers)}")
                if status == 307:
                    self.send_header("Location", f"{server.redirect_to}{self.path}")
                self.end_headers()
                self.wfile.write(data)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    return Handler
