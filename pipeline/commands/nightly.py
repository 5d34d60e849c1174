"""`nightly`: the whole night, in order; what is not built yet is left out and said."""

from argparse import Namespace

from pipeline import clock
from pipeline.collect.run import Plan
from pipeline.commands.collect import Stages, conclude, gather
from pipeline.commands.context import Context


def run(context: Context, args: Namespace) -> int:
    """Collects, judges where that is switched on, then exports. Repeating it changes nothing."""
    config = context.config
    start, _ = clock.window(args.days, None, None, config.timezone, clock.now())
    llm = config.judge.enabled if args.llm is None else args.llm
    exports = config.local_cases / "exports"
    conclude(context, gather(context, Stages(Plan(start), llm=llm, exports=exports)))
    return 0
