"""The proposals of a home with what is known of each, for the screens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.cases.store import Store
from pipeline.config import Config
from pipeline.errors import UsageError
from pipeline.ledger.fold import Proposal, State
from pipeline.propose.books import books, proposals
from pipeline.propose.effect import Effect, effects

CLOSED = (State.HELD, State.REJECTED, State.RETIRED)
"""Nobody has to look at these."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A proposal, and how its rule fares."""

    proposal: Proposal
    effect: Effect | None
    """None unless it is accepted."""
    later: int | None = None
    """The number under which its bundle came back."""

    @property
    def accepted_at(self) -> datetime | None:
        """None unless it is accepted now."""
        return self.proposal.decided_at if self.proposal.state is State.ACCEPTED else None

    def as_json(self) -> dict[str, Any]:
        """The shape that scripts rely on."""
        proposal, effect, at = self.proposal, self.effect, self.accepted_at
        return {
            "number": proposal.number,
            "repo": proposal.repo,
            "type": proposal.type.value,
            "state": proposal.state.value,
            "sessions": proposal.counts.sessions,
            "days": proposal.counts.days,
            "cases": proposal.counts.cases,
            "first": proposal.counts.first.isoformat(),
            "last": proposal.counts.last.isoformat(),
            "accepted_at": at.isoformat(timespec="seconds").replace("+00:00", "Z") if at else None,
            "recurrences": effect.recurrences if effect else None,
            "verdict": effect.verdict.value if effect else None,
        }


def entries(config: Config, store: Store | None) -> list[Entry]:
    """By number, those on hold last. Raises LedgerError."""
    found = proposals(books(config, store))
    watched = effects(store, found)
    later = {proposal.previous: proposal.number for proposal in found if proposal.previous}
    return [
        Entry(
            proposal,
            watched.get(proposal.number) if proposal.number else None,
            later.get(proposal.number) if proposal.number else None,
        )
        for proposal in found
    ]


def numbered(found: Sequence[Entry], number: int) -> Entry:
    """The entry with a number. Raises UsageError."""
    for entry in found:
        if entry.proposal.number == number:
            return entry
    raise UsageError(
        f"there is no proposal {number}", "`twice-told proposals --all` lists their numbers"
    )
