"""The same proposals from the same events, in whatever order and files they stand (T35)."""

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ledger.event import LAST, NUMBER_MAX, Counts, Event, Happening, Reason
from pipeline.ledger.fold import State, fold, next_number
from pipeline.records import CaseType
from tests.ledger.made import BEGIN, FULL, Machine, event, events

H = Happening
SOME = st.lists(events(), max_size=25)


@given(SOME, st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_neither_order_nor_doubles_matter(made: list[Event], random: Random) -> None:
    mixed = [*made, *random.choices(made, k=5)] if made else []
    random.shuffle(mixed)
    assert fold(mixed) == fold(made)


@given(SOME, st.randoms(use_true_random=False))
@settings(max_examples=200)
def test_splitting_a_ledger_changes_numbers_alone(made: list[Event], random: Random) -> None:
    """And these only where two claim one: an earlier file's claims go first."""
    files: list[list[Event]] = [[], [], []]
    for one in made:
        random.choice(files).append(one)

    def bare(*ledgers: list[Event]) -> list[object]:
        return sorted((replace(p, number=None, previous=None) for p in fold(*ledgers)), key=repr)

    assert bare(*files) == bare(made)
    claims = [p.number for p in fold(made) if p.number]
    assert sorted(p.number for p in fold(*files) if p.number) == sorted(set(claims))
    assert fold(made, made[::2]) == fold(made)


@given(SOME, SOME)
@settings(max_examples=200)
def test_a_later_ledger_changes_no_number_of_an_earlier(
    team: list[Event], own: list[Event]
) -> None:
    """All of a team see the same numbers, whatever else each keeps at home."""
    own = [replace(one, repo=f"private-{one.repo}") for one in own]
    with_own = [p for p in fold(team, own) if not p.repo.startswith("private-")]
    assert with_own == fold(team)


@given(SOME)
def test_numbers_are_there_once_and_predecessors_exist(made: list[Event]) -> None:
    found = fold(made)
    numbers = [p.number for p in found if p.number is not None]
    assert len(numbers) == len(set(numbers))
    assert next_number(found) not in numbers
    assert all(p.previous in numbers for p in found if p.previous is not None)
    assert all((p.number is None) == (p.state is State.HELD) for p in found)


@pytest.mark.parametrize("seed", range(100))
def test_nights_on_two_branches_fold_equally_both_ways(seed: int) -> None:
    random = Random(seed)
    one, two = (Machine(n, random, timedelta(minutes=random.randint(-9, 9))) for n in (1, 2))
    common = one.night([], BEGIN)
    left, right = list(common), list(common)
    for night in range(random.randint(1, 4)):
        now = BEGIN + timedelta(days=night + 1)
        left += one.night(left, now)
        right += two.night(right, now)
    merged = fold([*left, *right[len(common) :]])
    assert merged == fold([*right, *left[len(common) :]])
    numbers = [p.number for p in merged if p.number]
    assert sorted(numbers) == list(range(1, len(numbers) + 1)), "no gaps, none twice"


def states(*made: Event) -> list[tuple[int | None, str, int | None]]:
    return [(p.number, p.state.value, p.previous) for p in fold(made)]


RAISED, ACCEPTED = event(H.RAISED, 1), event(H.ACCEPTED, 2)
REJECTED, RETIRED = event(H.REJECTED, 2), event(H.RETIRED, 3)
REOPENED = event(H.REOPENED, 3, number=2)
TABLE = [
    ("held", [event(H.HELD)], [(None, "held", None)]),
    ("held, then raised", [event(H.HELD), RAISED], [(1, "raised", None)]),
    ("raised, then held elsewhere", [RAISED, event(H.HELD, 2)], [(1, "raised", None)]),
    ("raised on two machines", [RAISED, event(H.RAISED, 2, 2)], [(1, "raised", None)]),
    ("accepted", [RAISED, ACCEPTED], [(1, "accepted", None)]),
    ("rejected", [RAISED, REJECTED], [(1, "rejected", None)]),
    ("rejected, then accepted", [RAISED, REJECTED, event(H.ACCEPTED, 3)], [(1, "accepted", None)]),
    ("accepted, then rejected", [RAISED, ACCEPTED, event(H.REJECTED, 3)], [(1, "accepted", None)]),
    ("retired", [RAISED, ACCEPTED, RETIRED], [(1, "retired", None)]),
    ("came back", [RAISED, REJECTED, REOPENED], [(1, "rejected", None), (2, "raised", 1)]),
    ("came back twice", [RAISED, REJECTED, REOPENED, event(H.REOPENED, 4, 2, number=3)],
     [(1, "rejected", None), (2, "raised", 1)]),
    ("accepted before it was raised", [event(H.ACCEPTED, 0), RAISED], [(1, "raised", None)]),
    ("accepted while held", [event(H.HELD), ACCEPTED], [(None, "held", None)]),
    ("retired without a rule", [RAISED, RETIRED], [(1, "raised", None)]),
    ("reopened while open", [RAISED, REOPENED], [(1, "raised", None)]),
    ("reopened from nothing", [REOPENED], []),
    ("counted from nothing", [event(H.COUNTED)], []),
    ("rejected from nothing", [REJECTED], []),
]  # fmt: skip


@pytest.mark.parametrize(("made", "wanted"), [t[1:] for t in TABLE], ids=[t[0] for t in TABLE])
def test_what_does_not_follow_is_passed_over(
    made: list[Event], wanted: list[tuple[int | None, str, int | None]]
) -> None:
    assert states(*made) == states(*reversed(made)) == wanted


def test_at_the_end_of_all_time_a_decision_still_follows() -> None:
    """No event can be later, so the kind decides what comes first, not the id."""
    for machine in range(16):
        deeds = [event(kind, at=LAST, machine=machine) for kind in (H.RAISED, H.ACCEPTED)]
        assert states(*deeds) == states(*reversed(deeds)) == [(1, "accepted", None)]
        assert states(*deeds, event(H.RETIRED, at=LAST)) == [(1, "retired", None)]


def test_of_two_that_claim_one_number_the_earlier_keeps_it() -> None:
    late = event(H.RAISED, 5, 2, repo="docs-site")
    found = {p.repo: p.number for p in fold([late, RAISED, event(H.RAISED, 9, repo="x", number=2)])}
    assert found == {"webshop": 1, "x": 2, "docs-site": 3}


def test_a_displaced_number_is_what_its_successor_names() -> None:
    team = event(H.RAISED, 0, 2, repo="docs-site")
    found = fold([team, RAISED, REJECTED, event(H.REOPENED, 3, number=3, previous=2)])
    assert [(p.number, p.previous) for p in found if p.repo == "webshop"] == [(2, None), (3, 2)]


def test_counts_are_the_sum_of_each_machines_latest() -> None:
    more = Counts(4, 3, 6, FULL.first, BEGIN.date(), (5, 0, 1, 0))
    other = Counts(1, 1, 1, FULL.first - timedelta(9), FULL.last, (0, 1, 0, 0))
    (found,) = fold(
        [RAISED, event(H.COUNTED, 4, counts=more), event(H.COUNTED, 2, 2, counts=other)]
    )
    assert found.counts == Counts(5, 4, 7, other.first, more.last, (5, 1, 1, 0))


def test_a_claim_at_the_end_of_all_numbers_stops_nobody() -> None:
    found = fold([event(H.RAISED, number=NUMBER_MAX - 1), event(H.RAISED, repo="x", number=1)])
    assert next_number(found) == 2
    assert next_number([]) == 1


def test_a_decision_keeps_what_was_said() -> None:
    (found,) = fold([RAISED, REJECTED])
    assert (found.reason, found.decided_at) == (Reason.ONE_OFF, REJECTED.at)
    assert found.type is CaseType.MISSED_ITEM
