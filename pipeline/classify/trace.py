"""What `explain` shows of one verdict. Records only; the engine fills them."""

from dataclasses import dataclass
from enum import StrEnum

from pipeline.classify.normalise import Blank
from pipeline.classify.rule import Status
from pipeline.classify.sentences import Sentence
from pipeline.records import CaseType, Finding


class Why(StrEnum):
    """The reason of a verdict."""

    RULE = "rule"
    """A rule chose one of the four types."""
    CUE = "cue"
    """Only a cue, or in a question a rule of another type than violated-instruction."""
    SIGNAL = "signal"
    """Only what happened just before."""
    EXCLUDED = "excluded"
    """A rule matched and an exclusion stopped it."""
    BRACKET = "bracket"
    """Starts with "["."""
    TOO_LONG = "too-long"
    """Over 200 characters and no first sentence that stands by itself."""
    NOTHING = "nothing"
    """No rule, cue or signal."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One match of one rule."""

    rule_id: str
    type: CaseType
    status: Status
    span: tuple[int, int]
    """Half-open, in the message's text; (0, 0) when the pattern ran out of time."""
    tried: tuple[str, ...]
    """Ids of the exclusions that were tried, the stopping one last."""
    stopped_by: str | None
    timed_out: bool = False
    muted: bool = False
    """Survived, but stands in the closing question, where its rule says nothing."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything that led to a verdict, in the order in which it was looked at."""

    normalised: str
    """Same length as the text that was looked at (its first 2,000 characters)."""
    blanks: tuple[Blank, ...]
    sentences: tuple[Sentence, ...]
    """Only those that may decide."""
    question: bool
    facts: tuple[str, ...]
    """What is known of the turn apart from its words, sorted."""
    attempts: tuple[Attempt, ...]
    signals: tuple[str, ...]
    finding: Finding | None
    why: Why

    @property
    def excluded_by(self) -> str | None:
        """The exclusion that kept the message from being a case, if one did."""
        stops = (attempt.stopped_by for attempt in self.attempts if attempt.stopped_by)
        return next(stops, None) if self.finding is None else None

    @property
    def timeouts(self) -> int:
        """Rules that were skipped because a pattern ran for more than 50 ms."""
        return sum(attempt.timed_out for attempt in self.attempts)
