"""`review`: the open proposals one by one, with single keys. What was decided stays decided."""

import contextlib
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline import clock
from pipeline.cases import rulings
from pipeline.cases.store import open_reader
from pipeline.collect.similar import grouped
from pipeline.commands import accept, asking, drafting, show, verdicts
from pipeline.commands import plan as planning
from pipeline.commands.context import Context
from pipeline.commands.lookup import one_case
from pipeline.commands.matter import Matter, exists_not_kept, matter
from pipeline.commands.writing import writing
from pipeline.errors import PipelineError, UsageError
from pipeline.ledger.event import Happening, Reason
from pipeline.ledger.fold import State
from pipeline.propose import books
from pipeline.screen import TYPE_COLORS
from pipeline.wording import counted

KEYS = "ceardsq?"
ASKING = "m let the judge draft  "
ASKING_EXPLAINED = "m  send the masked cases to the judge, which drafts a sentence"
HELP = "c cases  e edit  a accept  r reject  d dismiss a case  s skip  q quit  ? help"
EXPLAINED = (
    "c  show the cases behind the proposal",
    "e  edit the drafted sentence in your editor, then accept it",
    "a  accept the drafted sentence; the change is shown and asked for",
    "r  reject the proposal with a reason",
    "d  dismiss a case that is none",
    "s  skip the proposal, it stays open",
    "q  quit; so does ^C, and what was decided stays",
)


@dataclass(slots=True)
class Draft:
    """The sentence so far."""

    text: str = ""
    is_edited: bool = False
    """The person's own by now."""

    def take(self, text: str) -> None:
        """A new draft in its place."""
        self.text, self.is_edited = text, False

    def edit(self) -> None:
        """In the person's editor. Raises UsageError, ConfigError."""
        command = asking.editor()
        if command is None:
            hint = "set one, or a accepts the draft"
            raise UsageError("neither $VISUAL nor $EDITOR is set", hint)
        before = self.text
        self.text = asking.edited(before, command, output_free=True)
        self.is_edited |= self.text.strip() != before.strip()


def run(context: Context, args: Namespace) -> int:
    """Raises UsageError where nobody can press a key."""
    if not asking.can_ask(context):
        raise UsageError(
            "review asks at every step, and nobody can be asked here",
            "`twice-told proposals` lists them; `accept N` and `reject N` decide one",
        )
    with open_reader(context.config.local_cases) as store:
        found = books.proposals(books.books(context.config, store))
    numbers = [p.number for p in found if p.state is State.RAISED and p.number is not None]
    if not numbers:
        context.screen.talk("no open proposals")
    for at, number in enumerate(numbers, 1):
        if not _walk(context, number, f"{at} of {len(numbers)}"):
            break
    return 0


def _walk(context: Context, number: int, place: str) -> bool:
    """One proposal until it is decided or skipped; False to quit. A fault is shown, and the
    proposal can be looked at further."""
    draft, pressed = Draft(), ""
    while True:
        with _shown(context):
            found = _look(context, number)
            if found is None:
                return True
            if not pressed:
                _head(context, found, place, draft)
            elif _decided(context, found, pressed, draft):
                return True
        pressed = _pressed(context)
        if pressed in "sq":
            return pressed == "s"


def _pressed(context: Context) -> str:
    can_ask = drafting.may_ask(context)
    return asking.key(context, f"{ASKING * can_ask}{HELP} > ", KEYS + "m" * can_ask)


def _decided(context: Context, found: Matter, pressed: str, draft: Draft) -> bool:
    """Does what a key stands for; True when nothing is left to decide."""
    number = found.proposal.number
    assert number is not None
    match pressed:
        case "?":
            _explain(context)
        case "c":
            _cases(context, found)
        case "d":
            _dismiss(context, found)
            _renew(context, number, draft)
        case "m":
            draft.take(drafting.from_judge(context, found, planning.globs(found)))
            context.screen.line(f"  draft: {draft.text}")
        case "r":
            return _reject(context, found)
        case "e":
            draft.edit()
            return _accept(context, number, draft)
        case "a":
            return _accept(context, number, draft)
    return False


