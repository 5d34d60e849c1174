"""The ledger's file: append-only JSON Lines, in git, merged by union."""

import fcntl
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pipeline.errors import LedgerError
from pipeline.files import PRIVATE_FILE
from pipeline.ledger.event import Event, line, parse

NAME = "proposals.jsonl"
ATTRIBUTES = f"{NAME} -text merge=union\n"
"""For `.gitattributes` beside the ledger: no change of line ends, and no conflict in a merge."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no event. It is kept, reported and passed over."""

    number: int
    """From 1."""
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a ledger holds."""

    events: tuple[Event, ...]
    """In the order of the file; exact doubles, which git's union makes, only once."""
    bad: tuple[BadLine, ...]


@dataclass(frozen=True, slots=True)
class Books:
    """The ledgers of a home: a team's for some repositories, its own for all others."""

    home: Path
    """File of the home's own ledger."""
    team: Path | None = None
    """File of the ledger in a team's repository."""
    team_repos: frozenset[str] = frozenset()
    """Short names of the repositories that it takes."""

    def file_of(self, repo: str) -> Path:
        """Where the events of a repository go."""
        return self.team if self.team and repo in self.team_repos else self.home

    def events(self) -> tuple[tuple[Event, ...], ...]:
        """All events, the team's first: its numbers must be the same for all of the team."""
        files = [self.team, self.home] if self.team else [self.home]
        return tuple(read(file).events for file in files)


def read(path: Path) -> Reading:
    """All events of a ledger; of one that does not exist, none. Raises LedgerError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Reading((), ())
    except OSError as error:
        raise _failed("read", path, error) from error
    return read_bytes(data)


def read_bytes(data: bytes) -> Reading:
    """As `read`, from bytes, for example of an older version. Never raises."""
    events: dict[str, Event] = {}
    bad = []
    for number, text in enumerate(data.split(b"\n"), 1):
        if not text:
            continue
        found = parse(text)
        if isinstance(found, str):
            bad.append(BadLine(number, found))
        else:
            events.setdefault(found.id, found)
    return Reading(tuple(events.values()), tuple(bad))


def append(path: Path, events: Sequence[Event]) -> None:
    """Adds events with one write, all or none. A torn last line is closed, never glued on.

    Raises LedgerError, with the file as it was, when not all bytes can be written.
    """
    if not events:
        return
    try:
        _prepare(path.parent)
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(path, flags, PRIVATE_FILE)
    except OSError as error:
        raise _failed("open", path, error) from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise LedgerError(f"{path} is no file of yours", "move it away, or name another ledger")
        fcntl.flock(handle, fcntl.LOCK_EX)
        _write(handle, path, b"".join(map(line, events)))
    finally:
        os.close(handle)


def after(events: Sequence[Event], now: datetime) -> datetime:
    """A time for the next event: now, or just after the latest that is known."""
    latest = max((event.at for event in events), default=None)
    return now if latest is None or latest < now else latest + timedelta(microseconds=1)


def _write(handle: int, path: Path, data: bytes) -> None:
    size = os.fstat(handle).st_size
    torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
    data = b"\n" + data if torn else data
    try:
        written = os.write(handle, data)
        if written < len(data):
            raise OSError(28, "No space left on device")
        os.fsync(handle)
    except OSError as error:
        os.ftruncate(handle, size)
        raise _failed("write", path, error) from error


def _prepare(folder: Path) -> None:
    """A new ledger comes with its attributes, so that git never makes a conflict of two nights."""
    if not folder.is_dir():
        folder.mkdir(parents=True)
    attributes = folder / ".gitattributes"
    if not attributes.exists():
        attributes.write_text(ATTRIBUTES, encoding="ascii")


def _failed(what: str, path: Path, error: OSError) -> LedgerError:
    return LedgerError(
        f"cannot {what} the ledger {path}: {error.strerror}",
        "free some space or mend its permissions",
    )
