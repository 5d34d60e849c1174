"""The judge's stage of a run."""

from dataclasses import asdict
from datetime import datetime

from pipeline import clock
from pipeline.cases.store import Store, Writer
from pipeline.collect.summary import Summary
from pipeline.commands.context import Context
from pipeline.errors import PipelineError
from pipeline.judge import night
from pipeline.judge.backends.choose import NO_BACKEND, opened


def sort_undecided(
    context: Context, writer: Writer, summary: Summary, until: datetime | None
) -> None:
    """Lets the judge look at what waits. The night goes on whatever comes of it."""
    try:
        judged = night.judge(writer, context.config, opened(context.config), clock.now(), until)
    except PipelineError as error:
        summary.warnings.append(f"the judge could not be asked: {error.message}; {error.hint}")
    except ImportError as error:
        lost = f"{error.name or 'a library'} cannot be loaded"
        summary.warnings.append(f"the judge could not be asked: {lost}; install twice-told again")
    else:
        figures = asdict(judged)
        summary.warnings.extend(figures.pop("warnings"))
        summary.judged = figures


def foresee(context: Context, store: Store, until: datetime | None) -> None:
    """Says what `sort_undecided` would ask of what is known already."""
    if context.config.judge.backend is None:
        context.screen.talk(f"the judge would be asked about 0 cases: {NO_BACKEND}")
        return
    plan = night.plan(store, context.config, clock.now(), until)
    later = f"; {plan.under_way} questions are under way" if plan.under_way else ""
    context.screen.talk(
        f"the judge would be asked about {plan.cases} cases,"
        f" for ${plan.most_usd:.4f} at most{later}"
    )
