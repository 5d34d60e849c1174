"""`collect`: reads what changed and stores what was found."""

import json
from argparse import Namespace
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pipeline import clock
from pipeline.cases.export import write_nightly
from pipeline.cases.store import Writer, open_reader
from pipeline.collect.run import Plan, collect, preview
from pipeline.collect.summary import Summary
from pipeline.commands.context import Context
from pipeline.commands.judging import foresee, sort_undecided
from pipeline.commands.proposing import bounds_of, exit_code, propose
from pipeline.commands.writing import held
from pipeline.config import Config
from pipeline.errors import UsageError
from pipeline.files import private_dir, write_private
from pipeline.inject.snapshots import render
from pipeline.propose.raising import Bounds
from pipeline.screen import Screen


def run(context: Context, args: Namespace) -> int:
    """Prints the summary: one JSON object, or a few lines that add up."""
    config = context.config
    if args.jobs < 1:
        raise UsageError("--jobs must be 1 or more", "leave it out to use one process")
    start, end = clock.window(args.days, args.since, args.until, config.timezone, clock.now())
    bounds = bounds_of(config, args.until) if args.propose else None
    plan = Plan(start, args.jobs, args.rebuild)
    summary = gather(context, Stages(plan, end, args.llm, bounds))
    conclude(context, summary)
    return exit_code(summary)


@dataclass(frozen=True, slots=True)
class Stages:
    """What a run does, in this order."""

    plan: Plan
    until: datetime | None = None
    """What is judged ends here."""
    llm: bool = False
    """Somebody asked for the judge."""
    bounds: Bounds | None = None
    """What repeated within them is proposed."""
    exports: Path | None = None
    """Write tonight's export there."""


def gather(context: Context, stages: Stages) -> Summary:
    """All stages, or with --dry-run a look at what they would do."""
    config = context.config
    if context.dry_run:
        return _foreseen(context, stages)
    with held(config) as writer:
        summary = _done(context, writer, stages)
        # The export comes last: a disk that takes none has the hook's files of tonight all the same
        render(writer.store, config.local_cases, clock.now())
        if stages.exports is not None:
            write_nightly(writer.store, stages.exports, clock.now())
    remember(config, summary)
    return summary


def _done(context: Context, writer: Writer, stages: Stages) -> Summary:
    config = context.config
    with context.screen.progress("reading") as progress:
        summary = collect(writer.store, config, stages.plan, progress)
    if stages.llm:
        sort_undecided(context, writer, summary, stages.until)
    if stages.bounds:
        propose(writer.store, config, stages.bounds, summary)
    return summary


def _foreseen(context: Context, stages: Stages) -> Summary:
    config = context.config
    with open_reader(config.local_cases) as known:
        summary = preview(known, config, stages.plan)
        if known and stages.llm:
            foresee(context, known, stages.until)
        if known and stages.bounds:
            propose(known, config, stages.bounds, summary, dry=True)
    return summary


def conclude(context: Context, summary: Summary) -> None:
    """Prints the summary and what is to be warned of."""
    if context.json:
        context.screen.document(summary.as_json())
    else:
        report(context.screen, summary, context.config)
    for warning in summary.warnings:
        context.screen.warn(warning)


def remember(config: Config, summary: Summary) -> None:
    """Leaves the run's record where `status` finds it."""
    folder = private_dir(config.local_cases / "runs")
    record = {"at": clock.now().isoformat(timespec="seconds"), **summary.as_json()}
    write_private(folder / "last_run.json", json.dumps(record, indent=2).encode() + b"\n")


def report(screen: Screen, summary: Summary, config: Config) -> None:
    """The sums in words."""
    counts, files = summary.counts, summary.files
    if not files["seen"]:
        places = ", ".join(str(folder / "projects") for folder in config.claude_dirs)
        screen.talk(f"no transcripts found in {places}")
    screen.line(
        f"files: {files['seen']} seen, {files['read']} read, {files['unchanged']} unchanged"
        + (f", {files['outside']} outside the window" if files["outside"] else "")
        + (f", {files['to_read']} to be read" if "to_read" in files else "")
    )
    screen.line(
        f"lines: {counts.lines} = {counts.human_lines} with a person's words"
        f" + {counts.not_human.total()} of others + {counts.state} of state"
        f" + {counts.skipped.total()} skipped + {counts.pending_tail} unfinished"
    )
    for what, reasons in (("of others", counts.not_human), ("skipped", counts.skipped)):
        for reason, number in sorted(reasons.items()):
            screen.detail(f"  {what}: {number} {reason}")
    human = summary.by_source["human"]
    screen.line(
        f"turns: {summary.turns} = {human} corrections + {summary.no_case} without"
        f" ({counts.duplicates} copies and {summary.withdrawn} withdrawn prompts left out)"
    )
    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(summary.by_type.items()))
    noticed = summary.by_source.total() - human
    screen.line(
        f"cases: {summary.new} new, {summary.known} known"
        + (f"; {kinds}" if kinds else "")
        + (f"; {noticed} of them noticed, not said" if noticed else "")
    )
    if summary.judged is not None:
        screen.line(
            "judge: {asked} asked about, {agreed} decided, {left} left".format(**summary.judged)
        )
    if summary.raised or summary.held:
        numbers = ", ".join(map(str, summary.raised)) or "none"
        planned = "would be " if "to_read" in files else ""
        screen.line(f"proposals: {planned}raised {numbers}; {planned}put on hold {summary.held}")
