"""What a person decides about a proposal: may it be, and what carries it out."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain

from pipeline.cases.meta import machine_id
from pipeline.cases.store import Store
from pipeline.errors import LedgerError, UsageError
from pipeline.ledger.book import Books, time_for
from pipeline.ledger.event import Event, Form, Happening, Reason
from pipeline.ledger.fold import FROM, Proposal, State, fold
from pipeline.propose.change import Change
from pipeline.propose.raising import write

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
    latest = max((p for p in proposals if p.bundle == found.bundle), key=lambda p: p.at)
    if latest.at > found.at:
        raise UsageError(
            f"proposal {number} came back as {latest.number}", f"decide {latest.number}"
        )
    if found.state not in FROM[what]:
        raise UsageError(
            f"proposal {number} is {found.state}, so that it cannot be {what}", _NEXT[found.state]
        )
    return found


def carry_out(
    store: Store, books: Books, proposal: Proposal, what: Happening, now: datetime,
    change: Change | None = None, *,
    form: Form | None = None, rule: str | None = None, reason: Reason | None = None,
) -> None:  # fmt: skip
    """Changes the file, then adds the event, later than all that is known; the caller holds the
    home's lock. What is cut off between is found by the rule's marker, or its absence, next time.

    Raises UsageError when somebody else decided in the meantime, ConfigError and StoreError as
    `Change.make`, LedgerError.
    """
    ledgers = books.events()
    _check_still(ledgers, proposal, what)
    machine = machine_id(store)
    event = Event(
        time_for(proposal.bundle, machine, [*chain.from_iterable(ledgers)], now), what,
        proposal.repo, proposal.type, machine, proposal.number,
        form=form, rule=rule, reason=reason,
    )  # fmt: skip
    write(books, [])  # a team's folder that is no longer fit is told of before the file changes
    if change:
        change.make()
    try:
        write(books, [event])
    except LedgerError as error:
        if change is None:
            raise
        raise LedgerError(
            f"{change.document.path} was changed already, and {error.message}",
            f"{error.hint}; then run the same again: only the ledger's part is left to do",
        ) from error


def _check_still(ledgers: Sequence[Sequence[Event]], proposal: Proposal, what: Happening) -> None:
    """Raises UsageError when somebody else decided since, or the number went to another bundle."""
    assert proposal.number is not None
    still = chosen(fold(*ledgers), proposal.number, what)
    if still.bundle != proposal.bundle:
        raise UsageError(
            f"proposal {proposal.number} is another one by now", "look at it and decide again"
        )
