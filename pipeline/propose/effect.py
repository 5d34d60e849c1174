"""Does an accepted rule work? Recurrences after the acceptance against those before, per session.

Before is all that the store knows of the repository up to the acceptance, after is all since. A
case counts by its own instant; a session counts on each side on which the agent acted in it. Given
how many cases there are in all, those after are binomial, which gives the exact interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipeline.cases.repeats import Halves, Watched, halves
from pipeline.cases.store import Store
from pipeline.ledger.fold import Proposal, State

_TAIL = 0.025
_STEPS = 100
_TINY = 1e-17

Interval = tuple[float, float]


class Verdict(StrEnum):
    """What the figures say of a rule."""

    WORKS = "works"
    """The whole interval lies below 1: fewer recurrences per session than before."""
    DOES_NOT = "does not"
    """The whole interval lies above 1; or there were so many sessions that silence would have
    proved the rule, and yet the rate is no lower than before."""
    UNKNOWN = "unknown"
    """Too little to tell."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What came after an acceptance, and what had been before."""

    halves: Halves

    @property
    def recurrences(self) -> int:
        """Cases after the acceptance."""
        return self.halves.cases[1]

    @property
    def ratio(self) -> float | None:
        """Rate after by rate before; None when either is unknown, or nothing was before."""
        (before, after), (old, new) = self.halves.cases, self.halves.sessions
        return (after / new) / (before / old) if before and old and new else None

    @property
    def interval(self) -> Interval | None:
        """95 % interval of the ratio, exact; its end may be infinite. None without sessions on
        both sides or without any case."""
        return rate_interval(self.halves)

    @property
    def verdict(self) -> Verdict:
        """See `Verdict`."""
        return verdict(self.halves)


def effects(store: Store | None, proposals: Sequence[Proposal]) -> dict[int, Effect]:
    """Of the accepted ones among some proposals, by number; for hooks and rules elsewhere too."""
    accepted = [
        (proposal.number, Watched(proposal.bundle, proposal.decided_at))
        for proposal in proposals
        if proposal.state is State.ACCEPTED and proposal.number and proposal.decided_at
    ]
    if store is None:
        return {number: Effect(Halves((0, 0), (0, 0))) for number, _ in accepted}
    found = halves(store, [watched for _, watched in accepted])
    return {number: Effect(half) for (number, _), half in zip(accepted, found, strict=True)}


def verdict(seen: Halves) -> Verdict:
    """The meaning of the figures."""
    interval = rate_interval(seen)
    if interval is None:
        return Verdict.UNKNOWN
    if interval[1] < 1:
        return Verdict.WORKS
    if interval[0] > 1 or (_would_have_shown(seen) and not _is_lower(seen)):
        return Verdict.DOES_NOT
    return Verdict.UNKNOWN


def rate_interval(seen: Halves) -> Interval | None:
    """As `Effect.interval`."""
    (before, after), (old, new) = seen.cases, seen.sessions
    if not (old and new and before + after):
        return None
    low, high = share_interval(after, before + after)
    odds = (share / (1 - share) if share < 1 else math.inf for share in (low, high))
    first, last = (odd * old / new for odd in odds)
    return first, last


def _would_have_shown(seen: Halves) -> bool:
    """Had nothing recurred in these sessions, the rule would count as one that works."""
    silent = rate_interval(Halves((seen.cases[0], 0), seen.sessions))
    return silent is not None and silent[1] < 1


def _is_lower(seen: Halves) -> bool:
    (before, after), (old, new) = seen.cases, seen.sessions
    return after * old < before * new


def share_interval(part: int, whole: int) -> Interval:
    """Clopper and Pearson's 95 % interval of a binomial share; `whole` is not 0."""
    return _lower(part, whole), 1 - _lower(whole - part, whole)


def _lower(part: int, whole: int) -> float:
    """The share under which `part` or more are found with a probability of 2.5 %."""
    low, high = 0.0, part / whole
    for _ in range(_STEPS if part else 0):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if _at_least(part, whole, middle) < _TAIL else (low, middle)
    return low


def _at_least(part: int, whole: int, share: float) -> float:
    """The binomial probability of `part` or more, for a share below `part / whole`: there the
    terms only fall, so that few are needed however large the numbers are."""
    ways = math.lgamma(whole + 1) - math.lgamma(part + 1) - math.lgamma(whole - part + 1)
    rest = (whole - part) * math.log1p(-share)
    term = total = math.exp(ways + part * math.log(share) + rest)
    while part < whole and term > total * _TINY:
        term *= (whole - part) / (part + 1) * share / (1 - share)
        part += 1
        total += term
    return total
