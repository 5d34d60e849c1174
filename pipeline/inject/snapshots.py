"""Renders the files that the hook reads: one for each known working tree, replaced by rename.

A file is lines of JSON in a fixed form that the hook cuts without a parser: the digest of all that
follows, a header, then the items, newest first. Its name is the SHA-256 of the tree's real path.
"""

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

from pipeline.cases import meta, read
from pipeline.cases.store import Store
from pipeline.files import private_dir, write_private
from pipeline.inject.items import SHOWN_FOR, Item, choose
from pipeline.records import Case

SCHEMA = 1
SEEN_FOR = timedelta(days=90)


def render(store: Store, local_cases: Path, now: datetime) -> int:
    """Writes the files of all working trees and removes those of the others; how many there are."""
    folder = private_dir(local_cases / "snapshots")
    since = (now - SHOWN_FOR - timedelta(days=1)).date()
    by_repo: dict[str, list[Case]] = {}
    for case in read.cases(store, read.Wanted(since=since)):
        by_repo.setdefault(case.repo, []).append(case)
    collected = meta.collected_at(store) or now
    names = set()
    for tree, repo in read.working_trees(store):
        items = choose(by_repo.get(repo, ()), now)
        write_private(folder / f"{tree}.json", document(tree, repo, items, collected))
        names.add(f"{tree}.json")
    for path in folder.iterdir():
        if path.name not in names:
            path.unlink()
    prune_seen(private_dir(local_cases / "seen"), now)
    return len(names)


def document(tree: str, repo: str, items: Iterable[Item], collected: datetime) -> bytes:
    """One hook file. `collected`: when the transcripts were read last.

    The digest stands alone in front, so that a cut or mixed file shows.
    """
    header = {"schema": SCHEMA, "tree": tree, "repository": repo,
              "rendered_at": int(collected.timestamp()), "by": "twice-told"}  # fmt: skip
    lines = [header] + [
        {
            "until": int(item.until.timestamp()),
            "kind": "h" if item.human else "n",
            "units": item.units,
            "text": item.text,
        }
        for item in items
    ]
    rest = b"".join(
        json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        for line in lines
    )
    return b'{"digest":"' + hashlib.sha256(rest).hexdigest().encode() + b'"}\n' + rest


def prune_seen(folder: Path, now: datetime) -> None:
    """Forgets markers of sessions that were shown corrections long ago."""
    for path in folder.iterdir():
        if path.lstat().st_mtime < (now - SEEN_FOR).timestamp():
            path.unlink()
