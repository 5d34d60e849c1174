"""`review`: the open proposals one by one, with single keys. What was decided stays decided."""

from argparse import Namespace

from pipeline import clock
from pipeline.cases import rulings
from pipeline.cases.store import open_reader
from pipeline.collect.similar import grouped
from pipeline.commands import accept, asking, show, verdicts
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
    """One proposal until it is decided or skipped; False to quit."""
    try:
        text = _head(context, number, place)
    except UsageError as error:  # decided by somebody else since the walk began
        context.screen.error(error.message, error.hint)
        return True
    while True:
        pressed = asking.key(context, f"{HELP} > ", "cearsdq?")
        if pressed in "sq":
            return pressed == "s"
        try:
            found = _look(context, number)
            match pressed:
                case "?":
                    for line in EXPLAINED:
                        context.screen.line(line)
                case "c":
                    _cases(context, found)
                case "d":
                    _dismiss(context, found)
                case "r":
                    if _reject(context, found):
                        return True
                case "a" | "e":
                    text = _edited(text) if pressed == "e" else text
                    if text.strip() and _accept(context, number, text):
                        return True
        except PipelineError as error:
            context.screen.error(error.message, error.hint)


def _look(context: Context, number: int) -> Matter:
    with open_reader(context.config.local_cases) as store:
        return matter(context, store, number, Happening.ACCEPTED)


def _head(context: Context, number: int, place: str) -> str:
    """What it is about; returns the drafted sentence."""
    found = _look(context, number)
    proposal = found.proposal
    counts, kind = proposal.counts, proposal.type.value
    context.screen.line()
    context.screen.heading(
        f"proposal {number} ({place})  {proposal.repo}", kind, TYPE_COLORS[kind], ""
    )
    context.screen.line(
        f"  {counts.cases} cases, {counts.sessions} sessions, {counts.days} days,"
        f" {counts.first} to {counts.last}"
    )
    text = planning.drafted(context, found, planning.globs(found))
    context.screen.line(f"  draft: {text}")
    if stands := exists_not_kept(found, context.config):
        context.screen.line(
            f"  exists, not kept: {stands.path}:{stands.line}; sharpen it or make it a hook"
        )
    return text


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


def _edited(text: str) -> str:
    command = asking.editor()
    if command is None:
        raise UsageError("neither $VISUAL nor $EDITOR is set", "set one, or a accepts the draft")
    return asking.edited(text, command, output_free=True)


def _accept(context: Context, number: int, text: str) -> bool:
    """False when the person does not want the change after all."""
    found, into, left = planning.look(context, number)
    if left:
        plan = planning.resumed(found, left)
    else:
        plan = planning.planned(context, found, into, into.read(), text)
    accept.show(context, plan)
    going = not context.dry_run and asking.agreed(context, "Accept this?")
    if going:
        accept.carry_out(context, plan)
    accept.done(context, plan, going)
    return going or context.dry_run
