"""`rules eval` on a small labelled file: figures, groups, choices, and which rows went wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.config import Config
from tests.collect.homes import VIOLATED, answer, command, environment

MISSED = "The blue one, please, as on the sketch."
ALARM = "I told you not to push to main."
ROWS = [
    {
        "id": "r1",
        "lang": "en",
        "author": "ann",
        "text": VIOLATED,
        "label": "violated",
        "sure": True,
    },
    {"id": "r2", "lang": "en", "author": "bob", "text": MISSED, "label": "wrong", "sure": True},
    {"id": "r3", "lang": "en", "author": "bob", "text": "Add a search box.", "label": "none"},
    {"id": "r4", "lang": "en", "author": "bob", "text": ALARM, "label": "none"},
    {"id": "r5", "lang": "ko", "author": "cho", "text": "테스트가 누락됐어", "label": "missed"},
    {"id": "r6", "lang": "en", "author": "ann", "text": "x", "label": "disputed:none"},
]


@pytest.fixture
def labelled(tmp_path: Path) -> str:
    path = tmp_path / "labelled.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), encoding="utf-8")
    return str(path)


def shares(score: dict[str, object], name: str) -> tuple[int, int]:
    found = score[name]
    assert isinstance(found, dict)
    low, high = found["interval"]
    assert low <= found["part"] / found["whole"] <= high
    return found["part"], found["whole"]


def test_the_figures(config: Config, labelled: str) -> None:
    english, korean, pooled = answer(config, "rules", "eval", labelled)
    assert [s["name"] for s in (english, korean, pooled)] == ["en", "ko", "all"]
    assert [s["rows"] for s in (english, korean, pooled)] == [4, 1, 5]
    assert [shares(s, "precision") for s in (english, korean, pooled)] == [(1, 2), (1, 1), (2, 3)]
    assert [shares(s, "recall") for s in (english, korean, pooled)] == [(1, 2), (1, 1), (2, 3)]
    assert shares(pooled, "sure_recall") == (1, 2)
    assert shares(pooled, "type_right") == (2, 2)


def test_the_table_shows_an_interval_beside_each_figure(config: Config, labelled: str) -> None:
    lines = command(config, "rules", "eval", labelled).stdout.splitlines()
    cells = next(line for line in lines if line.startswith("all\t5\t3\t")).split("\t")
    assert cells[3].startswith("0.67 (0.21–0.94) 2/3")
    assert all("(" in cell for cell in cells[3:])


def test_standard_input(config: Config, labelled: str) -> None:
    file = answer(config, "rules", "eval", labelled)
    with Path(labelled).open("rb") as rows:
        done = subprocess.run(
            [sys.executable, "-m", "pipeline", "rules", "eval", "-", "--json"],
            stdin=rows, capture_output=True, env=environment(config), check=True,
        )  # fmt: skip
    assert json.loads(done.stdout) == file


@pytest.mark.parametrize(
    ("words", "names", "rows"),
    [
        (("--by", "author"), ["ann", "bob", "cho", "all"], [1, 3, 1, 5]),
        (("--leave-out", "bob"), ["en", "ko", "all"], [1, 1, 2]),
        (("--skip-lang", "ko"), ["en", "all"], [4, 4]),
        (("--lang", "ko"), ["ko", "all"], [1, 1]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_choices(
    config: Config, labelled: str, words: tuple[str, ...], names: list[str], rows: list[int]
) -> None:
    found = answer(config, "rules", "eval", labelled, *words)
    assert [score["name"] for score in found] == names
    assert [score["rows"] for score in found] == rows


@pytest.mark.parametrize(
    ("flag", "row"), [("--misses", f"missed\ten\tr2\t-\t{MISSED}"),
                      ("--false-alarms", "false alarm\ten\tr4\ten.violated-instruction.")]
)  # fmt: skip
def test_rows_that_went_wrong(config: Config, labelled: str, flag: str, row: str) -> None:
    assert row not in command(config, "rules", "eval", labelled).stdout
    printed = command(config, "rules", "eval", labelled, flag).stdout
    assert [line for line in printed.splitlines() if line.startswith(row)]
