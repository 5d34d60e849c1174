"""Files of our own: private by mode, replaced as a whole, never half written."""

import contextlib
import fcntl
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pipeline.errors import Busy, StoreError

PRIVATE_DIR = 0o700
PRIVATE_FILE = 0o600
LOCK_WAIT_SECONDS = 30.0


def private_dir(path: Path) -> Path:
    """Makes a folder that only its owner may enter, and tightens one of ours that is wider.

    Raises StoreError when it cannot be made, is a link or belongs to somebody else.
    """
    try:
        for folder in (*reversed(path.parents), path):
            if not folder.exists():
                folder.mkdir(mode=PRIVATE_DIR, exist_ok=True)
        found = path.lstat()
        if stat.S_ISLNK(found.st_mode):
            raise StoreError(
                f"{path} is a link", "put a folder in its place, or choose a home with --home"
            )
        if not stat.S_ISDIR(found.st_mode):
            raise StoreError(f"{path} is no folder", "move it away, or choose a home with --home")
        if found.st_uid != os.geteuid():
            raise StoreError(
                f"{path} belongs to another user", "choose a home of your own with --home"
            )
        if stat.S_IMODE(found.st_mode) != PRIVATE_DIR:
            path.chmod(PRIVATE_DIR)
    except OSError as error:
        raise StoreError(
            f"cannot make the folder {path}: {error.strerror}",
            "choose another home with --home, or mend its permissions",
        ) from error
    return path


def is_folder(path: Path) -> bool:
    """A folder stands there and may be seen; `Path.is_dir` raises below a barred folder."""
    try:
        return path.is_dir()
    except OSError:
        return False


def write_private(path: Path, data: bytes) -> None:
    """Replaces a file: temporary neighbour (0600, exclusive), every byte, fsync, rename, fsync.

    The old content or the new one stands there at any moment. Raises StoreError, with the old
    content untouched, when not all bytes can be written.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            _write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        Path(name).replace(path)
    except OSError as error:
        with contextlib.suppress(OSError, UnboundLocalError):
            Path(name).unlink()
        raise StoreError(
            f"cannot write {path}: {error.strerror}", "free some space or mend the permissions"
        ) from error
    _sync_dir(path.parent)


def _write_all(handle: int, data: bytes) -> None:
    """A full disk gives a short write, not an exception: go on until all bytes are out."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _sync_dir(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def lock(path: Path, wait_seconds: float = LOCK_WAIT_SECONDS) -> Iterator[None]:
    """Holds the one lock of a home. It dies with its process; there is nothing to clean up.

    The holder writes its process id into the file, only so that a waiting run can name it.
    Raises Busy when the lock is not free in time, StoreError when it cannot be opened.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE_FILE)
    except OSError as error:
        raise StoreError(
            f"cannot open the lock {path}: {error.strerror}", "mend its permissions or remove it"
        ) from error
    try:
        found = os.fstat(handle)
        if found.st_uid != os.geteuid() or not stat.S_ISREG(found.st_mode):
            raise StoreError(f"the lock {path} is no file of yours", "remove it")
        os.fchmod(handle, PRIVATE_FILE)
        _acquire(handle, path, wait_seconds)
        with contextlib.suppress(OSError):  # a full disk: the lock holds without a name in it
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)


def _acquire(handle: int, path: Path, wait_seconds: float) -> None:
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                holder = os.pread(handle, 20, 0).decode("ascii", "replace") or "unknown"
                raise Busy(
                    f"another run (process {holder}) holds {path}", "try again when it has ended"
                ) from error
            time.sleep(0.05)
