"""The settings file: which keys it may hold and of which kind. What they mean is for `config`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.errors import ConfigError

_TABLES: Mapping[str, Mapping[str, type]] = {
    "": {
        "claude_dirs": list,
        "timezone": str,
        "include_headless": bool,
        "noticed": bool,
        "exclude": list,
    },
    "ledger": {"path": str, "repos": list},
    "raise": {"min_sessions": int, "min_days": int},
    "judge": {
        "enabled": bool,
        "backend": str,
        "base_url": str,
        "key_env": str,
        "first_model": str,
        "second_model": str,
        "first_usd_in": float,
        "first_usd_out": float,
        "second_usd_in": float,
        "second_usd_out": float,
        "max_cases": int,
        "max_usd": float,
        "timeout_seconds": float,
    },
}
"""The keys of the file by table; "" is what stands above all tables."""
_KINDS: Mapping[type, str] = {
    bool: "true or false",
    int: "a whole number, 0 or more",
    float: "a number, 0 or more",
    str: "a text in quotes",
    list: "a list",
    dict: "a table",
}


def read(path: Path, required: bool) -> dict[str, Any]:
    """The tables of the file; empty when it is missing and not required. Raises ConfigError."""
    return _checked(path, _parsed(path, required))


def _parsed(path: Path, required: bool) -> dict[str, Any]:
    try:
        if not required and not path.exists():
            return {}
        import tomllib  # few homes have the file, and every command starts here

        with path.open("rb") as handle:
            return tomllib.load(handle)
    except FileNotFoundError as error:
        raise ConfigError(f"{path} does not exist", "give --config an existing file") from error
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(f"{path} cannot be read: {reason}", "mend or remove the file") from error


def _checked(path: Path, values: dict[str, Any], table: str = "") -> dict[str, Any]:
    known = dict(_TABLES[table]) | ({name: dict for name in _TABLES if name} if not table else {})
    for key, value in values.items():
        name = f"{table}.{key}" if table else key
        if key not in known:
            raise ConfigError(
                f"{path}: unknown key {name!r}", f"known keys: {', '.join(sorted(known))}"
            )
        if not _fits(value, known[key]):
            raise ConfigError(f"{path}: {name} must be {_KINDS[known[key]]}", "mend the value")
        if isinstance(value, list) and not all(isinstance(item, str) for item in value):
            raise ConfigError(f"{path}: {name} must hold strings only", "mend the list")
        if isinstance(value, dict):
            _checked(path, value, key)
    return values


def _fits(value: object, kind: type) -> bool:
    """No number may be negative, infinite or a truth value; a whole one is a float too, if a float
    can be as large."""
    if kind in (int, float):
        fits = isinstance(value, int | kind) and not isinstance(value, bool)
        return fits and 0 <= value <= sys.float_info.max  # type: ignore[operator]
    return isinstance(value, kind)
