"""What two answers come to, and when a case is asked about again."""

import pytest

from pipeline.cases.judging import Outcome
from pipeline.commands.writing import writing
from pipeline.judge.labels import Label, Said, Silence, is_control, outcome
from tests.judge.conftest import Serve, controls
from tests.judge.server import Act

NO, REAL, WRONG, MISSED = "not-a-correction", "other-correction", "wrong-result", "missed-item"
ROWS: list[tuple[str, str, str, str, str, str | None, int, bool]] = [
    # name, first says, second says, type, state, decided by, calls of a night, asked again
    ("same type", WRONG, WRONG, WRONG, "open", "judge", 2, False),
    ("real correction", REAL, REAL, "other", "open", None, 2, False),
    ("no correction", NO, WRONG, "other", "doubtful", None, 1, False),
    ("two types", WRONG, MISSED, "other", "open", None, 2, False),
    ("type and real", WRONG, REAL, "other", "open", None, 2, False),
    ("real and type", REAL, WRONG, "other", "open", None, 2, False),
    ("type and none", WRONG, NO, "other", "open", None, 2, False),
    ("first refuses", Act.REFUSAL, WRONG, "other", "open", None, 1, False),
    ("second refuses", WRONG, Act.REFUSAL, "other", "open", None, 2, False),
    ("junk", Act.JUNK, WRONG, "other", "open", None, 1, True),
    ("junk of the second", WRONG, Act.JUNK, "other", "open", None, 2, True),
    ("no id", Act.NO_ID, WRONG, "other", "open", None, 1, True),
    ("foreign id", Act.FOREIGN_ID, WRONG, "other", "open", None, 1, True),
    ("doubled", Act.DOUBLED, WRONG, "other", "open", None, 1, True),
    ("foreign label", Act.FOREIGN_LABEL, WRONG, "other", "open", None, 1, True),
    ("cut", Act.CUT, WRONG, "other", "open", None, 1, True),
    ("429", Act.S429, WRONG, "other", "open", None, 3, True),
    ("500", Act.S500, WRONG, "other", "open", None, 3, True),
    ("529", Act.S529, WRONG, "other", "open", None, 3, True),
    ("closed", Act.CLOSE, WRONG, "other", "open", None, 3, True),
]


@pytest.mark.parametrize(
    ("first", "second", "kind", "state", "by", "calls", "again"),
    [row[1:] for row in ROWS],
    ids=[row[0] for row in ROWS],
)
def test_a_row_of_the_table(
    court: Serve, first: str, second: str, kind: str, state: str, by: str | None, calls: int,
    again: bool,
) -> None:  # fmt: skip
    here = court(lambda case, model: first if "haiku" in model else second)
    here.ask(1)
    assert not controls(here.cases())
    judged = here.night()
    case = here.one()
    assert (case.type, case.state, case.decided_by) == (kind, state, by)
    assert case.confirmed == (first == second == REAL)
    assert here.server.calls() == calls
    assert (judged.asked, judged.agreed, judged.left) == (1, by == "judge", by != "judge")
    asked = []
    for _ in range(3):
        before = here.server.calls()
        here.night(later=False)
        assert here.server.calls() == before, "not twice in a night"
        here.night()
        asked.append(here.server.calls() > before)
    down = first == Act.CLOSE
    assert asked == [again, again, down], "three nights at most, but when nobody is there at all"
    here.set(first=here.config.judge.first, second=here.config.judge.first)
    before = here.server.calls()
    here.night()
    settled = by == "judge" or case.confirmed or state == "doubtful"
    assert (here.server.calls() > before or first == Act.REFUSAL) is not settled


@pytest.mark.parametrize("first", [*Label, *Silence], ids=str)
@pytest.mark.parametrize("second", [None, *Label, *Silence], ids=str)
def test_every_pair_comes_to_something_and_never_to_more(first: Said, second: Said | None) -> None:
    for control in (False, True):
        found = outcome(first, second, control)
        if found is Outcome.DECIDED:
            assert first is second
            assert isinstance(first, Label) and first.type is not None
        if found is None:
            assert second is None
            assert first not in Silence


N, D, F = Label.NONE, Label.WRONG_RESULT, Silence.FAILED
CONTROLS: list[tuple[str, Said, Said | None, Outcome | None]] = [
    ("not heard yet", N, None, None),
    ("says the same", N, N, Outcome.DOUBTFUL),
    ("says a type", N, D, Outcome.DISAGREED),
    ("says real", N, Label.OTHER, Outcome.DISAGREED),
    ("refuses", N, Silence.REFUSED, Outcome.DISAGREED),
    ("fails", N, F, Outcome.DOUBTFUL),
    ("of a type", D, D, Outcome.DECIDED),
]


@pytest.mark.parametrize(
    ("first", "second", "expected"), [c[1:] for c in CONTROLS], ids=[c[0] for c in CONTROLS]
)
def test_the_control_sample(first: Said, second: Said | None, expected: Outcome | None) -> None:
    assert outcome(first, second, control=True) is expected


@pytest.mark.parametrize("act", [Act.CLOSE, Act.NOT_JSON], ids=str)
def test_a_server_that_is_none_uses_up_no_case(court: Serve, act: Act) -> None:
    """A portal, or nobody: however many nights that lasts, then every case is asked about."""
    here = court(lambda case, model: act)
    here.ask(12)
    for _ in range(5):
        before = here.server.calls()
        judged = here.night()
        assert any("the judge stopped" in warning for warning in judged.warnings)
        assert here.server.calls() - before <= 6 * 3, "it gave up soon"
    here.server.plan = lambda case, model: WRONG
    assert here.night().agreed == 12


def test_an_answer_without_end_costs_little(court: Serve) -> None:
    here = court(lambda case, model: WRONG)
    here.ask(2)
    here.server.floods = True
    (warning,) = here.night().warnings
    assert "no end" in warning
    assert here.server.flooded < 64 << 20
    here.server.floods = False
    assert here.night().agreed == 2


def test_one_case_in_twenty_is_a_control() -> None:
    ids = [f"{number * 7919:012x}" for number in range(4000)]
    chosen = [identity for identity in ids if is_control(identity)]
    assert 150 < len(chosen) < 250
    assert chosen == [identity for identity in ids if is_control(identity)]


def test_a_control_that_the_second_model_types_stays_open(court: Serve) -> None:
    here = court(lambda case, model: NO if "haiku" in model else WRONG)
    here.ask(85)
    chosen = controls(here.cases())
    assert chosen
    here.night()
    open_ = {case.id for case in here.cases() if case.state == "open"}
    assert open_ == chosen
    assert all(case.type == "other" for case in here.cases())
    assert here.server.calls("claude-sonnet") == len(chosen)


def test_an_answer_that_this_version_does_not_know_is_asked_for_again(court: Serve) -> None:
    """Another version's label, out of an export perhaps."""
    here = court(lambda case, model: WRONG if "haiku" in model else Act.JUNK)
    here.ask(1)
    here.night()
    with writing(here.config) as store:
        store.con.execute("UPDATE answers SET label = 'of-tomorrow' WHERE label IS NOT NULL")
    here.server.plan = lambda case, model: WRONG
    assert here.night().agreed == 1
    assert here.server.calls("claude-haiku") == 2
