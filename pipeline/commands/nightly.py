"""`nightly`: the whole night, in order; what is not built yet is left out and said."""

from argparse import Namespace

from pipeline import clock
from pipeline.cases.export import write_nightly
from pipeline.cases.store import open_writer
from pipeline.collect.run import Plan, collect
from pipeline.commands.collect import remember, report
from pipeline.commands.context import Context
from pipeline.errors import NotBuiltError
from pipeline.files import lock, private_dir


def run(context: Context, args: Namespace) -> int:
    """Collects, then exports. Repeating it changes nothing."""
    if args.llm:
        raise NotBuiltError("the judge is not built yet", "leave --llm out")
    config = context.config
    start, _ = clock.window(args.days, None, None, config.timezone, clock.now())
    private_dir(config.local_cases)
    with lock(config.local_cases / "lock"), open_writer(config.local_cases) as store:
        with context.screen.progress("reading") as progress:
            summary = collect(store, config, Plan(start, dry_run=context.dry_run), progress)
        if not context.dry_run:
            write_nightly(store, config.local_cases / "exports", clock.now())
    if not context.dry_run:
        remember(config, summary)
    if context.json:
        context.screen.document(summary.as_json())
    else:
        report(context.screen, summary, config)
    for warning in summary.warnings:
        context.screen.warn(warning)
    return 0
