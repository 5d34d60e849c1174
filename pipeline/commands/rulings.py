"""`dismiss`, `retype`, `forget`: taking a case back."""

from argparse import Namespace

from pipeline import clock
from pipeline.cases import rulings
from pipeline.cases.store import open_reader
from pipeline.commands import asking
from pipeline.commands.context import Context
from pipeline.commands.lookup import one_case
from pipeline.commands.writing import writing
from pipeline.errors import UsageError
from pipeline.records import Case, CaseType


def dismiss(context: Context, args: Namespace) -> int:
    """Marks one case as wrong."""
    case = _found(context, args.id)
    if not context.dry_run:
        with writing(context.config) as store:
            rulings.dismiss(store, case.id, clock.now())
    _said(context, case.id, "dismissed", f"counts against {case.rule_id}")
    return 0


def retype(context: Context, args: Namespace) -> int:
    """Gives one case another type."""
    case = _found(context, args.id)
    if not context.dry_run:
        with writing(context.config) as store:
            rulings.retype(store, case.id, CaseType(args.type), clock.now())
    _said(context, case.id, "retyped", f"{case.type.value} → {args.type}")
    return 0


def forget(context: Context, args: Namespace) -> int:
    """Removes one case, or all, from store and exports, and writes both anew."""
    if args.all == (args.id is not None):
        raise UsageError("name one case, or give --all", "`twice-told cases` lists the ids")
    with open_reader(context.config.local_cases) as known:
        if args.all:
            ids = rulings.kept_ids(known) if known else []
        else:
            ids = [one_case(known, args.id).id]
    if context.dry_run:
        _said(context, args.id or "all", "forgotten", f"{len(ids)} cases, with all their copies")
        return 0
    asking.check_askable(context, "forgetting is final")
    if not asking.agreed(context, f"Forget {len(ids)} case(s) for good?"):
        _said(context, args.id or "all", "kept", "nothing was forgotten")
        return 0
    with writing(context.config) as store:
        number = rulings.forget(store, rulings.kept_ids(store) if args.all else ids)
    _said(
        context, args.id or "all", "forgotten",
        f"{number} removed from store and exports; Claude Code's own transcripts are untouched",
    )  # fmt: skip
    return 0


def _found(context: Context, text: str) -> Case:
    """Looked up first, so that a wrong id neither waits for the lock nor makes a store."""
    with open_reader(context.config.local_cases) as store:
        return one_case(store, text)


def _said(context: Context, identity: str, what: str, detail: str) -> None:
    if context.json:
        context.screen.document({"id": identity, "done": what, "dry_run": context.dry_run})
    else:
        prefix = "would be " if context.dry_run else ""
        context.screen.line(f"{identity}: {prefix}{what} ({detail})")
