"""Asks questions through a backend and stores each answer as it arrives."""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pipeline.cases import judging
from pipeline.cases.judging import Answer, Entry, Pending
from pipeline.cases.store import Store, Writer
from pipeline.config import JudgeConfig
from pipeline.errors import Busy
from pipeline.judge.budget import Budget
from pipeline.judge.labels import Said, Silence, said
from pipeline.judge.question import Question, heard, most_usd
from pipeline.judge.request import RETRIES, Backend, Reply, Request

KEPT_FOR = timedelta(days=29)
"""So long the Batches API keeps results."""


@dataclass(slots=True)
class Asking:
    """One run's way to the models. The store is released while a backend waits."""

    writer: Writer
    backend: Backend
    config: JudgeConfig
    budget: Budget
    now: datetime
    purpose: str = "night"
    asked: set[str] = field(default_factory=set)
    """Names of the questions that were handed over or answered in this run."""
    stop: str = ""
    """Why nothing more is asked."""
    alive: bool = False
    """A model or the API has answered in this run, well or badly."""
    warnings: list[str] = field(default_factory=list)
    _known: dict[str, Entry] = field(default_factory=dict)
    """Questions by name."""
    _failed: dict[str, Said] = field(default_factory=dict)
    """Questions of this run, by key, to which no usable answer came: for another night."""
    _calls: dict[str, int] = field(default_factory=dict)
    """Calls of this run by case."""
    _heard: list[Answer] = field(default_factory=list)
    """Paid, and not stored yet."""
    _ended: set[str] = field(default_factory=set)
    """Tokens of batches whose end is not stored yet."""

    def collect(self) -> None:
        """Stores what earlier nights left under way and what has ended since. Batches whose answers
        will not come are dropped, so that their cases are asked about anew."""
        for batch in self.pending():
            if why := lost(batch, self.config, self.now):
                self.dropped(batch.token)
                self.warnings.append(
                    f"a batch of {batch.at.date()} was given up ({why}):"
                    f" its {len(batch.entries)} questions are asked anew"
                )
                continue
            self._known |= {entry.name: entry for entry in batch.entries}
        self._store_all(self.backend.earlier(self))

    def ask(self, questions: Sequence[Question]) -> dict[str, Said]:
        """Answers by the questions' keys, from the store where it has them; a key without one was
        not asked, or is under way."""
        found = self._failed | known(self.writer.store, questions)
        fresh = {q.key: q for q in questions if q.key not in found}
        away = self.asked | under_way(self.writer.store, self.config, self.now)
        left = [question for question in fresh.values() if question.name not in away]
        if left and not self.stop:
            found |= self._store_all(self.backend.ask(self._drawn(left), self))
        return found

    def _drawn(self, questions: Iterable[Question]) -> Iterator[Request]:
        """Requests as long as the budget lasts. Both questions of a case share its retries."""
        for question in questions:
            if self.stop:
                return
            case = question.subject.id
            request = question.request(max(0, RETRIES - max(0, self._calls.get(case, 0) - 1)))
            most = most_usd(request, self.backend.share)
            if not self.budget.takes(case or question.name, question.name, most):
                continue
            self.asked.add(question.name)
            self._known[question.name] = Entry(
                question.name, case, question.key, question.model.id, question.prompt.digest, most
            )
            yield request

    def _store_all(self, groups: Iterator[list[Reply]]) -> dict[str, Said]:
        found: dict[str, Said] = {}
        self.writer.release()
        for replies in groups:
            self.stop = next((reply.stop for reply in replies if reply.stop), self.stop)
            self.warnings += [reply.warning for reply in replies if reply.warning]
            mine = [reply for reply in replies if reply.name in self._known]
            for reply in mine:
                key, label = self._known[reply.name].key, heard(reply)
                self.alive |= not reply.unheard
                if label is not Silence.FAILED:
                    found[key] = label
                elif not reply.blameless:
                    found[key] = self._failed[key] = label
            self._heard += [self._answer(reply) for reply in mine]
            self._ended |= {reply.batch for reply in replies if reply.batch}
            self.keep()
        return found

    def end(self) -> None:
        """Ends what is under way on this machine, and stores what could not be stored before."""
        self.backend.close()
        self.keep()

    def keep(self) -> None:
        """Stores what was heard. What is paid waits in memory while somebody holds the store for
        long; nothing more is asked then."""
        if not self._heard and not self._ended:
            return
        try:
            judging.put_answers(self.writer.store, self._heard, self._ended, self.now)
        except Busy as error:
            self.stop = error.message
        else:
            self._heard, self._ended = [], set()
            self.writer.release()

    def _answer(self, reply: Reply) -> Answer:
        entry, label = self._known[reply.name], heard(reply)
        cost = self._price(entry.model, reply)
        self.budget.paid(reply.name, cost)
        if entry.id:
            self._calls[entry.id] = self._calls.get(entry.id, 0) + reply.calls
        return Answer(
            entry.id, entry.key, self.purpose, entry.model, entry.prompt,
            None if label is Silence.FAILED else label.value, reply.calls, reply.tokens_in,
            reply.tokens_out, cost,
        )  # fmt: skip

    def _price(self, model: str, reply: Reply) -> float:
        """A model that the settings no longer name is charged as the dearer of the two."""
        prices: Mapping[str, float] = {
            m.id: m.cost_usd(reply.tokens_in, reply.tokens_out, self.backend.share)
            for m in (self.config.first, self.config.second)
        }
        return prices.get(model, max(prices.values()))

    # The memory that backends are given.

    def pending(self) -> list[Pending]:
        """Batches under way, oldest first."""
        return judging.pending(self.writer.store)

    def announce(self, requests: list[Request]) -> str:
        """Before a batch is handed over."""
        token = secrets.token_hex(8)
        entries = [self._known[request.name] for request in requests]
        judging.announce(self.writer.store, token, entries, self.now, self.config.place)
        self.writer.release()
        return token

    def named(self, token: str, remote: str) -> None:
        """The server has the batch."""
        judging.name_batch(self.writer.store, token, remote)
        self.writer.release()

    def dropped(self, token: str) -> None:
        """The server never had it."""
        judging.drop_batch(self.writer.store, token)
        self.writer.release()


def known(store: Store, questions: Iterable[Question]) -> dict[str, Said]:
    """What was answered to these questions, by key."""
    labels = judging.labels(store, [question.key for question in questions])
    return {key: found for key, label in labels.items() if (found := said(label))}


def lost(batch: Pending, config: JudgeConfig, now: datetime) -> str:
    """Why the answers of a batch will not come; "" while they may."""
    if batch.place != config.place:
        return "it lies with another backend"
    return "it is too old" if now - batch.at > KEPT_FOR else ""


def under_way(store: Store, config: JudgeConfig, now: datetime) -> set[str]:
    """Names of the questions whose answers may still come."""
    batches = [batch for batch in judging.pending(store) if not lost(batch, config, now)]
    return {entry.name for batch in batches for entry in batch.entries}
