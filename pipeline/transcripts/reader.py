"""Reads one transcript: what a person typed in it, what was noticed, and a count of everything.

`open_transcript` is the only way in. It reads up to the size that the directory told, so that a
file that grows meanwhile is read on the next night from its start.
"""

import hashlib
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, BinaryIO

from pipeline import clock
from pipeline.errors import SourceError
from pipeline.records import Action, Fate, Kind, Line, Skipped, Source, Turn
from pipeline.transcripts import action, withdrawn
from pipeline.transcripts.clean import clean
from pipeline.transcripts.counts import Counts
from pipeline.transcripts.decode import clean_surrogates, decode
from pipeline.transcripts.discover import TranscriptFile
from pipeline.transcripts.human import (
    Class,
    Piece,
    content_blocks,
    judge,
    parse_version,
    result_text,
)
from pipeline.transcripts.markers import OUR_FENCE
from pipeline.transcripts.noticed import Statement, last_report, statements
from pipeline.transcripts.oversize import decode_oversize
from pipeline.transcripts.queue import Queue
from pipeline.transcripts.scan import ADMISSION_SPAN, STATE_TYPES, Raw, Scan, admits, scan
from pipeline.transcripts.spine import Spine

FIELD_MAX_CHARS = 400
ANSWER_WITHIN_LINES = 400
SCRIPT_MIN_CHARS = 40
UNDATED = datetime(1970, 1, 1, tzinfo=UTC)
_NAME = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[\w-]{1,12}", re.ASCII)
"""A UUID as the client writes it, or as short a name as other tools give: no room for words."""
"""Of a line in a file whose own date no calendar holds."""
READER_VERSION = 2
"""Part of each file's record: a higher one makes the next night read every file again."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a reading depends on beside the file."""

    include_headless: bool = False
    excluded: Callable[[str], bool] = lambda cwd: False
    displays: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Input-box displays of prompts with a paste, by session (`history.py`)."""
    admissions: tuple[bytes, ...] = ()
    """Words of assistant lines in which the agent may admit a mistake: lower case, ASCII first."""
    noticed: bool = True
    everything: bool = False
    """Parse every line and keep the conversation lines without a person's words too."""


@dataclass(frozen=True, slots=True)
class Other:
    """A conversation line without a person's words, and why it has none."""

    uuid: str
    session_id: str
    at: datetime
    kind: str
    """Type of the record."""
    text: str
    """Beginning of what stands in it, raw; "" for records that are not of a user."""
    reason: str


@dataclass(slots=True)
class _Heard:
    """A turn in the making, with what only the file at hand can tell."""

    turn: Turn
    place: int
    """Of its line on the spine."""
    statement: Statement | None = None
    tool_use_id: str = ""
    prompt: bool = False
    parent: str = ""
    position: object = None
    since: int = -1
    """Place of the person's words before, in the same session."""


