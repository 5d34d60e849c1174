"""Settings, read once into a frozen record: flags > environment > file > defaults."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pipeline import clock, resources, settings
from pipeline.errors import ConfigError
from pipeline.folders import claude_folders, expanded, find_home

LEAST_REPEATED = 2
API_URL = "https://api.anthropic.com"
PRICES_USD: Mapping[str, tuple[float, float]] = {
    "claude-haiku-5-5": (0.10, 0.50),
    "claude-sonnet-5-5": (2.0, 10.0),
    "claude-opus-5-5": (4.0, 20.0),
    "claude-haiku-4-5": (1.0, 5.0),
}
"""List prices per million tokens, in and out (November 2026)."""


class Backend(StrEnum):
    """How models are asked."""

    API = "anthropic"
    BATCH = "anthropic-batch"
    """Half the price, answers within a day."""
    CLIENT = "claude-cli"
    """`claude -p`, on the subscription that it is logged in with."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model with its price."""

    id: str
    usd_in: float
    """Per million tokens."""
    usd_out: float

    def cost_usd(self, tokens_in: int, tokens_out: int, share: float = 1.0) -> float:
        """What so many tokens cost; `share` of the list price."""
        return share * (tokens_in * self.usd_in + tokens_out * self.usd_out) / 1e6


@dataclass(frozen=True, slots=True)
class JudgeConfig:
    """The table `[judge]`. Off, and without a backend, unless somebody says otherwise."""

    enabled: bool = False
    """Consent: masked text may go to the backend each night."""
    backend: Backend | None = None
    """None: `other` waits."""
    base_url: str = API_URL
    """The one place that text and key go to."""
    key_env: str = "ANTHROPIC_API_KEY"
    """Name of the environment variable that holds the key."""
    first: Model = Model("claude-haiku-5-5", *PRICES_USD["claude-haiku-5-5"])
    second: Model = Model("claude-sonnet-5-5", *PRICES_USD["claude-sonnet-5-5"])
    max_cases: int = 200
    """Cases that are asked about in a night."""
    max_usd: float = 0.50
    """Spent in a night, at most."""
    timeout_seconds: float = 60.0
    """For one call."""

    @property
    def price_share(self) -> float:
        """Of the list price."""
        return 0.5 if self.backend is Backend.BATCH else 1.0

    @property
    def place(self) -> str:
        """Where batches lie; "" for a backend that leaves nothing under way."""
        return self.base_url if self.backend is Backend.BATCH else ""

    @property
    def compatible(self) -> bool:
        """Another server than Anthropic's, which may know the older form of the API only."""
        return self.base_url != API_URL


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
    raise_sessions: int = LEAST_REPEATED
    raise_days: int = LEAST_REPEATED
    """A bundle must stretch over so many sessions and local days to be raised."""
    judge: JudgeConfig = field(default_factory=JudgeConfig)
    named_file: Path | None = None
    """The settings file of --config."""

    @property
    def file(self) -> Path:
        """The settings file, which need not exist."""
        return self.named_file or self.home / "config.toml"

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
    chosen = find_home(home, environ)
    path = expanded(file) if file else chosen / "config.toml"
    values = settings.read(path, required=file is not None)
    return Config(
        home=chosen,
        claude_dirs=claude_folders(claude_dirs, values.get("claude_dirs", []), environ),
        timezone=clock.zone(values.get("timezone")),
        include_headless=values.get("include_headless", False),
        noticed=values.get("noticed", True),
        exclude=_excluded(path, values.get("exclude", [])),
        ledger_folder=_ledger_folder(path, values.get("ledger", {}).get("path")),
        ledger_repos=_tuple(values.get("ledger", {}).get("repos")),
        raise_sessions=_at_least(path, "min_sessions", values.get("raise", {})),
        raise_days=_at_least(path, "min_days", values.get("raise", {})),
        judge=_judge(path, values.get("judge", {})),
        named_file=file.absolute() if file else None,
    )


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _at_least(path: Path, key: str, values: Mapping[str, Any]) -> int:
    """Once is no repetition: what was said in one session or on one day is never raised."""
    value = int(values.get(key, LEAST_REPEATED))
    if value < LEAST_REPEATED:
        raise ConfigError(f"{path}: raise.{key} must be {LEAST_REPEATED} or more", "mend the value")
    return value


def _ledger_folder(path: Path, folder: str | None) -> Path | None:
    if folder is None:
        return None
    whole = expanded(folder)
    if not whole.is_absolute():
        raise ConfigError(f"{path}: ledger.path is not absolute", "begin it with / or ~")
    return whole


def _excluded(path: Path, folders: Sequence[str]) -> tuple[str, ...]:
    """Each as it is written and as it really lies: transcripts hold real paths."""
    found: list[str] = []
    for folder in folders:
        whole = expanded(folder)
        if not os.path.isabs(whole):
            raise ConfigError(
                f"{path}: exclude holds a folder that is not absolute", "begin it with / or ~"
            )
        found += [os.path.normpath(whole), os.path.realpath(whole)]
    return tuple(dict.fromkeys(found))


def _judge(path: Path, values: Mapping[str, Any]) -> JudgeConfig:
    given = {name: values[name] for name in ("enabled", "key_env", "max_cases") if name in values}
    given |= {
        name: float(values[name]) for name in ("max_usd", "timeout_seconds") if name in values
    }
    if "backend" in values:
        if values["backend"] not in list(Backend):
            raise ConfigError(
                f"{path}: judge.backend is not known", f"backends: {', '.join(Backend)}"
            )
        given["backend"] = Backend(values["backend"])
    if "base_url" in values:
        given["base_url"] = values["base_url"].rstrip("/")
        if not _is_address(given["base_url"]):
            raise ConfigError(
                f"{path}: judge.base_url is no address", "as in http://127.0.0.1:8080"
            )
    for name, fits, bounds in (
        ("key_env", lambda name: re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name), "a variable's name"),
        ("timeout_seconds", lambda seconds: 0 < seconds <= 3600, "above 0, at most 3600"),
    ):
        if name in given and not fits(given[name]):
            raise ConfigError(f"{path}: judge.{name} must be {bounds}", "mend the value")
    standard = JudgeConfig()
    for name in ("first", "second"):
        given[name] = _model(path, name, values, getattr(standard, name))
    return JudgeConfig(**given)


def _is_address(url: str) -> bool:
    """Of http or https, with a host, and nothing beside a port and a path."""
    from urllib.parse import urlsplit  # few homes name a server, and every command starts here

    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and not set(" @?#\\") & set(url)
    return plain and parts.scheme in ("http", "https") and bool(host)


def _model(path: Path, name: str, values: Mapping[str, Any], standard: Model) -> Model:
    """Raises ConfigError for a model whose price nobody knows: it could not be held to a budget."""
    model = values.get(f"{name}_model", standard.id)
    prices = PRICES_USD.get(model, (None, None))
    given = [
        values.get(f"{name}_usd_{way}", price)
        for way, price in zip(("in", "out"), prices, strict=True)
    ]
    if None in given:
        raise ConfigError(
            f"{path}: the price of judge.{name}_model is not known",
            f"set judge.{name}_usd_in and judge.{name}_usd_out, per million tokens",
        )
    return Model(model, float(given[0]), float(given[1]))
