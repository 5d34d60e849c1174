"""Folds events into the states of proposals: the same for any order of lines, on every machine.

Each bundle's events are taken by time. A writer gives an event a later time than all that it has
read of its bundle, so time respects what people knew; what does not follow from the state before is
passed over.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import count, groupby

from pipeline.ledger.event import NUMBER_MAX, Counts, Event, Form, Happening, Reason, in_order
from pipeline.records import CaseType


class State(StrEnum):
    """What has become of a bundle that repeated."""

    HELD = "held"
    RAISED = "raised"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    RETIRED = "retired"


FROM: Mapping[Happening, frozenset[State | None]] = {
    Happening.HELD: frozenset({None}),
    Happening.RAISED: frozenset({None, State.HELD}),
    Happening.REOPENED: frozenset({State.REJECTED, State.RETIRED}),
    Happening.ACCEPTED: frozenset({State.RAISED, State.REJECTED, State.RETIRED}),
    Happening.REJECTED: frozenset({State.RAISED}),
    Happening.RETIRED: frozenset({State.ACCEPTED}),
    Happening.COUNTED: frozenset(),
}
"""The states of a bundle from which it can happen; None: nothing is known of it yet. To be counted
changes no state."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One bundle under one number; a bundle that came back has one for each time."""

    number: int | None
    """None while it is held."""
    repo: str
    type: CaseType
    state: State
    counts: Counts
    """Of the whole bundle by now: the sum of each machine's latest."""
    at: datetime
    """When it was first raised, reopened or held."""
    previous: int | None = None
    """The number under which it was closed before."""
    decided_at: datetime | None = None
    """When it got its present state from a person; None while it waits for one."""
    form: Form | None = None
    rule: str | None = None
    reason: Reason | None = None

    @property
    def bundle(self) -> tuple[str, CaseType]:
        """What it is about."""
        return self.repo, self.type


def fold(*ledgers: Sequence[Event]) -> list[Proposal]:
    """The proposals of some ledgers together: by number, the held ones last.

    Where two bundles claim one number, the earlier ledger in the list, then the earlier event,
    keeps it; the other gets the smallest free one. A later ledger changes no number of an earlier
    one, so that all of a team see the same, whatever else each of them keeps.
    """
    rank: dict[str, int] = {}
    events: dict[str, Event] = {}
    for place, ledger in enumerate(ledgers):
        for event in ledger:
            rank.setdefault(event.id, place)
            events.setdefault(event.id, event)
    histories = [_history(of_bundle) for of_bundle in _by_bundle(events.values())]
    numbers = _numbers([opening for history in histories for opening, _ in history], rank)
    found = [proposal for history in histories for proposal in _linked(history, numbers)]
    return sorted(found, key=lambda p: (p.number is None, p.number or 0, p.at, p.bundle))


def next_number(proposals: Iterable[Proposal]) -> int:
    """The number that a new proposal claims."""
    taken = {p.number for p in proposals if p.number is not None}
    following = max(taken, default=0) + 1
    return following if following < NUMBER_MAX else next(n for n in count(1) if n not in taken)


def _by_bundle(events: Iterable[Event]) -> list[list[Event]]:
    found: dict[tuple[str, CaseType], list[Event]] = {}
    for event in in_order(events):
        found.setdefault(event.bundle, []).append(event)
    return list(found.values())


def _history(events: Sequence[Event]) -> list[tuple[Event, Proposal]]:
    """The proposals of one bundle, oldest first, each with the event that opened it."""
    latest = {e.machine: e.counts for e in events if e.counts is not None}
    if not latest:
        return []
    counts = _sum(list(latest.values()))
    found: list[tuple[Event, Proposal]] = []
    for event in events:
        now = found[-1][1].state if found else None
        if now not in FROM[event.event]:
            continue
        if event.counts is not None:
            state = State.HELD if event.event is Happening.HELD else State.RAISED
            proposal = Proposal(event.number, event.repo, event.type, state, counts, event.at)
            if now is State.HELD:
                found.pop()
            found.append((event, proposal))
        else:
            opening, proposal = found[-1]
            found[-1] = opening, replace(
                proposal, state=State(event.event.value), decided_at=event.at,
                form=event.form, rule=event.rule, reason=event.reason,
            )  # fmt: skip
    return found


def _sum(parts: Sequence[Counts]) -> Counts:
    full = [part for part in parts if part.cases] or list(parts)
    sources = [sum(column) for column in zip(*(part.sources for part in parts), strict=True)]
    return Counts(
        sum(part.sessions for part in parts),
        sum(part.days for part in parts),
        sum(part.cases for part in parts),
        min(part.first for part in full),
        max(part.last for part in full),
        (sources[0], sources[1], sources[2], sources[3]),
    )


def _numbers(openings: Sequence[Event], rank: Mapping[str, int]) -> dict[str, int]:
    """By the opening's id: in each ledger first all who can keep what they claim, then the
    others."""
    taken: set[int] = set()
    numbers: dict[str, int] = {}
    claims = [(e, e.number) for e in openings if e.number is not None]
    claims.sort(key=lambda claim: (rank[claim[0].id], claim[0].at, claim[0].id))
    for _, group in groupby(claims, key=lambda claim: rank[claim[0].id]):
        displaced = []
        for event, number in group:
            if number in taken:
                displaced.append(event.id)
            else:
                numbers[event.id] = number
                taken.add(number)
        free = (number for number in count(1) if number not in taken)
        given = dict(zip(displaced, free, strict=False))
        numbers |= given
        taken.update(given.values())
    return numbers


def _linked(
    history: Sequence[tuple[Event, Proposal]], numbers: Mapping[str, int]
) -> Iterator[Proposal]:
    """A proposal that came back names its predecessor by the number which that has now."""
    previous = None
    for opening, proposal in history:
        number = numbers.get(opening.id)
        yield replace(proposal, number=number, previous=previous)
        previous = number
