"""Which events cannot follow from what stood before them.

Machines write without knowing of each other, so a merge holds events that the fold passes over;
those are honest. What is found here cannot come from machines that each know all of their own
events: a decision without what it decides, or a machine that says a thing twice. (One machine that
writes on two branches, and sees on neither what it wrote on the other, looks like a replay.)
The tables speak of what stands before an event, whoever wrote it; `fold.FROM` speaks of the state
that all of it comes to.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from pipeline.ledger.event import LAST, Event, Happening, in_order
from pipeline.ledger.event import Happening as H
from pipeline.records import CaseType

_OPENINGS = frozenset({H.RAISED, H.REOPENED})
_NEEDS: Mapping[Happening, frozenset[Happening]] = {
    H.COUNTED: _OPENINGS | {H.HELD},
    H.ACCEPTED: _OPENINGS,
    H.REJECTED: _OPENINGS,
    H.RETIRED: frozenset({H.ACCEPTED}),
    H.REOPENED: frozenset({H.REJECTED, H.RETIRED}),
}
"""One of these stands before it in its bundle, from any machine."""
_AGAIN: Mapping[Happening, frozenset[Happening]] = {
    H.RAISED: frozenset(),
    H.HELD: frozenset(),
    H.ACCEPTED: frozenset({H.RETIRED}),
    H.REJECTED: frozenset({H.REOPENED}),
    H.RETIRED: frozenset({H.ACCEPTED}),
    H.REOPENED: frozenset({H.REJECTED, H.RETIRED}),
}
"""Before one machine says it again, one of these happened, from any machine."""
_BEFORE: Mapping[Happening, frozenset[Happening]] = {
    H.RAISED: frozenset({H.HELD, H.COUNTED}),
    H.HELD: frozenset(),
}
"""What the same machine can have said of the bundle before."""


def out_of_order(
    events: Iterable[Event], others: Iterable[Event] = ()
) -> Iterator[tuple[Event, str]]:
    """Events of one ledger, in any order, with what is wrong; each at most once.

    `others` stand on other branches: a picked commit can bring a decision without what it decides.
    Of what stands at the end of all time nothing can be said.
    """
    here = {event.id: event for event in events}
    everything = {event.id: event for event in others} | here
    times: set[tuple[str, datetime]] = set()
    bundles: dict[tuple[str, CaseType], list[Event]] = {}
    machines: dict[tuple[str, CaseType, str], list[Event]] = {}
    for event in in_order(everything.values()):
        before = bundles.setdefault(event.bundle, [])
        if event.id in here and event.at < LAST:
            own = machines.setdefault((*event.bundle, event.machine), [])
            if (event.machine, event.at) in times:
                yield event, "its machine has another event of the same time"
            elif wrong := _wrong(event, before, own):
                yield event, wrong
            times.add((event.machine, event.at))
            own.append(event)
        before.append(event)


def _wrong(event: Event, before: list[Event], own: list[Event]) -> str:
    """Against the earlier events of its bundle, and those of its machine; "" when it can follow."""
    kind = event.event
    needed = _NEEDS.get(kind)
    if needed and not any(e.event in needed for e in before if e.at < event.at):
        return f"{kind.value} before anything was {' or '.join(sorted(needed))}"
    allowed = _BEFORE.get(kind)
    if allowed is not None and any(e.event not in allowed for e in own):
        return f"{kind.value} by a machine that knew of it"
    if kind is H.COUNTED:
        latest = next((e.counts for e in reversed(own) if e.counts), None)
        return "counted although its machine's count had not changed" * (latest == event.counts)
    last = next((e for e in reversed(own) if e.event is kind), None)
    if last and not any(e.event in _AGAIN[kind] for e in before if e.at > last.at):
        return f"{kind.value} twice by one machine"
    return ""
