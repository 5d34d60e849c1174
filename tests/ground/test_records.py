"""Records cannot be changed on their way, and closed sets stay closed."""

import dataclasses
import inspect

import pytest

from pipeline import errors, records
from pipeline.records import CaseType, Fate, Source

RECORDS = [
    value
    for _, value in inspect.getmembers(records, inspect.isclass)
    if dataclasses.is_dataclass(value)
]
ERRORS = [value for _, value in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_frozen_with_slots(record: type) -> None:
    assert record.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert hasattr(record, "__slots__")


def test_the_order_of_types_is_the_order_of_trying() -> None:
    assert [kind.value for kind in CaseType] == [
        "missed-item",
        "violated-instruction",
        "mistaken-premise",
        "wrong-result",
        "other",
    ]


def test_sources() -> None:
    assert [source.value for source in Source] == ["human", "review", "guard", "self"]


def test_fates_grow_stronger() -> None:
    """Over all files the strongest word counts."""
    assert Fate.SENT < Fate.UNANSWERED < Fate.WITHDRAWN


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_errors_carry_a_hint_and_a_code(error: type[errors.PipelineError]) -> None:
    raised = error("what failed", "what to do")
    assert (raised.message, raised.hint, str(raised)) == (
        "what failed",
        "what to do",
        "what failed",
    )
    assert raised.exit_code in (2, 3, 4, 5, 75)
