"""Files of other programs that we change: read with care, replaced as a whole, never by surprise.

A link to a file is written through, so that it stays a link (dotfiles), except inside a repository,
where whoever wrote the repository chose what it points to (T47): there every folder on the way is
opened by its handle, and no link is followed.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from pipeline.errors import ConfigError, StoreError
from pipeline.files import PRIVATE_FILE, private_dir, write_private

SIZE_MAX = 4 << 20
BACKUPS_KEPT = 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Document:
    """A file as it was read."""

    path: Path
    """As it was named."""
    real: Path
    """What is replaced: the file behind the links."""
    data: bytes | None
    """None when there is no file."""
    mode: int = PRIVATE_FILE
    group: int = -1
    within: Path | None = None
    """The repository it lies in: no link below this folder is followed. None: links may be."""

    @property
    def text(self) -> str:
        """Decoded, with its byte-order mark and line ends; "" for no file. Raises ConfigError."""
        try:
            return (self.data or b"").decode()
        except UnicodeDecodeError as error:
            line = (self.data or b"").count(b"\n", 0, error.start) + 1
            begin = (self.data or b"").rfind(b"\n", 0, error.start) + 1
            raise ConfigError(
                f"{self.path} is not UTF-8: line {line}, byte {error.start - begin + 1}",
                "save it as UTF-8; it was not touched",
            ) from error


def read(path: Path, within: Path | None = None) -> Document:
    """A file that may be replaced, or a free place for one. Raises ConfigError for all else.

    Folders below `within` need not exist yet.
    """
    free = Document(path, path if within else Path(os.path.realpath(path)), None, within=within)
    try:
        with _folder(free) as handle:
            found = _look(handle, free) if handle is not None else None
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}", "mend its permissions"
        ) from error
    return found or free


def write(document: Document, data: bytes | None) -> None:
    """Replaces or (None) removes the file, unless it is no longer what was read.

    Mode and group stay; the links stay. Raises ConfigError when it changed, StoreError when the
    system refuses; the old content stands there in both cases.
    """
    try:
        with _folder(document, make=data is not None) as handle:
            if handle is None:
                return
            if data is None:
                _check_same(handle, document)
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(document.real.name, dir_fd=handle)
            else:
                _replace(handle, document, data)
            os.fsync(handle)
    except OSError as error:
        what = "remove" if data is None else "write"
        raise StoreError(
            f"cannot {what} {document.path}: {error.strerror}",
            "free some space or mend the permissions",
        ) from error


def drop_folder(document: Document) -> None:
    """Removes the folder that a document of a repository lay in, unless something is in it."""
    folder = replace(document, path=document.path.parent, real=document.real.parent)
    with contextlib.suppress(OSError, ConfigError), _folder(folder) as handle:
        if handle is not None:
            os.rmdir(folder.path.name, dir_fd=handle)


def backup(document: Document, folder: Path, now: datetime) -> Path | None:
    """Keeps the content as it was read under a dated name; the oldest of many are dropped."""
    if document.data is None:
        return None
    private_dir(folder)
    path = folder / f"{now:%Y%m%dT%H%M%S%f}-{document.path.name}"
    write_private(path, document.data)
    prune(folder)
    return path


def prune(folder: Path) -> None:
    """Keeps the newest backups; their names begin with their date."""
    for old in sorted(folder.iterdir())[:-BACKUPS_KEPT]:
        old.unlink(missing_ok=True)


def usual_mode() -> int:
    """Rights of a new file by the umask, which can only be asked for by setting it."""
    umask = os.umask(0o077)
    os.umask(umask)
    return 0o666 & ~umask


@contextlib.contextmanager
def _folder(document: Document, make: bool = False) -> Iterator[int | None]:
    """A handle of the folder that the file lies in; None where it may be made and is not."""
    path, within = document.path, document.within
    if within is None:
        _check_folder(document.real.parent)
    handle: int | None = os.open(within or document.real.parent, _FOLDER)
    try:
        for name in path.relative_to(within).parts[:-1] if within else ():
            assert handle is not None
            inner = _inner(handle, name, document, make)
            os.close(handle)
            handle = inner
            if handle is None:
                break
        if handle is not None and not os.access(".", os.W_OK | os.X_OK, dir_fd=handle):
            raise ConfigError(f"{path.parent} may not be written", "mend its permissions")
        yield handle
    finally:
        if handle is not None:
            os.close(handle)


def _inner(handle: int, name: str, document: Document, make: bool) -> int | None:
    """The folder of that name inside another, never through a link."""
    made = False
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(name, dir_fd=handle)
            made = True
    try:
        inner = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=handle)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        if stat.S_ISLNK(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode):
            raise _led_away(document.path) from error
        raise ConfigError(
            f"{document.path}: {name} is no folder", "move it away, or name another file"
        ) from error
    if made:
        os.fchmod(inner, document.mode | (document.mode & 0o444) >> 2)
    return inner


def _look(handle: int, free: Document) -> Document | None:
    """The file as it stands in its folder, None for a free place. Raises ConfigError, OSError."""
    name = free.real.name
    try:
        _check(free, os.stat(name, dir_fd=handle, follow_symlinks=False))
        opened = os.open(name, os.O_RDONLY | _FILE, dir_fd=handle)
    except FileNotFoundError:
        return None
    with os.fdopen(opened, "rb") as file:
        found = os.fstat(opened)
        _check(free, found)
        data = file.read(SIZE_MAX + 1)
    mode = stat.S_IMODE(found.st_mode)
    return Document(free.path, free.real, data, mode, found.st_gid, free.within)


def _replace(handle: int, document: Document, data: bytes) -> None:
    """Temporary neighbour with all bytes and rights, one last look, rename."""
    _clear(handle, document)
    name = f"{_prefix(document)}{secrets.token_hex(4)}"
    temporary = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | _FILE, 0o600, dir_fd=handle)
    try:
        fcntl.flock(temporary, fcntl.LOCK_EX | fcntl.LOCK_NB)
        view = memoryview(data)
        while view:
            view = view[os.write(temporary, view) :]
        with contextlib.suppress(OSError):  # a group that we are not in cannot be given
            os.fchown(temporary, -1, document.group)
        os.fchmod(temporary, document.mode)
        os.fsync(temporary)
        _check_same(handle, document)
        os.replace(name, document.real.name, src_dir_fd=handle, dst_dir_fd=handle)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name, dir_fd=handle)
        raise
    finally:
        os.close(temporary)


def _prefix(document: Document) -> str:
    return f".{document.real.name}.twice-told-"


def _clear(handle: int, document: Document) -> None:
    """Removes what a killed run left half written; a living one holds a lock on its file."""
    for name in os.listdir(handle):
        if name.startswith(_prefix(document)):
            with contextlib.suppress(OSError):
                left = os.open(name, os.O_RDWR | _FILE, dir_fd=handle)
                try:
                    fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(name, dir_fd=handle)
                finally:
                    os.close(left)


def _check_same(handle: int, document: Document) -> None:
    now = _look(handle, document)
    moved = document.within is None and Path(os.path.realpath(document.path)) != document.real
    if moved or _digest(now.data if now else None) != _digest(document.data):
        raise ConfigError(
            f"{document.path} was changed by somebody else in the meantime",
            "it was not touched; run the command again",
        )


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise ConfigError(
            f"there is no folder {folder}",
            "start Claude Code once, or name the right folder with --claude-dir",
        )


def _check(document: Document, found: os.stat_result) -> None:
    reason = None
    if stat.S_ISLNK(found.st_mode) and document.within:
        raise _led_away(document.path)
    if not stat.S_ISREG(found.st_mode):
        reason = "is no regular file"
    elif found.st_uid != os.geteuid():
        reason = "belongs to another user"
    elif not found.st_mode & stat.S_IWUSR:
        reason = "is read-only"
    elif found.st_nlink > 1:
        reason = "has several names (hard links), and replacing it would part them"
    elif found.st_size > SIZE_MAX:
        reason = f"is larger than {SIZE_MAX >> 20} MiB"
    if reason:
        raise ConfigError(f"{document.path} {reason}", "mend that first; it was not touched")


def _led_away(path: Path) -> ConfigError:
    return ConfigError(
        f"{path} is reached through a link that the repository may have set",
        "replace the link by a file or folder of its own, or name another file",
    )


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
