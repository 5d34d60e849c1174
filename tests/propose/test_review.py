"""`review` and the questions of `accept`, on a real pseudo-terminal."""

import os
import signal
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline.config import Config
from pipeline.ledger.event import Reason
from pipeline.ledger.fold import State
from pipeline.records import CaseType
from tests.collect.homes import cases, command
from tests.propose.desk import Desk
from tests.propose.raised import SENTENCE, raise_, states, told_twice

SAID = "You forgot the zanzibar tests for the parser."
KEYS = "? help > "


@pytest.fixture
def raised(config: Config, root: Path, repo: Path) -> Config:
    """Three open proposals; the first has cases."""
    told_twice(config, root, repo, SAID, SAID)
    raise_(config)
    raise_(config, 2, kind=CaseType.WRONG_RESULT)
    raise_(config, 3, kind=CaseType.MISTAKEN_PREMISE)
    return config


@pytest.fixture
def desk(raised: Config) -> Iterator[Desk]:
    desk = Desk(raised, "review")
    yield desk
    desk.close()


def now(config: Config) -> list[State]:
    return [proposal.state for proposal in states(config)]


def test_accept_reject_skip(desk: Desk, raised: Config, repo: Path) -> None:
    shown = desk.until(KEYS)
    assert "proposal 1 (1 of 3)  loom  missed-item" in shown
    assert "2 cases, 2 sessions" in shown
    assert "draft: Before you" in shown
    desk.type("a")
    assert "+- Before you call a task done" in desk.until("[y/N] ")
    desk.type("y\n")
    assert "proposal 2 (2 of 3)" in desk.until(KEYS)
    desk.type("r")
    assert "3 one-off" in desk.until("b back > ")
    desk.type("3")
    assert "proposal 3 (3 of 3)" in desk.until(KEYS)
    desk.type("s")
    assert desk.end() == 0
    assert now(raised) == [State.ACCEPTED, State.REJECTED, State.RAISED]
    assert states(raised)[1].reason is Reason.ONE_OFF
    assert "- Before you call a task done" in (repo / "CLAUDE.md").read_text()


def test_cases_are_shown_and_one_dismissed(desk: Desk, raised: Config) -> None:
    desk.until(KEYS)
    desk.type("c")
    shown = desk.until(KEYS)
    assert "2 alike:" in shown
    assert SAID in shown
    id_ = cases(raised)[0].id
    desk.type("d")
    desk.until("id of the case: ")
    desk.type(f"{id_}\n")
    shown = desk.until(KEYS)
    assert f"{id_}: dismissed" in shown
    assert "draft: Before you" in shown
    assert " once, after " in shown, "it claims no more than is left"
    desk.type("d")
    desk.until("id of the case: ")
    desk.type("nonsense\n")
    assert "that is no case id" in desk.until(KEYS)
    desk.type("q")
    assert desk.end() == 0
    assert [case.state for case in cases(raised)].count("dismissed") == 1
    assert set(now(raised)) == {State.RAISED}


def test_other_keys_do_nothing_and_help_explains(desk: Desk) -> None:
    desk.until(KEYS)
    desk.type("zx7\n?")
    assert "skip the proposal, it stays open" in desk.until(KEYS)
    desk.type("r")
    desk.until("b back > ")
    desk.type("b")
    desk.until(KEYS)
    desk.type("a")
    desk.until("[y/N] ")
    desk.type("n\n")
    desk.until(KEYS)
    desk.type("\x04")
    assert desk.end() == 0


@pytest.mark.parametrize("pressed", ["\x1b[3~", "\x1b[1~", "\x1b[A", "\x1bOP"], ids=ascii)
def test_a_key_that_sends_several_letters_answers_nothing(
    desk: Desk, raised: Config, pressed: str
) -> None:
    """Delete sends a 3, Home a 1, Up an A."""
    desk.until(KEYS)
    desk.type(pressed)
    desk.type("r")
    desk.until("b back > ")
    desk.type(pressed)
    desk.type("b")
    desk.until(KEYS)
    desk.type("q")
    assert desk.end() == 0
    assert now(raised) == [State.RAISED, State.RAISED, State.RAISED]


def test_an_interrupt_leaves_what_was_decided(desk: Desk, raised: Config) -> None:
    desk.until(KEYS)
    desk.type("r")
    desk.until("b back > ")
    desk.type("1")
    desk.until(KEYS)
    desk.type("\x03")
    assert desk.end() == 130
    assert "what was finished is stored" in desk.seen
    assert now(raised) == [State.REJECTED, State.RAISED, State.RAISED]


