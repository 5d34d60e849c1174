"""What a check of a ledger finds."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault, with the way out. Holds ids, paths and figures only."""

    where: str
    """`file:line`, a file, or `commit` and its id."""
    what: str
    next: str
    """What to do about it."""


@dataclass(frozen=True, slots=True)
class Report:
    """One ledger, looked at."""

    path: Path
    events: int
    commits: int
    """Versions of the file in git's history that were compared."""
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    """What could not be checked, and why that is no fault."""
