"""`judge eval` and `judge cost`."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from datetime import date

from pipeline import clock
from pipeline.cases import judging
from pipeline.cases.judging import Bill
from pipeline.cases.store import open_reader
from pipeline.classify import labelled, packs
from pipeline.commands.asking import agreed, check_askable
from pipeline.commands.context import Context
from pipeline.commands.ratios import ratio_json, ratio_text
from pipeline.commands.stdin import file_or_stdin
from pipeline.commands.writing import working
from pipeline.errors import UsageError
from pipeline.judge import cost, evaluate
from pipeline.judge.asking import Asking
from pipeline.judge.backends.choose import NO_BACKEND, direct
from pipeline.judge.budget import Budget
from pipeline.judge.cost import Estimate
from pipeline.judge.evaluate import Evaluation, Item
from pipeline.judge.labels import Said
from pipeline.judge.question import most_usd
from pipeline.judge.request import Backend

UNBOUNDED = 1 << 40
SEE_HELP = "see `twice-told judge --help`"


def run(context: Context, args: Namespace) -> int:
    """Dispatches on the word behind `judge`."""
    if args.action == "cost":
        if args.file is not None:
            raise UsageError("`judge cost` takes no file", SEE_HELP)
        return _cost(context)
    if args.file is None:
        raise UsageError("`judge eval` needs a file of labelled messages", SEE_HELP)
    return _evaluate(context, args)


def _cost(context: Context) -> int:
    """What was paid, by day, purpose and model; and an estimate for what waits."""
    with open_reader(context.config.local_cases) as store:
        days = cost.by_day(store, context.config) if store else []
        waits = cost.estimate(store, context.config, clock.now()) if store else Estimate(0, 0, 0)
        under_way = sum(len(batch.entries) for batch in judging.pending(store)) if store else 0
    total = sum(bill.cost_usd for _, bill in days)
    if context.json:
        rows = [asdict(bill) | {"at": bill.at.isoformat(), "day": str(day)} for day, bill in days]
        context.screen.document(
            {"spent": rows, "total_usd": total, "under_way": under_way, "waiting": asdict(waits)}
        )
        return 0
    _list(context, days)
    context.screen.line(f"spent: {_usd(total)}; questions under way: {under_way}")
    if context.config.judge.backend is None:
        context.screen.line(f"waiting: {NO_BACKEND}")
        return 0
    context.screen.line(
        f"waiting: {waits.cases} cases, about {_usd(waits.cost_usd)},"
        f" at most {_usd(waits.most_usd)}"
    )
    return 0


def _list(context: Context, days: Sequence[tuple[date, Bill]]) -> None:
    context.screen.table(
        ("day", "purpose", "model", "questions", "answered", "tokens in", "tokens out", "cost"),
        [
            (
                str(day), b.purpose, b.model, str(b.questions), str(b.answered), str(b.tokens_in),
                str(b.tokens_out), _usd(b.cost_usd),
            )
            for day, b in days
        ],
    )  # fmt: skip


def _evaluate(context: Context, args: Namespace) -> int:
    """Asks both models about labelled messages, after saying what that sends and costs."""
    judge = context.config.judge
    rows = labelled.read(file_or_stdin(args.file))
    chosen = evaluate.chosen(packs.load(context.config.rule_folders), rows, args.every)
    items = evaluate.items(judge, chosen)
    plan = (
        f"{len(items)} masked messages to {judge.first.id} and {judge.second.id}"
        f" ({judge.backend or 'no backend is named'}, {judge.base_url}),"
        f" for {_usd(_most_usd(items))} at most"
    )
    if context.dry_run:
        _unsent(context, items, f"would send {plan}")
        return 0
    backend = direct(context.config)
    context.screen.talk(f"this sends {plan}")
    check_askable(context, "this sends text to models")
    if not agreed(context, "Send it?"):
        _unsent(context, items, "nothing was sent")
        return 0
    _print(context, evaluate.score(items, _heard(context, backend, items), judge))
    return 0


def _heard(context: Context, backend: Backend, items: Sequence[Item]) -> dict[str, Said]:
    """The answers of both models by the questions' keys."""
    free = Budget(UNBOUNDED, float("inf"))
    with working(context.config) as writer:
        asking = Asking(writer, backend, context.config.judge, free, clock.now(), "eval")
        try:
            heard = asking.ask([item.first for item in items])
            heard |= asking.ask([item.second for item in items])
        finally:
            asking.end()
    if asking.stop:
        context.screen.warn(f"not all were asked: {asking.stop}")
    return heard


def _unsent(context: Context, items: Sequence[Item], words: str) -> None:
    """What would be sent, by a dry run or to somebody who says no."""
    if not context.json:
        context.screen.line(words)
        return
    judge = context.config.judge
    context.screen.document({
        "sent": False, "dry_run": context.dry_run, "rows": len(items), "backend": judge.backend,
        "base_url": judge.base_url, "models": [judge.first.id, judge.second.id],
        "most_usd": _most_usd(items),
    })  # fmt: skip


def _most_usd(items: Sequence[Item]) -> float:
    return sum(most_usd(q.request(), 1.0) for item in items for q in (item.first, item.second))


def _print(context: Context, found: Evaluation) -> None:
    names = ("precision", "recall", "type_right", "agreement")
    if context.json:
        context.screen.document({
            "rows": found.rows,
            "scores": [
                {"name": score.name, "answered": score.answered}
                | {name: ratio_json(getattr(score, name)) for name in names}
                for score in found.scores
            ],
            "hidden": ratio_json(found.hidden),
        })  # fmt: skip
        return
    context.screen.table(
        ("who", "answered", "precision", "recall", "type right", "agrees with people"),
        [
            (s.name, str(s.answered), *(ratio_text(getattr(s, name)) for name in names))
            for s in found.scores
        ],
    )
    context.screen.line(f"corrections that a night would hide: {ratio_text(found.hidden)}")


def _usd(amount: float) -> str:
    return f"${amount:.4f}"
