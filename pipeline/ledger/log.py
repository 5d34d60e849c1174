"""The events of some ledgers, each with the number that its proposal has now."""

from collections.abc import Sequence

from pipeline.ledger.event import Event, in_order
from pipeline.ledger.fold import Proposal, fold


def numbered(*ledgers: Sequence[Event]) -> list[tuple[Event, int | None]]:
    """Newest last. None for what belongs to no numbered proposal. What came before a bundle was
    raised belongs to its first proposal, what came after one was closed to that one."""
    proposals: dict[object, list[Proposal]] = {}
    for proposal in sorted(fold(*ledgers), key=lambda p: p.at):
        proposals.setdefault(proposal.bundle, []).append(proposal)
    events = {event.id: event for ledger in ledgers for event in ledger}
    return [
        (event, _number(event, proposals.get(event.bundle, [])))
        for event in in_order(events.values())
    ]


def _number(event: Event, of_bundle: Sequence[Proposal]) -> int | None:
    begun = [p for p in of_bundle if p.at <= event.at] or list(of_bundle[:1])
    return begun[-1].number if begun else None
