"""Finds the transcripts under Claude Code's folders.

Regular files only: a link, a folder, a device or a pipe with the right name is counted and left
alone, so that nothing outside the roots is read and nothing endless is opened.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TranscriptFile:
    """A transcript and what its directory entry said before it was opened."""

    path: Path
    root: Path
    """The Claude folder it was found under."""
    subagent: bool
    """Written by a subagent: only the few lines of G1 in the decision procedure count there."""
    device: int
    inode: int
    size: int
    mtime_ns: int

    @property
    def stat_key(self) -> tuple[int, int, int, int]:
        """A file whose four figures are unchanged is not opened again."""
        return self.device, self.inode, self.size, self.mtime_ns


@dataclass(slots=True)
class Found:
    """The result of one walk."""

    files: list[TranscriptFile] = field(default_factory=list)
    passed_over: Counter[str] = field(default_factory=Counter)
    """Entries that look like transcripts and are not read, by reason: link, not_a_file, denied."""
    roots: list[Path] = field(default_factory=list)
    """Roots that hold a `projects` folder."""


def discover(claude_dirs: Iterable[Path]) -> Found:
    """All transcripts under the roots, sorted by path. Never raises for what it finds.

    Layouts (1.0.0-2.1.332, seen Nov 2026): `projects/<slug>/<session>.jsonl`, subagents as
    `projects/<slug>/agent-*.jsonl` (2.0.x) or below `<slug>/<session>/subagents/` (2.1.x).
    """
    found = Found()
    for root in claude_dirs:
        projects = root / "projects"
        if not _is_there(projects, found):
            continue
        found.roots.append(root)
        for folder in _entries(projects, found):
            if _is_folder(folder, found):
                _project(Path(folder.path), root, found)
    found.files.sort(key=lambda file: file.path)
    return found


def _project(folder: Path, root: Path, found: Found) -> None:
    for entry in _entries(folder, found):
        if entry.name.endswith(".jsonl"):
            _add(entry, root, entry.name.startswith("agent-"), found)
        elif _is_folder(entry, None):
            subagents = Path(entry.path) / "subagents"
            if _is_there(subagents, found) and not subagents.is_symlink():
                _walk_subagents(subagents, root, found)


def _walk_subagents(top: Path, root: Path, found: Found) -> None:
    """Links are not followed, so a loop of links cannot trap the walk."""

    def barred(_: OSError) -> None:
        found.passed_over["denied"] += 1

    for folder, _, _ in os.walk(top, onerror=barred, followlinks=False):
        for entry in _entries(Path(folder), found):
            if entry.name.startswith("agent-") and entry.name.endswith(".jsonl"):
                _add(entry, root, True, found)


def _entries(folder: Path, found: Found) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        found.passed_over["denied"] += 1


def _is_there(folder: Path, found: Found) -> bool:
    """A folder, perhaps behind a link; one that a barred folder hides is counted."""
    try:
        return folder.is_dir()
    except OSError:
        found.passed_over["denied"] += 1
        return False


def _is_folder(entry: os.DirEntry[str], found: Found | None) -> bool:
    if entry.is_symlink():
        if found is not None:
            found.passed_over["link"] += 1
        return False
    return entry.is_dir(follow_symlinks=False)


def _add(entry: os.DirEntry[str], root: Path, subagent: bool, found: Found) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        found.passed_over["denied"] += 1
        return
    if stat.S_ISLNK(status.st_mode):
        found.passed_over["link"] += 1
    elif not stat.S_ISREG(status.st_mode):
        found.passed_over["not_a_file"] += 1
    else:
        found.files.append(
            TranscriptFile(
                Path(entry.path),
                root,
                subagent,
                status.st_dev,
                status.st_ino,
                status.st_size,
                status.st_mtime_ns,
            )
        )
