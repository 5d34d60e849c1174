"""`reject` and `retire`: a proposal is dropped, a rule is taken out again."""

from argparse import Namespace

from pipeline import clock
from pipeline.cases import acceptances
from pipeline.cases.store import open_reader
from pipeline.commands import asking
from pipeline.commands.accept import outcome
from pipeline.commands.context import Context
from pipeline.commands.matter import Matter, matter, next_step, places
from pipeline.commands.writing import writing
from pipeline.errors import ConfigError
from pipeline.ledger.event import Form, Happening, Reason
from pipeline.propose import change, decide
from pipeline.propose.change import Change, Found


def reject(context: Context, args: Namespace) -> int:
    """No question: it can still be accepted."""
    with open_reader(context.config.local_cases) as store:
        found = matter(context, store, args.number, Happening.REJECTED)
    reason = Reason(args.reason)
    if not context.dry_run:
        drop(context, found, reason)
    _said(context, found, "rejected", reason.value, not context.dry_run)
    return 0


def drop(context: Context, found: Matter, reason: Reason) -> None:
    """Writes the rejection down."""
    with writing(context.config) as store:
        decide.carry_out(
            store, found.books, found.proposal, Happening.REJECTED, clock.now(), reason=reason
        )


def retire(context: Context, args: Namespace) -> int:
    """Takes the rule out of its file and says so in the ledger; file first."""
    faults: list[str] = []
    with open_reader(context.config.local_cases) as store:
        found = matter(context, store, args.number, Happening.RETIRED)
        is_rule = found.proposal.form is Form.RULE
        where = places(found, context.config, store) if is_rule else ()
        standing = change.accepted(where, found.proposal, faults)
    if faults and standing is None:
        raise ConfigError(
            f"the rule of proposal {args.number} may stand where it cannot be looked for: "
            + "; ".join(faults),
            "mend that and run it again; nothing was retired",
        )
    asking.check_askable(context, "this takes a rule out")
    made = change.removal(standing) if standing else None
    warnings = _warnings(found, standing) if is_rule else []
    for text in made.diff if made else ():
        (context.screen.talk if context.json else context.screen.line)(text)
    for warning in warnings:
        context.screen.warn(warning)
    going = not context.dry_run and asking.agreed(context, "Retire this?")
    if going:
        _take_out(context, found, made)
    detail = f"taken out of {made.document.path}" if made else "no file was changed"
    _said(context, found, "retired", detail, going, made, warnings)
    return 0


def _warnings(found: Matter, standing: Found | None) -> list[str]:
    if standing is None:
        here = "" if found.tree else f", and this is no folder of {found.proposal.repo}"
        lost = f"the rule of proposal {found.proposal.number} was not found{here}"
        return [f"{lost}; only the ledger will say that it is retired"]
    path, told = standing.document.path, []
    if standing.rule.is_changed:
        told = [f"{path}:{standing.rule.line}: it was edited since it was accepted; it goes all"
                " the same"]  # fmt: skip
    return told + [
        f"{path}:{line}: another rule of it, from a merge perhaps, stays; take it out by hand"
        for line in change.others(standing, found.proposal)
    ]


def _take_out(context: Context, found: Matter, made: Change | None) -> None:
    with writing(context.config) as store:
        decide.carry_out(store, found.books, found.proposal, Happening.RETIRED, clock.now(), made)
        acceptances.drop(store, found.proposal.repo, found.proposal.type)


def _said(
    context: Context, found: Matter, what: str, detail: str, going: bool,
    made: Change | None = None, warnings: list[str] | None = None,
) -> None:  # fmt: skip
    proposal = found.proposal
    if context.json:
        more = {"detail": detail, "diff": made.diff if made else [], "warnings": warnings or []}
        decision = what if going or context.dry_run else None
        context.screen.document(outcome(proposal, decision, context.dry_run, going) | more)
    elif not going and not context.dry_run:
        context.screen.line("nothing was changed")
    else:
        would_be = "would be " if context.dry_run else ""
        context.screen.line(f"proposal {proposal.number}: {would_be}{what} ({detail})")
    if going:
        ledger = found.books.file_of(proposal.repo)
        context.screen.talk(next_step(made.document.path if made else None, ledger))
