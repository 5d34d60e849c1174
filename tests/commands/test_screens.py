"""What the screens say of cases: figures, what the agent did, choices, colours."""

import json
import os
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from pipeline.collect.summary import Summary
from pipeline.config import Config
from tests.collect.homes import MISSED, PLAIN, VIOLATED, answer, cases, command, put, run, talk
from tests.propose.raised import exchange
from tests.transcripts.builders import BEGUN, at, attachment, says

LONG = "You forgot the tests for the parser, " + "and more of it " * 9 + "too."
WEEK = 7 * 86_400


@pytest.fixture
def told(config: Config, root: Path) -> Config:
    """Two weeks: of two human turns one case, and of three two."""
    put(root, "s1", talk("s1", PLAIN, MISSED))
    put(root, "s2", talk("s2", PLAIN, VIOLATED, MISSED, seconds=WEEK))
    run(config)
    return config


def test_corrections_per_hundred_turns_by_week(told: Config) -> None:
    weeks = answer(told, "stats")["weeks"]
    assert [(w["turns"], w["corrections"], w["per_100"]) for w in weeks] == [
        (2, 1, 50.0),
        (3, 2, 66.7),
    ]
    assert all(date.fromisoformat(w["week"]).weekday() == 0 for w in weeks)
    printed = command(told, "stats").stdout
    assert "50.0" in printed
    assert "66.7" in printed


def test_a_rules_precision_is_what_nobody_dismissed(told: Config) -> None:
    missed = [case for case in cases(told) if case.text == MISSED]
    command(told, "dismiss", missed[0].id)
    rules = {rule["rule_id"]: rule for rule in answer(told, "stats")["rules"]}
    found = rules[missed[0].rule_id]
    assert (found["cases"], found["dismissed"], found["not_dismissed"]) == (2, 1, 50.0)
    (other,) = [rule for id_, rule in rules.items() if id_ != missed[0].rule_id]
    assert (other["cases"], other["dismissed"], other["not_dismissed"]) == (1, 0, 100.0)


def test_showings_are_counted_by_times_and_by_sessions(config: Config, root: Path) -> None:
    from pipeline.inject.text import frame

    def shown(uuid: str, session: str) -> dict[str, object]:
        block = attachment(uuid, "hook_additional_context", content=[frame(["- x"])])
        return {**block, "sessionId": session}

    put(root, "s1", [*talk("s1", PLAIN), shown("u8", "s1"), shown("u9", "s1")])
    put(root, "s2", [*talk("s2", PLAIN), shown("u7", "s2")])
    run(config)
    assert answer(config, "stats")["shown"] == {"times": 3, "sessions": 2}


def test_show_tells_what_the_agent_did_and_said(config: Config, root: Path, tmp_path: Path) -> None:
    records = exchange("s1", tmp_path / "loom", LONG, command="make check")
    records.insert(
        2, says("s1-a9", "All parts are in place.", "s1-a0", timestamp=at(30), sessionId="s1")
    )
    records[3]["parentUuid"] = "s1-a9"
    put(root, "s1", records)
    run(config)
    (case,) = cases(config)
    short = command(config, "show", "loom/missed-item").stdout
    assert "  after Bash: make check\n" in short
    assert f"  {' '.join(LONG.split())[:159]}…\n" in short
    assert "the agent:" not in short
    full = command(config, "show", "loom/missed-item", "--full").stdout
    assert f"  {' '.join(case.text.split())}\n" in full
    assert "  the agent: All parts are in place.\n" in full


def test_what_the_agent_admitted_is_marked(config: Config, root: Path) -> None:
    records = talk("s1", PLAIN, MISSED)
    records[-1]["message"]["content"][0]["text"] = "You're right, I forgot the tests. My mistake."
    put(root, "s1", records)
    put(root, "s2", talk("s2", PLAIN, VIOLATED))
    run(config)
    found = {case.text: case.admitted for case in cases(config) if case.source == "human"}
    assert found == {MISSED: True, VIOLATED: False}
    assert command(config, "show", "loom").stdout.count("the agent admitted it") == 1


CHOICES = [
    (("turns", "--session", "s1"), 2),
    (("turns", "--since", (BEGUN.date()).isoformat()), 5),
    (("turns", "--since", "2999-01-01"), 0),
    (("cases", "--source", "human"), 3),
    (("cases", "--source", "review"), 0),
    (("cases", "--type", "missed-item"), 2),
    (("cases", "--since", "2999-01-01"), 0),
    (("cases", "--query", "push"), 1),
    (("cases", "--repo", "elsewhere"), 0),
]


@pytest.mark.parametrize(("words", "number"), CHOICES, ids=lambda value: str(value))
def test_choices(told: Config, words: tuple[str, ...], number: int) -> None:
    assert len(answer(told, *words)) == number


def test_status_tells_the_last_run(told: Config, root: Path) -> None:
    put(root, "s3", talk("s3", PLAIN, MISSED))
    assert command(told, "collect").returncode == 0
    assert ": 1 of 3 files read, 1 new cases, 0 known" in command(told, "status").stdout


@pytest.mark.parametrize(
    ("words", "read"),
    [((), 2), (("--days", "2"), 1), (("--since", "2026-03-01"), 1)],
    ids=str,
)
def test_a_window_leaves_files_out(
    config: Config, root: Path, words: tuple[str, ...], read: int
) -> None:
    put(root, "new", talk("new", PLAIN))
    old = put(root, "old", talk("old", PLAIN))
    then = datetime(2019, 1, 1, tzinfo=UTC).timestamp()
    os.utime(old, (then, then))
    assert answer(config, "collect", *words)["files"]["read"] == read


def test_mask_names_what_it_took(config: Config) -> None:
    text = "Write to jane@example.com now."
    done = command(config, "mask", stdin=text)
    assert ("jane" in done.stdout, done.stderr) == (False, "found: email\n")
    lines = "".join(f"{json.dumps({'text': t})}\n" for t in (text, "Nothing here."))
    rows = command(config, "mask", "--jsonl", stdin=lines).stdout.splitlines()
    assert [json.loads(row)["found"] for row in rows] == [["email"], []]
    assert json.loads(rows[1])["text"] == "Nothing here."


def test_sums_that_do_not_hold_are_said() -> None:
    summary = Summary(turns=3, no_case=1)
    summary.by_source["human"] = 1
    summary.counts.lines = 7
    summary.check()
    lines, turns = summary.warnings
    assert "7 read" in lines
    assert "3 heard, 1 cases, 1 none" in turns
    assert Summary().check() is None
