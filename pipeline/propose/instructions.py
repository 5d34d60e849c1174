"""The files that tell Claude Code what to do in a folder, with what they import.

As 2.1.332 loads them (Nov 2026): `@path` relative to the importing file, `~` and absolute ones too,
four hops deep. Only regular files of a sane size are read.
"""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.documents import SIZE_MAX

HOPS = 4
FILES_MAX = 200
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_IMPORT = re.compile(r"(?:^|(?<=[^\w/])|(?<=_)|(?<=\\/))@([\w~./\\-]\S*)")
_IMPORT_IN_CODE = re.compile(r"(?<=\s)@([\w~./\\-]\S*)")


@dataclass(frozen=True, slots=True)
class Instructions:
    """One file."""

    path: Path
    lines: tuple[tuple[int, str], ...]
    """Number (from 1) and text of each line outside of code fences."""


def instructions(top: Path, claude_dirs: Sequence[Path]) -> list[Instructions]:
    """All files that are loaded at the top of a working tree; each once, imports behind theirs."""
    found: dict[str, Instructions] = {}
    for path in _first(top, claude_dirs):
        _load(path, HOPS, found)
    return list(found.values())


def imports(line: str) -> list[str]:
    """The paths that a line outside of code fences imports; rather one too many than one too few.

    The client looks at the text between the marks of Markdown piece by piece, and an import stands
    at the beginning of a piece or behind whitespace: behind `**`, `[`, a tag, an escape or a code
    span too, and in an item of a list even within a code span (2.1.332, tried Dec 2026).
    """
    return _IMPORT.findall(_CODE.sub(" ", line)) + _IMPORT_IN_CODE.findall(line)


def _first(top: Path, claude_dirs: Sequence[Path]) -> Iterator[Path]:
    for folder in claude_dirs:
        yield folder / "CLAUDE.md"
        yield from _rules(folder / "rules")
    for name in ("CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md"):
        yield top / name
    yield from _rules(top / ".claude" / "rules")


def _rules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.md"))[:FILES_MAX]


def _load(path: Path, hops: int, found: dict[str, Instructions]) -> None:
    key = os.path.realpath(path)
    text = None if key in found or len(found) >= FILES_MAX else _text(path)
    if text is None:
        return
    lines = tuple(_outside_code(text))
    found[key] = Instructions(path, lines)
    if hops:
        for _, line in lines:
            for name in imports(line):
                if target := _target(name, Path(key).parent):
                    _load(target, hops - 1, found)


def _target(name: str, folder: Path) -> Path | None:
    try:
        return folder / Path(name.rstrip(".,;:)")).expanduser()
    except RuntimeError:  # no such user
        return None


def _text(path: Path) -> str | None:
    """None for what is missing or no ordinary file: an import can name a pipe or a device."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode) or found.st_size > SIZE_MAX:
                return None
            return file.read(SIZE_MAX).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def _outside_code(text: str) -> Iterator[tuple[int, str]]:
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip(" `~\t"):
                fence = ""
        elif mark:
            fence = mark[1]
        else:
            yield number, line
