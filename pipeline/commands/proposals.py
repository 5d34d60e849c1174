"""`proposals`: what was said again and again, and what became of it."""

from argparse import Namespace
from collections.abc import Mapping, Sequence

from pipeline.cases.store import open_reader
from pipeline.commands.context import Context
from pipeline.commands.matter import stands_already
from pipeline.ledger.fold import State
from pipeline.propose.books import books
from pipeline.propose.effect import Effect
from pipeline.propose.listing import CLOSED, Entry, entries
from pipeline.propose.standing import Location
from pipeline.screen import Screen


def run(context: Context, args: Namespace) -> int:
    """The open and the accepted ones, or all; a table, tab-separated lines, or an array."""
    with open_reader(context.config.local_cases) as store:
        found = entries(context.config, store)
        faults = books(context.config, store).faults()
        standing = (
            {e.proposal.number: stands_already(context, store, e.proposal) for e in found}
            if not context.json
            else {}
        )
    for fault in faults:
        context.screen.warn(fault)
    shown = [e for e in found if args.all or e.proposal.state not in CLOSED]
    if context.json:
        context.screen.document([entry.as_json() for entry in shown])
        return 0
    if not shown:
        context.screen.talk(_nothing(found))
    _table(context.screen, shown, standing)
    return 0


def in_words(effect: Effect) -> str:
    """`works: 1 in 40 sessions since, 6 in 30 before; rate 0.12 (0.00-0.99)`."""
    (before, after), (old, new) = effect.halves.cases, effect.halves.sessions
    text = f"{effect.verdict}: {after} in {new} sessions since, {before} in {old} before"
    if effect.ratio is None or effect.interval is None:
        return text
    low, high = effect.interval
    return f"{text}; rate {effect.ratio:.2f} ({low:.2f}-{high:.2f})"


def _table(
    screen: Screen, shown: Sequence[Entry], standing: Mapping[int | None, Location | None]
) -> None:
    screen.table(
        ("number", "repository", "type", "state", "cases", "sessions", "days", "last", "note"),
        [
            (
                str(p.number or "–"), p.repo, p.type.value, p.state.value, str(p.counts.cases),
                str(p.counts.sessions), str(p.counts.days), str(p.counts.last),
                note(entry, standing.get(p.number)),
            )
            for entry in shown
            for p in (entry.proposal,)
        ],
        styled=2,
    )  # fmt: skip


def note(entry: Entry, stands: Location | None = None) -> str:
    """What else is to be known of a proposal."""
    proposal = entry.proposal
    if entry.effect:
        return in_words(entry.effect)
    if stands:
        return f"exists, not kept: {stands.path}:{stands.line}; sharpen it, or make it a hook"
    if entry.later:
        return f"came back as {entry.later}"
    if proposal.state is State.HELD:
        return "noticed again, not said again"
    if proposal.state is State.REJECTED and proposal.reason:
        return proposal.reason.value
    return f"was {proposal.previous} before" if proposal.previous else ""


def _nothing(found: Sequence[Entry]) -> str:
    if found:
        return "nothing is open; --all shows the rest"
    return "no proposals yet; `twice-told nightly` raises what was said twice"
