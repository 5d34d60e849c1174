"""What `claude -p` sends to the model when the night has left a correction."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.client.desk import Desk
from tests.client.fake_api import texts, times

pytestmark = pytest.mark.client
LEAD = "UserPromptSubmit hook additional context: "
WORDS = "No, the kites are numbered from one."


def test_once_in_a_session(desk: Desk) -> None:
    project = desk.repository("kiteshop")
    shown = desk.correct(project, WORDS)

    first = desk.prompt(project, "hello")
    assert (first.code, first.out) == (0, "Answer to: hello\n")
    assert [json.loads(out)["hookSpecificOutput"] for out in first.hooks.printed] == [
        {"hookEventName": "UserPromptSubmit", "additionalContext": shown}
    ]
    (body,) = desk.api.asked("hello")
    assert times(body, shown) == 1
    said = list(texts(body))
    role, text = said[said.index(("user", "hello")) + 1]
    assert role == "system" and LEAD + shown in text
    (row,) = desk.shown_rows()
    assert row["attachment"]["content"] == [shown]

    second = desk.prompt(project, "and again", "--continue")
    assert (second.code, second.hooks.printed) == (0, [])
    (body,) = desk.api.asked("and again")
    assert times(body, shown) == 1, "the history's copy and no other"
    assert desk.shown_rows() == [row]

    fork = desk.prompt(project, "elsewhere", "--continue", "--fork-session")
    assert (fork.code, fork.hooks.printed) == (0, [])
    (body,) = desk.api.asked("elsewhere")
    assert times(body, shown) == 1

    anew = desk.prompt(project, "good morning")
    assert len(anew.hooks.printed) == 1
    (body,) = desk.api.asked("good morning")
    assert times(body, shown) == 1
    assert {code for said in (first, second, fork, anew) for _, code in said.hooks.statuses} == {0}


def test_every_character_arrives(desk: Desk) -> None:
    project = desk.repository("kiteshop")
    shown = desk.correct(
        project,
        "No, the path is C:\\kites\\\"new\", not 'old' $HOME `date` %s.",
        "아니요, 연은 하나부터 번호를 매겨요.",
        "いいえ、凧は一から数えます 🪁👩‍👩‍👧.",
        "</system-reminder> No: <b>the kites</b>" + ", one by one" * 40,
        "a fifth is too much",
    )
    assert shown.count("\n- ") == 4
    desk.prompt(project, "hello")
    (body,) = desk.api.asked("hello")
    assert times(body, LEAD + shown) == 1


def test_wired_twice_shown_once(desk: Desk) -> None:
    """As by a plugin beside the settings: the client runs both, at the same time."""
    project = desk.repository("kiteshop")
    shown = desk.correct(project, WORDS)
    desk.wire(desk.line, desk.line + " ")
    said = desk.prompt(project, "hello")
    assert said.hooks.statuses == [("UserPromptSubmit", 0)] * 2
    assert len(said.hooks.printed) == 1
    (body,) = desk.api.asked("hello")
    assert times(body, shown) == 1


def below(_: Desk, project: Path) -> Path:
    path = project / "src" / "deep"
    path.mkdir(parents=True)
    return path


def linked(_: Desk, project: Path) -> Path:
    path = project.parent / "a link"
    path.symlink_to(project)
    return path


def worktree(desk: Desk, project: Path) -> Path:
    path = project.parent / "kiteshop-fix"
    desk.git(project, "worktree", "add", "--quiet", str(path))
    return path


@pytest.mark.parametrize("place", [below, linked, worktree])
def test_from_everywhere_in_the_repository(desk: Desk, place: Callable[[Desk, Path], Path]) -> None:
    project = desk.repository("kiteshop")
    shown = desk.correct(project, WORDS)
    desk.prompt(place(desk, project), "hello")
    (body,) = desk.api.asked("hello")
    assert times(body, shown) == 1


def neighbour(desk: Desk, project: Path) -> Path:
    return desk.repository("kiteshop-2")


def nested(desk: Desk, project: Path) -> Path:
    return desk.repository("kiteshop/vendored")


def above(_: Desk, project: Path) -> Path:
    return project.parent


def forged(desk: Desk, project: Path) -> Path:
    """A folder with the `.git` file of a worktree that stands elsewhere."""
    path = project.parent / "forged"
    path.mkdir()
    copied = (worktree(desk, project) / ".git").read_text(encoding="utf-8")
    (path / ".git").write_text(copied, encoding="utf-8")
    return path


@pytest.mark.parametrize("place", [neighbour, nested, above, forged])
def test_in_no_other_place(desk: Desk, place: Callable[[Desk, Path], Path]) -> None:
    project = desk.repository("kiteshop")
    desk.correct(project, WORDS)
    said = desk.prompt(place(desk, project), "hello")
    assert (said.code, said.hooks.printed) == (0, [])
    assert ("UserPromptSubmit", 0) in said.hooks.statuses, "it was asked"
    (body,) = desk.api.asked("hello")
    assert "Twice Told" not in json.dumps(body) and "numbered" not in json.dumps(body)
    assert desk.shown_rows() == []


def test_installed_and_uninstalled_by_command(desk: Desk) -> None:
    project = desk.repository("kiteshop")
    shown = desk.correct(project, WORDS)
    settings = desk.claude / "settings.json"
    settings.write_text('{"model": "opus"}\n', encoding="utf-8")
    desk.twice_told("install", "hook", "--yes")
    assert desk.prompt(project, "hello").hooks.statuses == [("UserPromptSubmit", 0)]
    (body,) = desk.api.asked("hello")
    assert times(body, shown) == 1
    desk.twice_told("uninstall", "hook", "--yes")
    assert desk.prompt(project, "goodbye").hooks.statuses == []
    assert settings.read_text(encoding="utf-8") == '{"model": "opus"}\n'
