"""Where accepted rules were written to: what `retire` looks at first. Paths stay on the machine."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipeline.cases.store import Store
from pipeline.clock import microseconds
from pipeline.records import CaseType


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The last rule that came of a bundle."""

    repo: str
    type: CaseType
    number: int
    path: Path
    rule: str
    """`rule_hash` of its sentence."""


def remember(store: Store, acceptance: Acceptance, now: datetime) -> None:
    """Replaces what was known of the bundle."""
    store.con.execute(
        "INSERT OR REPLACE INTO acceptances VALUES (?, ?, ?, ?, ?, ?)",
        [
            acceptance.repo, acceptance.type.value, acceptance.number,
            _shortened(acceptance.path), acceptance.rule, microseconds(now),
        ],
    )  # fmt: skip


def recall(store: Store, repo: str, kind: CaseType) -> Acceptance | None:
    """What is known of a bundle."""
    rows = store.rows(
        "SELECT number, path, rule FROM acceptances WHERE repo = ? AND type = ?", [repo, kind.value]
    )
    return Acceptance(repo, kind, rows[0][0], _whole(rows[0][1]), rows[0][2]) if rows else None


def drop(store: Store, repo: str, kind: CaseType) -> None:
    """Forgets where the rule of a bundle was."""
    store.con.execute("DELETE FROM acceptances WHERE repo = ? AND type = ?", [repo, kind.value])


def _shortened(path: Path) -> str:
    """Below the user's home without its name: exports hold this too."""
    home = Path("~").expanduser()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path)


def _whole(text: str) -> Path:
    return Path(text).expanduser() if text.startswith("~/") else Path(text)
