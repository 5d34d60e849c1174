"""What a person decides about a proposal: may it be, and the event that says so."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain

from pipeline.cases.meta import machine_id
from pipeline.cases.store import Store
from pipeline.errors import UsageError
from pipeline.ledger.book import Books, after, concerning
from pipeline.ledger.event import Event, Form, Happening, Reason
from pipeline.ledger.fold import Proposal, State, fold
from pipeline.propose.raising import write

_FROM = {
    Happening.ACCEPTED: (State.RAISED, State.REJECTED, State.RETIRED),
    Happening.REJECTED: (State.RAISED,),
    Happening.RETIRED: (State.ACCEPTED,),
}
_NEXT = {
    State.RAISED: "`twice-told accept` or `reject` decides it",
    State.ACCEPTED: "`twice-told retire` takes it back",
    State.REJECTED: "`twice-told accept` can still take it",
    State.RETIRED: "`twice-told accept` can take it again",
    State.HELD: "it is raised when a person says it too",
}


def chosen(proposals: Sequence[Proposal], number: int, what: Happening) -> Proposal:
    """The proposal of that number. Raises UsageError when there is none, or none to decide so."""
    found = next((p for p in proposals if p.number == number), None)
    if found is None:
        raise UsageError(f"there is no proposal {number}", "`twice-told proposals` lists them")
    later = [p.number for p in proposals if p.bundle == found.bundle and p.at > found.at]
    if later:
        raise UsageError(f"proposal {number} came back as {later[-1]}", f"decide {later[-1]}")
    if found.state not in _FROM[what]:
        raise UsageError(
            f"proposal {number} is {found.state}, so that it cannot be {what}", _NEXT[found.state]
        )
    return found


def record(
    store: Store, books: Books, proposal: Proposal, what: Happening, now: datetime, *,
    form: Form | None = None, rule: str | None = None, reason: Reason | None = None,
) -> None:  # fmt: skip
    """Adds the event, later than all that is known; the caller holds the home's lock.

    Raises UsageError when somebody else decided in the meantime, LedgerError.
    """
    check_still(books, proposal, what)
    known, machine = chain.from_iterable(books.events()), machine_id(store)
    at = after(concerning(known, proposal.bundle, machine), now)
    event = Event(
        at, what, proposal.repo, proposal.type, machine, proposal.number,
        form=form, rule=rule, reason=reason,
    )  # fmt: skip
    write(books, [event])


def check_still(books: Books, proposal: Proposal, what: Happening) -> None:
    """Raises UsageError when somebody else decided since, or the number went to another bundle."""
    assert proposal.number is not None
    still = chosen(fold(*books.events()), proposal.number, what)
    if still.bundle != proposal.bundle:
        raise UsageError(
            f"proposal {proposal.number} is another one by now", "look at it and decide again"
        )
