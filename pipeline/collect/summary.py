"""What one run did, in figures that add up."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pipeline.masking.masker import mask
from pipeline.records import Source
from pipeline.transcripts.counts import Counts


@dataclass(slots=True)
class Summary:
    """The counts of the files that were read in this run."""

    files: Counter[str] = field(default_factory=Counter)
    """seen, read, unchanged, outside (of the window), failed; and what was passed over."""
    bytes_read: int = 0
    counts: Counts = field(default_factory=Counts)
    turns: int = 0
    no_case: int = 0
    withdrawn: int = 0
    new: int = 0
    known: int = 0
    by_type: Counter[str] = field(default_factory=Counter)
    by_source: Counter[str] = field(default_factory=Counter)
    judged: Mapping[str, int] | None = None
    """asked, agreed, left of the judge; None when it was not asked for."""
    raised: tuple[int, ...] = ()
    """Numbers of the proposals that this run raised, or that came back."""
    held: int = 0
    """Bundles that this run put on hold."""
    unwritten: bool = False
    """The ledger could not be read or written; all else is done."""
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0
    peak_rss_mb: int = 0

    def check(self) -> None:
        """Says loudly when one of the two sums does not hold."""
        counts, human = self.counts, self.by_source[Source.HUMAN.value]
        if counts.lines != counts.accounted:
            self.warnings.append(
                f"the lines do not add up: {counts.lines} read, {counts.accounted} accounted for"
            )
        if self.turns != human + self.no_case:
            self.warnings.append(
                f"the turns do not add up: {self.turns} heard, {human} cases, {self.no_case} none"
            )

    def as_json(self) -> dict[str, Any]:
        """One object, as scripts rely on it."""
        counts = self.counts
        return {
            "files": {name: self.files[name] for name in ("seen", "read", "unchanged")}
            | dict(sorted(self.files.items())),
            "bytes_read": self.bytes_read,
            "lines": counts.lines,
            "human_lines": counts.human_lines,
            "not_human": dict(sorted(counts.not_human.items())),
            "state": counts.state,
            "skipped": dict(sorted(counts.skipped.items())),
            "unknown": {mask(name).text: number for name, number in sorted(counts.unknown.items())},
            "pending_tail": counts.pending_tail,
            "turns": self.turns,
            "no_case": self.no_case,
            "duplicates": counts.duplicates,
            "withdrawn": self.withdrawn,
            "cases": {
                "new": self.new,
                "known": self.known,
                "by_type": dict(sorted(self.by_type.items())),
                "by_source": dict(sorted(self.by_source.items())),
            },
            "judge": dict(self.judged or {"asked": 0, "agreed": 0, "left": self.by_type["other"]}),
            "proposals": {"raised": list(self.raised), "held": self.held},
            "warnings": self.warnings,
            "seconds": round(self.seconds, 3),
            "peak_rss_mb": self.peak_rss_mb,
        }
