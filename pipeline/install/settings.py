"""The hook in a settings file of Claude Code: what would change there, and the change itself."""

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

from pipeline import clock, documents
from pipeline.errors import ConfigError, StoreError
from pipeline.files import lock, private_dir
from pipeline.install import entries, memory
from pipeline.install.change import Action, Change, edits_shown
from pipeline.install.memory import Memory

PART = "hook"
NEW_FILE = "{}\n"


@dataclass(frozen=True, slots=True)
class Place:
    """A settings file that may hold the hook."""

    path: Path
    in_repository: bool
    """Links are not followed there, and its folder may be made."""


def user_places(claude_dirs: tuple[Path, ...]) -> list[Place]:
    """The user's own settings, one file for each Claude Code folder."""
    return [Place(folder / "settings.json", False) for folder in claude_dirs]


def project_place(cwd: Path) -> Place:
    """The personal settings of the working tree around a folder. Raises ConfigError without one.

    Claude Code looks below the folder in which a session starts, usually the top of the tree.
    """
    top = top_of(cwd)
    if top is None:
        raise ConfigError(
            f"{cwd} lies in no git repository", "change into one, or leave --project out"
        )
    return Place(top / ".claude" / "settings.local.json", True)


def top_of(cwd: Path) -> Path | None:
    """The nearest folder upwards with a `.git`; no git is run (T41)."""
    return next((d for d in (cwd, *cwd.parents) if os.path.lexists(d / ".git")), None)


def installation(place: Place, command: str, local_cases: Path) -> Change:
    """What puts the hook there. Raises ConfigError when the file is unusable; writes nothing."""
    document = _read(place)
    known = memory.recall(local_cases, place.path)
    text = NEW_FILE if document.data is None else document.text
    had_ours = any(entries.places(entries.read(text, str(place.path))))
    edited = entries.install(text, command, known.hollows, str(place.path))
    if not edited.steps:
        return Change(PART, str(place.path), Action.UNCHANGED)
    new = Memory(
        edited.hollows,
        made_file=document.data is None or (had_ours and known.made_file),
        made_folder=not place.path.parent.exists() or (had_ours and known.made_folder),
    )

    def make() -> Path | None:
        with _only_one(local_cases):
            kept = documents.backup(document, local_cases / "backups", clock.now())
            memory.remember(local_cases, place.path, new)
            if place.in_repository:
                _make_folder(place.path.parent)
            documents.write(document, edited.text.encode())
            return kept

    action = Action.REPLACED if had_ours else Action.ADDED
    diff = edits_shown(str(place.path), edited.steps)
    return Change(PART, str(place.path), action, diff, make)


def removal(place: Place, local_cases: Path) -> Change:
    """What takes the hook out. Raises ConfigError when the file is unusable; writes nothing."""
    if not place.path.parent.exists():
        return Change(PART, str(place.path), Action.ABSENT)
    document = _read(place)
    if document.data is None:
        return Change(PART, str(place.path), Action.ABSENT)
    known = memory.recall(local_cases, place.path)
    edited = entries.remove(document.text, known.hollows, str(place.path))
    if not edited.steps:
        return Change(PART, str(place.path), Action.ABSENT)
    goes = known.made_file and edited.text == NEW_FILE

    def make() -> Path | None:
        with _only_one(local_cases):
            kept = documents.backup(document, local_cases / "backups", clock.now())
            documents.write(document, None if goes else edited.text.encode())
            if goes and known.made_folder:
                with contextlib.suppress(OSError):  # somebody else uses it by now
                    place.path.parent.rmdir()
            memory.forget(local_cases, place.path)
            return kept

    diff = edits_shown(str(place.path), edited.steps)
    return Change(PART, str(place.path), Action.REMOVED, diff, make)


def _read(place: Place) -> documents.Document:
    within = place.path.parent.parent if place.in_repository else None
    document = documents.read(place.path, within)
    if document.data is not None and not document.data.strip():
        raise ConfigError(
            f"{place.path} is empty, which is no valid JSON: line 1, column 1",
            "write {} into it or remove it",
        )
    return document


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot make the folder {folder}: {error.strerror}", "mend the permissions"
        ) from error


def _only_one(local_cases: Path) -> contextlib.AbstractContextManager[None]:
    """Two installs of one home take turns; the night has another lock and is not waited for."""
    return lock(private_dir(local_cases) / "install.lock")
