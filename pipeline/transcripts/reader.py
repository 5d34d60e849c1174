"""Reads one transcript: what a person typed in it, what was noticed, and a count of everything.

`open_transcript` is the only way in. It reads up to the size that the directory told, so that a
file that grows meanwhile is read on the next night from its start.
"""

import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, BinaryIO

from pipeline.errors import SourceError
from pipeline.records import Action, Kind, Line, Skipped, Source, Turn
from pipeline.transcripts import action, settle
from pipeline.transcripts.bearings import Bearings
from pipeline.transcripts.clean import clean
from pipeline.transcripts.content import content_blocks, result_text, texts
from pipeline.transcripts.counts import Counts
from pipeline.transcripts.decode import clean_surrogates, decode
from pipeline.transcripts.discover import TranscriptFile
from pipeline.transcripts.fields import (
    FIELD_MAX_CHARS,
    digest,
    name_field,
    prompt_position,
    text_field,
)
from pipeline.transcripts.heard import Heard
from pipeline.transcripts.human.judge import judge
from pipeline.transcripts.human.piece import Class, Piece
from pipeline.transcripts.markers import OUR_FENCE
from pipeline.transcripts.noticed import Statement, last_report, statements
from pipeline.transcripts.oversize import decode_oversize
from pipeline.transcripts.queue import Queue
from pipeline.transcripts.scan import (
    ADMISSION_SPAN,
    STATE_TYPES,
    TYPE_MAX_CHARS,
    Raw,
    Scan,
    admits,
    scan,
)
from pipeline.transcripts.spine import Spine

SCRIPT_MIN_CHARS = 40
READER_VERSION = 3
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


