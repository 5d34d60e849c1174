"""`accept`: a proposal becomes a rule in a file that Claude Code reads."""

from argparse import Namespace

from pipeline import clock
from pipeline.cases import acceptances
from pipeline.cases.acceptances import Acceptance
from pipeline.cases.store import open_reader
from pipeline.commands import asking, drafting
from pipeline.commands.context import Context
from pipeline.commands.matter import Matter, matter, next_step
from pipeline.commands.plan import Plan, globs, look, planned, resumed
from pipeline.commands.stdin import stdin
from pipeline.commands.writing import writing
from pipeline.errors import UsageError
from pipeline.ledger.event import Form, Happening
from pipeline.ledger.fold import Proposal
from pipeline.propose import decide
from pipeline.propose.target import Target


def run(context: Context, args: Namespace) -> int:
    """Draft, edit, show, ask, write."""
    form = Form(args.form)
    plan = _rule(context, args) if form is Form.RULE else _elsewhere(context, args, form)
    show(context, plan)
    going = plan.is_whole and not context.dry_run and asking.agreed(context, "Accept this?")
    if going:
        carry_out(context, plan)
    return done(context, plan, going)


def _rule(context: Context, args: Namespace) -> Plan:
    """The file is read before the editor opens: what changes meanwhile is not overwritten."""
    found, into, left = look(context, args.number, args.target)
    asking.check_askable(context, "this changes a file")
    text = _given(args.text)
    if left:
        is_moved = args.target is not None and into.path != left.document.path
        return resumed(found, left, is_moved or text not in (None, left.rule.sentence))
    document = into.read()
    if text is None:
        text = _written(context, found, into)
    if not text.strip():
        return Plan(found, Form.RULE)
    return planned(context, found, into, document, text)


def _given(text: str | None) -> str | None:
    return stdin().read().decode("utf-8", "replace") if text == "-" else text


def _elsewhere(context: Context, args: Namespace, form: Form) -> Plan:
    if args.text is not None or args.target is not None:
        raise UsageError(f"--as {form} writes no sentence", "leave --text and --target out")
    with open_reader(context.config.local_cases) as store:
        found = matter(context, store, args.number, Happening.ACCEPTED)
    asking.check_askable(context, "this decides a proposal")
    return Plan(found, form)


def show(context: Context, plan: Plan) -> None:
    """The diff, and what to think of before saying yes."""
    for text in plan.change.diff if plan.change else ():
        (context.screen.talk if context.json else context.screen.line)(text)
    for warning in plan.warnings:
        context.screen.warn(warning)


def carry_out(context: Context, plan: Plan) -> None:
    """Writes file and ledger, and remembers where the rule went."""
    proposal = plan.matter.proposal
    assert proposal.number is not None
    with writing(context.config) as store:
        now = clock.now()
        decide.carry_out(
            store, plan.matter.books, proposal, Happening.ACCEPTED, now, plan.change,
            form=plan.form, rule=plan.rule,
        )  # fmt: skip
        if plan.path and plan.rule:
            acceptances.remember(
                store,
                Acceptance(proposal.repo, proposal.type, proposal.number, plan.path, plan.rule),
                now,
            )


def done(context: Context, plan: Plan, going: bool) -> int:
    """Says what happened and what comes next."""
    proposal, ledger = plan.matter.proposal, plan.matter.books.file_of(plan.matter.proposal.repo)
    decided = plan.is_whole and (going or context.dry_run)
    if context.json:
        context.screen.document(
            outcome(proposal, "accepted" if decided else None, context.dry_run, going)
            | {
                "form": plan.form.value,
                "text": plan.sentence,
                "target": str(plan.path) if plan.path else None,
                "diff": plan.change.diff if plan.change else [],
                "warnings": list(plan.warnings),
            }
        )
    elif not decided:
        context.screen.line("nothing was changed")
    else:
        would_be = "would be " if context.dry_run else ""
        what = f"rule in {plan.path}" if plan.path else plan.form.value
        context.screen.line(f"proposal {proposal.number}: {would_be}accepted ({what})")
    if going:
        context.screen.talk(next_step(plan.path, ledger))
    return 0


def outcome(proposal: Proposal, what: str | None, dry_run: bool, going: bool) -> dict[str, object]:
    """The head of the document that a decision prints with --json. `what`: None when nothing was
    decided, nor would be."""
    return {
        "number": proposal.number, "repo": proposal.repo, "type": proposal.type.value,
        "decision": what, "dry_run": dry_run, "done": going,
    }  # fmt: skip


def _written(context: Context, found: Matter, into: Target) -> str:
    text = drafting.from_judge(context, found, globs(found, into))
    command = asking.editor()
    if context.dry_run or context.yes or command is None:
        return text
    return asking.edited(text, command, output_free=not context.json)
