"""The judge within the whole night: it costs the other stages nothing, and they see its word."""

import io
import itertools
import json
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipeline import resources
from pipeline.cases import store as stores
from pipeline.cases.store import Writer
from pipeline.cli import main
from pipeline.judge import prompts
from tests.collect.homes import MISSED, Done, answer, command, environment, put, talk
from tests.hook.conftest import World
from tests.inject.test_night import repository, today
from tests.judge.conftest import KEY, Court, Serve, undecided
from tests.judge.test_consent import ON, settings

READER = """
import pathlib, select, sys
from pipeline.cases.store import open_reader
with open_reader(pathlib.Path(sys.argv[1])):
    print("open", flush=True)
    select.select([sys.stdin], [], [], float(sys.argv[2]))
"""
"""Holds the store for so many seconds, or until its input ends."""


def reading(here: Court, seconds: float) -> "subprocess.Popen[str]":
    """A process that has the store open already."""
    process = subprocess.Popen(
        [sys.executable, "-c", READER, str(here.config.local_cases), str(seconds)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8",
        env=environment(here.config),
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


def once(here: Court, seconds: float) -> "list[subprocess.Popen[str]]":
    """A reader who takes the store while the first questions are away."""
    readers: list[subprocess.Popen[str]] = []
    numbers, opened = itertools.count(), threading.Event()

    def take() -> None:
        if next(numbers) == 0:
            readers.append(reading(here, seconds))
            opened.set()
        opened.wait()

    here.server.on_request = take
    return readers


def test_answers_outlast_a_reader(court: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reader stays longer than others wait; what was paid is stored all the same."""
    monkeypatch.setattr(stores, "READ_WAIT_SECONDS", 0.1)
    here = court(lambda case, model: "missed-item")
    here.ask(3)
    readers = once(here, 1.5)
    assert here.night().agreed == 3
    assert here.stored("SELECT count(*) FROM answers") == [(6,)]
    (reader,) = readers
    reader.communicate()


def test_a_reader_who_stays_stops_the_questions_and_loses_no_answer(
    court: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored at the second try."""
    here = court(lambda case, model: "missed-item")
    here.ask(12)
    readers = once(here, 3.0)
    monkeypatch.setattr(stores, "RETURN_WAIT_SECONDS", 2.0)
    judged = here.night()
    assert "is held by" in judged.warnings[0]
    assert 0 < here.server.calls() < 12
    assert here.stored("SELECT count(*) FROM answers") == [(here.server.calls(),)]
    assert here.night().agreed == 12
    readers[0].communicate()


def whole(here: Court, done: Done) -> None:
    """The night went on to its end."""
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("warning: the judge could not be asked") == 1
    assert list((here.config.local_cases / "exports").iterdir())
    assert answer(here.config, "status")["judge"] is not None


def test_a_library_that_is_not_there(court: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    here = court(lambda case, model: "missed-item")
    here.ask(3)
    settings(here, **ON)
    for name in [name for name in sys.modules if name.partition(".")[0] == "anthropic"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "anthropic", None)
    whole(here, command(here.config, "nightly", MADE_UP_KEY=KEY))


def test_a_broken_prompt(court: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    here = court(lambda case, model: "missed-item")
    here.ask(3)
    settings(here, **ON)
    package = tmp_path / "installed"
    (package / "_data" / "prompts").mkdir(parents=True)
    (package / "_data" / "prompts" / "judge-first.md").write_text("+++")
    (package / "_data" / "rules").symlink_to(resources.folder("rules"))
    monkeypatch.setattr(resources, "_PACKAGE", package)
    prompts.load.cache_clear()
    whole(here, command(here.config, "nightly", MADE_UP_KEY=KEY))


@pytest.fixture
def told(court: Serve, tmp_path: Path) -> tuple[Court, Path]:
    """The same kind of message on two days of one repository; none of it is decided."""
    here, tree = court(lambda case, model: "missed-item"), repository(tmp_path, "here")
    put(here.root, "s1", today(talk("s1", undecided(0), cwd=str(tree))))
    earlier = talk("s2", undecided(1), cwd=str(tree))
    for record in earlier:
        when = datetime.now(UTC) - timedelta(days=2)
        record["timestamp"] = when.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    put(here.root, "s2", earlier)
    here.config.home.mkdir(parents=True, exist_ok=True)
    settings(here, backend="anthropic")
    return here, tree


def test_the_original_line_with_a_working_judge(told: tuple[Court, Path], tmp_path: Path) -> None:
    """What the judge decides is shown to the agent and counts for a proposal, in the same run."""
    here, tree = told
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", "--days", "4000", "--llm", "--propose", "--json"],
        env=environment(here.config, MADE_UP_KEY=KEY), capture_output=True, encoding="utf-8",
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["judge"] == {"asked": 2, "agreed": 2, "left": 0}
    (number,) = summary["proposals"]["raised"]
    cases = answer(here.config, "show", str(number))
    assert {case["decided_by"] for case in cases} == {"judge"}
    assert len(cases) == 2
    world = World(tmp_path / "world")
    world.home = here.config.home
    text = world.shown(cwd=str(tree))
    assert undecided(0).rstrip("?") in text
    assert undecided(1).rstrip("?") in text
    assert (
        json.loads(command(here.config, "inject", "--cwd", str(tree), "--json").stdout)["text"]
        == text
    )


def test_a_failing_export_costs_the_hook_nothing(told: tuple[Court, Path], tmp_path: Path) -> None:
    here, tree = told
    put(here.root, "s3", today(talk("s3", MISSED, cwd=str(tree))))
    here.config.local_cases.mkdir(mode=0o700)
    (here.config.local_cases / "exports").write_text("no folder")
    assert command(here.config, "nightly").returncode == 3
    world = World(tmp_path / "world")
    world.home = here.config.home
    assert MISSED.rstrip(".") in world.shown(cwd=str(tree))


class Pager(io.RawIOBase):
    """Somebody reads slowly: with every line that he takes, another run wants to write."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.lines = folder, 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        with Writer(self.folder) as writer:
            assert writer.store
        self.lines += 1
        return len(data)


@pytest.mark.parametrize("words", [["show"], ["show", "loom", "--all"], ["cases", "--all"]])
def test_a_screen_does_not_hold_the_store(
    court: Serve, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    here = court(lambda case, model: "missed-item")
    here.ask(3)
    for name, value in environment(here.config).items():
        monkeypatch.setenv(name, value)
    pager = Pager(here.config.local_cases)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(pager, "utf-8", write_through=True))  # type: ignore[arg-type]
    assert main(words) == 0
    assert pager.lines
