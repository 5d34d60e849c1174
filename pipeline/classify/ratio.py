"""A share with its counts and its interval."""

import math
from dataclasses import dataclass

_Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Ratio:
    """A share with its counts; `value` and `interval` are None when there is nothing to divide."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval."""
        if not self.whole:
            return None
        n, p = self.whole, self.part / self.whole
        centre = p + _Z95**2 / (2 * n)
        reach = _Z95 * math.sqrt(p * (1 - p) / n + _Z95**2 / (4 * n * n))
        scale = 1 + _Z95**2 / n
        return max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)
