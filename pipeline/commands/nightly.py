"""`nightly`: the whole night, in order."""

from argparse import Namespace

from pipeline import clock
from pipeline.collect.run import Plan
from pipeline.commands.collect import Stages, conclude, gather
from pipeline.commands.context import Context
from pipeline.commands.proposing import bounds_of, exit_code


def run(context: Context, args: Namespace) -> int:
    """Collects, judges where that is on, proposes, exports. Repeating it changes nothing."""
    config = context.config
    start, _ = clock.window(args.days, None, None, config.timezone, clock.now())
    llm = config.judge.enabled if args.llm is None else args.llm
    bounds = None if args.no_propose else bounds_of(config)
    exports = config.local_cases / "exports"
    summary = gather(context, Stages(Plan(start), llm=llm, bounds=bounds, exports=exports))
    conclude(context, summary)
    return exit_code(summary)
