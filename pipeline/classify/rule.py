"""What a rule pack says, as frozen records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import add

from pipeline.classify.pattern import Pattern
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
    index: Mapping[str, Sequence[tuple[str, int]]] = field(init=False, repr=False)
    """Keywords with their rules' places in `rules`, by their first two characters."""

    def __post_init__(self) -> None:
        index: dict[str, list[tuple[str, int]]] = {}
        for at, rule in enumerate(self.rules):
            for word in rule.keywords:
                index.setdefault(word[:2], []).append((word, at))
        object.__setattr__(self, "index", index)

    def places(self, folded: str) -> list[int]:
        """Places of the rules with a keyword in the casefolded text, in order.

        Most keywords are never looked for, since no two neighbours in the text begin them; this is
        the hot path of every run.
        """
        pairs = {*map(add, folded, folded[1:]), *folded}
        found = {
            at
            for pair in pairs & self.index.keys()
            for word, at in self.index[pair]
            if word in folded
        }
        return sorted(found)


@dataclass(frozen=True, slots=True)
class Packs:
    """The whole set."""

    by_key: Mapping[tuple[Source, str], Pack]
    """By source and language; people's own words are under Source.HUMAN."""
    signals: tuple[Signal, ...]
    stopwords: Mapping[str, frozenset[str]]
    """Most frequent words of languages in Latin letters."""
    bare: Mapping[str, tuple[str, ...]]
    """By language: words that name no object, longest first."""
    reviewers: tuple[str, ...]
    """Words in the type or task of a subagent that tell that it reviews."""
    digest: str
    """SHA-256 over all rules, signals and word lists: changes when any verdict might."""
