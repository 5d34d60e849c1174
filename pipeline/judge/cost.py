"""What the models cost so far, and what the cases that wait will cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from pipeline import clock
from pipeline.cases import judging
from pipeline.cases.judging import Bill
from pipeline.cases.store import Store
from pipeline.config import Config, Model
from pipeline.judge import night
from pipeline.judge.asking import known, under_way
from pipeline.judge.question import Question, most_usd

TOKENS_OUT = 150
"""An answer with a little thought, before anything was measured."""
SECOND_SHARE = 0.4
"""Of the cases that the first model types, before anything was measured."""
BYTES_PER_TOKEN = 4
SAMPLE = 500
"""Waiting cases that are looked at; the others count as these."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What waiting cases would cost."""

    cases: int
    """With a question that nobody has answered and that is not under way."""
    cost_usd: float
    most_usd: float


def by_day(store: Store, config: Config) -> list[tuple[date, Bill]]:
    """One bill a day, purpose and model, oldest first."""
    found: dict[tuple[date, str, str], Bill] = {}
    for bill in judging.bills(store):
        day = clock.local_day(bill.at, config.timezone)
        key = (day, bill.purpose, bill.model)
        found[key] = _sum(found[key], bill) if key in found else bill
    return [(key[0], bill) for key, bill in found.items()]


def _sum(one: Bill, other: Bill) -> Bill:
    return replace(
        one,
        questions=one.questions + other.questions,
        answered=one.answered + other.answered,
        calls=one.calls + other.calls,
        tokens_in=one.tokens_in + other.tokens_in,
        tokens_out=one.tokens_out + other.tokens_out,
        cost_usd=one.cost_usd + other.cost_usd,
    )


def estimate(store: Store, config: Config, now: datetime) -> Estimate:
    """For all cases that wait, whatever the budget of a night; by what was measured so far. Without
    a backend none is asked about."""
    if config.judge.backend is None:
        return Estimate(0, 0.0, 0.0)
    judge, part = config.judge, config.judge.price_share
    queue = judging.waiting(store, night.basis(config), night.begun(config, now), None, SAMPLE)
    doubts = night.doubted(config, queue.first)
    scale = queue.all / len(doubts) if doubts else 1.0
    heard = known(store, [q for doubt in doubts for q in (doubt.first, doubt.second)])
    bills = judging.bills(store)
    often = _second_share(bills, judge.first, judge.second)
    away = under_way(store, judge, now)
    cases, usual, most = 0, 0.0, 0.0
    for doubt in doubts:
        asked = doubt.ahead(heard, away)
        cases += bool(asked)
        for question, chance in zip(asked, (1.0, often), strict=False):
            usual += chance * _usual_usd(question, bills, part)
            most += most_usd(question.request(), part)
    return Estimate(round(scale * cases), scale * usual, scale * most)


def _second_share(bills: Sequence[Bill], first: Model, second: Model) -> float:
    """How often the second model is asked."""
    counts = [
        sum(b.questions for b in bills if b.model == model.id and b.purpose == "night")
        for model in (first, second)
    ]
    return min(1.0, counts[1] / counts[0]) if counts[0] else SECOND_SHARE


def _usual_usd(question: Question, bills: Sequence[Bill], part: float) -> float:
    """As this model's answers were so far; else by the length of the question. A draft is none of
    them: it is asked about many cases at once."""
    own = [b for b in bills if b.model == question.model.id and b.purpose != judging.DRAFT]
    answered = sum(bill.answered for bill in own)
    if answered:
        tokens_in = sum(bill.tokens_in for bill in own) / answered
        tokens_out = sum(bill.tokens_out for bill in own) / answered
        return question.model.cost_usd(round(tokens_in), round(tokens_out), part)
    request = question.request()
    size = len(f"{request.system}{request.user}".encode())
    return question.model.cost_usd(size // BYTES_PER_TOKEN, TOKENS_OUT, part)
