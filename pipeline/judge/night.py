"""The judge's part of a night: undecided cases to two models, and what they come to.

In: the store, under the home's lock. Out: a verdict on each case that two usable answers, or one
"no", decide; every other case stays as it was. What a model or a server says or fails to say does
not raise; a store that stays busy, a broken prompt or a library that is not there does.
"""

import hashlib
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from pipeline import clock
from pipeline.cases import judging
from pipeline.cases.judging import Outcome, Verdict, Waiting
from pipeline.cases.store import Store, Writer
from pipeline.classify import packs
from pipeline.config import Config, JudgeConfig
from pipeline.judge import prompts
from pipeline.judge.asking import Asking, known, under_way
from pipeline.judge.budget import Budget
from pipeline.judge.labels import Label, Said, is_control, outcome
from pipeline.judge.question import Question, Subject, most_usd
from pipeline.judge.request import Backend

FIRST, SECOND = "judge-first", "judge-second"
LOOKED_AT = 2
"""Times the cases of a night: masking all that ever waited once more would take minutes."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the judge did in a run."""

    asked: int
    """Cases about which a model was asked."""
    agreed: int
    """Cases that have a type now."""
    left: int
    """Cases that wait or stay `other`."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would ask."""

    cases: int
    most_usd: float
    under_way: int
    """Questions of earlier runs; what comes of them is not foreseen."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A case that waits, before both models."""

    waiting: Waiting
    first: Question
    second: Question

    @property
    def control(self) -> bool:
        """The second model is asked in any case."""
        return is_control(self.waiting.case.id)

    def wants_second(self, heard: Mapping[str, Said]) -> bool:
        """The first model typed it, or it is one of the controls."""
        first = heard.get(self.first.key)
        return isinstance(first, Label) and (first is not Label.NONE or self.control)

    def ahead(self, heard: Mapping[str, Said], away: Set[str]) -> list[Question]:
        """What may still be asked; nothing while one of the two is under way."""
        if {self.first.name, self.second.name} & away:
            return []
        second = [self.second] if self.second.key not in heard else []
        if self.first.key not in heard:
            return [self.first, *second]
        return second if self.wants_second(heard) else []

    def verdict(self, heard: Mapping[str, Said], basis: str, alive: bool) -> Verdict | None:
        """None while an answer is still to come. A server that is not there says nothing of any
        case: then no try is used up.
        """
        first, case = heard.get(self.first.key), self.waiting.case.id
        if first is None:
            return None
        found = outcome(first, heard.get(self.second.key), self.control)
        if found is None:
            return None
        kind = first.type if found is Outcome.DECIDED and isinstance(first, Label) else None
        tries = self.waiting.tries + (found is Outcome.FAILED and alive)
        by = f"{self.first.model.id} + {self.second.model.id}"
        return Verdict(case, found, kind, self.waiting.words, basis, tries, by)


def judge(
    writer: Writer, config: Config, backend: Backend, now: datetime, until: datetime | None = None
) -> Judged:
    """Asks about the cases before `until` that wait, within the budget of this night."""
    night, rules = begun(config, now), basis(config)
    budget = Budget.left(writer.store, config.judge, night)
    asking = Asking(writer, backend, config.judge, budget, now)
    try:
        asking.collect()
        queue = judging.waiting(
            writer.store, rules, night, until, LOOKED_AT * config.judge.max_cases
        )
        doubts = doubted(config, queue.first)
        heard = hear(asking, doubts)
    finally:
        asking.end()
    verdicts = [f for doubt in doubts if (f := doubt.verdict(heard, rules, asking.alive))]
    judging.settle(writer.store, verdicts, now)
    agreed = sum(verdict.outcome is Outcome.DECIDED for verdict in verdicts)
    asked = sum(bool({d.first.name, d.second.name} & asking.asked) for d in doubts)
    stopped = [f"the judge stopped for tonight: {asking.stop}"] if asking.stop else []
    return Judged(asked, agreed, queue.all - agreed, (*stopped, *asking.warnings))


def hear(asking: Asking, doubts: Sequence[Doubt]) -> dict[str, Said]:
    """Answers by the questions' keys. What earlier runs began is ended first, so that one case on
    which every night stops does not keep the others from their second answer."""
    heard = known(asking.writer.store, [doubt.first for doubt in doubts])
    heard |= asking.ask([doubt.second for doubt in doubts if doubt.wants_second(heard)])
    heard |= asking.ask([doubt.first for doubt in doubts])
    return heard | asking.ask([doubt.second for doubt in doubts if doubt.wants_second(heard)])


def plan(store: Store, config: Config, now: datetime, until: datetime | None = None) -> Plan:
    """What `judge` would ask, and what it would cost at most."""
    night = begun(config, now)
    looked_at = LOOKED_AT * config.judge.max_cases
    doubts = doubted(config, judging.waiting(store, basis(config), night, until, looked_at).first)
    budget = Budget.left(store, config.judge, night)
    share = config.judge.price_share
    heard = known(store, [q for doubt in doubts for q in (doubt.first, doubt.second)])
    away = under_way(store, config.judge, now)
    cases = 0
    for doubt in doubts:
        ahead = doubt.ahead(heard, away)
        for place, question in enumerate(ahead):
            most = most_usd(question.request(), share)
            if not budget.takes(doubt.waiting.case.id, question.name, most):
                break  # without the first model nobody asks the second
            cases += not place
    return Plan(cases, sum(budget.reserved.values()), len(away))


def doubted(config: Config, cases: Sequence[Waiting]) -> list[Doubt]:
    """Both questions for each."""
    return [Doubt(one, *pair(config.judge, Subject.of(one.case))) for one in cases]


def pair(judge: JudgeConfig, subject: Subject) -> tuple[Question, Question]:
    """A subject before the first model and before the second, each with a prompt of its own."""
    first = Question(subject, prompts.load(FIRST), judge.first)
    return first, Question(subject, prompts.load(SECOND), judge.second)


def begun(config: Config, now: datetime) -> datetime:
    """When this night began: with the person's day."""
    return clock.day_start(clock.local_day(now, config.timezone), config.timezone)


def basis(config: Config) -> str:
    """Digest of what a disagreement rests on: prompts, models, rules."""
    parts = (
        prompts.load(FIRST).digest, config.judge.first.id,
        prompts.load(SECOND).digest, config.judge.second.id,
        packs.load(config.rule_folders).digest,
    )  # fmt: skip
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
