"""Does a rule work? The interval against exact sums, the verdict at its edges, and the exposure."""

from datetime import timedelta
from fractions import Fraction
from math import comb, inf
from pathlib import Path

import pytest

from pipeline.cases.repeats import Halves, Watched, halves
from pipeline.ledger.event import Happening
from pipeline.propose.effect import Verdict, effects, rate_interval, share_interval, verdict
from pipeline.records import CaseType, Source
from tests.propose.worlds import BEGUN, Machine, Said

BUNDLE = ("loom", CaseType.MISSED_ITEM)
WORKS, DOES_NOT, UNKNOWN = Verdict


def tail(part: int, whole: int, share: float) -> float:
    """P(X >= part), by fractions."""
    p = Fraction(share)
    return float(
        sum(comb(whole, k) * p**k * (1 - p) ** (whole - k) for k in range(part, whole + 1))
    )


@pytest.mark.parametrize(
    ("part", "whole"), [(0, 1), (1, 1), (0, 9), (9, 9), (1, 9), (5, 9), (8, 9), (3, 40), (37, 40)]
)
def test_the_interval_of_a_share_is_exact(part: int, whole: int) -> None:
    low, high = share_interval(part, whole)
    assert low <= part / whole <= high
    assert low == 0 if part == 0 else tail(part, whole, low) == pytest.approx(0.025, rel=1e-9)
    if part == whole:
        assert high == 1
    else:
        assert 1 - tail(part + 1, whole, high) == pytest.approx(0.025, rel=1e-9)


def test_published_intervals() -> None:
    """Clopper and Pearson for 8 of 20 and for 0 of 10, as R's binom.test prints them."""
    assert share_interval(8, 20) == pytest.approx((0.1911901, 0.6394574), abs=1e-6)
    assert share_interval(0, 10) == pytest.approx((0.0, 0.3084971), abs=1e-6)


def test_large_counts_come_near_the_normal_interval() -> None:
    low, high = share_interval(500_000, 1_000_000)
    assert low == pytest.approx(0.5 - 1.96 * 0.0005, abs=1e-5)
    assert high == pytest.approx(0.5 + 1.96 * 0.0005, abs=1e-5)
    assert share_interval(1, 10_000_000)[1] < 1e-6


VERDICTS = [
    ("nothing at all", (0, 0), (0, 0), UNKNOWN),
    ("no session since", (5, 0), (20, 0), UNKNOWN),
    ("no session before", (0, 5), (0, 20), UNKNOWN),
    ("recurrences without a session", (5, 3), (20, 0), UNKNOWN),
    ("no case, many sessions", (0, 0), (1000, 1000), UNKNOWN),
    ("silence, but not long enough", (2, 0), (20, 20), UNKNOWN),
    ("silence, just too short", (2, 0), (20, 106), UNKNOWN),
    ("silence, just long enough", (2, 0), (20, 107), WORKS),
    ("silence after many", (6, 0), (20, 20), WORKS),
    ("half as often, few", (6, 3), (20, 20), UNKNOWN),
    ("a tenth as often, many", (60, 6), (200, 200), WORKS),
    ("as often as before, few", (2, 2), (20, 20), UNKNOWN),
    ("as often as before, enough", (10, 10), (40, 40), DOES_NOT),
    ("a little less often, enough", (10, 9), (40, 40), UNKNOWN),
    ("far more often, few", (2, 5), (100, 3), DOES_NOT),
    ("none before, once since", (0, 1), (20, 20), UNKNOWN),
    ("none before, often since", (0, 9), (20, 20), DOES_NOT),
    ("huge and equal", (10**6, 10**6), (10**6, 10**6), DOES_NOT),
    ("huge and better", (10**6, 9 * 10**5), (10**6, 10**6), WORKS),
    ("huge and worse", (10**6, 11 * 10**5), (10**6, 10**6), DOES_NOT),
]


