"""Transcript lines as several client versions write them, files of them, and one way to read them.

The order of the keys is the client's: the reader decides most lines from the bytes of their head.
All words are made up here.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pipeline.config import Config
from pipeline.records import Action, Fate, Source, Turn
from pipeline.transcripts.counts import Counts
from pipeline.transcripts.discover import TranscriptFile, discover
from pipeline.transcripts.reader import Options, Other, open_transcript

Record = dict[str, Any]

NEWEST = "2.1.332"
SESSION = "5e551011-0000-4000-8000-00000000000a"
OTHER_SESSION = "5e551011-0000-4000-8000-00000000000b"
CWD = "/home/dev/loom"
BEGUN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
MARKS: Mapping[str, Record] = {
    "2.1.332": {
        "permissionMode": "default",
        "origin": {"kind": "human"},
        "promptSource": "typed",
        "turnOrigin": "human",
    },
    "2.1.197": {
        "permissionMode": "default",
        "origin": {"kind": "human"},
        "promptSource": "typed",
    },
}
"""What a typed prompt carries; older clients (before 2.1.167) give it no mark."""

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file)."
)
SAID = REFUSED + " To tell you how to proceed, the user said:\n"
STOP = REFUSED + " STOP what you are doing and wait for the user to tell you how to proceed."
DENIED = (
    "Permission for this tool use was denied. The tool use was rejected (eg. if it was a file edit,"
    " the new_string was NOT written to the file). The user said:\n"
)


def at(seconds: float) -> str:
    """The client's notation of an instant."""
    moment = BEGUN + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _seconds(uuid: str) -> int:
    digits = "".join(char for char in uuid if char.isdigit())
    return int(digits or 0)


def _head(parent: str | None, fields: Record) -> Record:
    return {"parentUuid": parent, "isSidechain": fields.pop("isSidechain", False)}


def _tail(uuid: str, version: str | None, fields: Record) -> Record:
    """The fields behind the body; `fields` come last, so that a row can set or remove any."""
    tail: Record = {
        "uuid": uuid,
        "timestamp": at(_seconds(uuid)),
        "userType": "external",
        "entrypoint": "cli",
        "cwd": CWD,
        "sessionId": SESSION,
        "version": version,
        "gitBranch": "main",
    }
    tail |= fields
    return {name: value for name, value in tail.items() if value is not None}


def user(
    uuid: str, content: Any, parent: str | None = None, version: str = NEWEST, **fields: Any
) -> Record:
    """A user line with nothing but what every one carries."""
    body = {"type": "user", "message": {"role": "user", "content": content}}
    return _head(parent, fields) | body | _tail(uuid, version, fields)


def prompt(
    uuid: str, content: Any, parent: str | None = None, version: str = NEWEST, **fields: Any
) -> Record:
    """A prompt typed at the terminal, with the marks of its version."""
    return user(uuid, content, parent, version, **{**MARKS.get(version, {}), **fields})


def assistant(
    uuid: str, *blocks: Record, parent: str | None = None, message: str = "", **fields: Any
) -> Record:
    """A line of the model."""
    body = {
        "message": {
            "model": fields.pop("model", "claude-made-up"),
            "id": message or f"msg_{uuid}",
            "type": "message",
            "role": "assistant",
            "content": list(blocks),
        },
        "type": "assistant",
    }
    return _head(parent, fields) | body | _tail(uuid, fields.pop("version", NEWEST), fields)


def says(uuid: str, text: str, parent: str | None = None, **fields: Any) -> Record:
    """The model speaks."""
    return assistant(uuid, {"type": "text", "text": text}, parent=parent, **fields)


def calls(
    uuid: str,
    name: str,
    parent: str | None = None,
    call: str = "",
    inputs: Any = None,
    **fields: Any,
) -> Record:
    """The model calls a tool."""
    block = {"type": "tool_use", "id": call or f"toolu_{uuid}", "name": name, "input": inputs or {}}
    return assistant(uuid, block, parent=parent, **fields)


def result_block(call: str, content: Any = "done", failed: bool = False) -> Record:
    """A tool_result block, in the order of keys of 2.1."""
    block = {"type": "tool_result", "content": content}
    if failed:
        block["is_error"] = True
    return block | {"tool_use_id": call}


