"""The records that travel between the rooms. Frozen, typed, without behaviour of their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any, NewType

MaskedText = NewType("MaskedText", str)
"""Text that `pipeline.masking` has masked. Nothing else may make one (a test walks the code):
the store, the hook files, the exports and the screens accept no plain `str` for words."""


class CaseType(StrEnum):
    """The four types in the order in which they are tried, then the undecided rest."""

    MISSED_ITEM = "missed-item"
    VIOLATED_INSTRUCTION = "violated-instruction"
    MISTAKEN_PREMISE = "mistaken-premise"
    WRONG_RESULT = "wrong-result"
    OTHER = "other"


class Source(StrEnum):
    """Who said it. The last three together are called noticed."""

    HUMAN = "human"
    REVIEW = "review"
    GUARD = "guard"
    SELF = "self"


class Kind(StrEnum):
    """The way in which a person's words reached the agent; the last is for noticed statements."""

    TYPED = "typed"
    QUEUED = "queued"
    REJECTION = "rejection"
    APPROVAL_COMMENT = "approval-comment"
    ANSWER = "answer"
    COMMAND_ARGS = "command-args"
    NOTICED = "noticed"


@dataclass(frozen=True, slots=True)
class Line:
    """One JSON object of a transcript."""

    path: Path
    number: int
    """Physical line, from 1. Two objects on one line share it."""
    kind: str
    """The object's `type`, or "" where it has none."""
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A piece of a transcript that is no usable record. Nothing vanishes: each has a reason."""

    path: Path
    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class Action:
    """What the agent did just before a turn: raw, not yet masked."""

    tool: str
    """Name of the tool, or "" when the agent only talked."""
    gist: str
    """One line: the command, the file, the question; at most 200 characters."""
    said: str
    """The agent's last words before the turn, cut to 500 characters."""


class Fate(IntEnum):
    """What one file says about a prompt. Over all files the strongest word counts."""

    SENT = 0
    UNANSWERED = 1
    """Taken back unless some file holds an answer to it."""
    WITHDRAWN = 2


@dataclass(frozen=True, slots=True)
class Turn:
    """Words that a person typed to the agent, or (source not human) a mistake that was noticed.

    This is one file's copy: forks and resumed sessions hold others under the same key.
    """

    key: str
    """Identity across files and nights: message uuid plus the piece's place in the line."""
    uuid: str
    """The line's own uuid, or the key where it has none."""
    session_id: str
    at: datetime
    """Aware UTC."""
    inferred_at: bool
    """The time comes from a neighbouring line or the file, not from the line itself."""
    cwd: str
    text: str
    """Raw words after cleaning."""
    source: Source
    kind: Kind
    row: str
    """Row of the decision procedure that let it in (U7, T2, A1 ...), for `explain`."""
    number: int
    """Physical line in its file, from 1."""
    headless: bool = False
    """From `claude -p` or an SDK: a program may have typed it. Counts only when asked for."""
    fate: Fate = Fate.SENT
    answered: bool = True
    """The agent answered below it, as far as this file tells."""
    interrupted: bool = False
    """The person had just stopped the agent, or refused a call without words."""
    acted: bool = True
    """The agent called a tool since the person's words before."""
    worked: bool = False
    """The agent called a tool between these words and the person's next, in the same session."""
    previous: str = ""
    """The person's words just before, in the same session; "" when there were none."""
    answers: str = ""
    """Source self: uuid of the person's line that the agent was answering."""


@dataclass(frozen=True, slots=True)
class Message:
    """What the classifier sees of a turn."""

    text: str
    kind: Kind = Kind.TYPED
    source: Source = Source.HUMAN
    interrupted: bool = False
    acted: bool = True
    """The agent called a tool since the person's last words (it did not only talk)."""
    previous: str = ""
    """The person's words just before."""
    said: str = ""
    """The agent's last words."""
    lang: str | None = None
    """Forces one language's packs; None lets each sentence choose."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the rules say of a message that is a case."""

    type: CaseType
    rule_id: str
    """The rule or cue that fired."""
    span: tuple[int, int]
    """Half-open, in characters of the message's text as it was given."""
    decided: bool
    """A rule chose one of the four types; False for `other`."""
    lang: str


@dataclass(frozen=True, slots=True)
class Case:
    """One stored, masked correction."""

    id: str
    """12 hex digits, the same on every machine and after every night."""
    at: datetime
    day: date
    """The person's local day."""
    session: str
    repo: str
    """Short name of the repository, unique within the store."""
    type: CaseType
    source: Source
    state: str
    """`open`, `doubtful` or `dismissed`."""
    decided_by: str | None
    """`rule`, `judge`, `person`, or None for an undecided `other`."""
    rule_id: str
    """The rule or cue that fired."""
    text: MaskedText
    tool: str
    """What the agent had called just before; "" when nothing is known."""
    gist: MaskedText
    said: MaskedText
    """The agent's last words."""
    kind: Kind
    row: str
    """Row of the decision procedure for human words."""
    lang: str
    interrupted: bool
    named: bool
    """The words name their object themselves, so that they mean something without the action."""
    admitted: bool
    """The agent admitted the mistake in its answer."""
    file: str
    """Key of the transcript; `explain` finds its path among those that exist."""
    number: int
    """Line in that transcript, from 1."""
    inferred_at: bool
    confirmed: bool = False
    """Two models agree that this `other` is a correction, of none of the four types."""
