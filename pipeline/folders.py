"""Where things lie: our own home, and the folders of Claude Code."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline import files, resources
from pipeline.errors import ConfigError

CLAUDE_FOLDERS = (".claude", ".config/claude")
"""Folders of Claude Code under the user's home; the second was seen in transcripts of 2025."""
UNFIT_IN_HOME = "?\\"
"""DuckDB takes what follows a `?` for parameters, and a backslash for a slash (2.0.1, Dec 2026)."""


def find_home(flag: Path | None, environ: Mapping[str, str]) -> Path:
    """--home, else $TWICE_TOLD_HOME, else the checkout we run from, else the XDG data folder.

    Absolute. Raises ConfigError for one in which no store could be opened.
    """
    return _fit(_home(flag, environ))


def _home(flag: Path | None, environ: Mapping[str, str]) -> Path:
    if flag or environ.get("TWICE_TOLD_HOME"):
        return expanded(flag or environ["TWICE_TOLD_HOME"]).absolute()
    data = environ.get("XDG_DATA_HOME", "")
    base = Path(data) if os.path.isabs(data) else _user_home(environ) / ".local" / "share"
    return resources.checkout() or base / "twice-told"


def _fit(home: Path) -> Path:
    for path in (str(home), os.path.realpath(home)):  # DuckDB follows links first
        for character in UNFIT_IN_HOME:
            if character in path:
                raise ConfigError(
                    f"the home {path!a} holds a {character}, and no store can lie there",
                    "choose a home without it, with --home or TWICE_TOLD_HOME",
                )
    return home


def claude_folders(
    flags: Sequence[Path], configured: Sequence[str], environ: Mapping[str, str]
) -> tuple[Path, ...]:
    """Flags replace everything; else the file's list; else $CLAUDE_CONFIG_DIR or the usual ones.

    Named folders stand even when they do not exist, so that "no logs" can name them.
    """
    named = list(flags) or [Path(p) for p in configured]
    if not named and environ.get("CLAUDE_CONFIG_DIR"):
        named = [Path(environ["CLAUDE_CONFIG_DIR"])]
    if named:
        return tuple(dict.fromkeys(expanded(p).absolute() for p in named))
    usual = [_user_home(environ) / name for name in CLAUDE_FOLDERS]
    return tuple(p for p in usual if files.is_folder(p)) or (usual[0],)


def _user_home(environ: Mapping[str, str]) -> Path:
    return Path(environ["HOME"]) if environ.get("HOME") else Path("~").expanduser()


def expanded(path: Path | str) -> Path:
    """With `~` and `~name` replaced. Raises ConfigError for a user who does not exist."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{path}: no such user", "write the whole path") from error
