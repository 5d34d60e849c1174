"""Which file an accepted rule goes to, and where one may stand.

AGENTS.md counts only as long as a project has no instructions of its own (2.1.332, Nov 2026), so a
new CLAUDE.md beside it would switch it off; `.claude/rules/` does not.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline import documents
from pipeline.cases.store import Store
from pipeline.documents import Document
from pipeline.errors import PipelineError, UsageError
from pipeline.propose.books import name_of
from pipeline.transcripts.repository import from_git, tree_key

RULES_NAME = "twice-told"
_RULES_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}\.md\Z")
_HEAD = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?\n)---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_OWN_NAMES = ("CLAUDE.md", "CLAUDE.local.md")


@dataclass(frozen=True, slots=True)
class Tree:
    """A working tree."""

    top: Path
    repo: str
    """Short name of its repository."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file that may hold rules."""

    path: Path
    within: Path | None
    """Top of its working tree; None for the user's own files."""
    note: str = ""
    """What a person should know about the choice."""

    @property
    def is_rules(self) -> bool:
        """As the function `is_rules`."""
        return is_rules(self.path)

    def read(self) -> Document:
        """Raises ConfigError. A new file of a repository gets the usual rights."""
        found = documents.read(self.path, self.within)
        if found.data is None and self.within:
            return replace(found, mode=documents.usual_mode())
        return found


def is_rules(path: Path) -> bool:
    """In a folder of rules, each of which may be bound to some files."""
    return path.parent.name == "rules"


def tree(folder: Path, store: Store | None) -> Tree | None:
    """The working tree around a folder, by git; None where there is none."""
    real = Path(os.path.realpath(folder))
    found = from_git(str(real))
    if found is None:
        return None
    top = next((f for f in (real, *real.parents) if tree_key(str(f)) == found.tree), None)
    return Tree(top, name_of(found, store)) if top else None


def default(top: Path, globs: Sequence[str]) -> Target:
    """Where a rule goes when nobody names a file."""
    own, inner = top / "CLAUDE.md", top / ".claude" / "CLAUDE.md"
    if own.is_symlink() and os.path.normpath(top / own.readlink()) == str(top / "AGENTS.md"):
        return _rules(top, globs, "CLAUDE.md is a link to AGENTS.md")
    for path in (own, inner):
        if os.path.lexists(path) and not (_has_agents(top) and _is_blank(path, top)):
            return Target(path, top)
    if _has_agents(top):
        return _rules(top, globs, "AGENTS.md counts only while there is no CLAUDE.md")
    return Target(own, top)


def named(text: str, cwd: Path, repo: str, store: Store | None, claude: Sequence[Path]) -> Target:
    """The file that a person names. Raises UsageError for all that Claude Code would not read as
    instructions of that repository or of the user."""
    try:
        path = Path(os.path.normpath(cwd / Path(text).expanduser()))
    except (RuntimeError, ValueError) as error:
        raise UsageError("--target names no file", "write the whole path") from error
    for folder in claude:
        if path == folder / "CLAUDE.md" or (path.parent == folder / "rules" and _has_name(path)):
            return Target(path, None, "this file is read in every repository")
    for top in _tops(path):
        found = tree(top, store)
        if found and tree_key(str(top)) == tree_key(str(found.top)):
            if found.repo != repo:
                raise UsageError(
                    f"--target lies in {found.repo}, and the proposal is about {repo}",
                    f"name a file of {repo}, or your own CLAUDE.md",
                )
            return Target(path, top, _warning(path, top))
    raise UsageError(
        "--target is no file that Claude Code reads as instructions",
        f"in {repo}: CLAUDE.md, CLAUDE.local.md, .claude/CLAUDE.md, .claude/rules/NAME.md;"
        " in your Claude Code folder: CLAUDE.md, rules/NAME.md",
    )


def usual(top: Path | None, claude: Sequence[Path]) -> Iterator[Target]:
    """All files in which a rule of ours may stand."""
    if top:
        yield from (Target(top / name, top) for name in _OWN_NAMES)
        yield Target(top / ".claude" / "CLAUDE.md", top)
        yield from (Target(p, top) for p in sorted((top / ".claude" / "rules").glob("*.md")))
    for folder in claude:
        yield Target(folder / "CLAUDE.md", None)
        yield from (Target(path, None) for path in sorted((folder / "rules").glob("*.md")))


def head(target: Target, globs: Sequence[str]) -> bytes:
    """What a new file of rules begins with: the files for which it is read."""
    if not (target.is_rules and target.within and globs):
        return b""
    names = "".join(f"  - {json.dumps(glob)}\n" for glob in globs)
    return f"---\npaths:\n{names}---\n".encode()


def paths_of(data: bytes) -> str | None:
    """What the front matter of a file of rules binds it to, as it is written; None without."""
    found = _HEAD.match(data)
    _, has, rest = found[1].partition(b"paths:") if found else (b"", b"", b"")
    return " ".join(rest.decode("utf-8", "replace").split()) if has else None


def head_of(data: bytes) -> bytes:
    """The front matter of a file of rules, when it is one that we write."""
    found = _HEAD.match(data)
    return found[0] if found and found[1].startswith(b"paths:\n") else b""


def _rules(top: Path, globs: Sequence[str], note: str) -> Target:
    """The first of our files that is bound to the same files, or a new one."""
    folder = top / ".claude" / "rules"
    number = 1
    while True:
        name = RULES_NAME if number == 1 else f"{RULES_NAME}-{number}"
        found = Target(folder / f"{name}.md", top, note)
        data = documents.read(found.path, top).data
        if data is None or paths_of(data) == paths_of(head(found, globs)):
            return found
        number += 1


def _has_name(path: Path) -> bool:
    """One that a file of rules may have."""
    return _RULES_FILE.match(path.name) is not None


def _tops(path: Path) -> Iterator[Path]:
    """The working trees of which a path could be a file of instructions."""
    if path.name in _OWN_NAMES:
        yield path.parent
    if path.name == "CLAUDE.md" and path.parent.name == ".claude":
        yield path.parents[1]
    if is_rules(path) and path.parents[1].name == ".claude" and _has_name(path):
        yield path.parents[2]


def _warning(path: Path, top: Path) -> str:
    """Beside AGENTS.md any text in one of these files switches it off."""
    others = (top / name for name in (*_OWN_NAMES, ".claude/CLAUDE.md"))
    if is_rules(path) or not _has_agents(top):
        return ""
    if any(os.path.lexists(other) and not _is_blank(other, top) for other in others):
        return ""
    return "AGENTS.md will not be read any more; .claude/rules/NAME.md would leave it on"


def _has_agents(top: Path) -> bool:
    return os.path.lexists(top / "AGENTS.md")


def _is_blank(path: Path, top: Path) -> bool:
    """Nothing stands in it. What cannot be read is left to whoever writes to it."""
    try:
        return not (documents.read(path, top).data or b"").strip()
    except PipelineError:
        return False
