"""`judge eval`: figures of each model and of the pair, and nothing sent that nobody agreed to."""

import json
import subprocess
import sys
from typing import Any

import pytest

from pipeline.cases import store as stores
from tests.collect.homes import answer, command, environment, run
from tests.judge.conftest import KEY, Court, Serve, undecided
from tests.judge.test_consent import settings
from tests.judge.test_night import once

LABELS = ("wrong", "wrong", "wrong", "missed", "none", "none", "other", "failure", "none", "wrong")
FIRST = {"lantern": "wrong-result", "kite": "wrong-result", "harbour": "not-a-correction",
         "ferry": "missed-item", "lighthouse": "wrong-result", "anchor": "not-a-correction",
         "sail": "other-correction", "tide": "wrong-result", "bridge": "wrong-result",
         "pier": "junk"}  # fmt: skip
SECOND = FIRST | {"kite": "missed-item", "lighthouse": "not-a-correction", "pier": "wrong-result"}


def plan(case: Any, model: str) -> str:
    answers = FIRST if "haiku" in model else SECOND
    return next(label for thing, label in answers.items() if thing in case["message"])


def labelled(here: Court, *more: dict[str, Any]) -> str:
    rows: list[dict[str, Any]] = [
        {"id": n, "lang": "en", "text": undecided(n), "label": label}
        for n, label in enumerate(LABELS)
    ]
    path = here.config.home / "labelled.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, *more]))
    return str(path)


@pytest.fixture
def here(court: Serve) -> Court:
    here = court(plan)
    here.config.home.mkdir()
    settings(here, backend="anthropic")
    return here


def test_figures(here: Court) -> None:
    decided = {"id": "x", "lang": "en", "text": "You forgot the tests", "label": "missed"}
    found = answer(here.config, "judge", "eval", labelled(here, decided), "--yes", MADE_UP_KEY=KEY)
    parts = {
        score["name"].partition(" ")[0]: {
            name: (value["part"], value["whole"])
            for name, value in score.items()
            if isinstance(value, dict)
        }
        | {"answered": score["answered"]}
        for score in found["scores"]
    }
    assert found["rows"] == 10, "what a rule decides is not asked about"
    # The tide is neutral, the pier's first answer is junk; six of the nine are corrections.
    assert parts["first"] == {
        "answered": 8, "precision": (3, 5), "recall": (3, 6), "type_right": (3, 3),
        "agreement": (5, 8),
    }  # fmt: skip
    assert parts["second"] == {
        "answered": 9, "precision": (4, 5), "recall": (4, 6), "type_right": (3, 4),
        "agreement": (6, 9),
    }  # fmt: skip
    assert parts["pair"] == {
        "answered": 6, "precision": (2, 3), "recall": (2, 6), "type_right": (2, 2),
        "agreement": (4, 6),
    }  # fmt: skip
    assert (found["hidden"]["part"], found["hidden"]["whole"]) == (1, 5)
    assert all(len(score["precision"]["interval"]) == 2 for score in found["scores"])
    calls = here.server.calls()
    again = answer(here.config, "judge", "eval", labelled(here), "--yes", MADE_UP_KEY=KEY)
    assert here.server.calls() == calls + 1, "only the junk is asked again"
    assert again["scores"] == found["scores"]


def test_every_message(here: Court) -> None:
    text = "You forgot the lantern"
    decided = {"id": "x", "lang": "en", "text": text, "label": "missed"}
    path = labelled(here, decided)
    assert command(here.config, "judge", "eval", path, "--every", "--yes", MADE_UP_KEY=KEY)
    assert text in {r.case["message"] for r in here.server.received}


def test_texts_are_masked_first(here: Court) -> None:
    mail = "jane.doe" + "@" + "example.com"
    row = {"id": "x", "lang": "en", "text": f"Why did you rename the lantern of {mail}?",
           "label": "wrong", "prev_assistant": f"Sent to {mail}."}  # fmt: skip
    command(here.config, "judge", "eval", labelled(here, row), "--yes", MADE_UP_KEY=KEY)
    sent = json.dumps([r.body for r in here.server.received])
    assert "rename the lantern of" in sent
    assert mail not in sent


def test_it_says_what_it_sends_and_asks(here: Court) -> None:
    path = labelled(here)
    done = command(here.config, "judge", "eval", path, MADE_UP_KEY=KEY)
    assert (done.returncode, done.stdout) == (2, "")
    assert "this sends 10 masked messages to claude-haiku-5-5 and claude-sonnet-5-5" in done.stderr
    assert f"{here.server.url}), for $0." in done.stderr
    look = command(here.config, "judge", "eval", path, "--dry-run")
    assert look.returncode == 0
    assert look.stdout.startswith("would send 10 masked messages")
    assert here.server.received == []


def test_what_is_not_sent_is_told_as_a_document(here: Court) -> None:
    path = labelled(here)
    look = answer(here.config, "judge", "eval", path, "--dry-run")
    assert look.pop("most_usd") > 0
    assert look == {
        "sent": False, "dry_run": True, "rows": 10, "backend": "anthropic",
        "base_url": here.server.url, "models": ["claude-haiku-5-5", "claude-sonnet-5-5"],
    }  # fmt: skip
    assert here.server.received == []


def test_a_table_for_people(here: Court) -> None:
    done = command(here.config, "judge", "eval", labelled(here), "--yes", MADE_UP_KEY=KEY)
    rows = [row.split("\t")[0] for row in done.stdout.splitlines()]
    assert rows[:3] == ["first (claude-haiku-5-5)", "second (claude-sonnet-5-5)", "pair"]
    assert "corrections that a night would hide: 0.20" in done.stdout


def test_a_reader_who_stays_loses_no_answer(here: Court, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored at the last try, when the questions are over."""
    row = {"id": "x", "lang": "en", "text": undecided(0), "label": "wrong"}
    path = here.config.home / "one.jsonl"
    path.write_text(json.dumps(row))
    run(here.config)
    readers = once(here, 3.0)
    monkeypatch.setattr(stores, "RETURN_WAIT_SECONDS", 1.6)
    done = command(here.config, "judge", "eval", str(path), "--yes", MADE_UP_KEY=KEY)
    readers[0].communicate()
    assert "is held by" in done.stderr
    assert here.stored("SELECT count(*) FROM answers") == [(here.server.calls(),)] == [(1,)]


def test_messages_on_standard_input(here: Court) -> None:
    row = {"id": "x", "lang": "en", "text": undecided(0), "label": "wrong"}
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", "judge", "eval", "-", "--yes", "--json"],
        env=environment(here.config, MADE_UP_KEY=KEY), input=json.dumps(row),
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 1


@pytest.mark.parametrize(
    ("words", "code"),
    [(["eval"], 2), (["eval", "/nowhere/x.jsonl"], 2), (["cost", "x"], 2), (["weigh"], 2)],
)
def test_wrong_words(here: Court, words: list[str], code: int) -> None:
    assert command(here.config, "judge", *words).returncode == code
