"""Off unless asked for, and complete without any model (T31)."""

import json
from datetime import timedelta
from typing import Any

import pytest

from pipeline.cases.store import open_reader
from pipeline.config import Backend
from pipeline.judge.cost import estimate
from pipeline.judge.night import plan
from tests.collect.homes import answer, cases, command
from tests.judge.conftest import KEY, Court, Serve
from tests.judge.conftest import NIGHT as NIGHT_AT

NIGHT = ("nightly", "--llm")


def settings(here: Court, **fields: Any) -> None:
    """[judge] as a file; the key stands in the environment of every command here."""
    known = {"base_url": here.server.url, "key_env": "MADE_UP_KEY"} | fields
    lines = [f"{name} = {json.dumps(value)}" for name, value in known.items()]
    text = "\n".join(["[judge]", *lines])
    (here.config.home / "config.toml").write_text(text, encoding="utf-8")


ON = {"enabled": True, "backend": "anthropic"}
ROWS: list[tuple[str, dict[str, Any], tuple[str, ...], bool]] = [
    ("nothing said", {}, ("nightly",), False),
    ("a backend is no consent", {"backend": "anthropic"}, ("nightly",), False),
    ("switched on", ON, ("nightly",), True),
    ("switched on, not this time", ON, ("nightly", "--no-llm"), False),
    ("this time", {"backend": "anthropic"}, ("nightly", "--llm"), True),
    ("collecting is collecting", ON, ("collect",), False),
    ("collecting with it", {"backend": "anthropic"}, ("collect", "--llm"), True),
    ("the original line", {"backend": "anthropic"}, ("--days", "9000", "--llm"), True),
    ("a look", ON, ("nightly", "--dry-run"), False),
    ("no backend named", {"enabled": True}, ("nightly",), False),
    ("no backend named, but asked for", {}, ("nightly", "--llm"), False),
]


@pytest.mark.parametrize(
    ("fields", "words", "asked"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_who_is_asked(
    court: Serve, fields: dict[str, Any], words: tuple[str, ...], asked: bool
) -> None:
    here = court(lambda case, model: "missed-item")
    here.ask(3)
    settings(here, **fields)
    keys = {"MADE_UP_KEY": KEY, "ANTHROPIC_API_KEY": KEY}
    done = command(here.config, *words, "--json", **keys)
    assert done.returncode == 0, done.stderr
    assert bool(here.server.received) is asked
    if "--dry-run" not in words:
        judge = json.loads(done.stdout)["judge"]
        assert judge["agreed"] == 3 * asked
    wants = "--llm" in words or (fields.get("enabled") and words == ("nightly",))
    assert ("no backend is named" in done.stderr) == bool(wants and "backend" not in fields)


def test_a_dry_run_says_how_many_and_how_much(court: Serve) -> None:
    here = court(lambda case, model: "missed-item")
    here.ask(5)
    settings(here, **ON, max_cases=3)
    done = command(here.config, "nightly", "--dry-run")
    assert "3 cases, for $0." in done.stderr
    most = float(done.stderr.partition("$")[2].split()[0])
    assert command(here.config, "nightly", MADE_UP_KEY=KEY).returncode == 0
    assert 0 < here.server.bill_usd < most
    assert len({r.case["message"] for r in here.server.received}) == 3


def test_without_a_backend_nothing_is_foreseen(court: Serve) -> None:
    here = court(lambda case, model: "missed-item")
    here.ask(3)
    done = command(here.config, "nightly", "--llm", "--dry-run")
    assert "0 cases: no backend is named" in done.stderr
    assert answer(here.config, "judge", "cost")["waiting"]["cases"] == 0
    assert "no backend is named" in command(here.config, "judge", "cost").stdout


def test_what_is_under_way_is_not_foreseen(court: Serve) -> None:
    here = court(lambda case, model: "missed-item")
    here.set(backend=Backend.BATCH)
    here.server.ended = False
    here.ask(3)
    here.night()
    here.ask(2, begin=40)
    settings(here, **ON | {"backend": "anthropic-batch"}, max_usd=1000.0)
    with open_reader(here.config.local_cases) as store:
        assert store is not None
        now = NIGHT_AT + timedelta(days=here.nights)
        found = plan(store, here.config, now)
        assert (found.cases, found.under_way) == (2, 3)
        assert estimate(store, here.config, now).cases == 2


NO_WAY: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    ("no key", {"backend": "anthropic"}, {}),
    ("empty key", {"backend": "anthropic"}, {"MADE_UP_KEY": " "}),
    ("no key for a batch", {"backend": "anthropic-batch"}, {}),
    ("no route", {"backend": "anthropic", "base_url": "http://127.0.0.1:9"}, {"MADE_UP_KEY": KEY}),
    ("no name", {"backend": "anthropic", "base_url": "http://no-such-host.invalid"},
     {"MADE_UP_KEY": KEY}),
    ("no program", {"backend": "claude-cli"}, {"PATH": "/nowhere"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "environ"), [row[1:] for row in NO_WAY], ids=[row[0] for row in NO_WAY]
)
def test_a_night_without_a_model_is_whole(
    court: Serve, fields: dict[str, Any], environ: dict[str, str]
) -> None:
    here = court(lambda case, model: "missed-item")
    here.ask(3)
    assert command(here.config, "nightly").returncode == 0
    before = cases(here.config)
    settings(here, **fields)
    done = command(here.config, *NIGHT, **environ)
    assert done.returncode == 0
    assert done.stderr.startswith("warning: the judge ")
    assert cases(here.config) == before
    assert answer(here.config, "status")["judge"]["left"] in (0, 3)
    assert here.server.received == []


def test_noticed_decided_and_ruled_cases_are_not_asked_about(court: Serve) -> None:
    from tests.collect.homes import MISSED, PLAIN, put, run, talk

    here = court(lambda case, model: "missed-item")
    here.ask(4)
    put(here.root, "s9", talk("s9", PLAIN, MISSED, seconds=99999))
    run(here.config)
    open_ = [case.id for case in here.cases() if case.type == "other"]
    for words in (["dismiss", open_[0]], ["retype", open_[1], "wrong-result"],
                  ["retype", open_[2], "other"]):  # fmt: skip
        assert command(here.config, *words).returncode == 0
    here.night()
    (left,) = {r.case["message"] for r in here.server.received}
    assert left == {case.id: case.text for case in here.cases()}[open_[3]]


def test_until_bounds_what_is_judged(court: Serve) -> None:
    here = court(lambda case, model: "missed-item")
    here.ask(2)
    here.ask(2, begin=40)
    settings(here, **ON)
    first = min(case.day for case in here.cases())
    done = command(here.config, "collect", "--llm", "--until", str(first), MADE_UP_KEY=KEY)
    assert done.returncode == 0, done.stderr
    decided = {case.day for case in here.cases() if case.decided_by == "judge"}
    assert decided == {first}
    assert {case.day for case in here.cases()} > decided
