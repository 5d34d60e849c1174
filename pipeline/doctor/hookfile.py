"""The small files that the hook reads: whole, fresh, and one for the repository here."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pipeline.doctor.finding import Finding, ok, red, warn
from pipeline.doctor.runs import AGAIN, OLD, SKEW
from pipeline.doctor.scene import Scene, Stored
from pipeline.inject import answer
from pipeline.inject.snapshots import SCHEMA


@dataclass(frozen=True, slots=True)
class HookFile:
    """One that the hook would take."""

    path: Path
    rendered_at: datetime


def read(path: Path) -> HookFile | None:
    """By the hook's own rules: digest, schema and name are right; None for any other content."""
    digest, _, rest = path.read_bytes().partition(b"\n")
    if digest != b'{"digest":"' + hashlib.sha256(rest).hexdigest().encode() + b'"}':
        return None
    try:
        header = json.loads(rest.partition(b"\n")[0])
        right = (header["schema"], header["tree"]) == (SCHEMA, path.stem)
        at = datetime.fromtimestamp(header["rendered_at"], UTC)
    except (ValueError, KeyError, TypeError, OverflowError, OSError):
        return None
    return HookFile(path, at) if right else None


def fresh(scene: Scene) -> Finding:
    """All of them are whole and of the last two days."""
    folder = scene.config.local_cases / "snapshots"
    paths = sorted(folder.glob("*.json"))
    for path in paths:
        found = read(path)
        if found is None:
            return red(f"{path} is damaged, and the hook says nothing there", AGAIN)
        if scene.now - found.rendered_at > OLD:
            days = (scene.now - found.rendered_at).days
            return red(f"the hook's files are {days} days old", AGAIN)
    if not paths and isinstance(scene.stored, Stored) and scene.stored.trees:
        return red(f"none in {folder}", AGAIN)
    return ok(f"{len(paths)} files, whole and fresh" if paths else "none needed yet")


def here(scene: Scene) -> Finding:
    """One that the hook would take in the current folder: it says itself which those are."""
    if scene.here is None or scene.cwd is None:
        return ok("there is no folder here")
    name, stored = scene.here.base_name, scene.stored
    if not isinstance(stored, Stored) or not stored.knows_here:
        return ok(f"nothing was heard in {name} yet")
    keys = answer.tree_keys(scene.cwd)
    folder = scene.config.local_cases / "snapshots"
    if any((folder / f"{key}.json").is_file() for key in keys):
        return ok(f"there is one for {name}")
    if stored.trees.isdisjoint(keys):  # a night makes none for a tree that it does not know
        return warn(
            f"nothing was heard in this working tree of {name} yet, so the hook is silent here",
            f"{AGAIN}  # after a session here",
        )
    return red(f"none for {name}, which is known", AGAIN)


def clock(scene: Scene) -> Finding:
    """A run or a file of the future: the clock was wrong then, or is wrong now."""
    limit = scene.now + SKEW
    if scene.ran and scene.ran.at > limit:
        return red(f"the last run lies in the future: {scene.ran.at:%Y-%m-%d %H:%M} UTC", "date -u")
    for file in map(read, (scene.config.local_cases / "snapshots").glob("*.json")):
        if file and file.rendered_at > limit:
            return red("a hook file was rendered in the future", f"date -u; {AGAIN}")
    return ok(f"{scene.now:%Y-%m-%d %H:%M} UTC")
