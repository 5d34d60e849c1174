"""Makes a seeded tree of session logs of any size, in the proportions of real ones. All made up.

A person's words stand in prompts, beside images, in refusals, in approval comments, in answers, in
attachments of queued messages; one line can be huge. `words.json` beside the tree says how many
turns a right reader finds.
"""

import argparse
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Record = dict[str, Any]
SUBJECTS = "the parser,this test,that button,the config,our cache,the header,each import".split(",")
DEEDS = "rename,move,explain,simplify,document,benchmark,split,inline,cover,format".split(",")
REMARKS = (
    "you forgot {}", "no, not {}, the other one", "I told you not to touch {}", "{} is wrong now",
    "{}가 빠졌어", "그게 아니라 {} 말이야", "{}が抜けています", "不对，我说的是 {}",
)  # fmt: skip
CODE = "def load(path):\n    return open(path).read()\n# 0x7f {\\\"a\\\": [1, 2]} <div class='x'>\n"
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). To tell you how to proceed, the"
    " user said:\n"
)
TOOLS = ("Bash", "Read", "Edit", "Write", "Grep", "mcp__tracker__find")
IMAGE = "iVBORw0KGgo" * 100_000


class Session:
    """Writes the lines of one session."""

    def __init__(self, rng: random.Random, number: int, cwd: str, start: datetime) -> None:
        self.rng, self.cwd, self.now, self.turns = rng, cwd, start, 0
        self.id = self._uuid()
        self.parent: str | None = None
        self.version = ("2.0.55", "2.1.60", "2.1.197")[number % 3]

    def _uuid(self) -> str:
        digits = f"{self.rng.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def _line(self, record: Record) -> bytes:
        self.now += timedelta(seconds=self.rng.random() * 20)
        uuid = self._uuid()
        stamp = self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        head = {"parentUuid": self.parent, "isSidechain": False}
        tail = {
            "uuid": uuid, "timestamp": stamp, "userType": "external", "entrypoint": "cli",
            "cwd": self.cwd, "sessionId": self.id, "version": self.version, "gitBranch": "main",
        }  # fmt: skip
        if "message" in record and record.get("type") == "user" and self.version == "2.1.197":
            if isinstance(record["message"]["content"], str):
                tail |= {"origin": {"kind": "human"}, "promptSource": "typed"}
        extra = record.pop("extra", {})
        self.parent = uuid
        return dump(head | record | tail | extra)

    def _said(self) -> str:
        self.turns += 1
        subject = self.rng.choice(SUBJECTS)
        if self.rng.random() < 0.12:
            return self.rng.choice(REMARKS).format(subject)
        words = " and then ".join(
            f"{self.rng.choice(DEEDS)} {self.rng.choice(SUBJECTS)}"
            for _ in range(1 + int(self.rng.expovariate(0.4)))
        )
        return f"please {words}"

    def _user(self, content: Any, **extra: Any) -> bytes:
        message = {"role": "user", "content": content}
        return self._line({"type": "user", "message": message, "extra": extra})

    def prompt(self, image: int = 0) -> bytes:
        """Typed words, now and then beside an image."""
        text = self._said()
        if not image:
            return self._user(text)
        source = {"type": "base64", "media_type": "image/png", "data": _filler(IMAGE, image)}
        blocks = [{"type": "text", "text": text}, {"type": "image", "source": source}]
        marks = {"origin": {"kind": "human"}, "promptSource": "typed"}
        return self._user(blocks, **(marks if self.version == "2.1.197" else {}))

    def answer(self, size: int) -> bytes:
        """The agent speaks or calls a tool."""
        if self.rng.random() < 0.35:
            block = {"type": "text", "text": _filler("I looked at it and changed it. ", size)}
        else:
            name = self.rng.choice(TOOLS)
            inputs = {"file_path": f"{self.cwd}/src/app.py", "content": _filler(CODE, size)}
            self.call = f"toolu_{self._uuid()[:16]}"
            block = {"type": "tool_use", "id": self.call, "name": name, "input": inputs}
        message = {
            "model": "claude-made-up", "id": f"msg_{self._uuid()[:16]}", "type": "message",
            "role": "assistant", "content": [block], "stop_reason": None,
            "usage": {"input_tokens": 4, "output_tokens": 300},
        }  # fmt: skip
        return self._line({"message": message, "requestId": "req_1", "type": "assistant"})

    call = "toolu_none"

    def result(self, size: int) -> bytes:
        """A tool's result; rarely refused with words, or approved with a comment."""
        block: Record = {"tool_use_id": self.call, "type": "tool_result"}
        chance = self.rng.random()
        if chance < 0.01:
            text = REFUSED + self._said()
            block |= {"content": text, "is_error": True}
            return self._user([block], toolUseResult=f"Error: {text}")
        text = _filler(CODE, size // 2)
        blocks = [block | {"content": text, "is_error": False}]
        if chance < 0.013:
            blocks.append({"type": "text", "text": self._said()})
        return self._user(blocks, toolUseResult={"stdout": text, "stderr": "", "isImage": False})

    def other(self, size: int) -> bytes:
        """State, system lines, attachments; now and then a message queued while the agent works."""
        kind = self.rng.randrange(5)
        if kind == 0:
            snapshot = {"trackedFileBackups": {"src/app.py": {"version": size}}}
            return dump({"type": "file-history-snapshot", "snapshot": snapshot})
        if kind == 1:
            return self._line({"type": "system", "subtype": "turn_duration", "durationMs": size})
        if kind == 2 and self.version == "2.1.197" and self.rng.random() < 0.3:
            attachment = {"type": "queued_command", "prompt": self._said(), "commandMode": "prompt"}
            return self._line({"attachment": attachment, "type": "attachment"})
        attachment = {"type": "file", "filename": "a.py", "content": _filler(CODE, size)}
        return self._line({"attachment": attachment, "type": "attachment"})

    def lines(self, budget: int) -> Iterator[bytes]:
        """Until the budget of bytes is used up."""
        while budget > 0:
            size = min(20_000, max(400, int(self.rng.lognormvariate(7.9, 1.0))))
            chance = self.rng.random()
            if chance < 0.03:
                line = self.prompt()
            elif chance < 0.38:
                line = self.result(size)
            elif chance < 0.84:
                line = self.answer(size)
            else:
                line = self.other(size)
            budget -= len(line)
            yield line


def _filler(text: str, size: int) -> str:
    return (text * (size // len(text) + 1))[:size]


def dump(record: Record) -> bytes:
    """As the client writes it."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def make(out: Path, size: int, files: int, huge: int = 0, huge_human: bool = False) -> int:
    """Writes the tree and returns the number of turns in it. The same arguments, the same bytes."""
    rng, turns = random.Random(files * 31 + 7), 0
    weights = [rng.lognormvariate(0, 1.0) for _ in range(files)]
    for number, weight in enumerate(weights):
        cwd = f"/home/dev/project-{number % 30:02d}"
        start = datetime(2026, 9, 1, tzinfo=UTC) + timedelta(hours=number % 2000)
        session = Session(rng, number, cwd, start)
        folder = out / "projects" / cwd.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{session.id}.jsonl").open("wb") as handle:
            handle.writelines(session.lines(int(size * weight / sum(weights))))
            if huge and number == files // 2:
                handle.write(session.prompt(huge) if huge_human else session.result(huge * 2))
                handle.write(session.prompt())
        turns += session.turns
    (out / "words.json").write_text(json.dumps({"turns": turns}) + "\n", encoding="utf-8")
    return turns


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--huge-mib", type=int, default=150)
    parser.add_argument("--huge-human", action="store_true")
    given = parser.parse_args()
    make(given.out, given.mib << 20, given.files, given.huge_mib << 20, given.huge_human)
