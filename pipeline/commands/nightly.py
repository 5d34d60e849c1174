"""`nightly`: the whole night, in order; what is not built yet is left out and said."""

from argparse import Namespace

from pipeline import clock
from pipeline.collect.run import Plan
from pipeline.commands.collect import conclude, gather
from pipeline.commands.context import Context
from pipeline.commands.proposing import bounds_of, exit_code
from pipeline.errors import NotBuiltError


def run(context: Context, args: Namespace) -> int:
    """Collects, proposes, then exports. Repeating it changes nothing."""
    if args.llm:
        raise NotBuiltError("the judge is not built yet", "leave --llm out")
    config = context.config
    start, _ = clock.window(args.days, None, None, config.timezone, clock.now())
    bounds = None if args.no_propose else bounds_of(config)
    summary = gather(context, Plan(start), bounds, config.local_cases / "exports")
    conclude(context, summary)
    return exit_code(summary)