class Transcript:
    """One file, read; `action` works as long as it is open."""

    def __init__(self, file: TranscriptFile, options: Options, handle: BinaryIO) -> None:
        self.file = file
        self._stem = clean_surrogates(file.path.stem[:FIELD_MAX_CHARS])
        self.counts = Counts()
        self.seen: set[str] = set()
        """Identities of all lines that were looked at, also of those that hold no words."""
        self.first_prompt = ""
        """Words of a first prompt that carries no mark (before 2.1.167): a script repeats them."""
        self.turns: list[Turn] = []
        """In file order, also headless and withdrawn ones; their fields tell."""
        self.showings: list[tuple[str, str, datetime]] = []
        """Uuid, session and time of the rows in which our own text reached the agent."""
        self.others: list[Other] = []
        """Only with the option `everything`."""
        self._options = options
        self._record = Scan()
        self._heard: list[_Heard] = []
        self._by_key: dict[str, _Heard] = {}
        self._queue = Queue()
        self._stops: list[tuple[int, str]] = []
        self._version: tuple[int, ...] | None = None
        self._at: datetime | None = None
        self._cwd = ""
        self._queue_start: list[object] = []
        """The first two records, as long as they are queue operations."""
        self._records = 0
        self._spine = Spine(file.path, handle, self._record)
        self._read(handle)
        self._finish()

    def action(self, turn: Turn) -> Action | None:
        """What the agent had done just before; None when the file does not tell."""
        heard = self._by_key.get(turn.key)
        if heard is None:
            return None
        if heard.statement is not None and turn.source is Source.REVIEW:
            return Action("Agent", self._about(heard), "")
        if heard.tool_use_id:
            found = action.of_call(self._spine, heard.place, heard.tool_use_id)
            if found is not None:
                return found
        return action.before_prompt(self._spine, heard.place, turn.session_id)

    def said(self, turn: Turn) -> str:
        """The agent's last words before a turn, "" when it has said nothing since the last one."""
        heard = self._by_key.get(turn.key)
        if heard is None:
            return ""
        at = bisect_left(self._record.talk, heard.place) - 1
        if at < 0 or self._record.talk[at] <= heard.since:
            return ""
        return action.text_of(self._spine[self._record.talk[at]])

    # Reading

    def _read(self, handle: BinaryIO) -> None:
        admissions = () if self.file.subagent else self._options.admissions
        everything = self._options.everything
        for raw in scan(handle, self.file.size, self._record, admissions, everything):
            for item in self._decode(raw, handle):
                self.counts.lines += 1
                if isinstance(item, Skipped):
                    self._skip(item)
                else:
                    self._take(item, raw)
        self.counts.lines += self._record.counted
        self.counts.not_human.update(self._record.not_human)
        self.counts.state += self._record.state
        self.counts.unknown.update(self._record.unknown)

    def _decode(self, raw: Raw, handle: BinaryIO) -> Iterator[Line | Skipped]:
        last = raw.offset + raw.length >= self.file.size
        if raw.data is None:
            resume = handle.tell()
            item = decode_oversize(self.file.path, raw.number, handle, raw.offset, raw.length)
            handle.seek(resume)
            if last and isinstance(item, Skipped):
                item = replace(item, reason="pending_tail")
            yield item
            return
        yield from decode(self.file.path, raw.number, raw.data, last)

    def _skip(self, item: Skipped) -> None:
        if item.reason == "pending_tail":
            self.counts.pending_tail += 1
        else:
            self.counts.skipped[item.reason] += 1

    def _take(self, line: Line, raw: Raw) -> None:
        data = line.data
        uuid = _name(data, "uuid")
        if uuid:
            self.seen.add(uuid)
        self._records += 1
        match line.kind:
            case "user" | "attachment":
                self._note(data)
                self._watch(data)
                self._judge(line, raw)
            case "assistant":
                self._assistant(line, raw)
            case "queue-operation":
                self.counts.not_human["queue"] += 1
                if len(self._queue_start) == self._records - 1 < 2:
                    self._queue_start.append(data.get("operation"))
                self._queue.operation(data, self._version, self._cwd, raw.number, raw.spine)
            case "system":
                self._no_words(line, "system")
            case kind:
                self.counts.state += 1
                if kind not in STATE_TYPES:
                    self.counts.unknown[kind[:60]] += 1

    def _note(self, data: Mapping[str, Any]) -> None:
        """Remembers what later lines without these fields are read by."""
        self._version = parse_version(data.get("version")) or self._version
        self._at = clock.parse_instant(data.get("timestamp")) or self._at
        self._cwd = _field(data, "cwd", 4096) or self._cwd

    def _watch(self, data: Mapping[str, Any]) -> None:
        """The client's own row of what our hook has shown the agent."""
        attachment = data.get("attachment")
        if isinstance(attachment, dict) and attachment.get("type") == "hook_additional_context":
            if OUR_FENCE in str(attachment.get("content")):
                turn = self._turn(data, 0, key="", uuid="", text="", kind=Kind.TYPED, row="")
                self.showings.append((_name(data, "uuid"), turn.session_id, turn.at))

    def _judge(self, line: Line, raw: Raw) -> None:
        judged = judge(line, self.file.subagent, self._options.excluded)
        pieces = [self._asked(piece, raw) for piece in judged]
        words = [(place, piece, self._clean(line, piece)) for place, piece in enumerate(pieces)]
        counted = False
        for place, piece, text in words:
            if piece.verdict is Class.SIGNAL:
                self._stops.append((raw.spine, self._session(line.data)))
            elif text and piece.verdict in (Class.HUMAN, Class.EMBEDDED, Class.MAYBE):
                self._hear(line, raw, place, piece, text)
                counted |= piece.verdict is not Class.MAYBE or self._options.include_headless
        if counted:
            self.counts.human_lines += 1
        else:
            self._no_words(line, _reason(pieces))
        if self._options.noticed and not self.file.subagent and pieces[0].row not in ("G2", "G3"):
            for statement in statements(line):
                self._notice(line, raw, statement)

    def _asked(self, piece: Piece, raw: Raw) -> Piece:
        """T8 needs a question: the result of another tool may look like an answer to one."""
        if piece.row != "T8":
            return piece
        name = action.call_name(self._spine, raw.spine, piece.tool_use_id)
        if name in ("", "AskUserQuestion"):
            return piece
        return Piece(Class.HARNESS, "T12", "tool_result")

    def _no_words(self, line: Line, reason: str) -> None:
        self.counts.not_human[reason] += 1
        if self._options.everything:
            turn = self._turn(
                line.data, line.number, key="", uuid="", text="", kind=Kind.TYPED, row=""
            )
            blocks = content_blocks(line.data) if line.kind == "user" else []
            texts = [str(block.get("text") or result_text(block)) for block in blocks]
            self.others.append(
                Other(
                    _name(line.data, "uuid"),
                    turn.session_id,
                    turn.at,
                    line.kind,
                    clean_surrogates(" ".join(texts))[:FIELD_MAX_CHARS],
                    reason,
                )
            )

    def _clean(self, line: Line, piece: Piece) -> str:
        if not piece.text:
            return ""
        return clean(piece.text, self._options.displays.get(self._session(line.data), ()))

    def _hear(self, line: Line, raw: Raw, place: int, piece: Piece, text: str) -> None:
        data = line.data
        session = self._session(data)
        uuid = _name(data, "uuid") or _digest(session, data.get("timestamp"), "user", text)
        self._heard.append(
            _Heard(
                self._turn(
                    data,
                    raw.number,
                    key=f"{uuid}:{place}",
                    uuid=uuid,
                    text=text,
                    kind=piece.kind,
                    row=piece.row,
                    headless=piece.verdict is Class.MAYBE,
                ),
                raw.spine,
                tool_use_id=piece.tool_use_id,
                prompt=line.kind == "user" and not piece.tool_use_id and place == 0,
                parent=_name(data, "parentUuid"),
                position=_position(data),
            )
        )

    def _turn(self, data: Mapping[str, Any], number: int, **values: Any) -> Turn:
        at = clock.parse_instant(data.get("timestamp"))
        return Turn(
            session_id=self._session(data),
            at=at or self._at or clock.parse_instant(self.file.mtime_ns / 1e9) or UNDATED,
            inferred_at=at is None,
            cwd=_field(data, "cwd", 4096) or self._cwd,
            number=number,
            **{"source": Source.HUMAN, **values},
        )

    def _session(self, data: Mapping[str, Any]) -> str:
        """The line's own session; the file's name only where the line has none."""
        return _field(data, "sessionId") or self._stem

    # Noticed

    def _assistant(self, line: Line, raw: Raw) -> None:
        self._no_words(line, "assistant")
        blocks = content_blocks(line.data)
        if any(block.get("type") == "tool_use" for block in blocks):
            self._record.calls.append(raw.spine)
        elif raw.spine not in self._record.talk[-1:]:
            self._record.talk.append(raw.spine)
        if (
            self._options.noticed
            and not self.file.subagent
            and raw.data is not None
            and line.data.get("isSidechain") is not True
            and action.is_agent(line.data)
        ):
            text = "\n".join(str(b.get("text") or "") for b in blocks if b.get("type") == "text")
            if admits(text[:ADMISSION_SPAN].encode("utf-8", "replace"), self._options.admissions):
                self._notice(line, raw, Statement(Source.SELF, text.strip()))

    def _notice(self, line: Line, raw: Raw, statement: Statement) -> None:
        uuid = _name(line.data, "uuid") or statement.key("")
        text = clean(statement.text)
        if not text or self._options.excluded(_field(line.data, "cwd", 4096) or self._cwd):
            return
        turn = self._turn(
            line.data,
            raw.number,
            key=statement.key(uuid),
            uuid=uuid,
            text=text,
            source=statement.source,
            kind=Kind.NOTICED,
            row="N",
            headless=_field(line.data, "entrypoint").startswith("sdk"),
        )
        self._heard.append(_Heard(turn, raw.spine, statement, tool_use_id=statement.tool_use_id))

    def _about(self, heard: _Heard) -> str:
        """Type and task of a subagent; a notification leaves it to the call that it names."""
        statement = heard.statement
        if statement is None or statement.about or not statement.tool_use_id:
            return statement.about if statement else ""
        found = action.call_inputs(self._spine, heard.place, statement.tool_use_id)
        parts = (found.get(name) for name in ("subagent_type", "description", "prompt"))
        return " ".join(part for part in parts if isinstance(part, str))[:FIELD_MAX_CHARS]

    # After the last line

    def _finish(self) -> None:
        self._absorbed()
        if self.file.subagent and self._options.noticed:
            self._reported()
        self._heard.sort(key=lambda heard: (heard.turn.number, heard.turn.key))
        self._settle_copies()
        self._settle_scripts()
        self._settle_fates()
        self._settle_context()
        self.turns = [heard.turn for heard in self._heard]
        self._by_key = {heard.turn.key: heard for heard in self._heard}

    def _reported(self) -> None:
        """The words with which a subagent ended, which its session may hold no copy of."""
        places = (*self._record.talk[-1:], *self._record.calls[-1:])
        if not places:
            return
        place = max(places)
        number, data = self._spine.number(place), self._spine[place]
        statement = last_report(self.file.path, data)
        if statement is not None:
            line = Line(self.file.path, number, "assistant", data)
            self._notice(line, Raw(number, 0, 0, place, None), statement)

    def _absorbed(self) -> None:
        """Queue messages without another copy (2.0.76-2.1.96)."""
        said = {(h.turn.session_id, h.turn.text) for h in self._heard}
        for item in self._queue.absorbed:
            text = clean(item.content)
            session = self._session({"sessionId": item.session_id})
            if not text or (session, text) in said or self._options.excluded(item.cwd):
                continue
            key = _digest(session, item.timestamp, "queue", item.content)
            self.seen.add(key)
            data = {"sessionId": session, "timestamp": item.timestamp}
            turn = self._turn(
                data, item.number, key=key, uuid=key, text=text, kind=Kind.QUEUED, row="Q"
            )
            self._heard.append(_Heard(turn, item.spine))
            self.counts.not_human["queue"] -= 1
            self.counts.human_lines += 1
        if not self.counts.not_human["queue"]:
            del self.counts.not_human["queue"]

    def _settle_copies(self) -> None:
        """The same line twice in one file (after a compaction): a person's copy, else the first."""
        best: dict[str, _Heard] = {}
        for heard in self._heard:
            held = best.get(heard.turn.key)
            if held is None:
                best[heard.turn.key] = heard
                continue
            if heard.turn.source is Source.HUMAN:
                self.counts.duplicates += 1
            if held.turn.headless and not heard.turn.headless:
                best[heard.turn.key] = heard
        self._heard = sorted(best.values(), key=lambda h: (h.turn.number, h.turn.key))

    def _settle_scripts(self) -> None:
        """Before 2.1.78 nothing marks `claude -p`; what looks like it is no person's.

        One prompt behind an enqueue and a dequeue was almost always a plug-in's own session (100 of
        109 public files). A long first prompt is remembered: a script repeats it in many sessions.
        """
        prompts = [h for h in self._heard if h.prompt and h.turn.source is Source.HUMAN]
        if not prompts or prompts[0].turn.row != "U12":
            return
        if len(prompts[0].turn.text) >= SCRIPT_MIN_CHARS:
            self.first_prompt = prompts[0].turn.text
        if len(prompts) == 1 and self._queue_start == ["enqueue", "dequeue"]:
            prompts[0].turn = replace(prompts[0].turn, headless=True)
            if not self._options.include_headless:
                self.counts.human_lines -= 1
                self.counts.not_human["headless"] += 1

    def _settle_fates(self) -> None:
        prompts = [
            withdrawn.Prompt(
                h.turn.uuid, h.parent, h.position, h.turn.session_id, h.turn.at, h.turn.text
            )
            for h in self._heard
            if h.prompt and h.turn.source is Source.HUMAN
        ]
        places = {h.turn.uuid: h.place for h in self._heard}
        answered: dict[str, bool] = {}

        def is_answered(uuid: str) -> bool:
            if uuid not in answered:
                answered[uuid] = self._is_answered(uuid, places[uuid])
            return answered[uuid]

        found = withdrawn.fates(prompts, is_answered)
        prompts_at = sorted(h.place for h in self._heard if h.prompt)
        for heard in self._heard:
            uuid = heard.turn.uuid
            if heard.prompt and uuid in answered:
                heard.turn = replace(
                    heard.turn, fate=found.get(uuid, Fate.SENT), answered=answered[uuid]
                )
            elif heard.prompt:
                heard.turn = replace(heard.turn, answered=self._spoke_after(heard, prompts_at))

    def _spoke_after(self, heard: _Heard, prompts_at: Sequence[int]) -> bool:
        """The agent spoke or acted between this prompt and the next: enough for a simple one."""
        after = bisect_right(prompts_at, heard.place)
        end = prompts_at[after] if after < len(prompts_at) else len(self._spine)
        return any(
            (at := bisect_right(places, heard.place)) < len(places) and places[at] < end
            for places in (self._record.calls, self._record.talk)
        )

    def _is_answered(self, uuid: str, place: int) -> bool:
        below = {uuid}
        for data in self._spine.forwards(place, ANSWER_WITHIN_LINES):
            if _name(data, "parentUuid") in below:
                if action.is_agent(data):
                    return True
                below.add(_name(data, "uuid"))
        return False

    def _settle_context(self) -> None:
        """What stood before each turn in its session: a stop, a tool call, the person's words."""
        before: dict[str, _Heard] = {}
        stops = iter([*self._stops, (len(self._spine) + 1, "")])
        stop = next(stops)
        stopped: set[str] = set()
        for heard in self._heard:
            turn, session = heard.turn, heard.turn.session_id
            while stop[0] < heard.place:
                stopped.add(stop[1])
                stop = next(stops)
            earlier = before.get(session)
            heard.since = earlier.place if earlier else -1
            heard.turn = replace(
                turn,
                interrupted=session in stopped and turn.source is Source.HUMAN,
                acted=bool(heard.tool_use_id) or self._called_between(heard.since, heard.place),
                previous=earlier.turn.text[:FIELD_MAX_CHARS] if earlier else "",
                answers=earlier.turn.uuid if earlier and turn.source is Source.SELF else "",
            )
            if turn.source is Source.HUMAN:
                if earlier:
                    self._settle_work(earlier, heard.place)
                before[session] = heard
                stopped.discard(session)
        for heard in before.values():
            self._settle_work(heard, len(self._spine) + 1)

    def _settle_work(self, heard: _Heard, end: int) -> None:
        heard.turn = replace(heard.turn, worked=self._called_between(heard.place, end))

    def _called_between(self, first: int, last: int) -> bool:
        at = bisect_left(self._record.calls, first)
        return at < len(self._record.calls) and self._record.calls[at] < last


