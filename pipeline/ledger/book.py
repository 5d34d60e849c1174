"""The ledger's file: append-only JSON Lines, in git, merged by union."""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pipeline.errors import LedgerError
from pipeline.files import LOCK_WAIT_SECONDS, PRIVATE_FILE
from pipeline.ledger.event import LAST, Event, Happening, line, parse
from pipeline.records import CaseType

NAME = "proposals.jsonl"
LOCK_PAUSE_SECONDS = 0.05
ATTRIBUTES = f"{NAME} -text merge=union\n"
"""For `.gitattributes` beside the ledger: no change of line ends, and no conflict in a merge."""
_STEP = timedelta(microseconds=1)
"""Between two times that the ledger can tell apart."""


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

    @property
    def ids(self) -> frozenset[str]:
        """Of its events."""
        return frozenset(event.id for event in self.events)


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
        return tuple(read(file).events for file in self.files)

    @property
    def files(self) -> tuple[Path, ...]:
        """The team's first; each once."""
        return tuple(dict.fromkeys(filter(None, (self.team, self.home))))

    def owed(self) -> tuple[Event, ...]:
        """What the home's ledger took for the team's repositories before the team's was named, and
        the team's does not hold yet. Raises LedgerError."""
        if self.team is None:
            return ()
        there = read(self.team)
        mine = (event for event in read(self.home).events if event.repo in self.team_repos)
        # A restored home raises anew, under its old name, what the team knows from it.
        known = {(e.bundle, e.machine) for e in there.events if e.event is Happening.RAISED}
        return tuple(
            event
            for event in mine
            if event.id not in there.ids and (event.bundle, event.machine) not in known
        )

    def faults(self) -> list[str]:
        """What the ledgers hold beside events, for a warning: it is passed over. Raises
        LedgerError."""
        return [
            f"no events, and passed over: {len(bad)} of the lines of {file};"
            " `twice-told ledger verify` tells more"
            for file in self.files
            if (bad := read(file).bad)
        ]


def read(path: Path) -> Reading:
    """All events of a ledger; of one that does not exist, none. Raises LedgerError."""
    return read_bytes(content(path) or b"")


def content(path: Path) -> bytes | None:
    """The bytes of a ledger's file, None without one. Raises LedgerError, also for what a
    repository could put in its place: a link, a pipe, a device."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _failed("read", path, error) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise LedgerError(f"{path} is no file", "move it away, or name another ledger")
        with open(handle, "rb", closefd=False) as file:
            return file.read()
    except OSError as error:
        raise _failed("read", path, error) from error
    finally:
        os.close(handle)


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


def append(path: Path, events: Sequence[Event], wait_seconds: float = LOCK_WAIT_SECONDS) -> None:
    """Adds events with one write, all or none. A torn last line is closed, never glued on.

    Raises LedgerError, with the file as it was, when not all bytes can be written or somebody else
    holds the file for longer than that.
    """
    data = b"".join(map(line, events))
    if not data:
        return
    try:
        _prepare(path.parent)
        handle = _locked(path, time.monotonic() + wait_seconds)
    except OSError as error:
        raise _failed("open", path, error) from error
    try:
        _write(handle, path, data)
    finally:
        os.close(handle)


def after(events: Sequence[Event], now: datetime) -> datetime:
    """A time for the next event: now, or just after the latest that is known."""
    latest = max((event.at for event in events), default=None)
    return now if latest is None or latest < now else min(latest + _STEP, LAST)


def time_for(
    bundle: tuple[str, CaseType], machine: str, events: Sequence[Event], now: datetime
) -> datetime:
    """After all that is known of the bundle, and no other time of its machine. What a clock that
    was years ahead wrote moves its own bundle and nothing else."""
    at = after([event for event in events if event.bundle == bundle], now)
    taken = {event.at for event in events if event.machine == machine}
    while at in taken and at < LAST:
        at += _STEP
    return at


def _locked(path: Path, deadline: float) -> int:
    """A handle of the file that stands there once the lock is held: git replaces files, and what is
    added to a replaced one is lost."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    while True:
        handle = os.open(path, flags, PRIVATE_FILE)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
                raise LedgerError(
                    f"{path} is no file of yours", "move it away, or name another ledger"
                )
            _lock(handle, path, deadline)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(found, os.lstat(path)):
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _lock(handle: int, path: Path, deadline: float) -> None:
    """A run that was stopped in the middle of its write must not stop all others."""
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise LedgerError(
                    f"another run holds the ledger {path}", "try again when it has ended"
                ) from error
            time.sleep(LOCK_PAUSE_SECONDS)


def _write(handle: int, path: Path, data: bytes) -> None:
    size = os.fstat(handle).st_size
    torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
    data = b"\n" + data if torn else data
    try:
        if os.write(handle, data) < len(data):  # a full disk gives no exception
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.ftruncate(handle, size)
        raise _failed("write", path, error) from error


def _prepare(folder: Path) -> None:
    """A new ledger comes with its attributes, so that git never makes a conflict of two nights."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ".gitattributes"
    with contextlib.suppress(FileExistsError):
        path.open("xb").close()
    found = path.lstat()
    if stat.S_ISREG(found.st_mode) and not found.st_size:  # new, or all that a full disk took
        path.write_text(ATTRIBUTES, encoding="ascii")


def _failed(what: str, path: Path, error: OSError) -> LedgerError:
    if error.errno == errno.ELOOP:
        return LedgerError(f"{path} is a link", "put the file itself there, or name another ledger")
    return LedgerError(
        f"cannot {what} the ledger {path}: {error.strerror}",
        "free some space or mend its permissions",
    )
