"""Files of other programs that we change: read with care, replaced as a whole, never by surprise.

A link to a file is written through, so that it stays a link (dotfiles), except inside a repository,
where whoever wrote the repository chose what it points to (T47).
"""

import contextlib
import hashlib
import os
import stat
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipeline.errors import ConfigError, StoreError
from pipeline.files import PRIVATE_FILE, private_dir, write_private

SIZE_MAX = 4 << 20
BACKUPS_KEPT = 20


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
    follow: bool = True
    """Links may lead to it."""

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


def read(path: Path, follow: bool = True) -> Document:
    """A file that may be replaced, or a free place for one. Raises ConfigError for all else."""
    try:
        if not follow and (path.is_symlink() or path.parent.is_symlink()):
            raise ConfigError(
                f"{path} is reached through a link that the repository may have set",
                "replace the link by a file or folder of its own",
            )
        real = Path(os.path.realpath(path))
        _check_folder(path, real.parent)
        try:
            found = real.lstat()
        except FileNotFoundError:
            return Document(path, real, None, follow=follow)
        _check(path, found)
        mode = stat.S_IMODE(found.st_mode)
        return Document(path, real, _content(real), mode, found.st_gid, follow)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}", "mend its permissions"
        ) from error


def write(document: Document, data: bytes | None) -> None:
    """Replaces or (None) removes the file, unless it is no longer what was read.

    Mode and group stay; the links stay. Raises ConfigError when it changed, StoreError when the
    system refuses; the old content stands there in both cases.
    """
    now = read(document.path, document.follow)
    if now.real != document.real or _digest(now.data) != _digest(document.data):
        raise ConfigError(
            f"{document.path} was changed by somebody else in the meantime",
            "it was not touched; run the command again",
        )
    if data is None:
        try:
            document.real.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(
                f"cannot remove {document.path}: {error.strerror}", "mend the permissions"
            ) from error
        return
    write_private(document.real, data)
    with contextlib.suppress(OSError):  # a group that we are not in cannot be given
        os.chown(document.real, -1, document.group)
    document.real.chmod(document.mode)


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


def _check_folder(path: Path, folder: Path) -> None:
    if not folder.is_dir():
        raise ConfigError(
            f"there is no folder {folder}",
            "start Claude Code once, or name the right folder with --claude-dir",
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"{folder} may not be written", "mend its permissions")


def _check(path: Path, found: os.stat_result) -> None:
    reason = None
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
        raise ConfigError(f"{path} {reason}", "mend that first; it was not touched")


def _content(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        return file.read(SIZE_MAX + 1)


def _digest(data: bytes | None) -> str | None:
    return None if data is None else hashlib.sha256(data).hexdigest()
