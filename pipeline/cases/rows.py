"""What a collecting run hands to the store: one file, with everything that stands in it."""

import hashlib
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

from pipeline.records import CaseType, Fate, Kind, MaskedText, Source
from pipeline.transcripts.counts import Counts


@dataclass(frozen=True, slots=True)
class Correction:
    """What makes a turn a case. All words in it are masked."""

    type: CaseType
    rule_id: str
    lang: str
    text: MaskedText
    tool: str
    gist: MaskedText
    said: MaskedText
    admitted: bool
    named: bool
    masked_by: str
    """Digest of the table that masked the words."""


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One copy of a turn. Only a case keeps text, and only masked text."""

    key: str
    uuid: str
    session: str
    at: datetime
    day: date
    inferred_at: bool
    repo: str
    """Key of the repository."""
    source: Source
    kind: Kind
    row: str
    number: int
    headless: bool
    """It does not count: a program may have typed it, and nobody asked for those."""
    fate: Fate
    answered: bool
    interrupted: bool
    correction: Correction | None = None
    """None when no rule saw a correction in it: then no word of it is kept."""
    worked: bool = False
    """The agent called a tool after these words, before the person's next."""

    @property
    def id(self) -> str:
        """The case id."""
        return case_id(self.key)


@dataclass(frozen=True, slots=True)
class FileRow:
    """The record of a file: it is opened again only when something in here changes."""

    key: str
    subagent: bool
    device: int
    inode: int
    size: int
    mtime_ns: int
    settings: str
    """Digest of all that a reading depends on beside the file: code, packs, configuration."""
    script: str = ""
    """Digest of an unmarked first prompt: five sessions that share it were run by a script."""

    @property
    def stat_key(self) -> tuple[int, int, int, int]:
        """As in `TranscriptFile`."""
        return self.device, self.inode, self.size, self.mtime_ns


@dataclass(frozen=True, slots=True)
class RepoRow:
    """A repository that turns belong to, with the folders that were seen in it."""

    key: str
    base_name: str
    folders: tuple[str, ...]
    """Folder keys."""
    trees: tuple[str, ...] = ()
    """Keys of its working trees on this machine."""


@dataclass(frozen=True, slots=True)
class ShadowHits:
    """What a rule on trial would have done in one file on one day."""

    day: date
    rule_id: str
    fired: int
    alone: int
    """Of these, turns that no active rule decided: what activating it would add."""


@dataclass(frozen=True, slots=True)
class Showing:
    """Our own text, as a transcript tells that the agent got it."""

    uuid: str
    session: str
    at: datetime


@dataclass(frozen=True, slots=True)
class MinedFile:
    """One file, read, classified and masked."""

    file: FileRow
    turns: tuple[TurnRow, ...]
    seen: frozenset[str]
    """Uuids of all lines that still stand in the file, with or without words."""
    repos: tuple[RepoRow, ...]
    counts: Counts
    shadows: tuple[ShadowHits, ...] = ()
    showings: tuple[Showing, ...] = ()


def case_id(key: str) -> str:
    """Stable over nights and machines: it depends on the message uuid and the piece's place."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def file_key(path: Path) -> str:
    """A path as the store remembers it."""
    return hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:32]