def test_editing(raised: Config, repo: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\necho "{SENTENCE}" > "$1"\n')
    editor.chmod(0o755)
    desk = Desk(raised, "review", EDITOR=str(editor))
    try:
        desk.until(KEYS)
        desk.type("e")
        assert f"+- {SENTENCE}" in desk.until("[y/N] ")
        desk.type("y\n")
        desk.until(KEYS)
        desk.type("q")
        assert desk.end() == 0
    finally:
        desk.close()
    assert f"- {SENTENCE}\n" in (repo / "CLAUDE.md").read_text()


def test_what_was_edited_outlives_a_dismissal(raised: Config, repo: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\necho "{SENTENCE}" > "$1"\n')
    editor.chmod(0o755)
    desk = Desk(raised, "review", EDITOR=str(editor))
    try:
        desk.until(KEYS)
        desk.type("e")
        desk.until("[y/N] ")
        desk.type("n\n")
        desk.until(KEYS)
        desk.type("d")
        desk.until("id of the case: ")
        desk.type(f"{cases(raised)[0].id}\n")
        assert "draft:" not in desk.until(KEYS)
        desk.type("a")
        assert f"+- {SENTENCE}" in desk.until("[y/N] ")
        desk.type("n\n")
        desk.until(KEYS)
        desk.type("q")
        assert desk.end() == 0
    finally:
        desk.close()


def test_one_that_somebody_else_decides_is_left(desk: Desk, raised: Config) -> None:
    desk.until(KEYS)
    for number in "12":
        command(raised, "accept", number, "--as", "hook", "--yes")
    desk.type("c")
    shown = desk.until(KEYS)
    assert "proposal 1 is accepted" in shown
    assert "proposal 2 is accepted" in shown
    assert "proposal 3 (3 of 3)" in shown
    desk.type("q")
    assert desk.end() == 0


def test_a_fault_leaves_the_proposal_reviewable(raised: Config, repo: Path) -> None:
    """A file that no draft's rule can go to: it is said, and the same proposal goes on."""
    (repo / "CLAUDE.md").mkdir()
    desk = Desk(raised, "review")
    try:
        desk.until(KEYS)
        desk.type("a")
        shown = desk.until(KEYS)
        assert "CLAUDE.md" in shown
        assert "proposal 2" not in shown
        desk.type("r")
        desk.until("b back > ")
        desk.type("1")
        assert "proposal 1: rejected" in desk.until(KEYS)
        desk.type("q")
        assert desk.end() == 0
    finally:
        desk.close()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15)])
def test_the_terminal_is_as_it_was_afterwards(
    raised: Config, number: signal.Signals, code: int
) -> None:
    desk = Desk(raised, "review")
    try:
        desk.until(KEYS)
        before = termios.tcgetattr(desk.master)
        assert not before[3] & termios.ICANON
        desk.process.send_signal(number)
        deadline = time.monotonic() + 30
        while not termios.tcgetattr(desk.master)[3] & termios.ICANON:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert desk.end() == code
    finally:
        desk.close()


def test_nothing_to_review(config: Config, repo: Path) -> None:
    desk = Desk(config, "review")
    try:
        assert desk.end() == 0
        assert "no open proposals" in desk.seen
    finally:
        desk.close()


def test_a_dry_run_decides_nothing(raised: Config, repo: Path) -> None:
    desk = Desk(raised, "review", "--dry-run")
    try:
        for number in range(3):
            assert f"proposal {number + 1} (" in desk.until(KEYS)
            desk.type("a")
        assert desk.end() == 0
    finally:
        desk.close()
    assert set(now(raised)) == {State.RAISED}
    assert not (repo / "CLAUDE.md").exists()


def test_an_answer_in_another_encoding_is_no_yes(raised: Config, repo: Path) -> None:
    desk = Desk(raised, "accept", "1", "--text", SENTENCE, PYTHONIOENCODING="utf-8:strict")
    try:
        desk.until("[y/N] ")
        os.write(desk.master, b"\xe4\n")
        assert desk.end() == 0
        assert "nothing was changed" in desk.seen
    finally:
        desk.close()
    assert not (repo / "CLAUDE.md").exists()


@pytest.mark.parametrize(("answer", "state"), [("y", State.ACCEPTED), ("n", State.RAISED)])
def test_accept_asks_on_a_terminal(raised: Config, repo: Path, answer: str, state: State) -> None:
    desk = Desk(raised, "accept", "1", "--text", SENTENCE)
    try:
        assert f"+- {SENTENCE}" in desk.until("[y/N] ")
        desk.type(f"{answer}\n")
        assert desk.end() == 0
    finally:
        desk.close()
    assert now(raised)[0] is state
    assert (repo / "CLAUDE.md").exists() == (answer == "y")
    if answer == "y":
        assert command(raised, "retire", "1", "--yes").returncode == 0
