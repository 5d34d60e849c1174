"""The accounts of one transcript: every record of it stands in exactly one place."""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Counts:
    """`lines` is counted as the records go by; `accounted` must come to the same."""

    lines: int = 0
    """Records: one per JSON object or skipped piece; blank lines are none."""
    human_lines: int = 0
    not_human: Counter[str] = field(default_factory=Counter)
    state: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    pending_tail: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    """Record types that no known client version writes; part of `state`."""
    duplicates: int = 0
    """Further copies of human turns; no records of their own."""

    @property
    def accounted(self) -> int:
        """The sum over all places."""
        return (
            self.human_lines
            + self.not_human.total()
            + self.state
            + self.skipped.total()
            + self.pending_tail
        )

    def add(self, other: "Counts") -> None:
        """Takes in the accounts of another file."""
        self.lines += other.lines
        self.human_lines += other.human_lines
        self.not_human.update(other.not_human)
        self.state += other.state
        self.skipped.update(other.skipped)
        self.pending_tail += other.pending_tail
        self.unknown.update(other.unknown)
        self.duplicates += other.duplicates