def _explain(context: Context) -> None:
    for line in EXPLAINED:
        context.screen.line(line)
    if drafting.may_ask(context):
        context.screen.line(ASKING_EXPLAINED)


@contextlib.contextmanager
def _shown(context: Context) -> Iterator[None]:
    try:
        yield
    except PipelineError as error:
        context.screen.error(error.message, error.hint)


def _look(context: Context, number: int) -> Matter | None:
    """None, and it is said, when somebody else has decided since the walk began."""
    with open_reader(context.config.local_cases) as store:
        try:
            return matter(context, store, number, Happening.ACCEPTED)
        except UsageError as error:
            context.screen.error(error.message, error.hint)
            return None


def _head(context: Context, found: Matter, place: str, draft: Draft) -> None:
    """What it is about, and the template's draft: to look at a proposal sends nothing."""
    proposal = found.proposal
    counts, kind = proposal.counts, proposal.type.value
    context.screen.line()
    context.screen.heading(
        f"proposal {proposal.number} ({place})  {proposal.repo}", kind, TYPE_COLORS[kind], ""
    )
    context.screen.line(
        f"  {counted(counts.cases, 'case')}, {counted(counts.sessions, 'session')},"
        f" {counted(counts.days, 'day')},"
        f" {counts.first} to {counts.last}"
    )
    draft.take(drafting.from_template(context, found, planning.globs(found)))
    context.screen.line(f"  draft: {draft.text}")
    if stands := exists_not_kept(found, context.config):
        context.screen.line(
            f"  exists, not kept: {stands.path}:{stands.line}; sharpen it or make it a hook"
        )


def _renew(context: Context, number: int, draft: Draft) -> None:
    """A draft would claim the case that has gone; what the person wrote is theirs."""
    found = None if draft.is_edited else _look(context, number)
    if found:
        draft.take(drafting.from_template(context, found, planning.globs(found)))
        context.screen.line(f"  draft: {draft.text}")


def _cases(context: Context, found: Matter) -> None:
    for group in grouped(found.cases):
        if len(group) > 1:
            context.screen.line(f"{len(group)} alike:")
        for case in group:
            show.show_case(context.screen, case, full=True)
    if not found.cases:
        context.screen.line("no cases of it on this machine")


def _dismiss(context: Context, found: Matter) -> None:
    wanted = asking.line(context, "id of the case: ")
    with open_reader(context.config.local_cases) as store:
        case = one_case(store, wanted)
    if case.id not in {known.id for known in found.cases}:
        raise UsageError("that is no case of this proposal", "c shows them")
    if not context.dry_run:
        with writing(context.config) as store:
            rulings.dismiss(store, case.id, clock.now())
    context.screen.line(f"{case.id}: dismissed")


def _reject(context: Context, found: Matter) -> bool:
    reasons = dict(enumerate(Reason, 1))
    names = "  ".join(f"{number} {reason}" for number, reason in reasons.items())
    pressed = asking.key(context, f"{names}  b back > ", "1234bq")
    if pressed in "bq":
        return False
    reason = reasons[int(pressed)]
    if not context.dry_run:
        verdicts.drop(context, found, reason)
    context.screen.line(f"proposal {found.proposal.number}: rejected ({reason})")
    return True


def _accept(context: Context, number: int, draft: Draft) -> bool:
    """False when the person does not want the change after all."""
    if not draft.text.strip():
        return False
    found, into, left = planning.look(context, number)
    if left:
        plan = planning.resumed(found, left, draft.is_edited)
    else:
        plan = planning.planned(context, found, into, into.read(), draft.text)
    accept.show(context, plan)
    going = not context.dry_run and asking.agreed(context, "Accept this?")
    if going:
        accept.carry_out(context, plan)
    accept.done(context, plan, going)
    return going or context.dry_run
