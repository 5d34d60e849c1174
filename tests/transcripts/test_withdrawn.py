"""Prompts that were taken back, and those that only look like it."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline.collect.turns import all_turns
from pipeline.records import Fate
from tests.transcripts.builders import (
    OTHER_SESSION,
    Record,
    calls,
    config,
    prompt,
    read_records,
    says,
    user,
    write,
)

LONG = "please make the border twice as wide and keep the red thread"


def at(index: int) -> Record:
    return {"turnPosition": {"promptIndex": index, "turnIndex": index}}


@dataclass(frozen=True)
class Case:
    name: str
    lines: tuple[Record, ...]
    words: tuple[str, ...]


CASES = [
    Case(
        "esc-at-once",
        (
            says("a1", "ready"),
            prompt("u2", "wider", "a1"),
            prompt("u3", "wider and red", "a1"),
            says("a4", "ok", "u3"),
        ),
        ("wider and red",),
    ),
    Case(
        "esc-at-once-other-words",
        (
            says("a1", "ready"),
            prompt("u2", "burn it", "a1"),
            prompt("u3", "keep it", "a1"),
            says("a4", "ok", "u3"),
        ),
        ("keep it",),
    ),
    Case(
        "rewound-answered-similar",
        (
            says("a1", "ready"),
            prompt("u2", LONG, "a1"),
            says("a3", "done", "u2"),
            prompt("u4", LONG + "!", "a1"),
            says("a5", "ok", "u4"),
        ),
        (LONG + "!",),
    ),
    Case(
        "rewound-answered-equal",
        (
            says("a1", "ready"),
            prompt("u2", LONG, "a1"),
            says("a3", "done", "u2"),
            prompt("u4", LONG, "a1"),
        ),
        (LONG,),
    ),
    Case(
        "rewound-answered-shorter",
        (
            says("a1", "ready"),
            prompt("u2", LONG, "a1"),
            says("a3", "done", "u2"),
            prompt("u4", LONG[:20], "a1"),
        ),
        (LONG[:20],),
    ),
    Case(
        "rewound-answered-different",
        (
            says("a1", "ready"),
            prompt("u2", LONG, "a1"),
            says("a3", "done", "u2"),
            prompt("u4", "stop", "a1"),
        ),
        (LONG, "stop"),
    ),
    Case(
        "answered-by-a-call",
        (
            says("a1", "ready"),
            prompt("u2", "burn it", "a1"),
            calls("a3", "Bash", "u2"),
            prompt("u4", "keep it", "a1"),
        ),
        ("burn it", "keep it"),
    ),
    Case(
        "answer-below-a-hook-line",
        (
            says("a1", "ready"),
            prompt("u2", "burn it", "a1"),
            user("u3", "hook says", "u2", isMeta=True),
            says("a4", "done", "u3"),
            prompt("u5", "keep it", "a1"),
        ),
        ("burn it", "keep it"),
    ),
    Case(
        "client-error-is-no-answer",
        (
            says("a1", "ready"),
            prompt("u2", "burn it", "a1"),
            says("a3", "API Error", "u2", model="<synthetic>"),
            prompt("u4", "keep it", "a1"),
        ),
        ("keep it",),
    ),
    Case(
        "three-branches",
        (
            says("a1", "ready"),
            prompt("u2", "one", "a1"),
            prompt("u3", "two", "a1"),
            prompt("u4", "three", "a1"),
            says("a5", "ok", "u4"),
        ),
        ("three",),
    ),
    Case(
        "other-position",
        (
            says("a1", "ready"),
            prompt("u2", "burn it", "a1", **at(1)),
            prompt("u3", "keep it", "a1", **at(2)),
        ),
        ("burn it", "keep it"),
    ),
    Case(
        "same-position",
        (
            says("a1", "ready"),
            prompt("u2", "burn it", "a1", **at(1)),
            prompt("u3", "keep it", "a1", **at(1)),
        ),
        ("keep it",),
    ),
    Case("roots-are-no-siblings", (prompt("u1", "one"), prompt("u2", "two")), ("one", "two")),
    Case(
        "said-twice",
        (prompt("u1", "again"), says("a2", "ok", "u1"), prompt("u3", "again", "a2")),
        ("again", "again"),
    ),
    Case("said-twice-at-roots", (prompt("u1", "again"), prompt("u2", "again")), ("again", "again")),
    Case(
        "resent-with-more",
        (prompt("u1", "wider"), prompt("u30", "wider and red"), says("a31", "ok", "u30")),
        ("wider and red",),
    ),
    Case(
        "resent-after-an-answer",
        (prompt("u1", "no"), says("a2", "what?", "u1"), prompt("u3", "no, use twine", "a2")),
        ("no", "no, use twine"),
    ),
    Case(
        "resent-after-an-answer-in-a-chain",
        (
            says("a1", "ready"),
            prompt("u2", "no", "a1"),
            says("a3", "what?", "u2"),
            prompt("u4", "not that one", "a3"),
            says("a5", "ok", "u4"),
        ),
        ("no", "not that one"),
    ),
    Case(
        "resent-too-late",
        (prompt("u1", "wider"), prompt("u900", "wider and red")),
        ("wider", "wider and red"),
    ),
    Case(
        "resent-in-another-session",
        (prompt("u1", "wider"), prompt("u2", "wider and red", sessionId=OTHER_SESSION)),
        ("wider", "wider and red"),
    ),
    Case(
        "not-a-beginning",
        (prompt("u1", "wider"), prompt("u2", "much wider")),
        ("wider", "much wider"),
    ),
    Case(
        "copy-of-one-line",
        (says("a1", "ready"), prompt("u2", "wider", "a1"), prompt("u2", "wider", "a1")),
        ("wider",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_withdrawn(tmp_path: Path, case: Case) -> None:
    for everything in (False, True):
        reading = read_records(tmp_path, *case.lines, everything=everything)
        assert reading.words == list(case.words)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_over_all_files(tmp_path: Path, case: Case) -> None:
    write(tmp_path, *case.lines)
    assert [turn.text for turn in all_turns(config(tmp_path))] == list(case.words)


def test_fates(tmp_path: Path) -> None:
    """Unanswered can be saved by another file, withdrawn cannot."""
    by_name = {case.name: case for case in CASES}
    unanswered = read_records(tmp_path / "a", *by_name["esc-at-once"].lines).human[0]
    assert (unanswered.fate, unanswered.answered) == (Fate.UNANSWERED, False)
    rewound = read_records(tmp_path / "b", *by_name["rewound-answered-similar"].lines).human[0]
    assert (rewound.fate, rewound.answered) == (Fate.WITHDRAWN, True)


def test_an_answer_in_a_fork_saves_a_prompt(tmp_path: Path) -> None:
    """In one file it looks abandoned; the fork went on from it."""
    shared = (says("a1", "ready"), prompt("u2", "burn it", "a1"))
    write(
        tmp_path, *shared, prompt("u3", "keep it", "a1"), says("a4", "ok", "u3"), name="one.jsonl"
    )
    fork = [record | {"sessionId": OTHER_SESSION} for record in shared]
    write(tmp_path, *fork, says("a9", "burnt", "u2", sessionId=OTHER_SESSION), name="two.jsonl")
    assert [turn.text for turn in all_turns(config(tmp_path))] == ["burn it", "keep it"]


def test_a_rewind_in_any_file_counts_everywhere(tmp_path: Path) -> None:
    shared = (says("a1", "ready"), prompt("u2", LONG, "a1"), says("a3", "done", "u2"))
    write(
        tmp_path, *shared, prompt("u4", LONG + "!", "a1"), says("a5", "k", "u4"), name="one.jsonl"
    )
    fork = [record | {"sessionId": OTHER_SESSION} for record in shared]
    write(tmp_path, *fork, name="two.jsonl")
    assert [turn.text for turn in all_turns(config(tmp_path))] == [LONG + "!"]


def test_withdrawn_is_shown_with_its_reason(tmp_path: Path) -> None:
    write(tmp_path, says("a1", "ready"), prompt("u2", "burn it", "a1"), prompt("u3", "keep", "a1"))
    told = {turn.uuid: turn.reason for turn in all_turns(config(tmp_path), others=True)}
    assert told["u2"] == "withdrawn"
    assert told["u3"] == ""
