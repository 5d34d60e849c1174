"""Batches: half the price, two stages over nights, and a kill at any moment loses nothing."""

from datetime import timedelta

import pytest

from pipeline.config import Backend
from tests.judge.conftest import NIGHT, Court, Serve, controls
from tests.judge.server import Act

MAKE, LIST, RESULTS = ("POST", "/batches"), ("GET", "/batches"), ("GET", "/results")
CONTROLLED = 85
"""So many cases have a control among them."""


def batched(court: Serve, plan: object, number: int = 6) -> Court:
    here = court(plan)  # type: ignore[arg-type]
    here.set(backend=Backend.BATCH)
    here.ask(number)
    return here


def test_two_stages_over_three_nights(court: Serve) -> None:
    here = batched(court, lambda case, model: "missed-item")
    here.server.ended = False
    first = here.night()
    assert (first.asked, first.agreed, first.left) == (6, 0, 6)
    assert here.night().asked == 0, "it is under way"
    assert len(here.server.batches) == 1
    here.server.ended = True
    here.night()
    assert {case.decided_by for case in here.cases()} == {"judge"}
    assert len(here.server.batches) == 2
    assert here.stored("SELECT count(*) FROM batched") == [(0,)]
    ((cost,),) = here.stored("SELECT sum(cost_usd) FROM answers")
    assert float(str(cost)) == pytest.approx(here.server.bill_usd / 2)


def test_the_second_stage_waits_for_the_next_night(court: Serve) -> None:
    here = batched(court, lambda case, model: "missed-item")
    here.server.on_batch = lambda: setattr(here.server, "ended", False)
    here.night()
    here.server.ended = True
    here.night()
    assert {case.decided_by for case in here.cases()} == {None}
    here.server.ended = True
    assert here.night().agreed == 6
    assert [len(made.entries) for made in here.server.batches.values()] == [6, 6]


def test_half_a_batch(court: Serve) -> None:
    """What is missing, expired or errored stays `other` and is asked again."""
    odd = {"lantern": Act.MISSING, "kite": Act.EXPIRED, "harbour": Act.ERRORED}
    here = batched(
        court,
        lambda case, model: next(
            (a for w, a in odd.items() if w in case["message"]), "missed-item"
        ),
    )
    here.night()
    by_text = {case.text: case.decided_by for case in here.cases()}
    assert sorted(map(str, by_text.values())) == ["None"] * 3 + ["judge"] * 3
    odd.clear()
    here.night()
    assert {case.decided_by for case in here.cases()} == {"judge"}


def test_controls_wait_for_their_second_answer(court: Serve) -> None:
    here = batched(court, lambda case, model: "not-a-correction", CONTROLLED)
    chosen = controls(here.cases())
    assert 0 < len(chosen) < 8
    here.server.on_batch = lambda: setattr(here.server, "ended", False)
    here.night()
    here.server.ended = True
    here.night()
    doubtful = {case.id for case in here.cases() if case.state == "doubtful"}
    assert doubtful == {case.id for case in here.cases()} - chosen
    here.server.ended = True
    here.night()
    assert all(case.state == "doubtful" for case in here.cases())
    assert [len(made.entries) for made in here.server.batches.values()] == [
        CONTROLLED,
        len(chosen),
    ]


def test_three_nights_at_most(court: Serve) -> None:
    """Junk that is found the night after counts for that night, and is not asked again in it."""
    here = batched(court, lambda case, model: Act.JUNK)
    here.server.on_batch = lambda: setattr(here.server, "ended", False)
    made = []
    for _ in range(9):
        here.server.ended = True
        here.night()
        made.append(len(here.server.batches))
    assert made == [1, 1, 2, 2, 3, 3, 3, 3, 3]
    assert here.stored("SELECT DISTINCT outcome, tries FROM judged") == [("failed", 3)]


def test_results_come_from_the_configured_address_alone(court: Serve) -> None:
    """The server names an address for the results: nothing is sent there."""
    here, other = batched(court, lambda case, model: "missed-item"), court(lambda case, model: "x")
    here.server.redirect_to = other.server.url
    here.night()
    assert {case.decided_by for case in here.cases()} == {"judge"}
    assert (other.server.received, other.server.elsewhere) == ([], [])


def test_a_batch_that_is_gone(court: Serve) -> None:
    here = batched(court, lambda case, model: "missed-item")
    here.server.ended = False
    here.night()
    here.server.batches.clear()
    here.server.ended = True
    here.night()
    assert {case.decided_by for case in here.cases()} == {"judge"}