@contextmanager
def open_transcript(file: TranscriptFile, options: Options) -> Iterator[Transcript]:
    """Reads a file. Raises SourceError when it cannot be opened or read; bad lines are counted."""
    try:
        descriptor = os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb", buffering=0) as handle:
            yield Transcript(file, options, handle)
    except OSError as error:
        raise SourceError(
            f"cannot read {file.path}: {error.strerror}", "mend its permissions; the rest is read"
        ) from error


def _reason(pieces: Sequence[Piece]) -> str:
    """Why a line gave no turn: the first reason named, else all its words were cut."""
    return next((piece.reason for piece in pieces if piece.reason), "no_words")


def _field(data: Mapping[str, Any], name: str, limit: int = FIELD_MAX_CHARS) -> str:
    value = data.get(name)
    return clean_surrogates(value[:limit]) if isinstance(value, str) else ""


def _name(data: Mapping[str, Any], field: str) -> str:
    """A line's own name or its parent's; a long one that is no UUID may hold words."""
    value = _field(data, field)
    return value if not value or _NAME.fullmatch(value) else _digest(value)


def _position(data: Mapping[str, Any]) -> object:
    position = data.get("turnPosition")
    return position.get("promptIndex") if isinstance(position, dict) else None


def _digest(*parts: object) -> str:
    """Identity of a line that has no uuid."""
    text = "\0".join(str(part) for part in parts)
    return "line:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
