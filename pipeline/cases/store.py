"""Opens the store: one writer at a time, hardened, private, and able to lose a damaged log."""

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb

from pipeline.cases import place
from pipeline.cases.schema import is_ready, migrate, transaction
from pipeline.errors import Busy, StoreError
from pipeline.files import LOCK_WAIT_SECONDS, PRIVATE_FILE, private_dir

FILE_NAME = "cases.duckdb"
READ_WAIT_SECONDS = 5.0
RETURN_WAIT_SECONDS = LOCK_WAIT_SECONDS
"""For who had the store already and let others read: by now there is something to lose."""
MEMORY_LIMIT = "1GB"
GIVE_BACK = "128KB"
"""Freed memory goes back to the system early: a third of the peak of a long run otherwise."""


class Store:
    """An open store. `con` is for the modules of this room only."""

    def __init__(self, con: duckdb.DuckDBPyConnection, warnings: list[str]) -> None:
        self.con = con
        self.warnings = warnings
        """What had to be repaired on opening, for the run's summary."""

    def rows(self, sql: str, values: dict[str, Any] | list[Any] | None = None) -> list[Any]:
        """All rows of a query as tuples."""
        return self.con.execute(sql, values).fetchall()

    def transaction(self) -> contextlib.AbstractContextManager[None]:
        """All or nothing."""
        return transaction(self.con)


@contextlib.contextmanager
def private_files() -> Iterator[None]:
    """DuckDB makes its files by the process's umask."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextlib.contextmanager
def open_writer(
    folder: Path, name: str = FILE_NAME, wait_seconds: float | None = None
) -> Iterator[Store]:
    """The store for writing, made when it is missing. The caller holds the home's lock.

    Checkpoints when all went well, so that nothing is left in the log. Raises StoreError, or Busy
    when a reader stays longer than that, else than a few seconds.
    """
    private_dir(folder)
    place.check(folder)
    path = folder / name
    warnings: list[str] = []
    _is_ours(path)
    _is_ours(path.with_name(path.name + ".wal"))
    with private_files():
        con = _connect_or_repair(path, warnings, wait_seconds)
        try:
            with _as_ours(path):
                _harden(con, folder, writing=True)
                migrate(con)
                yield Store(con, warnings)
                con.execute("CHECKPOINT")
        finally:
            con.close()
            _tighten(path)


class Writer:
    """The store of a home for a run that now and then waits for others: opened when it is used,
    closed again by `release`. The caller holds the home's lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = contextlib.ExitStack()
        self._store: Store | None = None
        self._wait_seconds: float | None = None

    @property
    def store(self) -> Store:
        """The open store. Raises StoreError, or Busy, as `open_writer`."""
        if self._store is None:
            self._store = self._open.enter_context(
                open_writer(self._folder, wait_seconds=self._wait_seconds)
            )
        return self._store

    def release(self) -> None:
        """Lets others read until the store is used again; it is waited for longer then."""
        self._store = None
        self._wait_seconds = RETURN_WAIT_SECONDS
        self._open.close()

    def __enter__(self) -> "Writer":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        self._store = None
        return self._open.__exit__(kind, error, trace)


@contextlib.contextmanager
def open_reader(folder: Path) -> Iterator[Store | None]:
    """The store for reading, None when there is none yet. Raises StoreError, or Busy."""
    path = folder / FILE_NAME
    if not _is_ours(path):
        yield None
        return
    con = connect(path, read_only=True)
    try:
        with _as_ours(path):
            _harden(con, folder, writing=False)
            yield Store(con, []) if is_ready(con) else None
    finally:
        con.close()


@contextlib.contextmanager
def _as_ours(path: Path) -> Iterator[None]:
    """DuckDB's errors as ours. Ctrl-C in a query comes as a RuntimeError (2.0.1, seen Nov 2026)."""
    try:
        yield
    except duckdb.InterruptException as error:
        raise KeyboardInterrupt from error
    except duckdb.Error as error:
        raise _as_store_error(path, error) from error
    except RuntimeError as error:
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from error


