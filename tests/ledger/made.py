"""Made-up events: any that fit the schema, and the nights of machines that behave."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from random import Random

from hypothesis import strategies as st

from pipeline.ledger.book import after
from pipeline.ledger.event import Counts, Event, Form, Happening, Reason, rule_hash
from pipeline.ledger.fold import State, fold, next_number
from pipeline.records import CaseType

BEGIN = datetime(2026, 3, 1, 3, 17, tzinfo=UTC)
TYPES = [kind for kind in CaseType if kind is not CaseType.OTHER]
FULL = Counts(2, 2, 3, date(2026, 2, 1), date(2026, 2, 27), (3, 0, 0, 0))
COUNTED = {Happening.RAISED, Happening.COUNTED, Happening.HELD, Happening.REOPENED}


def event(kind: Happening, minutes: int = 0, machine: int = 1, **more: object) -> Event:
    """One that fits its kind; `more` replaces single fields."""
    fields: dict[str, object] = {
        "at": BEGIN + timedelta(minutes=minutes),
        "event": kind,
        "repo": "webshop",
        "type": CaseType.MISSED_ITEM,
        "machine": f"{machine:016x}",
    }
    if kind not in (Happening.COUNTED, Happening.HELD):
        fields["number"] = 1
    if kind in COUNTED:
        fields["counts"] = FULL
    if kind is Happening.REOPENED:
        fields["previous"] = 1
    if kind is Happening.REJECTED:
        fields["reason"] = Reason.ONE_OFF
    if kind is Happening.ACCEPTED:
        fields |= {"form": Form.RULE, "rule": rule_hash("Add the tests.")}
    return Event(**(fields | more))  # type: ignore[arg-type]


NUMBERS = st.integers(1, 9)


@st.composite
def counts(draw: st.DrawFn) -> Counts:
    sources = draw(st.tuples(*[st.integers(0, 5)] * 4))
    cases = sum(sources)
    first, last = sorted(draw(st.tuples(*[st.dates(date(2025, 1, 1), date(2026, 12, 31))] * 2)))
    sessions, days = draw(st.tuples(*[st.integers(0, cases)] * 2))
    return Counts(sessions, days, cases, first, last, sources)


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Any that fits the schema; of few bundles and times, so that they meet."""
    kind = draw(st.sampled_from(Happening))
    more: dict[str, object] = {
        "repo": draw(st.sampled_from(["webshop", "docs-site", "a"])),
        "type": draw(st.sampled_from(TYPES[:2])),
    }
    if kind in COUNTED:
        more["counts"] = draw(counts())
    if kind not in (Happening.COUNTED, Happening.HELD):
        more["number"] = draw(NUMBERS)
    if kind is Happening.REOPENED:
        more["previous"] = draw(NUMBERS)
    if kind is Happening.REJECTED:
        more["reason"] = draw(st.sampled_from(Reason))
    if kind is Happening.ACCEPTED:
        form = draw(st.sampled_from(Form))
        more |= {"form": form, "rule": rule_hash(form) if form is Form.RULE else None}
    return event(kind, draw(st.integers(0, 12)), draw(st.integers(1, 3)), **more)


@dataclass
class Machine:
    """Knows what its file holds, counts its own cases, and has a clock that may be wrong."""

    name: int
    random: Random
    skew: timedelta = timedelta()
    held: dict[object, Counts] = field(default_factory=dict)
    repos: Sequence[str] = ("webshop", "docs-site", "tools")

    def night(self, known: Sequence[Event], now: datetime) -> list[Event]:
        """One to three events that follow from what is known."""
        new: list[Event] = []
        for _ in range(self.random.randint(1, 3)):
            made = self._next([*known, *new], now + self.skew)
            new += [made] if made else []
        return new

    def _next(self, known: Sequence[Event], now: datetime) -> Event | None:
        bundle = self.random.choice(self.repos), self.random.choice(TYPES)
        proposals = fold(known)
        found = [p for p in proposals if p.bundle == bundle]
        state = found[-1].state if found else None
        kind = self.random.choice(FOLLOWING[state])
        more: dict[str, object] = {"repo": bundle[0], "type": bundle[1]}
        if kind in COUNTED:
            more["counts"] = self._count(bundle)
        if kind in (Happening.RAISED, Happening.REOPENED):
            more["number"] = next_number(proposals)
        elif kind in (Happening.ACCEPTED, Happening.REJECTED, Happening.RETIRED):
            more["number"] = found[-1].number
        if kind is Happening.REOPENED:
            more["previous"] = found[-1].number
        return event(kind, 0, self.name, at=after(known, now), **more)

    def _count(self, bundle: object) -> Counts:
        """More than before: a count is written only when it changed."""
        had = self.held.get(bundle, Counts(1, 1, 1, date(2026, 1, 1), date(2026, 1, 1), (0,) * 4))
        cases = had.cases + self.random.randint(1, 3)
        now = Counts(had.sessions + 1, 1, cases, had.first, had.last, (cases, 0, 0, 0))
        self.held[bundle] = now
        return now


FOLLOWING: dict[State | None, list[Happening]] = {
    None: [Happening.RAISED, Happening.RAISED, Happening.HELD],
    State.HELD: [Happening.RAISED, Happening.COUNTED],
    State.RAISED: [Happening.COUNTED, Happening.ACCEPTED, Happening.REJECTED],
    State.ACCEPTED: [Happening.COUNTED, Happening.RETIRED],
    State.REJECTED: [Happening.COUNTED, Happening.REOPENED, Happening.ACCEPTED],
    State.RETIRED: [Happening.COUNTED, Happening.REOPENED, Happening.ACCEPTED],
}
