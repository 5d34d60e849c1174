"""What the hook shows, where, and how often."""

import subprocess
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from pipeline import hook
from pipeline.inject.text import FIRST, LAST
from pipeline.records import CaseType, Source
from pipeline.transcripts import markers
from tests.hook.conftest import NOW, World, case, item


def git(folder: Path, *words: str) -> None:
    subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True)


def test_the_frame_is_the_one_that_the_miner_knows() -> None:
    assert hook.FIRST.replace(b"\\n", b"\n").decode() == FIRST
    assert hook.LAST.decode() == LAST
    assert FIRST.startswith(markers.OUR_FENCE)


def test_first_prompt_shows_and_later_ones_do_not(world: World) -> None:
    world.render(item(2, 1), item(1, 2))
    text = world.shown()
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == (FIRST.splitlines()[0], LAST)
    assert [line[:12] for line in lines[2:-1]] == [f"- {case(2, 1).day}", f"- {case(1, 2).day}"]
    assert world.shown() == ""
    assert world.shown(session_id="another") == text


IN_A_TYPED_PROMPT = {"<ide_opened_file>", "<ide_selection>"}
"""Stand before what a person typed."""
BEGINNINGS = {
    *markers.COMMAND_TAGS, *markers.CLIENT_BEGINNINGS, *markers.INJECTED_TAGS, "<bash-input>"
}  # fmt: skip


@pytest.mark.parametrize("begun", sorted(BEGINNINGS - IN_A_TYPED_PROMPT))
def test_prompts_that_nobody_typed_leave_the_showing_free(world: World, begun: str) -> None:
    """The hook knows every beginning that the miner knows."""
    world.render(item())
    assert world.shown(prompt=f"{begun} and more") == ""
    assert world.shown(prompt=f" \n{begun}") == ""
    assert world.shown() != ""


@pytest.mark.parametrize("begun", sorted(IN_A_TYPED_PROMPT))
def test_what_an_editor_puts_before_a_prompt_does_not_hide_it(world: World, begun: str) -> None:
    world.render(item())
    assert world.shown(prompt=f"{begun}x{begun.replace('<', '</')} go on") != ""


@pytest.mark.parametrize("begun", ["C:\\Users\\me ", "\n\n", "한 \x01 ", "\\" * 150, "\\u12 "])
@pytest.mark.parametrize("rest", [0, 180, 300])
def test_any_escapes_in_a_long_prompt(world: World, begun: str, rest: int) -> None:
    world.render(item())
    for pad in range(8):
        prompt = begun + "x" * (rest + pad) + "\\\n\x02" + "y" * 300
        assert world.shown(prompt=prompt, session_id=f"s{pad}") != "", pad


def test_a_subagents_prompt_leaves_the_showing_free(world: World) -> None:
    world.render(item())
    assert world.shown(agent_id="a1") == ""
    assert world.shown() != ""


def test_a_fork_counts_as_served_and_other_starts_do_not(world: World) -> None:
    world.render(item())
    assert world.shown(hook_event_name="SessionStart", source="startup", session_id="n") == ""
    assert world.shown(hook_event_name="SessionStart", source="fork", session_id="f") == ""
    assert world.shown(session_id="f") == ""
    assert world.shown(session_id="n") != ""


@pytest.mark.parametrize("place", ["repo", "repo/src", "repo/src/deep", "link", "link/src"])
def test_the_repository_is_found_from_inside(world: World, tmp_path: Path, place: str) -> None:
    world.render(item())
    (tmp_path / "link").symlink_to(world.repo)
    assert world.shown(cwd=str(tmp_path / place)) != ""