def _is_ours(path: Path) -> bool:
    """A file of this user stands there; False for nothing at all.

    Raises StoreError for anything else: a link would lead a writer into another file.
    """
    try:
        found = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StoreError(
            f"cannot look at {path}: {error.strerror}", "mend the permissions of its folder"
        ) from error
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        raise StoreError(
            f"{path} is no file of yours", "move it away, or choose another home with --home"
        )
    return True


def _connect(path: Path, read_only: bool) -> duckdb.DuckDBPyConnection:
    """Extensions must be off in the first settings; the rest follows in SQL (order matters).

    One thread: an interrupted query waits for its other threads' whole tasks, without end if
    need be (2.0.1, seen Dec 2026), and queries as small as ours gain nothing from them.
    """
    str(path).encode()  # DuckDB takes text only; UnicodeEncodeError for a name that is none
    return duckdb.connect(
        str(path),
        read_only=read_only,
        config={
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "threads": "1",
        },
    )


def _harden(con: duckdb.DuckDBPyConnection, folder: Path, writing: bool) -> None:
    con.execute(f"SET temp_directory = '{str(folder / 'tmp').replace(chr(39), chr(39) * 2)}'")
    con.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
    if writing:  # it costs a reader's short query more than it saves
        for name in ("allocator_flush_threshold", "allocator_bulk_deallocation_flush_threshold"):
            con.execute(f"SET {name} = '{GIVE_BACK}'")
    con.execute("SET enable_external_access = false")
    con.execute("SET lock_configuration = true")


def connect(
    path: Path, read_only: bool, wait_seconds: float | None = None
) -> duckdb.DuckDBPyConnection:
    """DuckDB refuses at once when another process has the file: try again for a few seconds."""
    deadline = time.monotonic() + (READ_WAIT_SECONDS if wait_seconds is None else wait_seconds)
    while True:
        try:
            return _connect(path, read_only)
        except duckdb.IOException as error:
            if not _is_lock(error):
                raise _as_store_error(path, error) from error
            if time.monotonic() > deadline:
                raise Busy(
                    f"{path} is held by {_holder(error)}", "try again when that has ended"
                ) from error
            time.sleep(0.05)
        except (duckdb.Error, UnicodeEncodeError) as error:
            raise _as_store_error(path, error) from error


def _connect_or_repair(
    path: Path, warnings: list[str], wait_seconds: float | None
) -> duckdb.DuckDBPyConnection:
    """A log that cannot be replayed is set aside, never deleted; what it held is read again.

    After a power cut or on a full disk the log can be damaged. The base file is then a
    consistent older state, and every file whose record it lacks counts as changed.
    """
    log = path.with_name(path.name + ".wal")
    try:
        return connect(path, read_only=False, wait_seconds=wait_seconds)
    except StoreError:
        if not log.exists():
            raise
    aside = log.with_name(f"{log.name}.corrupt-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    log.rename(aside)
    try:
        con = connect(path, read_only=False)
    except StoreError:
        aside.rename(log)
        raise
    warnings.append(
        f"the store's log was damaged and is set aside as {aside.name}; what it held is read again"
    )
    return con


def _is_lock(error: duckdb.IOException) -> bool:
    """By its whole words: a path may hold a "lock" of its own."""
    return "could not set lock on file" in str(error).lower()


def _holder(error: duckdb.IOException) -> str:
    """The process that DuckDB names: `... is held in /usr/bin/python3 (PID 123)`."""
    _, found, rest = str(error).partition("(PID ")
    return f"process {rest.partition(')')[0]}" if found else "another process"


def _as_store_error(path: Path, error: Exception) -> StoreError:
    """DuckDB's messages can quote values: only their kind is passed on."""
    hint = f"restore the last export: twice-told restore {path.parent}/exports/<newest> --yes"
    if path.with_name(path.name + ".wal").exists():
        hint = f"`twice-told collect` mends a damaged log; else {hint}"
    return StoreError(
        f"{path} cannot be used ({type(error).__name__})", f"see that its disk has space; {hint}"
    )


def _tighten(path: Path) -> None:
    for file in (path, path.with_name(path.name + ".wal")):
        with contextlib.suppress(FileNotFoundError):
            file.chmod(PRIVATE_FILE)
