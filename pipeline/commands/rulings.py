"""`dismiss`, `retype`, `forget`: taking a case back."""

import sys
from argparse import Namespace

from pipeline import clock
from pipeline.cases import export, read, rulings
from pipeline.cases.store import open_writer
from pipeline.commands.context import Context
from pipeline.commands.lookup import one_case
from pipeline.errors import UsageError
from pipeline.files import lock, private_dir
from pipeline.records import CaseType


def dismiss(context: Context, args: Namespace) -> int:
    """Marks one case as wrong."""
    folder = private_dir(context.config.local_cases)
    with lock(folder / "lock"), open_writer(folder) as store:
        case = one_case(store, args.id)
        if not context.dry_run:
            rulings.dismiss(store, case.id, clock.now())
    _said(context, case.id, "dismissed", f"counts against {case.rule_id}")
    return 0


def retype(context: Context, args: Namespace) -> int:
    """Gives one case another type."""
    folder = private_dir(context.config.local_cases)
    with lock(folder / "lock"), open_writer(folder) as store:
        case = one_case(store, args.id)
        if not context.dry_run:
            rulings.retype(store, case.id, CaseType(args.type), clock.now())
    _said(context, case.id, "retyped", f"{case.type.value} → {args.type}")
    return 0


def forget(context: Context, args: Namespace) -> int:
    """Removes one case, or all, from store and exports, and writes both anew."""
    if args.all == (args.id is not None):
        raise UsageError("name one case, or give --all", "`twice-told cases` lists the ids")
    folder = private_dir(context.config.local_cases)
    with lock(folder / "lock"):
        with open_writer(folder) as store:
            ids = sorted(read.case_ids(store)) if args.all else [one_case(store, args.id).id]
            if context.dry_run or not _agreed(context, len(ids)):
                _said(context, args.id or "all", "kept", f"{len(ids)} would be forgotten")
                return 0
            number = rulings.forget(store, ids)
        export.forget_in(folder / "exports", frozenset(ids), clock.now())
        rulings.compact(folder)
    _said(
        context, args.id or "all", "forgotten",
        f"{number} removed from store and exports; Claude Code's own transcripts are untouched",
    )  # fmt: skip
    return 0


def _agreed(context: Context, number: int) -> bool:
    """Asks on a terminal. Raises UsageError where nobody can answer."""
    if context.yes:
        return True
    if not (sys.stdin.isatty() and context.screen.err.isatty()):
        raise UsageError("forgetting is final and nobody can be asked here", "say --yes")
    context.screen.err.write(f"Forget {number} case(s) for good? [y/N] ")
    context.screen.err.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _said(context: Context, identity: str, what: str, detail: str) -> None:
    if context.json:
        context.screen.document({"id": identity, "done": what, "dry_run": context.dry_run})
    else:
        prefix = "would be " if context.dry_run else ""
        context.screen.line(f"{identity}: {prefix}{what} ({detail})")
