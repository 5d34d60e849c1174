"""What stays on the machine when hook and schedule are gone."""

from dataclasses import dataclass
from pathlib import Path

from pipeline.resources import checkout


@dataclass(frozen=True, slots=True)
class Remains:
    """A file or folder that uninstall leaves alone."""

    path: Path
    what: str


def remains(home: Path) -> list[Remains]:
    """What there is of it, in a fixed order."""
    local = home / "local_cases"
    all_kinds = (
        (local, "your cases, exports, logs, and backups of changed settings"),
        (home / "ledger", "the proposals, kept in git"),
        (home / "config.toml", "your settings of twice-told"),
    )
    own_rules = () if home == checkout() else ((home / "rules", "rule packs of your own"),)
    return [Remains(path, what) for path, what in (*all_kinds, *own_rules) if path.exists()]
