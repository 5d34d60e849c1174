"""`cases`: a plain listing for scripts."""

from argparse import Namespace
from typing import Any

from pipeline.cases import read
from pipeline.cases.store import open_reader
from pipeline.commands.context import Context
from pipeline.masking.inert import inert
from pipeline.records import Case, CaseType, Source

COLUMNS = ("id", "day", "repository", "type", "source", "words")


def run(context: Context, args: Namespace) -> int:
    """One case a line, newest first; an array with `--json`."""
    wanted = read.Wanted(
        repo=inert(args.repo) if args.repo is not None else None,
        type=CaseType(args.type) if args.type else None,
        source=Source(args.source) if args.source else None,
        since=args.since,
        query=inert(args.query or ""),
        hidden=args.all,
    )
    with open_reader(context.config.local_cases) as store:
        if context.json:
            cases = read.cases(store, wanted) if store else []
        else:
            lines = read.listing(store, wanted) if store else []
    if context.json:
        context.screen.document([as_json(case) for case in cases])
    else:
        context.screen.table(COLUMNS, lines, styled=3)
    return 0


def as_json(case: Case) -> dict[str, Any]:
    """The shape that scripts rely on."""
    return {
        "id": case.id,
        "at": case.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "day": case.day.isoformat(),
        "session": case.session,
        "repo": case.repo,
        "type": case.type.value,
        "source": case.source.value,
        "state": case.state,
        "decided_by": case.decided_by,
        "rule_id": case.rule_id,
        "text": case.text,
        "action": {"tool": case.tool, "gist": case.gist},
        "kind": case.kind.value,
        "admitted": case.admitted,
        "confirmed": case.confirmed,
    }
