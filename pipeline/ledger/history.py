"""A ledger's versions in git: none may lack a line that a version before it holds.

Every merge is looked at with each of its parents: git's usual simplification of a file's history
follows one side and would hide a merge that drops the other's lines.
"""

import functools
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline import git
from pipeline.errors import LedgerError
from pipeline.files import is_folder
from pipeline.ledger.book import read_bytes
from pipeline.ledger.event import Event, parse
from pipeline.ledger.report import Problem

LIST_SECONDS = 120.0
_LITERAL = "--literal-pathspecs"
_BRANCHES = ("refs/heads", "refs/remotes", "refs/stash")

Versions = dict[str, tuple[str | None, list[str]]]
"""By commit: the ledger's blob, None where there is no such file, and the nearest commits before it
that are in here too."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a ledger lies in a repository."""

    top: str
    """The working tree."""
    name: str
    """The ledger's path from there."""


def place(path: Path) -> Place | None:
    """None outside git. Raises LedgerError where there is a repository and git does not answer."""
    folder = next((folder for folder in path.parents if is_folder(folder)), Path("/"))
    top = git.output(str(folder), "rev-parse", "--show-toplevel").removesuffix("\n")
    if not top:
        if any((parent / ".git").exists() for parent in path.parents):
            raise LedgerError(
                f"git does not answer in {folder}", f"see what it says: git -C {folder} status"
            )
        return None
    real = os.path.realpath(path.parent)
    name = os.path.relpath(os.path.join(real, path.name), os.path.realpath(top))
    if "\n" in name or name.startswith(".."):
        raise LedgerError(f"git cannot be asked about {path}", "name a ledger in another folder")
    return Place(top, name)


def head(place: Place) -> str:
    """The present commit, "" when there is none yet; whether it can be read shows later."""
    return git.output(place.top, "rev-parse", "--verify", "--quiet", "HEAD").strip()


def is_shallow(place: Place) -> bool:
    """The older commits are not on this machine."""
    return git.output(place.top, "rev-parse", "--is-shallow-repository").strip() == "true"


def versions(place: Place, objects: git.Objects) -> Versions:
    """The commits that touch the ledger, and all merges, oldest first. Raises LedgerError."""
    listed = git.answer(
        place.top, _LITERAL, "rev-list", "--full-history", "--topo-order", "--reverse", "--parents",
        "HEAD", "--", place.name, seconds=LIST_SECONDS,
    )  # fmt: skip
    if listed is None:
        raise LedgerError("git cannot list the ledger's history", f"git -C {place.top} fsck")
    commits = [row.split() for row in listed.decode("ascii").splitlines()]
    blobs = _blobs(place, [commit for commit, *_ in commits], objects)
    return {row[0]: (blob, row[1:]) for row, blob in zip(commits, blobs, strict=True)}


def elsewhere(place: Place, objects: git.Objects) -> tuple[Event, ...]:
    """The events on all branches, also those of other machines, and in the stash."""
    names = git.output(place.top, "for-each-ref", "--format=%(objectname)", *_BRANCHES).split()
    blobs = {blob for blob in _blobs(place, names, objects) if blob}
    found = {text for blob in blobs for text in (objects.blob(blob) or b"").split(b"\n")}
    return read_bytes(b"\n".join(found)).events


def staged(place: Place) -> str | None:
    """The ledger's blob in the index; None when it has none, "" in an unfinished merge."""
    listed = git.output(place.top, _LITERAL, "ls-files", "--stage", "-z", "--", place.name)
    entries = [entry.split() for entry in listed.split("\0") if entry]
    if not entries:
        return None
    return entries[0][1] if entries[0][2] == "0" else ""


def check(place: Place, versions: Versions, objects: git.Objects) -> Iterator[Problem]:
    """A problem for each commit that lacks lines of a parent."""
    content = functools.lru_cache(maxsize=16)(objects.blob)
    for commit, (blob, parents) in versions.items():
        for parent in parents:
            before = versions[parent][0] if parent in versions else None
            if before is None or before == blob:
                continue
            old, new = content(before), content(blob) if blob else b""
            if old is None or new is None:
                yield Problem(
                    f"commit {commit}",
                    "git cannot give the ledger of this commit or of its parent",
                    f"git -C {place.top} fsck  # in a partial clone: fetch --refetch --no-filter",
                )
            elif gone := missing(old, new):
                yield Problem(
                    f"commit {commit}",
                    f"{lines(gone)} of commit {parent} disappeared or changed",
                    f"git -C {place.top} diff {parent[:12]} {commit[:12]} -- {place.name}"
                    "  # bring them back, in any order",
                )


def missing(old: bytes, new: bytes) -> list[str]:
    """Ids of the events of an older version that are not in a newer one, as they stood. A line that
    is no event may go: that mends a ledger."""
    if new.startswith(old) and old[-1:] in (b"\n", b""):
        return []
    gone = dict.fromkeys(old.split(b"\n")).keys() - set(new.split(b"\n"))
    return sorted(found.id for found in map(parse, gone) if not isinstance(found, str))


def lines(ids: list[str]) -> str:
    """For a message: how many, and one of them."""
    return f"{len(ids)} line{'s' * (len(ids) > 1)} ({ids[0]}{' …' * (len(ids) > 1)})"


def _blobs(place: Place, commits: list[str], objects: git.Objects) -> list[str | None]:
    """The ledger's blob in each commit, None where it has none. Raises LedgerError."""
    found = _types(place, [f"{commit}:{place.name}" for commit in commits])
    blobs = [name if kind == "blob" else None for name, kind in found]
    bare = [at for at, blob in enumerate(blobs) if blob is None]
    folder, _, name = place.name.rpartition("/")
    trees = _types(place, [f"{commits[at]}:{folder}" for at in bare])
    listed = functools.cache(objects.tree)
    for at, (tree, kind) in zip(bare, trees, strict=True):
        if kind == "tree":  # git says "missing" of a blob that it cannot give, too
            blobs[at] = _entry(listed(tree) or b"", name, len(commits[at]) // 2)
    return blobs


def _entry(tree: bytes, name: str, id_bytes: int) -> str | None:
    _, found, rest = tree.partition(b" " + os.fsencode(name) + b"\0")
    return rest[:id_bytes].hex() if found else None


def _types(place: Place, names: list[str]) -> list[tuple[str, str]]:
    """Id and type of each object; the type is "missing" when there is none."""
    told = git.answer(
        place.top, "cat-file", "--batch-check=%(objectname) %(objecttype)",
        data=os.fsencode("".join(f"{name}\n" for name in names)), seconds=LIST_SECONDS,
    )  # fmt: skip
    rows = (told or b"").decode("utf-8", "surrogateescape").split("\n")[:-1]
    if len(rows) != len(names):
        raise LedgerError("git cannot read the ledger's history", f"git -C {place.top} fsck")
    return [(row.rpartition(" ")[0], row.rpartition(" ")[2]) for row in rows]
