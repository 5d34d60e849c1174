"""What a person did at a terminal, read back from what the client wrote about it."""

import json
import stat
from pathlib import Path

import pytest

from pipeline.inject.text import FIRST
from pipeline.records import Kind, Source, Turn
from pipeline.transcripts.discover import discover
from pipeline.transcripts.reader import Options, open_transcript
from tests.client.desk import Desk
from tests.client.fake_api import texts, times
from tests.client.terminal import Terminal

pytestmark = [pytest.mark.client, pytest.mark.usefixtures("tmux")]
QUESTION = {
    "question": "Which colour?",
    "header": "Colour",
    "options": [{"label": "Red", "description": "r"}, {"label": "Blue", "description": "b"}],
    "multiSelect": False,
}
TASK = {"description": "Watch", "prompt": "Watch the tide.", "subagent_type": "general-purpose"}
TYPED = [
    (Kind.TYPED, "write the lanterns down"),
    (Kind.REJECTION, "no, they stay dark by day"),
    (Kind.TYPED, "write the kites down"),
    (Kind.APPROVAL_COMMENT, "and number them from one"),
    (Kind.TYPED, "ask me for a colour"),
    (Kind.ANSWER, "green like moss"),
    (Kind.TYPED, "wait for the tide"),
    (Kind.QUEUED, "and count the boats meanwhile"),
    (Kind.TYPED, "send a helper"),
    (Kind.TYPED, "and good night"),
]


def write(path: Path) -> tuple[str, dict[str, str]]:
    return "Write", {"file_path": str(path), "content": "made up\n"}


def go_through(terminal: Terminal) -> None:
    """Every way in which words get in, in the order of TYPED."""
    words = [text for _, text in TYPED]
    terminal.type(words[0])
    terminal.wait("Do you want to create lanterns.txt?")
    terminal.press("Down", "Down", "Tab")
    terminal.wait("No, and tell Claude what to do differently")
    terminal.type(words[1])
    terminal.wait(f"Answer to: {words[0]}")
    terminal.type(words[2])
    terminal.wait("Do you want to create kites.txt?")
    terminal.press("Tab")
    terminal.wait("Yes, and tell Claude what to do next")
    terminal.type(words[3])
    terminal.wait(f"Answer to: {words[3]}")
    terminal.type(words[4])
    terminal.wait("Which colour?")
    terminal.press("Down", "Down")
    terminal.wait("❯ 3. Type something")
    terminal.type(words[5])
    terminal.wait(f"Answer to: {words[4]}")
    terminal.type(words[6])
    terminal.wait("$ sleep 3")
    terminal.type(words[7])
    terminal.wait("Answer to: The user sent a new message while you were working")
    terminal.type(words[8])
    terminal.wait('Agent "Watch" finished')
    terminal.type(words[9])
    terminal.wait(f"Answer to: {words[9]}")


def test_exactly_what_was_typed(desk: Desk) -> None:
    project = desk.repository("harbour")
    desk.correct(project, "No, the kites are numbered from one.")
    desk.api.script = {
        TYPED[0][1]: write(project / "lanterns.txt"),
        TYPED[2][1]: write(project / "kites.txt"),
        TYPED[4][1]: ("AskUserQuestion", {"questions": [QUESTION]}),
        TYPED[6][1]: ("Bash", {"command": "sleep 3", "description": "Wait"}),
        TYPED[8][1]: ("Agent", TASK),
    }
    with desk.terminal(project) as (terminal, _):
        go_through(terminal)

    files = discover([desk.claude]).files
    assert {file.subagent for file in files} == {False, True}
    assert {stat.S_IMODE(file.path.stat().st_mode) for file in files} == {0o600}
    turns: list[Turn] = []
    tools: dict[str, str] = {}
    for file in files:
        with open_transcript(file, Options()) as transcript:
            found = [turn for turn in transcript.turns if turn.source is Source.HUMAN]
            actions = [(turn, transcript.action(turn)) for turn in found]
            counts = transcript.counts
        turns += found
        tools |= {turn.text: action.tool for turn, action in actions if action}
        assert not counts.unknown and not counts.skipped and counts.lines == counts.accounted
    assert [(turn.kind, turn.text) for turn in sorted(turns, key=lambda t: t.at)] == TYPED
    assert not any(turn.headless for turn in turns)
    assert [tools[TYPED[at][1]] for at in (1, 3, 7)] == ["Write", "Write", "Bash"]


def test_said_today_shown_in_the_next_session(desk: Desk) -> None:
    """And in no other repository; and what was shown is not taken for something said."""
    project, other = desk.repository("harbour"), desk.repository("lighthouse")
    desk.api.script = {"list the boats": write(project / "boats.txt")}
    said = "You forgot the ferry in the list of boats."
    with desk.terminal(project, "--permission-mode", "acceptEdits") as (terminal, _):
        for words in ("list the boats", said):
            terminal.type(words)
            terminal.wait(f"Answer to: {words}")
    assert desk.shown_rows() == []

    desk.twice_told("nightly")
    with desk.terminal(project) as (terminal, _):
        terminal.type("good morning")
        terminal.wait("Answer to: good morning")
    (body,) = desk.api.asked("good morning")
    (shown,) = [text for role, text in texts(body) if role == "system" and FIRST in text]
    assert shown.count(said) == times(body, said) == 1
    assert "boats.txt" in shown and "missed item" in shown
    assert desk.prompt(other, "hello").hooks.printed == []
    (body,) = desk.api.asked("hello")
    assert times(body, said) == 0 and FIRST not in json.dumps(body)

    desk.twice_told("nightly")
    assert len(json.loads(desk.twice_told("--json", "cases"))) == 1
