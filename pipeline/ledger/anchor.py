"""What a home remembers of a ledger that it found sound, against a history that is written anew.

Private state: `<state folder>/<hash of the ledger's path>.json` with the last verified commit, how
many events it knows, a digest over them, and their ids. Ids are only added; events that stood here
on one branch may be missing while another is checked out.
"""

import hashlib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import LedgerError
from pipeline.files import private_dir, write_private
from pipeline.ledger.event import TAG

_ID = re.compile(rf"{TAG}[0-9a-f]{{32}}\Z")
_COMMIT = re.compile(r"[0-9a-f]{40,64}\Z|\Z")


@dataclass(frozen=True, slots=True)
class Anchor:
    """The last sound state."""

    commit: str = ""
    """The last commit of the repository at that time; "" outside git."""
    ids: frozenset[str] = frozenset()
    """All events that were ever verified."""


def file_of(state_folder: Path, path: Path) -> Path:
    """By the ledger's real path, which is not told."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
    return state_folder / f"{name}.json"


def load(file: Path) -> Anchor:
    """An empty one for a ledger that was never verified. Raises LedgerError for a damaged one."""
    try:
        value = json.loads(file.read_bytes())
        commit, ids = value["commit"], value["ids"]
        sound = all(_ID.match(one) for one in ids) and _COMMIT.match(commit)
        if sound and value["digest"] == _digest(ids) and value["count"] == len(ids):
            return Anchor(commit, frozenset(ids))
    except FileNotFoundError:
        return Anchor()
    except OSError as error:
        raise LedgerError(f"{file} cannot be read: {error.strerror}", f"ls -l {file}") from error
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    raise LedgerError(
        f"{file} is damaged", "what it knew of the ledger is lost; remove it to begin anew"
    )


def save(file: Path, anchor: Anchor) -> None:
    """Raises StoreError."""
    ids = sorted(anchor.ids)
    value = {"commit": anchor.commit, "count": len(ids), "digest": _digest(ids), "ids": ids}
    private_dir(file.parent)
    write_private(file, json.dumps(value).encode("ascii") + b"\n")


def _digest(ids: list[str]) -> str:
    return hashlib.sha256("\n".join(ids).encode("ascii")).hexdigest()