def test_another_backend_asks_anew(court: Serve) -> None:
    """Nobody can fetch what lies with the batches: their cases are asked about now, once."""
    here = batched(court, lambda case, model: "missed-item")
    here.server.ended = False
    here.night()
    here.set(backend=Backend.API)
    judged = here.night()
    assert (judged.asked, judged.agreed) == (6, 6)
    (warning,) = judged.warnings
    assert "another backend" in warning
    assert "6 questions" in warning
    assert here.stored("SELECT count(*) FROM batched") == [(0,)]
    assert here.night().warnings == ()


def test_another_address_asks_anew(court: Serve) -> None:
    here, other = batched(court, lambda case, model: "missed-item"), court(lambda case, model: "x")
    here.server.ended = False
    here.night()
    here.set(base_url=other.server.url)
    assert "another backend" in here.night().warnings[0]
    assert len(other.server.batches) == 1


def test_a_batch_is_given_up_when_its_results_are_gone(court: Serve) -> None:
    here = batched(court, lambda case, model: "missed-item")
    here.server.ended = False
    here.night()
    here.nights += 28
    judged = here.night()
    assert (judged.asked, judged.warnings) == (0, ()), "29 days are not over"
    judged = here.night()
    assert judged.asked == 6
    assert "too old" in judged.warnings[0]
    assert len(here.server.batches) == 2


@pytest.mark.parametrize(("status", "gone"), [(401, 0), (403, 0), (500, 0), (400, 1), (404, 1)])
def test_one_batch_that_is_refused_keeps_nobody_from_the_others(
    court: Serve, status: int, gone: int
) -> None:
    here = batched(court, lambda case, model: "missed-item", 2)
    here.server.ended = False
    here.night()
    here.server.refused = dict.fromkeys(here.server.batches, status)
    here.server.ended = True
    here.ask(3, begin=40)
    for _ in range(2):
        judged = here.night()
        assert not any("stopped" in warning for warning in judged.warnings)
    assert sum(case.decided_by == "judge" for case in here.cases()) == 3 + 2 * gone
    assert bool(judged.warnings) is not bool(gone), "it is told each night until it is given up"
    assert all(f"status {status}" in warning for warning in judged.warnings)


@pytest.mark.parametrize("listed", [b"<html>busy</html>", b'{"data": 5}', b"[]"])
def test_a_batch_without_a_name_is_looked_for_until_the_server_denies_it(
    court: Serve, listed: bytes
) -> None:
    """The server has it, and what it says of it is no answer: it is not handed over twice."""
    here = batched(court, lambda case, model: "missed-item")
    here.server.odd = {MAKE: b"<html>thanks</html>"}
    (warning,) = here.night().warnings
    assert "no name of a batch" in warning
    (made,) = here.server.batches.values()
    made.created = NIGHT + timedelta(days=here.nights)
    here.server.odd = {LIST: listed}
    assert here.night().asked == 0, "it may be there"
    here.server.odd = {}
    assert here.night().agreed == 6
    assert [len(made.entries) for made in here.server.batches.values()] == [6, 6]


def test_a_batch_that_was_denied_is_handed_over_again(court: Serve) -> None:
    here = batched(court, lambda case, model: "missed-item")
    here.server.odd = {MAKE: b"{}"}
    here.night()
    here.server.batches.clear()
    here.server.odd = {}
    assert here.night().agreed == 6


@pytest.mark.parametrize("results", [b"", b"<html>busy</html>", b'{"custom_id": 1}'])
def test_results_that_are_none_are_fetched_another_night(court: Serve, results: bytes) -> None:
    here = batched(court, lambda case, model: "missed-item")
    here.server.ended = False
    here.night()
    here.server.ended = True
    here.server.odd = {RESULTS: results}
    judged = here.night()
    assert (judged.asked, here.stored("SELECT count(*) FROM batched")) == (0, [(6,)])
    assert "holds no results" in judged.warnings[0]
    here.server.odd = {}
    assert here.night().agreed == 6
    assert len(here.server.batches) == 2, "none is paid twice"


def test_a_server_that_trickles_for_ever_ends_the_night(court: Serve) -> None:
    """In mid-answer: it may have the batch, so that it is looked for."""
    here = batched(court, lambda case, model: "missed-item")
    here.server.trickles = "/v1/messages/batches"
    here.set(timeout_seconds=0.5)
    assert "no answer in time" in here.night().warnings[0]
    assert here.stored("SELECT count(*), max(remote) FROM batched") == [(6, "")]
