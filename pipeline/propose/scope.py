"""What all cases of a proposal share: files, a tool. Nothing where it is not sure."""

import os
import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path, PurePosixPath

from pipeline.masking.masker import mask
from pipeline.records import Case

FILE_TOOLS = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Read", "Write"})
_TOOL = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,40}\Z")
_PLAIN = re.compile(r"[\w./ @+-]+\Z")
"""A path without signs that mean something in a glob, and without a marker of the masker."""


def tool(cases: Sequence[Case]) -> str:
    """The tool that each of the cases is about, "" when they differ or one has none."""
    names = {case.tool for case in cases}
    name = names.pop() if len(names) == 1 else ""
    return name if _TOOL.match(name) else ""


def globs(cases: Sequence[Case], top: Path) -> tuple[str, ...]:
    """The folder of a working tree in which the files of all cases lie, as `src/api/**`; for one
    file at the top that file. Empty when any case points to none that exists there."""
    if not cases or any(case.tool not in FILE_TOOLS for case in cases):
        return ()
    paths = [_relative(case.gist, top) for case in cases]
    found = [path for path in paths if path is not None]
    if len(found) < len(paths):
        return ()
    folder = _common(path.parent.parts for path in found)
    if folder:
        return ("/".join(folder) + "/**",)
    return (str(found[0]),) if len(set(found)) == 1 else ()


def _relative(gist: str, top: Path) -> PurePosixPath | None:
    """The gist as a file below the top of the tree, or whose folder at least is there.

    The store holds masked paths, so the top is compared in its masked form.
    """
    for prefix in (f"{top}/", f"{mask(str(top)).text}/"):
        gist = gist.removeprefix(prefix)
    path = PurePosixPath(gist)
    if not gist or path.is_absolute() or ".." in path.parts or not _PLAIN.match(gist):
        return None
    return path if os.path.lexists(top / path) or _is_deep(top, path) else None


def _is_deep(top: Path, path: PurePosixPath) -> bool:
    return len(path.parts) > 1 and (top / path.parent).is_dir()


def _common(parts: Iterable[tuple[str, ...]]) -> list[str]:
    """The names with which all begin."""
    columns = zip(*parts, strict=False)
    return [names[0] for names in takewhile(lambda names: len(set(names)) == 1, columns)]
