"""The same at a terminal: once in a session, again after /clear, not again in a fork."""

import pytest

from tests.client.desk import Desk
from tests.client.fake_api import times
from tests.client.terminal import Terminal, wait_for

pytestmark = [pytest.mark.client, pytest.mark.usefixtures("tmux")]


def ask(desk: Desk, terminal: Terminal, prompt: str, shown: str) -> int:
    """Types a prompt and waits for its answer; how often the text stands in its request."""
    terminal.type(prompt)
    terminal.wait(f"Answer to: {prompt}")
    (body,) = desk.api.asked(prompt)
    return times(body, shown)


def test_once_in_a_session(desk: Desk) -> None:
    project = desk.repository("kiteshop")
    shown = desk.correct(project, "No, the kites are numbered from one.")
    with desk.terminal(project) as (terminal, _):
        assert ask(desk, terminal, "hello", shown) == 1
        assert ask(desk, terminal, "and again", shown) == 1, "the history's copy and no other"
        assert len(desk.shown_rows()) == 1

        terminal.type("/compact")
        terminal.wait("ompacted")
        assert ask(desk, terminal, "after the summary", shown) == 0
        assert len(desk.shown_rows()) == 1

        terminal.type("/clear")
        wait_for(lambda: "Answer" not in terminal.screen(), "a clear screen", terminal.screen)
        assert ask(desk, terminal, "a new start", shown) == 1
        assert ask(desk, terminal, "further on", shown) == 1
        assert len(desk.shown_rows()) == 2

    with desk.terminal(project, "--continue", "--fork-session") as (fork, _):
        fork.wait("further on")
        assert ask(desk, fork, "another way", shown) == 1
    sessions = {row["sessionId"] for row in desk.shown_rows()}
    assert len(sessions) == 3, "the fork copied the row"


def test_a_notification_does_not_spend_it(desk: Desk) -> None:
    """An agent that ends after /clear speaks in the new session before the person does."""
    project = desk.repository("kiteshop")
    shown = desk.correct(project, "No, the kites are numbered from one.")
    task = {"description": "Watch", "prompt": "Watch the tide.", "subagent_type": "general-purpose"}
    desk.api.script = {
        "send a helper": ("Agent", task),
        "Watch the tide.": ("Bash", {"command": "sleep 3", "description": "Watch"}),
    }
    with desk.terminal(project) as (terminal, hooks):
        assert ask(desk, terminal, "send a helper", shown) == 1
        terminal.type("/clear")
        wait_for(lambda: "Answer" not in terminal.screen(), "a clear screen", terminal.screen)
        terminal.wait('Agent "Watch" finished', "Answer to: ")
        assert len(hooks.printed) == 1
        assert hooks.statuses.count(("UserPromptSubmit", 0)) == 2, "it was asked and kept silent"
        assert ask(desk, terminal, "a new start", shown) == 1
        assert len(hooks.printed) == 2
