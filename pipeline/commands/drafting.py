"""The sentence that a proposal begins with: the template's, or a model's where one is asked."""

from collections.abc import Sequence

from pipeline import clock
from pipeline.cases import judging
from pipeline.commands.context import Context
from pipeline.commands.matter import Matter
from pipeline.commands.writing import writing
from pipeline.errors import PipelineError
from pipeline.propose import draft


def may_ask(context: Context) -> bool:
    """The judge is on; a dry run sends nothing."""
    return context.config.judge.enabled and not context.dry_run


def from_template(context: Context, found: Matter, files: Sequence[str]) -> str:
    """Sends nothing. "" and a warning where no draft passes our own check."""
    return _sound(context, found, files, None)


def from_judge(context: Context, found: Matter, files: Sequence[str]) -> str:
    """The model's sentence with what it rests on; without a usable one the template's."""
    return _sound(context, found, files, _asked(context, found) if may_ask(context) else None)


def _sound(context: Context, found: Matter, files: Sequence[str], written: str | None) -> str:
    texts = [
        draft.worded(found.proposal, found.cases, named, sentence)
        for sentence in ([written] if written else []) + [None]
        for named in ([files] if files else []) + [()]
    ]
    sound = [text for text in texts if draft.fault(text) is None]
    if not sound:
        context.screen.warn("no draft passes the checks; the sentence is yours to write")
    elif written and written not in sound[0]:
        context.screen.warn("the judge's draft does not pass the checks; this is the template's")
    return sound[0] if sound else ""


def _asked(context: Context, found: Matter) -> str | None:
    """Stores what it cost, once the model is done: the lock is not held meanwhile."""
    from pipeline.judge.draft import draft as asked  # with all that asking needs

    context.screen.talk("asking the judge for a draft")
    drafted = asked(context.config, found.cases)
    if drafted.fault:
        context.screen.warn(f"the judge gave no draft: {drafted.fault}")
    try:
        if drafted.answers:
            with writing(context.config) as store:
                judging.put_answers(store, drafted.answers, (), clock.now())
    except PipelineError as error:  # the draft is paid for and stands all the same
        context.screen.warn(f"`judge cost` does not know of this draft: {error.message}")
    return drafted.sentence
