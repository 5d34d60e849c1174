"""Which folder may hold a team's ledger."""

import os
from pathlib import Path

from pipeline import git
from pipeline.config import Config
from pipeline.errors import LedgerError
from pipeline.ledger import history
from pipeline.ledger.book import NAME

OTHER = "name another folder"


def check(folder: Path, config: Config, me: int | None = None) -> None:
    """Raises LedgerError unless the folder, which need not exist yet, lies in a git repository of
    `me`, is not reached through a link, and keeps private things out of git."""
    try:
        _check(folder, config, os.geteuid() if me is None else me)
    except OSError as error:
        raise LedgerError(f"{folder} cannot be looked at: {error.strerror}", OTHER) from error


def check_there(folder: Path) -> None:
    """Raises LedgerError unless a team's folder stands where `init` made it: what has replaced it
    since was chosen by whoever writes to the repository."""
    _no_link(folder)
    if not folder.is_dir():
        raise LedgerError(
            f"the settings name a ledger in {folder}, which is gone",
            "get the repository back, or take its [ledger] path out of the settings",
        )


def _check(folder: Path, config: Config, me: int) -> None:
    for private in (config.local_cases, config.home / "ledger"):
        if _within(folder, private):
            raise LedgerError(f"{folder} is a private folder of this home", OTHER)
    place = history.place(folder / NAME)
    if place is None:
        raise LedgerError(
            f"{folder} lies in no git repository", "git init there, or name a folder inside of one"
        )
    _no_link(folder)
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir():
        raise LedgerError(f"{there} is no folder", OTHER)
    if there.stat().st_uid != me:
        raise LedgerError(f"{there} belongs to another user", OTHER)
    if git.answer(place.top, "check-ignore", "-q", "--", place.name) is not None:
        raise LedgerError(
            f"git ignores {folder / NAME}", f"git -C {place.top} check-ignore -v {place.name}"
        )


def _within(folder: Path, private: Path) -> bool:
    real, of = os.path.realpath(folder), os.path.realpath(private)
    return os.path.commonpath([real, of]) == of


def _no_link(folder: Path) -> None:
    """Git follows no link inside of a repository, and its author chose where that leads."""
    for path in (folder, *folder.parents):
        if path.is_symlink() and any((parent / ".git").exists() for parent in path.parents):
            raise LedgerError(
                f"{path} is a link", f"name the folder itself: {os.path.realpath(path)}"
            )
