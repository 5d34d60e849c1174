"""Whatever comes back: labels of the list only, no case lost, no word changed, few calls (T27)."""

import random
from collections import Counter
from collections.abc import Mapping

import pytest

from pipeline.cases.judging import NIGHTS
from pipeline.config import Backend
from pipeline.judge.labels import Label
from pipeline.records import CaseType
from tests.judge.conftest import Court, Serve, undecided
from tests.judge.server import BAD, STATUSES, Act

LABELS = [label.value for label in Label]
LOUD = {*STATUSES, Act.HANG, Act.REDIRECT, Act.CLOSE}
"""After these nothing more is asked that night."""


def texts(here: Court) -> list[tuple[object, ...]]:
    return here.stored("SELECT id, text, tool, gist, said FROM cases ORDER BY id")


def check(here: Court, before: list[tuple[object, ...]]) -> None:
    assert texts(here) == before
    stored = {row[0] for row in here.stored("SELECT label FROM answers WHERE label IS NOT NULL")}
    assert stored <= {*LABELS, "refused"}
    types = {row[0] for row in here.stored("SELECT type FROM judged WHERE type IS NOT NULL")}
    assert types <= {kind.value for kind in CaseType} - {"other"}


def test_300_scripted_answers(court: Serve) -> None:
    """A seeded mix, a right one now and then; night after night until nobody is asked any more.

    The bound for each case: two usable answers in its life, one of each model; in a night two calls
    and two retries; four nights, three that failed and one that got half-way, besides those on
    which the key or the address was at fault or nobody was there.
    """
    dice = random.Random(300)
    script = [dice.choice([*BAD, *LABELS, *LABELS]) for _ in range(300)]
    quiet = [act for act in script if act not in LOUD]
    loud = [act for act in script if act in LOUD]
    given: Counter[str] = Counter()
    usable: Counter[tuple[str, str]] = Counter()
    nights_of: Counter[str] = Counter()
    spoilt: set[tuple[int, str]] = set()
    alive: set[int] = set()

    def plan(case: Mapping[str, str], model: str) -> str:
        """Loud ones come one a night, so that a night gets somewhere."""
        source = loud if loud and (not quiet or dice.random() < 0.03) else quiet
        act = source.pop() if source else "not-a-correction"
        given[act] += 1
        usable[case["message"], model] += act in (*LABELS, Act.REFUSAL)
        if act not in (Act.CLOSE, Act.NOT_JSON):
            alive.add(nights)
        if act in (Act.S401, Act.S403, Act.REDIRECT):
            spoilt.add((nights, case["message"]))
        return act

    nights = 0
    here = court(plan)
    here.set(timeout_seconds=0.3)
    here.ask(120)
    before = texts(here)
    assert len(before) == 120
    while nights < 60:
        nights += 1
        calls = here.server.calls()
        judged = here.night()
        fresh = here.server.received[calls:]
        by_text = Counter(r.case["message"] for r in fresh)
        assert all(number <= 4 for number in by_text.values()), "2 calls and 2 retries at most"
        if nights in alive:
            nights_of.update(text for text in by_text if (nights, text) not in spoilt)
        assert judged.asked == len(by_text)
        check(here, before)
        if not fresh:
            break
    assert nights < 60
    assert max(usable.values()) == 1
    assert max(nights_of.values()) <= NIGHTS + 1
    assert sum(given.values()) >= 300 - len(loud)
    assert here.night().asked == 0


@pytest.mark.parametrize("act", BAD, ids=str)
def test_each_way_of_going_wrong(court: Serve, act: Act) -> None:
    """Of 12 cases the fourth goes wrong; the night succeeds, and the next one does the rest."""
    here = court(lambda case, model: act if "ferry" in case["message"] else "wrong-result")
    here.set(timeout_seconds=0.3)
    here.ask(12)
    before = texts(here)
    first = here.night()
    assert bool(first.warnings) == (act in LOUD)
    if first.warnings:
        assert "ferry" not in first.warnings[0]
        assert here.server.url in first.warnings[0]
    here.night()
    here.night()
    check(here, before)
    decided = [case for case in here.cases() if case.decided_by == "judge"]
    odd = here.stored("SELECT outcome FROM judged WHERE type IS NULL")
    if act in (Act.S401, Act.S403, Act.REDIRECT):
        assert odd == [], "the key or the address is at fault, no case"
    else:
        assert odd == [("disagreed" if act is Act.REFUSAL else "failed",)]
        assert len(decided) == 11


def test_a_server_that_is_gone(court: Serve) -> None:
    here = court(lambda case, model: "wrong-result")
    here.ask(9)
    here.server.close()
    judged = here.night()
    assert "cannot be reached" in judged.warnings[0]
    assert judged.agreed == 0
    assert len(here.cases()) == 9


def test_a_batch_of_every_fault(court: Serve) -> None:
    acts = [act for act in Act if act not in (*LOUD, Act.NOT_JSON)]

    def plan(case: Mapping[str, str], model: str) -> str:
        number = next(n for n in range(60) if undecided(n) == case["message"])
        return acts[number % len(acts)] if number < 40 else "missed-item"

    here = court(plan)
    here.set(backend=Backend.BATCH)
    here.ask(60)
    before = texts(here)
    for _ in range(5):
        here.night()
        check(here, before)
    decided = sum(case.decided_by == "judge" for case in here.cases())
    assert decided == 20
    failed = here.stored("SELECT count(*) FROM judged WHERE outcome = 'failed' AND tries = 3")
    refused = here.stored("SELECT count(*) FROM judged WHERE outcome = 'disagreed'")
    assert int(str(failed[0][0])) + int(str(refused[0][0])) == 40


@pytest.mark.parametrize("act", [Act.S400, Act.S401, Act.S429, Act.S500], ids=str)
def test_no_word_of_a_server_is_passed_on(court: Serve, act: Act) -> None:
    """It may put what it was sent into the type of an error and the request's id."""
    here = court(lambda case, model: act)
    here.ask(1)
    (warning,) = here.night().warnings
    assert f"status {act.value}" in warning
    assert "rename" not in warning
    assert "button" not in warning.lower()
    assert len(warning) < 300
