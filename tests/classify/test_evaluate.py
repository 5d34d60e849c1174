"""Figures at their edges, the meaning of labels, and the groups."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.classify import evaluate, labelled
from pipeline.classify.evaluate import By
from pipeline.classify.ratio import Ratio
from pipeline.classify.rule import Packs
from pipeline.errors import UsageError
from pipeline.records import CaseType, Kind


@pytest.mark.parametrize(
    ("ratio", "value", "interval"),
    [
        (Ratio(0, 0), None, None),
        (Ratio(10, 10), 1.0, (0.722, 1.0)),
        (Ratio(0, 10), 0.0, (0.0, 0.278)),
        (Ratio(5, 10), 0.5, (0.237, 0.763)),
    ],
    ids=["nothing", "all", "none", "half"],
)
def test_ratio(ratio: Ratio, value: float | None, interval: tuple[float, float] | None) -> None:
    assert ratio.value == value
    if interval is None:
        assert ratio.interval is None
    else:
        assert ratio.interval == pytest.approx(interval, abs=0.001)


def row(text: str, label: str, **more: Any) -> dict[str, Any]:
    return {"id": 1, "lang": "en", "text": text, "label": label, **more}


@pytest.fixture
def score(shipped: Packs, tmp_path: Path):  # type: ignore[no-untyped-def]
    def run(*rows: dict[str, Any], by: By = By.LANG, **options: Any) -> evaluate.Evaluation:
        file = tmp_path / "rows.jsonl"
        file.write_text("\n".join(json.dumps(r) for r in rows) + "\n", encoding="utf-8")
        return evaluate.evaluate(shipped, labelled.choose(labelled.read(file), **options), by)

    return run


FORGOT = "You forgot the footer."


@pytest.mark.parametrize(
    ("label", "precision", "recall", "fits"),
    [
        pytest.param("missed", (1, 1), (1, 1), (1, 1), id="right"),
        pytest.param("wrong", (1, 1), (1, 1), (0, 1), id="another-type"),
        pytest.param("wrong|missed", (1, 1), (1, 1), (1, 1), id="either"),
        pytest.param("other", (1, 1), (1, 1), (1, 1), id="other-fits-any"),
        pytest.param("none", (0, 1), (0, 0), (0, 0), id="false-alarm"),
        pytest.param("failure", (0, 0), (0, 0), (0, 0), id="neutral"),
        pytest.param("disputed:none|missed", (0, 0), (0, 0), (0, 0), id="left-out"),
    ],
)
def test_labels(score, label, precision, recall, fits) -> None:  # type: ignore[no-untyped-def]
    total = score(row(FORGOT, label)).total
    assert (total.precision, total.recall) == (Ratio(*precision), Ratio(*recall))
    assert total.type_right == Ratio(*fits)


def test_reach_noise_and_sure(score) -> None:  # type: ignore[no-untyped-def]
    found = score(
        row("Undo the last change.", "other", sure=1),
        row("Revert that please", "none"),
        row(FORGOT, "missed", sure=1),
        row("Add a page.", "none"),
    )
    assert found.total.reach == Ratio(2, 2)
    assert found.total.noise == Ratio(1, 2)
    assert found.total.sure_recall == Ratio(1, 2)
    assert [item.row.message.text for item in found.misses] == ["Undo the last change."]
    assert found.false_alarms == ()


def test_types_and_rules_are_counted_apart(score) -> None:  # type: ignore[no-untyped-def]
    found = score(row(FORGOT, "missed"), row("The total is wrong.", "none"))
    types = found.total.types
    assert types[CaseType.MISSED_ITEM].precision == Ratio(1, 1)
    assert types[CaseType.MISSED_ITEM].recall == Ratio(1, 1)
    assert types[CaseType.WRONG_RESULT].precision == Ratio(0, 1)
    assert found.rule_hits["en.missed-item.you-forgot"] == Ratio(1, 1)


def test_groups(score) -> None:  # type: ignore[no-untyped-def]
    rows = (row(FORGOT, "missed", author="a"), row(FORGOT, "none", author="b", lang="ko"))
    assert [g.name for g in score(*rows).groups] == ["en", "ko"]
    assert [g.name for g in score(*rows, by=By.AUTHOR).groups] == ["a", "b"]
    assert score(*rows, leave_out="b").total.precision == Ratio(1, 1)
    assert [g.rows for g in score(*rows, by=By.WITHOUT_AUTHOR).groups] == [1, 1]


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, ["en", "it", "ko"]),
        ({"only": ["ko", "en"]}, ["en", "ko"]),
        ({"skipped": ["it"]}, ["en", "ko"]),
        ({"only": ["ko"], "skipped": ["ko"]}, []),
    ],
)
def test_languages_are_chosen(score, options, left) -> None:  # type: ignore[no-untyped-def]
    rows = [row(FORGOT, "missed", lang=lang) for lang in ("en", "ko", "it")]
    assert [group.name for group in score(*rows, **options).groups] == left


def test_the_kind_and_the_interrupt_reach_the_rules(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(
        json.dumps(row("x", "other", kind="reject_feedback", interrupted=True)), encoding="utf-8"
    )
    (found,) = labelled.read(file)
    assert found.message.kind is Kind.REJECTION
    assert found.message.interrupted


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"id": 1}', '{"id":1,"lang":"en","text":"x","label":"bad"}'],
    ids=["no-json", "no-object", "no-fields", "no-label"],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("\n" + line + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"rows\.jsonl:2"):
        labelled.read(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        labelled.read(tmp_path / "none.jsonl")
