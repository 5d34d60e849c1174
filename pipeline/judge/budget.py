"""What a night may still ask and spend."""

from dataclasses import dataclass, field
from datetime import datetime

from pipeline.cases import judging
from pipeline.cases.store import Store
from pipeline.config import JudgeConfig


@dataclass(slots=True)
class Budget:
    """Counts what is asked before it is asked, at what it may cost at most."""

    max_cases: int
    max_usd: float
    asked: set[str] = field(default_factory=set)
    """Cases that were asked about this night."""
    spent_usd: float = 0.0
    reserved: dict[str, float] = field(default_factory=dict)
    """What is under way, by name."""

    @classmethod
    def left(cls, store: Store, config: JudgeConfig, night: datetime) -> "Budget":
        """What earlier runs of the same night left."""
        asked, usd = judging.spent(store, night)
        return cls(config.max_cases, config.max_usd, asked, usd)

    def takes(self, case: str, name: str, most_usd: float) -> bool:
        """Whether one more question fits in; if so it is counted."""
        if case not in self.asked and len(self.asked) >= self.max_cases:
            return False
        if self.spent_usd + sum(self.reserved.values()) + most_usd > self.max_usd:
            return False
        self.asked.add(case)
        self.reserved[name] = most_usd
        return True

    def paid(self, name: str, usd: float) -> None:
        """A question came back."""
        self.reserved.pop(name, None)
        self.spent_usd += usd
