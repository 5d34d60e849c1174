"""`ledger verify`, `ledger log`."""

import json
from argparse import Namespace
from typing import Any

from pipeline.cases.store import open_reader
from pipeline.commands.context import Context
from pipeline.errors import UsageError
from pipeline.ledger.book import Books
from pipeline.ledger.event import Event, line
from pipeline.ledger.log import numbered
from pipeline.ledger.report import Report
from pipeline.ledger.verify import verify
from pipeline.propose.books import books
from pipeline.wording import counted

PROBLEMS = 1


def run(context: Context, args: Namespace) -> int:
    """Dispatches on the word behind `ledger`."""
    with open_reader(context.config.local_cases) as store:
        found = books(context.config, store)
    if args.action == "log":
        return _log(context, found, args.number)
    if args.number is not None:
        raise UsageError("`ledger verify` takes no number", "see `twice-told ledger --help`")
    return _verify(context, found)


def _verify(context: Context, found: Books) -> int:
    """1 when a ledger is unsound, with each problem on a line."""
    state = context.config.local_cases / "ledger"
    reports = [verify(file, state, remember=not context.dry_run) for file in found.files]
    if context.json:
        context.screen.document([_report(report) for report in reports])
    for report in () if context.json else reports:
        for problem in report.problems:
            context.screen.line(f"{problem.where}: {problem.what}")
            context.screen.line(f"  next: {problem.next}")
        _sum(context, report)
    return PROBLEMS if any(report.problems for report in reports) else 0


def _sum(context: Context, report: Report) -> None:
    state = counted(len(report.problems), "problem") if report.problems else "sound"
    parts = [counted(report.events, "event")]
    parts += [counted(report.commits, "version") + " in git"] if report.commits else []
    context.screen.line(f"{report.path}: {state} ({'; '.join((*parts, *report.notes))})")


def _report(report: Report) -> dict[str, Any]:
    return {
        "ledger": str(report.path),
        "events": report.events,
        "versions": report.commits,
        "problems": [{"where": p.where, "what": p.what, "next": p.next} for p in report.problems],
        "notes": list(report.notes),
    }


def _log(context: Context, found: Books, number: int | None) -> int:
    rows = numbered(*found.events())
    if number is not None:
        rows = [row for row in rows if row[1] == number]
        if not rows:
            raise UsageError(f"there is no proposal {number}", "`twice-told proposals --all`")
    if context.json:
        context.screen.document([json.loads(line(event)) | {"number": n} for event, n in rows])
    else:
        context.screen.table(
            ("time (UTC)", "number", "event", "repository", "type", "machine", "what"),
            [_row(event, n) for event, n in rows],
            styled=4,
        )
        if not rows:
            context.screen.talk("the ledger is empty: what repeats is raised each night")
    return 0


def _row(event: Event, number: int | None) -> tuple[str, ...]:
    return (
        f"{event.at:%Y-%m-%d %H:%M:%S}", str(number or ""), event.event.value, event.repo,
        event.type.value, event.machine[:8], _what(event),
    )  # fmt: skip


def _what(event: Event) -> str:
    counts = event.counts
    if counts:
        return (
            f"{counted(counts.cases, 'case')}, {counted(counts.sessions, 'session')},"
            f" {counted(counts.days, 'day')}, "
            f"{counts.first} to {counts.last}"
        )
    parts = (event.reason, event.form, event.rule)
    return " ".join(str(part) for part in parts if part)
