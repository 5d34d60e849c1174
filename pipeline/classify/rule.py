"""What a rule pack says, as frozen records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from operator import add

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


@dataclass(frozen=True, slots=True)
class Pack:
    """Everything that one language has for one source."""

    rules: tuple[Rule, ...] = ()
    """In deciding order: by type, then as written."""
    excludes: tuple[Exclusion, ...] = ()
    harmless: tuple[str, ...] = ()
    """Everyday sentences on which no rule may fire."""
    index: Mapping[str, Sequence[tuple[str, Sequence[int]]]] = field(init=False, repr=False)
    """Keywords with their rules' places in `rules`, by their first characters."""
    pairs: frozenset[str] = field(init=False, repr=False)
    """The keys of `index` with one or two characters."""
    triples: frozenset[str] = field(init=False, repr=False)
    """Those with three: of keywords in plain Latin letters, whose pairs are in every text."""

    def __post_init__(self) -> None:
        words: dict[str, list[int]] = {}
        for at, rule in enumerate(self.rules):
            for word in rule.keywords:
                words.setdefault(word, []).append(at)
        index: dict[str, list[tuple[str, list[int]]]] = {}
        for word, places in words.items():
            start = word[:3] if len(word) > 2 and word[:3].isascii() else word[:2]
            index.setdefault(start, []).append((word, places))
        object.__setattr__(self, "index", index)
        object.__setattr__(self, "pairs", frozenset(key for key in index if len(key) < 3))
        object.__setattr__(self, "triples", frozenset(key for key in index if len(key) == 3))

    def places(self, folded: str) -> list[int]:
        """Places of the rules with a keyword in the casefolded text, in order.

        Most keywords are never looked for, since no neighbours in the text begin them; this is
        the hot path of every run.
        """
        pairs = list(map(add, folded, folded[1:]))
        begun = [*self.pairs.intersection(pairs), *self.pairs.intersection(folded)]
        if self.triples:
            begun += self.triples.intersection(map(add, pairs, folded[2:]))
        found: set[int] = set()
        for start in begun:
            for word, places in self.index[start]:
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
        table = self.folds.get(lang)
        if table is None or table.keys().isdisjoint(map(ord, text)):
            return text
        return text.translate(table)

    @cached_property
    def has_shadow(self) -> bool:
        """Whether there is anything to count beside the verdicts."""
        packs = self.by_key.values()
        return any(rule.status is Status.SHADOW for pack in packs for rule in pack.rules)
