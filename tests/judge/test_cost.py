"""What is asked stays within the night's budget; what is told of the cost is what was counted."""

import math
from dataclasses import replace

import pytest

from pipeline.cases.store import open_reader
from pipeline.config import Backend
from pipeline.judge import night
from tests.collect.homes import answer, command, put, run, talk
from tests.judge.conftest import NIGHT, Serve
from tests.judge.test_consent import ON, settings
from tests.propose.raised import exchange

TYPED = ("lantern", "kite", "harbour")


def some(case: object, model: str) -> str:
    """Three things of twenty are corrections."""
    words = str(case)
    return "wrong-result" if any(thing in words for thing in TYPED) else "not-a-correction"


@pytest.mark.parametrize("backend", [Backend.API, Backend.BATCH], ids=str)
def test_spent_and_estimate_are_within_a_tenth_of_what_the_server_counted(
    court: Serve, backend: Backend
) -> None:
    here = court(some)
    here.set(backend=backend)
    share = here.config.judge.price_share
    here.ask(40)
    settings(here, **ON | {"backend": backend.value})
    here.night()
    here.night()
    counted = here.server.bill_usd * share
    told = answer(here.config, "judge", "cost")
    assert told["total_usd"] == pytest.approx(counted, rel=0.1)
    assert sum(row["tokens_in"] for row in told["spent"]) == sum(
        r.tokens_in for r in here.server.received
    )
    assert {row["model"] for row in told["spent"]} == {"claude-haiku-5-5", "claude-sonnet-5-5"}
    assert told["waiting"]["cases"] == 0
    here.ask(40, begin=40)
    guess = answer(here.config, "judge", "cost")["waiting"]
    assert guess["cases"] == 40
    here.night()
    here.night()
    real = here.server.bill_usd * share - counted
    assert guess["cost_usd"] == pytest.approx(real, rel=0.1)
    assert real < guess["most_usd"]


def test_the_first_estimate_is_of_the_right_size(court: Serve) -> None:
    """Before anything was measured: within a factor of four."""
    here = court(some)
    here.ask(40)
    settings(here, **ON)
    guess = answer(here.config, "judge", "cost")["waiting"]["cost_usd"]
    here.night()
    assert abs(math.log(guess / here.server.bill_usd)) < math.log(4)


@pytest.mark.parametrize(("backend", "limit"), [(Backend.API, 0.1), (Backend.BATCH, 0.03)])
def test_a_night_spends_no_more_than_it_may(court: Serve, backend: Backend, limit: float) -> None:
    here = court(lambda case, model: "wrong-result")
    here.ask(30)
    here.set(max_usd=limit, backend=backend)
    share = here.config.judge.price_share
    assert 0 < here.night().asked <= 30
    for _ in range(3):
        assert here.server.bill_usd * share <= limit
        here.night(later=False)
    before = here.server.bill_usd * share
    assert before <= limit, "more runs of the same night have no more"
    here.night()
    assert before < here.server.bill_usd * share <= before + limit


def test_a_night_asks_about_no_more_cases_than_it_may(court: Serve) -> None:
    here = court(lambda case, model: "wrong-result")
    here.ask(30)
    here.set(max_cases=7)
    seen = set()
    for expected in (7, 14, 21, 28, 30):
        for _ in range(2):
            here.night(later=False)
        seen |= {r.case["message"] for r in here.server.received}
        assert len(seen) == expected
        here.nights += 1
    assert all(case.decided_by == "judge" for case in here.cases())


def test_a_dearer_first_model_is_asked_about_no_more_cases(court: Serve) -> None:
    """Where it costs too much, the second is not asked in its place."""
    here = court(some)
    here.ask(20)
    planned = []
    for price in (1.0, 10.0, 100.0, 1000.0, 10_000.0):
        first = replace(here.config.judge.first, usd_in=price, usd_out=price)
        here.set(max_usd=0.05, first=first)
        with open_reader(here.config.local_cases) as store:
            assert store is not None
            planned.append(night.plan(store, here.config, NIGHT).cases)
    assert planned == sorted(planned, reverse=True)
    assert planned[0] > planned[-1] == 0


def test_the_same_words_are_paid_once(court: Serve) -> None:
    here = court(lambda case, model: "wrong-result")
    put(here.root, "s1", talk("s1", "Why did you rename it?"))
    put(here.root, "s2", talk("s2", "Why did you rename it?", seconds=9000))
    run(here.config)
    assert here.night().agreed == 2
    assert here.server.calls() == 2


def test_the_same_words_after_another_action_are_another_question(court: Serve) -> None:
    here = court(lambda case, model: "wrong-result")
    for number, tool in enumerate(("Bash", "Edit")):
        name = f"s{number}"
        records = exchange(
            name, here.root, "Why did you rename it?", tool, 9000 * number, command="make"
        )
        put(here.root, name, records)
    run(here.config)
    assert {case.tool for case in here.cases()} == {"Bash", "Edit"}
    assert here.night().agreed == 2
    assert here.server.calls() == 4


def test_cost_without_a_store_and_in_words(court: Serve) -> None:
    here = court(some)
    assert answer(here.config, "judge", "cost")["total_usd"] == 0
    here.ask(3)
    settings(here, **ON)
    here.night()
    out = command(here.config, "judge", "cost").stdout
    assert f"{NIGHT.year}-06-02\tnight\tclaude-haiku-5-5\t3\t3" in out
    assert "waiting: 0 cases" in out