class Transcript:
    """One file, read; `action` and `said` work as long as it is open."""

    def __init__(self, file: TranscriptFile, options: Options, handle: BinaryIO) -> None:
        self.file = file
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
        self._bearings = Bearings(file)
        self._heard: list[Heard] = []
        self._by_key: dict[str, Heard] = {}
        self._queue = Queue()
        self._stops: list[tuple[int, str]] = []
        self._queue_start: list[object] | None = []
        """The first two queue operations; None when a user line stands before them."""
        self._spine = Spine(file.path, handle, self._record)
        self._read(handle)
        self._finish()

    def action(self, turn: Turn) -> Action | None:
        """What the agent had done just before; None when the file does not tell."""
        heard = self._by_key.get(turn.key)
        if heard is None:
            return None
        if heard.statement is not None and turn.source is Source.REVIEW:
            return Action("Agent", self._about(heard.statement, heard.place), "")
        if heard.tool_use_id:
            found = action.of_call(self._spine, heard.place, heard.tool_use_id)
            if found is not None:
                return found
        return action.before_prompt(self._spine, heard.place, turn.session_id)

    def _about(self, statement: Statement, place: int) -> str:
        """Type and task of a subagent; a notification leaves it to the call that it names."""
        if statement.about or not statement.tool_use_id:
            return statement.about
        found = action.call_inputs(self._spine, place, statement.tool_use_id)
        parts = (found.get(name) for name in ("subagent_type", "description", "prompt"))
        return " ".join(part for part in parts if isinstance(part, str))[:FIELD_MAX_CHARS]

    def said(self, turn: Turn) -> str:
        """The agent's last words before a turn, "" when it has said nothing since the last one."""
        heard = self._by_key.get(turn.key)
        if heard is None:
            return ""
        at = bisect_left(self._record.talk, heard.place) - 1
        if at < 0 or self._record.talk[at] <= heard.since:
            return ""
        return action.text_of(self._spine[self._record.talk[at]])

    # Line by line

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
        uuid = name_field(line.data, "uuid")
        if uuid:
            self.seen.add(uuid)
        match line.kind:
            case "user" | "attachment":
                self._bearings.note(line.data)
                self._user(line, uuid, raw.spine)
            case "assistant":
                self._assistant(line, uuid, raw)
            case "queue-operation":
                self._queued(line, raw.spine)
            case "system":
                self._no_words(line, uuid, "system")
            case kind:
                self.counts.state += 1
                if kind not in STATE_TYPES:
                    self.counts.unknown[kind[:TYPE_MAX_CHARS]] += 1

    def _user(self, line: Line, uuid: str, place: int) -> None:
        if line.kind == "attachment":
            self._watch(line.data, uuid)
        elif self._queue_start is not None and len(self._queue_start) < 2:
            self._queue_start = None
        barred = self._options.excluded(self._bearings.cwd)
        pieces = [self._asked(piece, place) for piece in judge(line, self.file.subagent, barred)]
        if not self._hear_pieces(line, uuid, place, pieces):
            self._no_words(line, uuid, _reason(pieces))
        if self._options.noticed and not self.file.subagent and pieces[0].row not in ("G2", "G3"):
            for statement in statements(line):
                self._notice(line, uuid, place, statement)

    def _watch(self, data: Mapping[str, Any], uuid: str) -> None:
        """The client's own row of what our hook has shown the agent."""
        attachment = data.get("attachment")
        if isinstance(attachment, dict) and attachment.get("type") == "hook_additional_context":
            if OUR_FENCE in str(attachment.get("content")):
                at, _ = self._bearings.instant_of(data)
                self.showings.append((uuid, self._bearings.session_of(data), at))

    def _asked(self, piece: Piece, place: int) -> Piece:
        """T8 needs a question: the result of another tool may look like an answer to one."""
        if piece.row != "T8":
            return piece
        name = action.call_name(self._spine, place, piece.tool_use_id)
        if name in ("", "AskUserQuestion"):
            return piece
        return Piece(Class.HARNESS, "T12", "tool_result")

    def _hear_pieces(self, line: Line, uuid: str, place: int, pieces: Sequence[Piece]) -> bool:
        """Keeps what a person said and when they stopped the agent; whether the line counts as
        one with a person's words."""
        session = self._bearings.session_of(line.data)
        displays = self._options.displays.get(session, ())
        counts = False
        for nth, piece in enumerate(pieces):
            if piece.verdict is Class.SIGNAL:
                self._stops.append((place, session))
            elif piece.verdict in (Class.HUMAN, Class.EMBEDDED, Class.MAYBE):
                text = clean(piece.text, displays)
                if text:
                    self._hear(line, uuid, place, nth, piece, text)
                    counts |= piece.verdict is not Class.MAYBE or self._options.include_headless
        if counts:
            self.counts.human_lines += 1
        return counts

    def _hear(self, line: Line, uuid: str, place: int, nth: int, piece: Piece, text: str) -> None:
        data = line.data
        uuid = uuid or digest(self._bearings.session_of(data), data.get("timestamp"), "user", text)
        turn = self._bearings.turn(
            data,
            line.number,
            key=f"{uuid}:{nth}",
            uuid=uuid,
            text=text,
            kind=piece.kind,
            row=piece.row,
            headless=piece.verdict is Class.MAYBE,
        )
        self._heard.append(
            Heard(
                turn,
                place,
                tool_use_id=piece.tool_use_id,
                prompt=line.kind == "user" and not piece.tool_use_id and nth == 0,
                parent=name_field(data, "parentUuid"),
                position=prompt_position(data),
            )
        )

    def _no_words(self, line: Line, uuid: str, reason: str) -> None:
        self.counts.not_human[reason] += 1
        if self._options.everything:
            at, _ = self._bearings.instant_of(line.data)
            blocks = content_blocks(line.data) if line.kind == "user" else []
            text = " ".join(str(block.get("text") or result_text(block)) for block in blocks)
            self.others.append(
                Other(
                    uuid,
                    self._bearings.session_of(line.data),
                    at,
                    line.kind,
                    clean_surrogates(text)[:FIELD_MAX_CHARS],
                    reason,
                )
            )

    def _queued(self, line: Line, place: int) -> None:
        self.counts.not_human["queue"] += 1
        if self._queue_start is not None and len(self._queue_start) < 2:
            self._queue_start.append(line.data.get("operation"))
        bearings = self._bearings
        self._queue.operation(line.data, bearings.version, bearings.cwd, line.number, place)

    def _assistant(self, line: Line, uuid: str, raw: Raw) -> None:
        self._no_words(line, uuid, "assistant")
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
            text = "\n".join(texts(blocks))
            if admits(text[:ADMISSION_SPAN].encode("utf-8", "replace"), self._options.admissions):
                self._notice(line, uuid, raw.spine, Statement(Source.SELF, text.strip()))

    def _notice(self, line: Line, uuid: str, place: int, statement: Statement) -> None:
        text = clean(statement.text)
        if not text or self._options.excluded(self._bearings.cwd_of(line.data)):
            return
        uuid = uuid or statement.key("")
        turn = self._bearings.turn(
            line.data,
            line.number,
            key=statement.key(uuid),
            uuid=uuid,
            text=text,
            source=statement.source,
            kind=Kind.NOTICED,
            row="N",
            headless=text_field(line.data, "entrypoint").startswith("sdk"),
        )
        self._heard.append(Heard(turn, place, statement, tool_use_id=statement.tool_use_id))

    # After the last line

    def _finish(self) -> None:
        self._absorbed()
        if self.file.subagent and self._options.noticed:
            self._reported()
        self._heard = settle.one_of_each(self._heard, self.counts)
        self._mark_script()
        settle.set_fates(self._heard, self._spine, self._record)
        settle.set_contexts(self._heard, self._stops, self._record)
        self.turns = [heard.turn for heard in self._heard]
        self._by_key = {heard.turn.key: heard for heard in self._heard}

    def _absorbed(self) -> None:
        """Queue messages without another copy (2.0.76-2.1.96)."""
        said = {(h.turn.session_id, h.turn.text) for h in self._heard}
        for item in self._queue.absorbed:
            text = clean(item.content)
            session = self._bearings.session_of({"sessionId": item.session_id})
            if not text or (session, text) in said or self._options.excluded(item.cwd):
                continue
            key = digest(session, item.timestamp, "queue", item.content)
            self.seen.add(key)
            data = {"sessionId": session, "timestamp": item.timestamp, "cwd": item.cwd}
            turn = self._bearings.turn(
                data, item.number, key=key, uuid=key, text=text, kind=Kind.QUEUED, row="Q"
            )
            self._heard.append(Heard(turn, item.spine))
            self.counts.not_human["queue"] -= 1
            self.counts.human_lines += 1
        if not self.counts.not_human["queue"]:
            del self.counts.not_human["queue"]

    def _reported(self) -> None:
        """The words with which a subagent ended, which its session may hold no copy of."""
        places = (*self._record.talk[-1:], *self._record.calls[-1:])
        if not places:
            return
        place = max(places)
        data = self._spine[place]
        statement = last_report(self.file.path, data)
        if statement is not None:
            line = Line(self.file.path, self._spine.number(place), "assistant", data)
            self._notice(line, name_field(data, "uuid"), place, statement)

    def _mark_script(self) -> None:
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
