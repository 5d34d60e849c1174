"""Starts a team's ledger in a repository: what would be written, and writing it.

Nothing is committed: people do. Names of other repositories never come near the team's file.
"""

import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.cases.store import Store
from pipeline.config import Config
from pipeline.errors import ConfigError, LedgerError
from pipeline.files import write_private
from pipeline.ledger.book import ATTRIBUTES, NAME, append, content
from pipeline.ledger.event import Event
from pipeline.propose.books import books
from pipeline.propose.folder import check
from pipeline.propose.setting import with_ledger

READABLE = 0o644


@dataclass(frozen=True, slots=True)
class Plan:
    """What `init` writes."""

    folder: Path
    repos: frozenset[str]
    """Short names of the repositories that the ledger takes."""
    copied: tuple[Event, ...]
    """What the home's ledger holds of them."""
    files: tuple[tuple[Path, bytes], ...]
    """Files in the folder with their new content; one that is right already is not in here."""
    settings: tuple[Path, bytes] | None
    """The same for the settings file."""

    @property
    def ledger(self) -> Path:
        """The team's file."""
        return self.folder / NAME


def plan(config: Config, folder: Path, store: Store | None) -> Plan:
    """`folder` is absolute. Raises LedgerError for one that is not fit, and ConfigError."""
    check(folder, config)
    recorded = config.ledger_folder
    if recorded and os.path.realpath(recorded) != os.path.realpath(folder):
        raise ConfigError(
            f"the settings name the ledger in {recorded} already", "take its [ledger] path out"
        )
    found = books(replace(config, ledger_folder=folder), store)
    settings = Path(os.path.realpath(config.file))
    attributes, ledger = folder / ".gitattributes", folder / NAME
    wanted = (
        (attributes, _with_ours(content(attributes) or b"")),
        (ledger, content(ledger) or b""),
    )
    files = tuple((path, data) for path, data in wanted if content(path) != data)
    before = content(settings) or b""
    after = with_ledger(before, str(recorded or folder), str(settings))
    return Plan(
        folder,
        found.team_repos,
        found.owed(),
        files,
        (settings, after) if after != before else None,
    )


def carry_out(plan: Plan) -> None:
    """The settings last: until then no night writes there. Raises LedgerError, StoreError."""
    try:
        plan.folder.mkdir(parents=True, exist_ok=True)
        for path, data in plan.files:
            _write(path, data)
        append(plan.ledger, plan.copied)
        if plan.settings:
            plan.settings[0].parent.mkdir(parents=True, exist_ok=True)
            _write(*plan.settings)
    except OSError as error:
        raise LedgerError(
            f"cannot make the ledger in {plan.folder}: {error.strerror}", "mend its permissions"
        ) from error


def _write(path: Path, data: bytes) -> None:
    """One that stood there keeps its mode; a new one is readable by all, as git's files are."""
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else READABLE
    write_private(path, data)
    path.chmod(mode)


def _with_ours(attributes: bytes) -> bytes:
    """The last line that speaks of a file decides, so ours is added at the end."""
    ours = ATTRIBUTES.encode("ascii")
    if ours.strip() in (row.strip() for row in attributes.splitlines()):
        return attributes
    gap = b"\n" if attributes and not attributes.endswith(b"\n") else b""
    return attributes + gap + ours
