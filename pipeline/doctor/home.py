"""The store, the place it lies in, and who may read it."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from pipeline.cases import place
from pipeline.cases.store import FILE_NAME
from pipeline.doctor.finding import Finding, ok, quoted, red, warn
from pipeline.doctor.runs import AGAIN
from pipeline.doctor.scene import Scene
from pipeline.errors import Busy, OlderStoreError, PipelineError

OTHERS = stat.S_IRWXG | stat.S_IRWXO


def store(scene: Scene) -> Finding:
    """It is there, of a version that we know, and every row can be read."""
    stored, path = scene.stored, scene.config.local_cases / FILE_NAME
    if isinstance(stored, Busy):
        return warn(stored.message, "twice-told doctor  # again, when that has ended")
    if isinstance(stored, OlderStoreError):
        return warn(stored.message, AGAIN)
    if isinstance(stored, PipelineError):
        return red(stored.message, _mending(scene, path, stored.message))
    if stored is not None:
        return ok(f"{stored.cases} cases, all readable")
    if path.exists():
        return warn(f"{path} was never finished", AGAIN)
    return red(f"there is no {path}", _way_back(scene, AGAIN))


def _mending(scene: Scene, path: Path, message: str) -> str:
    """By what the store says of itself."""
    if message.startswith("the store has schema"):
        return "twice-told --version  # and install the newer one again"
    if message.endswith("is no file of yours"):
        return f"ls -l {quoted(path)}"
    if path.with_name(f"{path.name}.wal").exists():  # collecting sets a damaged log aside
        return "twice-told collect"
    return _way_back(scene, f"mv {quoted(path)} {quoted(path)}.damaged; {AGAIN}")


def _way_back(scene: Scene, otherwise: str) -> str:
    """The newest export; else reading everything again, into a new store."""
    exports = sorted((scene.config.local_cases / "exports").glob("*.gz"))
    return f"twice-told restore {quoted(exports[-1])}" if exports else otherwise


def disk(scene: Scene) -> Finding:
    """A local disk with room (T20, T18)."""
    folder = scene.config.local_cases
    there = next(parent for parent in (folder, *folder.parents) if parent.exists())
    try:
        place.check(there, scene.mounts)
    except PipelineError as error:
        network = place.file_system(there, scene.mounts) in place.REMOTE_SYSTEMS
        next_ = "twice-told --home DIR nightly  # DIR on a local disk" if network else "df -h"
        return red(error.message, next_)
    return ok(f"local, with room ({there})")


def private(scene: Scene, me: int | None = None) -> Finding:
    """What we keep belongs to `me` and nobody else can enter it (0700, 0600).

    The home itself may be a checkout that others read, but nobody else may write into it (T21).
    """
    home, folder = scene.config.home, scene.config.local_cases
    me = os.geteuid() if me is None else me
    wide = []
    for path, limit in _kept(home, folder):
        try:
            found = path.lstat()
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(found.st_mode):
            return red(f"{path} is a link", f"ls -l {quoted(path)}")
        if found.st_uid != me:
            return red(
                f"{path} belongs to another user",
                f'sudo chown -R "$(id -un)" {quoted(path)}',
            )
        if found.st_mode & limit:
            wide.append((path, stat.S_IMODE(found.st_mode)))
    if not wide:
        return ok("yours alone" if folder.exists() else "nothing is kept yet")
    path, mode = wide[0]
    more = f" and {len(wide) - 1} more" if len(wide) > 1 else ""
    right = "go-w" if path == home else "go="
    files = " ".join(quoted(path) for path, _ in wide[:3])
    target = f"-R {right} {quoted(folder)}" if len(wide) > 3 else f"{right} {files}"
    return red(f"{path} is open to others ({mode:04o}){more}", f"chmod {target}")


def _is_own_group(path: Path) -> bool:
    """Debian and others give each user a group of their own, of the same number, and a umask that
    lets it write."""
    try:
        found = path.stat()
    except OSError:
        return False
    return found.st_gid == found.st_uid


def _kept(home: Path, folder: Path) -> Iterator[tuple[Path, int]]:
    """Paths, and the bits that none of them may have. A checkout's own files are left out."""
    yield home, stat.S_IWOTH if _is_own_group(home) else stat.S_IWGRP | stat.S_IWOTH
    yield folder, OTHERS
    for path in sorted(folder.glob(f"{FILE_NAME}*")):
        yield path, OTHERS
    for top in sorted(path for path in folder.glob("*") if path.is_dir() or path.is_symlink()):
        yield top, OTHERS
        if not top.is_symlink():
            for at, folders, files in os.walk(top):
                yield from ((Path(at, name), OTHERS) for name in (*folders, *files))
