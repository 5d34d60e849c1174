"""`show`: bundles, and the cases of one or behind a proposal, on the local screen."""

import re
from argparse import Namespace
from dataclasses import asdict

from pipeline.cases import read
from pipeline.cases.store import open_reader
from pipeline.commands.cases import as_json
from pipeline.commands.context import Context
from pipeline.errors import UsageError
from pipeline.records import Case, CaseType, Source
from pipeline.screen import TYPE_COLORS, Screen

_BUNDLE = re.compile(r"(?P<repo>[a-z0-9][a-z0-9._-]{0,63})(?:/(?P<type>[a-z-]{1,30}))?\Z")
_NUMBER = re.compile(r"[0-9]{1,10}\Z")
SHORT_CHARS = 160
NO_CASES = "no cases yet; `twice-told collect` reads the transcripts"


def run(context: Context, args: Namespace) -> int:
    """Without an argument the bundles, with one its cases, with a number a proposal's."""
    number = parse_number(args.bundle)
    wanted = parse_bundle(args.bundle, hidden=args.all)
    bundles: list[read.Bundle] = []
    cases: list[Case] = []
    # Read first, then print: a pager would hold the store as long as somebody reads
    with open_reader(context.config.local_cases) as store:
        if number is not None:
            from pipeline.commands.behind import cases_behind  # a third of the start, rarely needed

            cases = cases_behind(context, store, number, args.all)
        elif store and args.bundle is None:
            bundles = read.bundles(store, wanted.hidden)
        elif store:
            cases = read.cases(store, wanted, args.limit + 1)
    if number is None and store is None:
        context.screen.talk(NO_CASES)
        if context.json:
            context.screen.document([])
    elif args.bundle is None:
        _bundles(context, bundles)
    else:
        _print(context, cases, args)
    return 0


def parse_number(text: str | None) -> int | None:
    """A proposal's number; a repository of such a name is shown as `12/missed-item`."""
    return int(text) if text and _NUMBER.match(text) else None


def parse_bundle(text: str | None, hidden: bool) -> read.Wanted:
    """`repo` or `repo/type`, by grammar and never as a path. Raises UsageError."""
    if text is None:
        return read.Wanted(hidden=hidden)
    found = _BUNDLE.match(text)
    kinds = ", ".join(kind.value for kind in CaseType)
    if found is None:
        raise UsageError("that is no bundle", f"write REPO or REPO/TYPE; the types are {kinds}")
    if found["type"] is not None and found["type"] not in list(CaseType):
        raise UsageError("that type is not known", f"the types are {kinds}")
    kind = CaseType(found["type"]) if found["type"] else None
    return read.Wanted(repo=found["repo"], type=kind, hidden=hidden)


def _bundles(context: Context, bundles: list[read.Bundle]) -> None:
    if context.json:
        context.screen.document(
            [asdict(b) | {"first": str(b.first), "last": str(b.last)} for b in bundles]
        )
        return
    if not bundles:
        context.screen.talk("no corrections found so far")
    context.screen.table(
        ("repository", "type", "cases", "sessions", "days", "last"),
        [
            (b.repo, b.type.value, str(b.cases), str(b.sessions), str(b.days), str(b.last))
            for b in bundles
        ],
        styled=1,
    )


def _print(context: Context, cases: list[Case], args: Namespace) -> None:
    from pipeline.collect.similar import grouped  # the list of bundles starts without it

    if len(cases) > args.limit:
        context.screen.talk(f"the newest {args.limit}; --limit shows more")
        cases = cases[: args.limit]
    groups = grouped(cases)
    if context.json:
        context.screen.document([as_json(case) for group in groups for case in group])
        return
    if not cases:
        context.screen.talk("no cases there; `twice-told show` lists what there is")
    for group in groups:
        if len(group) > 1:
            context.screen.line(f"{len(group)} alike:")
        for case in group:
            show_case(context.screen, case, args.full)


def _note(case: Case) -> str:
    if case.source is not Source.HUMAN:
        return f"noticed: {case.source.value}"
    if case.state == "doubtful":
        return "doubtful: a model takes it for none"
    if case.confirmed:
        return "two models take it for a correction"
    return "the agent admitted it" if case.admitted else ""


def show_case(screen: Screen, case: Case, full: bool) -> None:
    """Three lines: what it is, what the agent had done, what was said."""
    screen.heading(
        f"{case.day}  {case.id}  {case.repo}",
        case.type.value,
        TYPE_COLORS[case.type.value],
        _note(case),
    )
    if case.tool or (full and case.said):
        screen.line(f"  after {case.tool or 'talk'}: {case.gist or case.said}")
    if full and case.said and case.tool:
        screen.line(f"  the agent: {case.said}")
    text = " ".join(case.text.split())
    shown = text if full or len(text) <= SHORT_CHARS else text[: SHORT_CHARS - 1] + "…"
    screen.line(f"  {shown}")