@pytest.mark.parametrize(
    ("cases", "sessions", "expected"), [r[1:] for r in VERDICTS], ids=[r[0] for r in VERDICTS]
)
def test_the_verdict(cases: tuple[int, int], sessions: tuple[int, int], expected: Verdict) -> None:
    seen = Halves(cases, sessions)
    assert verdict(seen) is expected
    interval = rate_interval(seen)
    if interval and cases[0]:
        ratio = (cases[1] / sessions[1]) / (cases[0] / sessions[0])
        assert interval[0] <= ratio <= interval[1]


def test_without_a_case_before_the_ratio_has_no_upper_end() -> None:
    interval = rate_interval(Halves((0, 4), (10, 10)))
    assert interval is not None
    assert interval[0] > 0
    assert interval[1] == inf


# Exposure


def prompt(session: str, hour: float, worked: bool = True, repo: str = "loom") -> Said:
    return Said(session, hour, type=None, worked=worked, repo=repo)


SPLIT = BEGUN + timedelta(hours=100)
EXPOSED = [
    ("nothing", [], (0, 0)),
    ("talk only", [prompt("a", 1, worked=False), prompt("b", 200, worked=False)], (0, 0)),
    ("one before", [prompt("a", 1)], (1, 0)),
    ("one after", [prompt("a", 101)], (0, 1)),
    ("many turns of one session", [prompt("a", n) for n in range(5)], (1, 0)),
    ("a session that acts on both sides", [prompt("a", 99), prompt("a", 101)], (1, 1)),
    ("one that only talks on one side", [prompt("a", 99), prompt("a", 101, False)], (1, 0)),
    ("at the instant itself", [prompt("a", 100)], (1, 0)),
    ("another repository", [prompt("a", 1, repo="weave")], (0, 0)),
    ("noticed words are no prompt", [Said("a", 1, Source.REVIEW)], (0, 0)),
]


@pytest.mark.parametrize(
    ("told", "sessions"), [r[1:] for r in EXPOSED], ids=[r[0] for r in EXPOSED]
)
def test_exposure_counts_sessions_in_which_the_agent_acted(
    tmp_path: Path, told: list[Said], sessions: tuple[int, int]
) -> None:
    machine = Machine.new(tmp_path)
    machine.hear(*told)
    (seen,) = halves(machine.store, [Watched(BUNDLE, SPLIT)])
    assert seen.sessions == sessions


def test_cases_count_by_their_instant_and_only_where_sessions_are_known(tmp_path: Path) -> None:
    machine = Machine.new(tmp_path)
    machine.hear(Said("old", 1, worked=False), prompt("first", 2), Said("b", 3), Said("c", 101))
    machine.hear(Said("c", 102, named=False, tool=""), Said("c", 103, type=CaseType.OTHER))
    other = (BUNDLE[0], CaseType.WRONG_RESULT)
    both = halves(machine.store, [Watched(BUNDLE, SPLIT), Watched(other, SPLIT)])
    assert [seen.cases for seen in both] == [(1, 1), (0, 0)]
    assert [seen.sessions for seen in both] == [(2, 1), (2, 1)]


def test_only_accepted_proposals_are_watched(tmp_path: Path) -> None:
    machine = Machine.new(tmp_path)
    machine.hear(*[Said(f"s{n}", 24 * n) for n in range(4)])
    machine.sleep(SPLIT)
    assert effects(machine.store, machine.fold()) == {}
    machine.decide(Happening.ACCEPTED, BUNDLE, SPLIT)
    machine.hear(*[prompt(f"t{n}", 110 + n) for n in range(40)], Said("x", 170))
    effect = effects(machine.store, machine.fold())[1]
    assert (effect.recurrences, effect.halves) == (1, Halves((4, 1), (4, 41)))
    assert effect.ratio == pytest.approx(1 / 41)
    assert effect.verdict is WORKS
    machine.decide(Happening.RETIRED, BUNDLE, SPLIT + timedelta(days=9))
    assert effects(machine.store, machine.fold()) == {}