def result(
    uuid: str,
    call: str,
    content: Any = "done",
    failed: bool = False,
    beside: tuple[Any, ...] = (),
    **fields: Any,
) -> Record:
    """A user line with a tool's result; `beside` are further blocks."""
    parent = fields.pop("parent", None)
    return user(uuid, [result_block(call, content, failed), *beside], parent, **fields)


def text_block(text: str) -> Record:
    return {"type": "text", "text": text}


def image_block(data: str = "aGVsbG8=") -> Record:
    source = {"type": "base64", "media_type": "image/png", "data": data}
    return {"type": "image", "source": source}


def attachment(uuid: str, kind: str, parent: str | None = None, **fields: Any) -> Record:
    """An attachment line; `line` holds fields of the line itself, the rest is the attachment's."""
    line = fields.pop("line", {})
    body = {"attachment": {"type": kind, **fields}, "type": "attachment"}
    return _head(parent, line) | body | _tail(uuid, NEWEST, line)


def queued(uuid: str, text: Any, parent: str | None = None, **fields: Any) -> Record:
    """A message typed while the agent works, as 2.1.332 keeps it."""
    marks = {"commandMode": "prompt", "origin": {"kind": "human"}, "humanTurn": True}
    return attachment(uuid, "queued_command", parent, prompt=text, **{**marks, **fields})


def queue(operation: str, seconds: int, content: str | None = None, **fields: Any) -> Record:
    """A queue-operation line."""
    line = {
        "type": "queue-operation",
        "operation": operation,
        "timestamp": at(seconds),
        "sessionId": SESSION,
    }
    return line | ({} if content is None else {"content": content}) | fields


def system(uuid: str, subtype: str, parent: str | None = None, **fields: Any) -> Record:
    body = {"type": "system", "subtype": subtype, "content": fields.pop("content", "")}
    return _head(parent, fields) | body | _tail(uuid, NEWEST, fields)


def dump(*records: Record | bytes) -> bytes:
    """One line each; bytes go through as they are, without a newline of their own."""
    return b"".join(
        record if isinstance(record, bytes) else compact(record) + b"\n" for record in records
    )


def compact(record: Any) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


# Files


def write(root: Path, *records: Record | bytes, name: str = f"{SESSION}.jsonl") -> Path:
    """A transcript below `<root>/projects`; `name` may hold folders."""
    path = root / "projects" / "-home-dev-loom" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(dump(*records))
    return path


def found(path: Path) -> TranscriptFile:
    """What the walk over the Claude folder says about a file."""
    root = next(parent.parent for parent in path.parents if parent.name == "projects")
    return next(file for file in discover([root]).files if file.path == path)


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one transcript told."""

    turns: list[Turn]
    counts: Counts
    others: list[Other]
    actions: dict[str, Action | None]
    said: dict[str, str]
    seen: set[str]
    first_prompt: str

    @property
    def human(self) -> list[Turn]:
        """What a person typed, also headless and withdrawn."""
        return [turn for turn in self.turns if turn.source is Source.HUMAN]

    @property
    def noticed(self) -> list[Turn]:
        return [turn for turn in self.turns if turn.source is not Source.HUMAN]

    @property
    def words(self) -> list[str]:
        """The texts that count by this file alone."""
        return [t.text for t in self.human if not t.headless and t.fate is Fate.SENT]

    def action(self, text: str) -> Action | None:
        """The action before the turn with this text."""
        return next(self.actions[turn.key] for turn in self.turns if turn.text == text)


def read(file: TranscriptFile | Path, **options: Any) -> Reading:
    """Reads a file through the public door; the accounts must add up whatever it holds."""
    chosen = found(file) if isinstance(file, Path) else file
    with open_transcript(chosen, Options(**options)) as transcript:
        reading = Reading(
            list(transcript.turns),
            transcript.counts,
            list(transcript.others),
            {turn.key: transcript.action(turn) for turn in transcript.turns},
            {turn.key: transcript.said(turn) for turn in transcript.turns},
            set(transcript.seen),
            transcript.first_prompt,
        )
    assert reading.counts.lines == reading.counts.accounted, reading.counts
    return reading


def read_records(root: Path, *records: Record | bytes, **options: Any) -> Reading:
    """Writes one transcript and reads it."""
    return read(write(root, *records), **options)


def config(root: Path, **settings: Any) -> Config:
    """Settings that know one Claude folder."""
    return Config(
        **{"home": root / "home", "claude_dirs": (root,), "timezone": ZoneInfo("UTC"), **settings}
    )
