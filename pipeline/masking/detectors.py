"""A detector as a record, and the table that picks the few which can fire on a text."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import regex

_DIGIT = regex.compile(r"\d")
TIMEOUT_SECONDS = 0.5
"""For one pattern on one text. A message takes microseconds; this only stops a runaway."""


class Do(StrEnum):
    """What happens to the text around a finding."""

    MARKER = "marker"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Detector:
    """One row of the table."""

    id: str
    kind: str
    action: Do
    keywords: tuple[str, ...]
    digits: int
    pattern: str
    is_valid: Callable[[str], bool] | None
    """Second look at the matched value: a check digit, a range."""
    match: tuple[str, ...]
    reject: tuple[str, ...]
    compiled: Callable[[], "regex.Pattern[str]"] = field(repr=False, compare=False)
    """Compiles at the first call: most detectors are never needed in a run."""

    def marker(self) -> str:
        """What stands in the masked text."""
        return f"[masked: {self.kind}]" if self.action is Do.MARKER else f"[{self.kind}]"

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Half-open spans of the values in a normalised text. Raises TimeoutError."""
        for found in self.compiled().finditer(text, timeout=TIMEOUT_SECONDS, concurrent=False):
            value = "value" if found.groupdict().get("value") else 0
            if self.is_valid is None or self.is_valid(found.group(value)):
                yield found.span(value)


@dataclass(frozen=True, slots=True)
class Table:
    """Detectors with the index of their keywords."""

    rows: tuple[Detector, ...]
    by_keyword: Mapping[str, tuple[int, ...]]
    """Places in `rows`. Each keyword is looked for once, whatever the number of its detectors."""

    def likely(self, text: str) -> list[Detector]:
        """The detectors that can fire at all, in their order. This is what makes masking cheap."""
        lowered = text.lower()
        places = {i for key, owners in self.by_keyword.items() if key in lowered for i in owners}
        digits = len(_DIGIT.findall(text)) if places else 0
        return [self.rows[i] for i in sorted(places) if self.rows[i].digits <= digits]


def indexed(rows: Iterable[Detector]) -> Table:
    """The rows with their index."""
    kept = tuple(rows)
    owners: dict[str, list[int]] = {}
    for i, row in enumerate(kept):
        for keyword in row.keywords:
            owners.setdefault(keyword, []).append(i)
    return Table(kept, {key: tuple(places) for key, places in owners.items()})
