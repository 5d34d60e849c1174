"""Which repository a working folder belongs to. Decided by git itself, never by a folder's name.

Everything that a repository ships is untrusted here: git runs as git.py says, and a `.git` file
that points into somebody else's repository is not believed.
"""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pipeline import git
from pipeline.files import is_folder

_WORKTREE = re.compile(r"(.*?)/\.claude/worktrees/[^/]+(?:/.*)?\Z", re.DOTALL)
_SCP_URL = re.compile(r"(?:[^@/]+@)?(?P<host>[^:/]+):(?P<path>(?!//).+)\Z")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as the store knows it."""

    key: str
    """Keyed by nothing but the identity: 32 hex digits, equal on every machine with one origin."""
    base_name: str
    """Short name before it is made unique: `[a-z0-9][a-z0-9._-]{0,63}`."""
    certain: bool
    """git said so; False for a folder that is gone or lies in no repository."""
    tree: str = ""
    """`tree_key` of the working tree, or of the folder itself; "" for one that is gone."""


class Repositories:
    """Answers for one run; each folder is asked about once."""

    def __init__(self, known: Mapping[str, Repository] | None = None) -> None:
        """`known` maps `folder_key`s to what earlier runs learned, for folders that are gone."""
        self._known = dict(known or {})
        self._answers: dict[tuple[str, str], Repository] = {}

    def of(self, cwd: str, first_cwd: str) -> Repository:
        """The repository of a folder; `first_cwd` is where its session began.

        A folder that is gone, or never was on this machine, is its own repository; but a worktree
        belongs to its repository, and what lay in the folder in which the session began to that.
        """
        pair = (cwd, first_cwd)
        if pair not in self._answers:
            self._answers[pair] = self._find(cwd, first_cwd)
        return self._answers[pair]

    def _find(self, cwd: str, first_cwd: str) -> Repository:
        top, first = without_worktree(cwd), without_worktree(first_cwd)
        if first and top.startswith(first.rstrip("/") + "/"):
            top = first
        for folder in dict.fromkeys((cwd, top)):
            found = from_git(folder) or self._known.get(folder_key(folder))
            if found is not None:
                return found
        return _repository(f"path:{top}", Path(top).name, False, tree_key(top))


def folder_key(cwd: str) -> str:
    """A folder as the store remembers it: its path holds a user's name, so only a hash is kept."""
    return hashlib.sha256(cwd.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def tree_key(top: str) -> str:
    """Names the hook's file for a working tree: SHA-256 of its real path; "" if it is gone."""
    if not os.path.isabs(top) or "\0" in top or not is_folder(Path(top)):
        return ""
    return hashlib.sha256(os.fsencode(os.path.realpath(top))).hexdigest()


def without_worktree(cwd: str) -> str:
    """`<repo>/.claude/worktrees/<name>` belongs to `<repo>`."""
    found = _WORKTREE.match(cwd)
    return found[1] if found else cwd


def from_git(cwd: str) -> Repository | None:
    """The repository of an existing folder, else None. Raises nothing."""
    if not os.path.isabs(cwd) or "\0" in cwd or not is_folder(Path(cwd)):
        return None
    asked = ("--show-toplevel", "--absolute-git-dir", "--git-common-dir")
    lines = git.output(cwd, "rev-parse", *asked).splitlines()
    if len(lines) != 3:
        return None
    top, git_dir = Path(lines[0]), Path(lines[1])
    common = Path(os.path.realpath(Path(os.path.realpath(cwd), lines[2])))
    if not _owns(top, git_dir, common):
        return _repository(f"path:{os.path.realpath(top)}", top.name, True, tree_key(str(top)))
    tree = tree_key(str(top))
    origin = git.output(cwd, "config", "--get", "remote.origin.url")
    identity = normalise_origin(origin.strip()) if origin else ""
    if identity:
        return _repository(f"origin:{identity}", identity.rpartition("/")[2], True, tree)
    main = common.parent if common.name == ".git" else common
    return _repository(f"path:{os.path.realpath(main)}", main.name, True, tree)


def _owns(top: Path, git_dir: Path, common: Path) -> bool:
    """The work tree and its git folder name each other; a forged `.git` file is one-sided."""
    if os.path.realpath(git_dir) == os.path.realpath(top / ".git"):
        return True
    if os.path.realpath(git_dir) != os.path.realpath(common):
        try:
            link = git_dir / "gitdir"
            if not link.is_file():
                return False
            back = link.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return False
        return os.path.realpath(back) == os.path.realpath(top / ".git")
    worktree = git.output(str(git_dir), "config", "--get", "core.worktree")
    return bool(worktree) and os.path.realpath(git_dir / worktree.strip()) == os.path.realpath(top)


def normalise_origin(url: str) -> str:
    """`host/path` of a remote, the same for ssh and https, without a user; "" if it is local."""
    rest = url.strip()
    if "://" in rest:
        scheme, _, rest = rest.partition("://")
        if scheme.lower() == "file":
            return ""
        host, _, path = rest.partition("/")
        host = host.rpartition("@")[2].partition(":")[0]
    else:
        found = _SCP_URL.match(rest)
        if found is None:
            return ""
        host, path = found["host"], found["path"]
    path = re.sub(r"/+", "/", path).strip("/").removesuffix(".git").rstrip("/")
    return f"{host.lower()}/{path}" if host and path else ""


def _repository(identity: str, name: str, certain: bool, tree: str) -> Repository:
    key = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return Repository(key, short_name(name), certain, tree)


def short_name(name: str) -> str:
    """A name that is safe in paths, ledgers and markup, whatever it is made from."""
    kept = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-._")[:64].rstrip("-._")
    return kept or "unnamed"
