"""The judge's stage of a run."""

from dataclasses import asdict
from datetime import datetime

from pipeline import clock
from pipeline.cases.store import Store, Writer
from pipeline.collect.summary import Summary
from pipeline.commands.context import Context
from pipeline.errors import ModelError
from pipeline.judge import night
from pipeline.judge.backends.choose import opened


def sort_undecided(
    context: Context, writer: Writer, summary: Summary, until: datetime | None
) -> None:
    """Lets the judge look at what waits. The night goes on whatever comes of it."""
    try:
        backend = opened(context.config)
    except ModelError as error:
        summary.warnings.append(f"the judge was not asked: {error.message}; {error.hint}")
        return
    judged = night.judge(writer, context.config, backend, clock.now(), until)
    figures = asdict(judged)
    summary.warnings.extend(figures.pop("warnings"))
    summary.judged = figures


def foresee(context: Context, store: Store, until: datetime | None) -> None:
    """Says what `sort_undecided` would ask of what is known already."""
    plan = night.plan(store, context.config, clock.now(), until)
    context.screen.talk(
        f"the judge would be asked about {plan.cases} cases, for ${plan.most_usd:.4f} at most"
    )
