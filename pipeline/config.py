"""Settings, read once into a frozen record: flags > environment > file > defaults."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pipeline import clock, files, resources
from pipeline.errors import ConfigError

CLAUDE_FOLDERS = (".claude", ".config/claude")
"""Folders of Claude Code under the user's home; the second was seen in transcripts of 2025."""
UNFIT_IN_HOME = "?\\"
"""DuckDB takes what follows a `?` for parameters, and a backslash for a slash (2.0.1, Dec 2026)."""


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set. Paths are absolute."""

    home: Path
    """Holds config.toml, ledger/, local_cases/ and the user's own rules/."""
    claude_dirs: tuple[Path, ...]
    """Roots that may hold `projects/`."""
    timezone: ZoneInfo
    """Decides which local day a case belongs to."""
    include_headless: bool = False
    """Take the prompts of `claude -p` and SDK sessions too (a program may have typed them)."""
    noticed: bool = True
    """Collect what review agents, guard hooks and the agent itself said about mistakes."""
    exclude: tuple[str, ...] = ()
    """Working folders whose sessions are never read (each with everything below it)."""

    ledger_folder: Path | None = None
    """A team's ledger in a repository; it takes what happens there, the home's takes the rest."""
    ledger_repos: tuple[str, ...] | None = None
    """Short names of the repositories that the team's ledger takes; None: the one it lies in."""
    raise_sessions: int = 2
    raise_days: int = 2
    """A bundle must stretch over so many sessions and local days to be raised."""

    @property
    def local_cases(self) -> Path:
        """The private folder of all state."""
        return self.home / "local_cases"

    @property
    def rule_folders(self) -> tuple[Path, ...]:
        """The installed packs, then the user's own, which add to them or replace by id."""
        return resources.folder("rules"), self.home / "rules"

    @property
    def judge_folder(self) -> Path:
        """Where our own model calls run; its sessions are never mined."""
        return self.local_cases / "judge"


def load(
    home: Path | None = None,
    claude_dirs: Sequence[Path] = (),
    file: Path | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Config:
    """The settings of this call. Raises ConfigError for unknown keys and unfit values."""
    chosen = _fit(_home(home, environ))
    path = file or chosen / "config.toml"
    values = _checked(path, _read(path, required=file is not None))
    return Config(
        home=chosen,
        claude_dirs=_claude_dirs(claude_dirs, values.get("claude_dirs", []), environ),
        timezone=clock.zone(values.get("timezone")),
        include_headless=values.get("include_headless", False),
        noticed=values.get("noticed", True),
        exclude=_excluded(path, values.get("exclude", [])),
        ledger_folder=_ledger_folder(path, values.get("ledger.path")),
        ledger_repos=_tuple(values.get("ledger.repos")),
        raise_sessions=_at_least(path, "raise.min_sessions", values, 2),
        raise_days=_at_least(path, "raise.min_days", values, 2),
    )


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _at_least(path: Path, key: str, values: Mapping[str, Any], least: int) -> int:
    """Once is no repetition: what was said in one session or on one day is never raised."""
    value = int(values.get(key, least))
    if value < least:
        raise ConfigError(f"{path}: {key} must be {least} or more", "mend the value")
    return value


def _ledger_folder(path: Path, folder: str | None) -> Path | None:
    if folder is None:
        return None
    whole = _expanded(folder)
    if not whole.is_absolute():
        raise ConfigError(f"{path}: ledger.path is not absolute", "begin it with / or ~")
    return whole


def _excluded(path: Path, folders: Sequence[str]) -> tuple[str, ...]:
    """Each as it is written and as it really lies: transcripts hold real paths."""
    found: list[str] = []
    for folder in folders:
        whole = _expanded(folder)
        if not os.path.isabs(whole):
            raise ConfigError(
                f"{path}: exclude holds a folder that is not absolute", "begin it with / or ~"
            )
        found += [os.path.normpath(whole), os.path.realpath(whole)]
    return tuple(dict.fromkeys(found))


_KEYS: Mapping[str, type] = {
    "claude_dirs": list,
    "timezone": str,
    "include_headless": bool,
    "noticed": bool,
    "exclude": list,
    "ledger.path": str,
    "ledger.repos": list,
    "raise.min_sessions": int,
    "raise.min_days": int,
}
"""By name; a dot stands for a table."""


def _checked(path: Path, tables: dict[str, Any]) -> dict[str, Any]:
    """Tables become dotted names."""
    values: dict[str, Any] = {}
    for key, value in tables.items():
        inner = value.items() if isinstance(value, dict) else ()
        values |= {f"{key}.{name}": item for name, item in inner} or {key: value}
    for key, value in values.items():
        if key not in _KEYS:
            raise ConfigError(
                f"{path}: unknown key {key!r}", f"known keys: {', '.join(sorted(_KEYS))}"
            )
        if type(value) is not _KEYS[key]:
            raise ConfigError(f"{path}: {key} must be a {_KEYS[key].__name__}", "mend the value")
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            raise ConfigError(f"{path}: {key} must hold strings only", "mend the list")
    return values


def _home(flag: Path | None, environ: Mapping[str, str]) -> Path:
    """--home, else $TWICE_TOLD_HOME, else the checkout we run from, else the XDG data folder."""
    if flag or environ.get("TWICE_TOLD_HOME"):
        return _expanded(flag or environ["TWICE_TOLD_HOME"]).absolute()
    data = environ.get("XDG_DATA_HOME", "")
    base = Path(data) if os.path.isabs(data) else _user_home(environ) / ".local" / "share"
    return resources.checkout() or base / "twice-told"


def _fit(home: Path) -> Path:
    """The same home. Raises ConfigError for one in which no store could be opened."""
    for path in (str(home), os.path.realpath(home)):  # DuckDB follows links first
        for character in UNFIT_IN_HOME:
            if character in path:
                raise ConfigError(
                    f"the home {path!a} holds a {character}, and no store can lie there",
                    "choose a home without it, with --home or TWICE_TOLD_HOME",
                )
    return home


def _user_home(environ: Mapping[str, str]) -> Path:
    return Path(environ["HOME"]) if environ.get("HOME") else Path("~").expanduser()


def _expanded(path: Path | str) -> Path:
    """With `~` and `~name` replaced. Raises ConfigError for a user who does not exist."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{path}: no such user", "write the whole path") from error


def _read(path: Path, required: bool) -> dict[str, Any]:
    try:
        if not required and not path.exists():
            return {}
        import tomllib  # few homes have a settings file, and every command starts here

        with path.open("rb") as handle:
            return tomllib.load(handle)
    except FileNotFoundError as error:
        raise ConfigError(f"{path} does not exist", "give --config an existing file") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(f"{path} cannot be read: {reason}", "mend or remove the file") from error


def _claude_dirs(
    flags: Sequence[Path], configured: Sequence[str], environ: Mapping[str, str]
) -> tuple[Path, ...]:
    """Flags replace everything; else the file's list; else $CLAUDE_CONFIG_DIR or the usual ones.

    Named folders stand even when they do not exist, so that "no logs" can name them.
    """
    named = list(flags) or [Path(p) for p in configured]
    if not named and environ.get("CLAUDE_CONFIG_DIR"):
        named = [Path(environ["CLAUDE_CONFIG_DIR"])]
    if named:
        return tuple(dict.fromkeys(_expanded(p).absolute() for p in named))
    usual = [_user_home(environ) / name for name in CLAUDE_FOLDERS]
    return tuple(p for p in usual if files.is_folder(p)) or (usual[0],)