def test_neighbours_get_nothing(world: World, tmp_path: Path) -> None:
    world.render(item())
    for name in ("repo-2", "rep", "repo.old/src", "other/repo"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        assert world.shown(cwd=str(folder)) == "", name
    (tmp_path / "repo" / "src" / "nested" / ".git").mkdir(parents=True)
    assert world.shown(cwd=str(tmp_path / "repo" / "src" / "nested")) == ""


def test_a_folder_without_git_is_itself_and_no_other(world: World, tmp_path: Path) -> None:
    plain = tmp_path / "plain" / "below"
    plain.mkdir(parents=True)
    world.render(item(), tree=plain.parent)
    assert world.shown(cwd=str(plain)) == ""
    assert world.shown(cwd=str(plain.parent)) != ""


def test_a_new_worktree_gets_what_its_repository_has(world: World, tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(
        main,
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "x",
    )
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"))
    world.render(item(), tree=main)
    assert world.shown(cwd=str(tmp_path / "linked")) != ""


def test_a_forged_git_file_takes_over_nothing(world: World, tmp_path: Path) -> None:
    """The other repository does not list it (T40)."""
    main = tmp_path / "main"
    (main / ".git" / "worktrees" / "linked").mkdir(parents=True)
    back = main / ".git" / "worktrees" / "linked" / "gitdir"
    back.write_text(str(tmp_path / "somewhere" / ".git"), encoding="utf-8")
    world.render(item(), tree=main)
    fake = tmp_path / "fake"
    fake.mkdir()
    (fake / "gitdir").write_text(str(tmp_path / "forged" / ".git"), encoding="utf-8")
    around = f"gitdir: {main}/.git/worktrees/../../../fake"
    for line in (
        around,
        f"gitdir: {main}/.git/worktrees/linked",
        f"gitdir: {main}/.git",
        str(main),
    ):
        forged = tmp_path / "forged"
        forged.mkdir(exist_ok=True)
        (forged / ".git").write_text(line + "\n", encoding="utf-8")
        assert world.shown(cwd=str(forged)) == "", line


def test_four_said_two_noticed_and_none_too_old(world: World) -> None:
    said = [item(n, n) for n in range(1, 7)]
    seen = [item(10 + n, n, source=Source.GUARD) for n in range(1, 5)]
    world.render(*said, *seen)
    lines = world.shown().splitlines()[2:-1]
    assert [line.partition("(")[2][:8] for line in lines] == [
        f"{n:012x}"[:8] for n in (1, 2, 3, 4, 11, 12)
    ]
    world.render(item(1, 29.9), item(2, 30.1))
    assert len(world.shown(session_id="later").splitlines()) == 4
    world.render(item(2, 30.1))
    assert world.shown(session_id="last") == ""


def test_an_old_night_is_said(world: World) -> None:
    world.render(item(), at=NOW - timedelta(days=3, hours=1))
    assert "3 days ago" in world.shown()
    world.render(item(), at=NOW - timedelta(hours=47))
    assert "ago" not in world.shown(session_id="other")


def test_the_cap_is_kept_by_whole_items(world: World) -> None:
    """Over 10,000 characters the client shows a preview and a path instead (2.1.332)."""
    long = [replace(item(n), text=f"- {n} " + "𝒳" * 1500) for n in range(1, 5)]
    world.render(*long)
    text = world.shown()
    assert text.endswith(LAST)
    assert text.splitlines()[2:-1] == [one.text for one in long[:2]]
    assert len(text.encode("utf-16-le")) // 2 <= 9500


def test_hostile_session_ids_stay_in_their_folder(world: World, tmp_path: Path) -> None:
    world.render(item())
    before = {path for path in tmp_path.rglob("*") if "seen" not in path.parts}
    for number, name in enumerate(["../../x", "a\0b", "a\nb", "x" * 5000, "ü" * 300, "\ud800"]):
        first = world.run(world.event(session_id=name))
        again = world.run(world.event(session_id=name))
        assert (first.returncode, again.returncode, again.stdout) == (0, 0, b""), number
    assert {path for path in tmp_path.rglob("*") if "seen" not in path.parts} == before
    names = [path.name for path in (world.home / "local_cases" / "seen").iterdir()]
    assert all(len(name) == 64 for name in names)


def test_twenty_at_once_show_once(world: World) -> None:
    world.render(item())
    children = [
        subprocess.Popen(
            ["sh", "-c", f"exec {world.command()}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        for _ in range(20)
    ]  # fmt: skip
    outputs = [child.communicate(world.event())[0] for child in children]
    assert sum(bool(out) for out in outputs) == 1


def test_other_types_and_states_never_reach_a_file() -> None:
    from pipeline.inject.items import choose

    kept = case(1)
    assert [i.case for i in choose([kept], NOW)] == [kept]
    for fields in (
        {"type": CaseType.OTHER},
        {"state": "dismissed"},
        {"state": "doubtful"},
        {"named": False, "tool": ""},
    ):
        assert choose([case(2, 1, **fields)], NOW) == [], fields
    bare = case(3, 1, named=False)
    assert [i.case for i in choose([bare], NOW)] == [bare]
