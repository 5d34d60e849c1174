"""Which cases `show` puts together."""

from dataclasses import replace

import pytest

from pipeline.collect.similar import grouped
from pipeline.config import Config
from pipeline.records import Case, MaskedText
from tests.collect.homes import MISSED, cases, put, run, talk

ALIKE = [
    ("one word more", "You forgot the tests.", "You forgot the unit tests."),
    ("case and stops", "You forgot the tests", "you forgot the tests!"),
    ("again", "I told you not to push to main.", "I told you again not to push to main."),
    ("korean", "윈도우 설명이 빠졌어", "윈도우 설명이 또 빠졌어"),
    ("japanese, no spaces", "テストを書き忘れています", "テストをまた書き忘れています"),
]
APART = [
    ("other object and verb", "You forgot the tests.", "That is not what I asked for."),
    ("turned round", "use tabs not spaces", "use spaces not tabs"),
    ("turned round, longer", "Use pnpm here, not npm.", "Use npm here, not pnpm."),
    ("turned round, korean", "탭 말고 스페이스 써", "스페이스 말고 탭 써"),
    ("nothing in common", "no", "이거 아니야"),
]


@pytest.fixture
def case(config: Config, root) -> Case:  # type: ignore[no-untyped-def]
    put(root, "s1", talk("s1", MISSED))
    run(config)
    return cases(config)[0]


def groups(case: Case, *words: str) -> list[list[str]]:
    made = [replace(case, id=f"{n:012x}", text=MaskedText(text)) for n, text in enumerate(words)]
    return [[member.text for member in group] for group in grouped(made)]


@pytest.mark.parametrize(("a", "b"), [row[1:] for row in ALIKE], ids=[row[0] for row in ALIKE])
def test_much_the_same_goes_together(case: Case, a: str, b: str) -> None:
    assert groups(case, a, b) == [[a, b]]


@pytest.mark.parametrize(("a", "b"), [row[1:] for row in APART], ids=[row[0] for row in APART])
def test_what_differs_stays_apart(case: Case, a: str, b: str) -> None:
    assert groups(case, a, b) == [[a], [b]]


def test_groups_and_members_keep_the_order_they_came_in(case: Case) -> None:
    words = ("You forgot the tests.", "That is wrong here", "You forgot the unit tests.")
    assert groups(case, *words) == [[words[0], words[2]], [words[1]]]
    assert groups(case) == []


def test_a_group_never_drifts_from_what_it_began_with(case: Case) -> None:
    """Each resembles its neighbour, the last one not the first."""
    steps = ("a b c d e", "a b c d x", "a b c y x", "a b z y x", "a w z y x")
    assert steps[-1] not in groups(case, *steps)[0]
