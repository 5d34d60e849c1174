"""`show NUMBER`: the cases of this machine behind a proposal."""

from pipeline.cases import read
from pipeline.cases.store import Store
from pipeline.commands.context import Context
from pipeline.commands.matter import counting, stands_already
from pipeline.commands.proposals import note
from pipeline.propose.listing import Entry, entries, numbered
from pipeline.propose.standing import Location
from pipeline.records import Case
from pipeline.screen import TYPE_COLORS
from pipeline.wording import counted


def cases_behind(context: Context, store: Store | None, number: int, hidden: bool) -> list[Case]:
    """Prints what the proposal is; the cases that count for it, newest first, or (`hidden`) all of
    its bundle. Raises UsageError."""
    entry = numbered(entries(context.config, store), number)
    if not context.json:
        _heading(context, entry, stands_already(context, store, entry.proposal))
    repo, kind = entry.proposal.bundle
    cases = counting(store, repo, kind) if store and not hidden else []
    if store and hidden:
        cases = read.cases(store, read.Wanted(repo=repo, type=kind, hidden=True))
    missing = entry.proposal.counts.cases - len(cases)
    if missing > 0:
        which = f"{missing} of its cases lie" if cases else "its cases lie"
        context.screen.talk(f"{which} on another machine, or were taken back since the last night")
    return cases


def _heading(context: Context, entry: Entry, stands: Location | None) -> None:
    proposal, counts = entry.proposal, entry.proposal.counts
    context.screen.heading(
        f"{proposal.number}  {proposal.repo}",
        proposal.type.value,
        TYPE_COLORS[proposal.type.value],
        f"{proposal.state} {(proposal.decided_at or proposal.at).date()}",
    )
    context.screen.line(
        f"  cases: {counts.cases} in {counted(counts.sessions, 'session')}"
        f" on {counted(counts.days, 'day')},"
        f" {counts.first} to {counts.last}"
    )
    if text := note(entry, stands):
        context.screen.line(f"  {text}")
