"""What a rule pack says, as frozen records."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Literal

from pipeline.classify.pattern import Pattern
from pipeline.classify.sentences import Latin
from pipeline.records import CaseType, Source


class Status(StrEnum):
    """Life of a rule. Only active rules decide; shadow rules run and are counted."""

    DRAFT = "draft"
    SHADOW = "shadow"
    ACTIVE = "active"
    RETIRED = "retired"


class On(StrEnum):
    """What an exclusion looks at. MATCH: a place in the sentence that overlaps the rule's match."""

    MATCH = "match"
    SENTENCE = "sentence"
    MESSAGE = "message"


class Fact(StrEnum):
    """What is known of a turn apart from its words."""

    INTERRUPTED = "interrupted"
    REJECTION = "rejection"
    AGENT_ACTED = "agent-acted"
    AGENT_ASKED = "agent-asked"
    """The agent's last words end with a question, so a "no" answers it."""
    REPEATED = "repeated"
    """Most of it stood in the person's words just before."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sentence in a pack that proves something about it."""

    text: str
    span: str = ""
    """The exact words that a `match` sample must be found by; "" for the other kinds."""


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Stops a rule's match."""

    id: str
    on: On
    pattern: Pattern
    stops: tuple[str, ...]
    """Sentences that a rule would take without it."""
    families: frozenset[CaseType]
    """Types that it holds for; all when empty. OTHER stands for the cues."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to say one type of correction."""

    id: str
    type: CaseType
    """OTHER for a cue."""
    status: Status
    summary: str
    keywords: tuple[str, ...]
    """Casefolded; the pattern is tried only when one of them occurs."""
    pattern: Pattern
    match: tuple[Sample, ...]
    reject: tuple[Sample, ...]
    known_miss: tuple[Sample, ...]
    exclude: tuple[Exclusion, ...]
    needs: frozenset[Fact]
    """One of these must hold; no condition when empty."""
    unless: frozenset[Fact]
    """None of these may hold."""
    question: bool
    """Also counts in a message that ends with a question mark."""


@dataclass(frozen=True, slots=True)
class Signal:
    """Makes a message `other` by what happened, not by its words."""

    id: str
    status: Status
    needs: frozenset[Fact]
    unless: frozenset[Fact]
    max_chars: int
    """Longer messages are no answer to what just happened."""


_Keyword = tuple[str, Sequence[int]]
"""A keyword and the places of its rules."""
_NUMBERS: Mapping[int, Literal["I", "Q"]] = {2: "I", 4: "Q"}
"""Codes of a number of so many UTF-16 units."""


def _units(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def _windows(text: str, width: int) -> list[memoryview]:
    """Every stretch of `width` UTF-16 units as one number, by where it begins modulo `width`.

    To meet numbers with a set costs a third of what slices of the text would.
    """
    units = memoryview(_units(text))
    size, code = 2 * width, _NUMBERS[width]
    return [
        units[at : at + (len(units) - at) // size * size].cast(code) for at in range(0, size, 2)
    ]


@dataclass(frozen=True, slots=True)
class Pack:
    """Everything that one language has for one source."""

    rules: tuple[Rule, ...] = ()
    """In deciding order: by type, then as written."""
    excludes: tuple[Exclusion, ...] = ()
    harmless: tuple[str, ...] = ()
    """Everyday sentences on which no rule may fire."""
    short: Sequence[_Keyword] = field(init=False, repr=False)
    """Keywords too short to have a beginning in `index`: each is looked for."""
    index: Mapping[int, Sequence[_Keyword]] = field(init=False, repr=False)
    """The others by their beginning, as `_windows` of this `width` give it."""
    width: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        places: dict[str, list[int]] = {}
        for at, rule in enumerate(self.rules):
            for word in rule.keywords:
                places.setdefault(word, []).append(at)
        # A long beginning is rarer in a text, but most words of Han and Hangul have none.
        width = 4 if sum(len(word) < 4 for word in places) < len(places) / 10 else 2
        index: dict[int | None, list[_Keyword]] = {}
        for word in places:
            first = _units(word)[: 2 * width]
            start = int.from_bytes(first, sys.byteorder) if len(first) == 2 * width else None
            index.setdefault(start, []).append((word, places[word]))
        object.__setattr__(self, "short", index.pop(None, []))
        object.__setattr__(self, "index", index)
        object.__setattr__(self, "width", width)

    def places(self, folded: str) -> list[int]:
        """Places of the rules with a keyword in the casefolded text, in order.

        Most keywords are never looked for, since nothing in the text begins as they do; this is
        the hot path of every run.
        """
        likely = list(self.short)
        for window in _windows(folded, self.width) if self.index else ():
            for start in self.index.keys() & window:
                likely += self.index[start]
        found: set[int] = set()
        for word, places in likely:
            if word in folded:
                found.update(places)
        return sorted(found)


@dataclass(frozen=True)
class Packs:
    """The whole set."""

    by_key: Mapping[tuple[Source, str], Pack]
    """By source and language; people's own words are under Source.HUMAN."""
    signals: tuple[Signal, ...]
    latin: Latin
    """How languages in Latin letters are told apart."""
    folds: Mapping[str, Mapping[int, int]]
    """By language: characters that are read as another one, such as 錯 as 错."""
    bare: Mapping[str, tuple[str, ...]]
    """By language: words that name no object, longest first."""
    reviewers: tuple[str, ...]
    """Words in the type or task of a subagent that tell that it reviews."""
    digest: str
    """SHA-256 over all rules, signals and word lists: changes when any verdict might."""

    def fold(self, text: str, lang: str) -> str:
        """The text as the language's patterns are written, at equal length."""
        foldable = self._foldable.get(lang)
        if foldable is None or not foldable.search(text):
            return text
        return text.translate(self.folds[lang])

    @cached_property
    def _foldable(self) -> Mapping[str, re.Pattern[str]]:
        """By language: finds a character of its fold, which most texts do not have."""
        return {
            lang: re.compile(f"[{re.escape(''.join(map(chr, table)))}]")
            for lang, table in self.folds.items()
            if table
        }

    @cached_property
    def has_shadow(self) -> bool:
        """Whether there is anything to count beside the verdicts."""
        packs = self.by_key.values()
        return any(rule.status is Status.SHADOW for pack in packs for rule in pack.rules)
