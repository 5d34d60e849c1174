"""The last stage of a night: which bundles repeated, put down in the ledger.

A bundle is raised by cases alone, and what more cases would not undo: the folded state does not
depend on when the nights ran, once each machine had one with everybody's events. Only a case from
before a decision that is found after the bundle came back would have kept it away. A night that is
repeated has nothing to add.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import chain

from pipeline.cases import repeats
from pipeline.cases.repeats import Bundle, Unit
from pipeline.cases.store import Store
from pipeline.ledger.book import Books, append, time_for
from pipeline.ledger.event import Counts, Event, Happening, in_order
from pipeline.ledger.fold import Proposal, State, fold, next_number
from pipeline.propose.folder import check_there


@dataclass(frozen=True, slots=True)
class Bounds:
    """How far a bundle must stretch to be raised, and what a night looks at."""

    sessions: int = 2
    days: int = 2
    until: date | None = None
    """The last local day; None for all."""


@dataclass(frozen=True, slots=True)
class Raised:
    """What a night has to add to the ledgers."""

    raised: tuple[int, ...] = ()
    """Numbers of bundles that were raised, or came back."""
    held: int = 0
    """Bundles that were put on hold."""
    events: tuple[Event, ...] = field(default=(), repr=False)


def night(store: Store, found: Books, bounds: Bounds, machine: str, now: datetime) -> Raised:
    """What this machine's cases add to what all ledgers say; writes nothing. Raises LedgerError."""
    ledgers = found.events()
    events = list(chain.from_iterable(ledgers))
    folded = fold(*ledgers)
    number, known = next_number(folded), {event.id for event in events}
    added: list[Event] = []
    for change in _changes(repeats.units(store, bounds.until), folded, events, machine, bounds):
        takes = change.happening in (Happening.RAISED, Happening.REOPENED)
        at = time_for(change.bundle, machine, [*events, *added], now)
        event = _event(change, at, machine, number if takes else None)
        if event.id not in known:  # at the end of all time a count can come back
            added.append(event)
            number += takes
    held = sum(event.event is Happening.HELD for event in added)
    return Raised(tuple(e.number for e in added if e.number is not None), held, tuple(added))


def write(found: Books, events: Sequence[Event]) -> None:
    """One append for each ledger; without events nothing is opened. Raises LedgerError.

    A team's ledger first gets what it should hold already, so that no count there lacks its raise.
    """
    if found.team:
        check_there(found.team.parent)
        append(found.team, found.owed())
    for path in dict.fromkeys(found.file_of(event.repo) for event in events):
        append(path, [event for event in events if found.file_of(event.repo) == path])


@dataclass(frozen=True, slots=True)
class _Change:
    """An event in the making: all but its time and number."""

    bundle: Bundle
    happening: Happening
    counts: Counts
    previous: int | None


def _changes(
    bundles: Mapping[Bundle, Sequence[Unit]],
    folded: Sequence[Proposal],
    events: Sequence[Event],
    machine: str,
    bounds: Bounds,
) -> Iterator[_Change]:
    """By name. A bundle that nobody knows and that does not repeat gives none."""
    latest = {proposal.bundle: proposal for proposal in sorted(folded, key=lambda p: p.at)}
    counted = _own_counts(events, machine)
    for bundle in sorted(bundles.keys() | (counted.keys() & latest.keys())):
        units, proposal, before = bundles.get(bundle, ()), latest.get(bundle), counted.get(bundle)
        happening = opens(units, proposal, bounds)
        counts = _counts(units, before, bounds.until)
        if happening is None and proposal is not None and counts != before:
            happening = Happening.COUNTED
        if happening is not None:
            again = proposal if happening is Happening.REOPENED else None
            yield _Change(bundle, happening, counts, again.number if again else None)


def _event(change: _Change, at: datetime, machine: str, number: int | None) -> Event:
    repo, kind = change.bundle
    return Event(at, change.happening, repo, kind, machine, number, change.previous, change.counts)


def opens(units: Sequence[Unit], known: Proposal | None, bounds: Bounds) -> Happening | None:
    """What these units make of a bundle: raised, reopened, held, or nothing new.

    It comes back when as many units began after the decision as before, and those alone would
    raise it. The noticed units alone put it on hold, whatever else there is.
    """
    if known is None or known.state is State.HELD:
        if repeated(units, bounds):
            return Happening.RAISED
        noticed = [unit for unit in units if unit.noticed]
        if known is None and repeated(noticed, bounds, human=False):
            return Happening.HELD
    elif known.decided_at is not None and known.state is not State.ACCEPTED:
        fresh = [unit for unit in units if unit.begun_at > known.decided_at]
        if len(fresh) >= len(units) - len(fresh) and repeated(fresh, bounds):
            return Happening.REOPENED
    return None


def repeated(units: Sequence[Unit], bounds: Bounds, human: bool = True) -> bool:
    """Two of them, one of them a person's (or `human` is False), differ in session and in day."""
    sessions, days = {unit.session for unit in units}, {unit.day for unit in units}
    if len(sessions) < bounds.sessions or len(days) < bounds.days:
        return False
    return any(
        one.session != other.session and one.day != other.day
        for one in units
        if one.human or not human
        for other in units
    )


def _own_counts(events: Sequence[Event], machine: str) -> dict[Bundle, Counts]:
    """This machine's latest word on each bundle."""
    own = in_order(event for event in events if event.machine == machine)
    return {event.bundle: event.counts for event in own if event.counts is not None}


def _counts(units: Sequence[Unit], known: Counts | None, until: date | None) -> Counts:
    """Of some units. A night that looks at less than an earlier one counted takes nothing back."""
    if known and (until and known.last > until):
        return known
    if not units and known:
        return Counts(0, 0, 0, known.first, known.last, (0, 0, 0, 0))
    sources = [sum(column) for column in zip(*(unit.sources for unit in units), strict=True)]
    days = {unit.day for unit in units}
    return Counts(
        len({unit.session for unit in units}), len(days), sum(sources), min(days), max(days),
        (sources[0], sources[1], sources[2], sources[3]),
    )  # fmt: skip
