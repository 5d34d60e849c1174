"""Links, odd files, kills and edits in between: nothing outside ever changes (T47, T48)."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pipeline.config import Config
from pipeline.ledger.fold import State
from tests.collect.homes import Done, command, driver
from tests.propose.desk import Desk
from tests.propose.raised import SENTENCE, raise_, states, told_twice

SAID = "You forgot the zanzibar tests for the parser."
RULES = b"# Rules\n\n- Be kind.\n"
FAILPOINTS = (Path(__file__).parent / "failpoints.py").read_text(encoding="utf-8")
STRIDE = os.environ.get("FAILPOINT_STRIDE", "7")


@pytest.fixture
def raised(config: Config, root: Path, repo: Path) -> Config:
    told_twice(config, root, repo, SAID, SAID)
    raise_(config)
    return config


def accept(config: Config, *words: str, **more: Any) -> Done:
    return command(config, "accept", "1", "--text", SENTENCE, "--yes", *words, **more)


# Links and odd files


def claude_folder(repo: Path, outside: Path) -> str:
    (outside / "CLAUDE.md").write_bytes(RULES)
    (repo / ".claude").symlink_to(outside)
    return ".claude/CLAUDE.md"


def claude_folder_by_default(repo: Path, outside: Path) -> str:
    claude_folder(repo, outside)
    return ""


def rules_folder(repo: Path, outside: Path) -> str:
    (repo / ".claude").mkdir()
    (repo / ".claude" / "rules").symlink_to(outside)
    return ".claude/rules/mine.md"


def folder_to_make(repo: Path, outside: Path) -> str:
    (repo / ".claude").symlink_to(outside)
    return ".claude/rules/mine.md"


def start_file(repo: Path, outside: Path) -> str:
    (outside / ".bashrc").write_bytes(b"echo hi\n")
    (repo / "CLAUDE.md").symlink_to(outside / ".bashrc")
    return ""


def dangling(repo: Path, outside: Path) -> str:
    (repo / "CLAUDE.md").symlink_to(outside / "later")
    return ""


def hard_link(repo: Path, outside: Path) -> str:
    (outside / "kept").write_bytes(RULES)
    (repo / "CLAUDE.md").hardlink_to(outside / "kept")
    return ""


def pipe(repo: Path, outside: Path) -> str:
    os.mkfifo(repo / "CLAUDE.md")
    return ""


def folder(repo: Path, outside: Path) -> str:
    (repo / "CLAUDE.md").mkdir()
    return ""


def no_folder(repo: Path, outside: Path) -> str:
    (repo / ".claude").write_bytes(RULES)
    return ".claude/rules/mine.md"


def read_only(repo: Path, outside: Path) -> str:
    (repo / "CLAUDE.md").write_bytes(RULES)
    (repo / "CLAUDE.md").chmod(0o444)
    return ""


def foreign(repo: Path, outside: Path) -> str:
    (repo / "CLAUDE.md").write_bytes(RULES)
    try:
        os.chown(repo / "CLAUDE.md", 4242, -1)
    except PermissionError:
        pytest.skip("only root can give a file away")
    return ""


def large(repo: Path, outside: Path) -> str:
    (repo / "CLAUDE.md").write_bytes(b"x" * ((4 << 20) + 1))
    return ""


ODD = [
    (claude_folder, "link"),
    (claude_folder_by_default, "link"),
    (rules_folder, "link"),
    (folder_to_make, "link"),
    (start_file, "link"),
    (dangling, "link"),
    (hard_link, "several names"),
    (pipe, "no regular file"),
    (folder, "no regular file"),
    (no_folder, "no folder"),
    (read_only, "read-only"),
    (foreign, "another user"),
    (large, "4 MiB"),
]


def everything(top: Path) -> dict[str, Any]:
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_mtime_ns, path.lstat().st_size)
        for path in sorted(top.rglob("*"))
    }


@pytest.mark.parametrize(("make", "word"), ODD, ids=[m.__name__ for m, _ in ODD])
def test_odd_files_are_refused_and_nothing_changes(
    raised: Config, repo: Path, tmp_path: Path, make: Any, word: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = make(repo, outside)
    before = everything(outside), everything(repo)
    done = accept(raised, *(["--target", target] if target else []))
    assert done.returncode == 3, done
    assert word in done.stderr
    assert "  next: " in done.stderr
    assert (everything(outside), everything(repo)) == before
    assert states(raised)[0].state is State.RAISED


def test_the_users_own_file_is_written_through_its_link(
    raised: Config, root: Path, tmp_path: Path
) -> None:
    """Dotfiles: there the link is the person's own."""
    real = tmp_path / "dotfiles.md"
    real.write_bytes(RULES)
    (root / "CLAUDE.md").symlink_to(real)
    done = accept(raised, "--target", str(root / "CLAUDE.md"))
    assert done.returncode == 0, done.stderr
    assert "every repository" in done.stderr
    assert SENTENCE.encode() in real.read_bytes()
    assert (root / "CLAUDE.md").is_symlink()
    assert command(raised, "retire", "1", "--yes").returncode == 0
    assert real.read_bytes() == RULES


def test_a_link_set_after_the_acceptance_is_not_followed_by_retire(
    raised: Config, repo: Path, tmp_path: Path
) -> None:
    accept(raised)
    outside = tmp_path / "outside.md"
    (repo / "CLAUDE.md").rename(outside)
    (repo / "CLAUDE.md").symlink_to(outside)
    before = outside.read_bytes()
    done = command(raised, "retire", "1", "--yes")
    assert done.returncode == 3
    assert "through a link" in done.stderr
    assert outside.read_bytes() == before
    assert states(raised)[0].state is State.ACCEPTED


# In between


def editor(tmp_path: Path, script: str) -> str:
    path = tmp_path / "editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def edited(config: Config, answer: str = "", **more: str) -> tuple[int, str]:
    """The exit code and all that the person saw; `answer` to the question, which comes then."""
    desk = Desk(config, "accept", "1", **more)
    try:
        shown = desk.until("[y/N] ") if answer else ""
        desk.type(f"{answer}\n")
        return desk.end(), shown + desk.seen
    finally:
        desk.close()


def test_the_editor_gets_a_private_file_and_its_text_counts(
    raised: Config, repo: Path, tmp_path: Path
) -> None:
    script = f'stat -c %a "$2" > {tmp_path}/mode; cat "$2" > {tmp_path}/draft; echo "Mine." > "$2"'
    mine = f"{editor(tmp_path, script)} --wait"
    code, seen = edited(raised, answer="y", EDITOR=mine)
    assert code == 0, seen
    assert (tmp_path / "mode").read_text() == "600\n"
    assert "2 times in 2 sessions" in (tmp_path / "draft").read_text()
    assert "- Mine.\n" in (repo / "CLAUDE.md").read_text()


@pytest.mark.parametrize(
    ("script", "code", "said"),
    [
        ("exit 1", 3, "ended with 1"),
        (': > "$1"', 0, "nothing was changed"),
        ('printf "\\377" > "$1"', 3, "not UTF-8"),
        ('rm "$1"', 3, "cannot be used"),
    ],
    ids=["fails", "empties", "no UTF-8", "removes"],
)
def test_an_editor_that_gives_nothing(
    raised: Config, repo: Path, tmp_path: Path, script: str, code: int, said: str
) -> None:
    ended, seen = edited(raised, VISUAL=editor(tmp_path, script), EDITOR="x")
    assert (ended, said in seen) == (code, True), seen
    assert sorted(p.name for p in repo.iterdir()) == [".git"]
    assert states(raised)[0].state is State.RAISED


@pytest.mark.parametrize("mine", ["no-such-program", "'unbalanced"])
def test_an_editor_that_does_not_start(raised: Config, repo: Path, mine: str) -> None:
    code, seen = edited(raised, EDITOR=mine)
    assert code == 3
    assert "--text" in seen


def test_whoever_says_yes_beforehand_gets_no_editor(raised: Config, repo: Path) -> None:
    done = command(raised, "accept", "1", "--yes", EDITOR="no-such-program")
    assert done.returncode == 0, done.stderr
    assert "- Before you call a task done" in (repo / "CLAUDE.md").read_text()


@pytest.mark.parametrize(
    "change", ["echo more >> CLAUDE.md", "rm CLAUDE.md", "ln -sf /etc/hosts CLAUDE.md"]
)
def test_what_changes_while_the_editor_is_open_is_not_overwritten(
    raised: Config, repo: Path, tmp_path: Path, change: str
) -> None:
    (repo / "CLAUDE.md").write_bytes(RULES)
    mine = editor(tmp_path, f"cd {repo} && {change}")
    code, seen = edited(raised, answer="y", EDITOR=mine)
    assert code == 3
    assert "in the meantime" in seen or "link" in seen
    found = (repo / "CLAUDE.md").read_text() if (repo / "CLAUDE.md").exists() else ""
    assert "twice-told" not in found
    assert states(raised)[0].state is State.RAISED


def points(config: Config, repo: Path, *words: str) -> dict[str, Any]:
    top = str(Path(__file__).parents[2])
    code = f"import sys; sys.path.insert(0, {top!r})\n{FAILPOINTS}"
    process = driver(config, code, STRIDE, str(repo), *words)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err[-2000:]
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


@pytest.mark.parametrize("there", [True, False], ids=["a file", "no file"])
def test_killed_at_each_step_old_or_new_file_stands_there(
    raised: Config, repo: Path, there: bool
) -> None:
    if there:
        (repo / "CLAUDE.md").write_bytes(RULES)
    old = {"CLAUDE.md": RULES.hex()} if there else {}
    assert accept(raised, "--dry-run").returncode == 0
    found = points(raised, repo, "accept", "1", "--text", SENTENCE, "--yes")
    assert found["unharmed"]
    assert found["killed"] * int(STRIDE) >= 30, found
    new = {"CLAUDE.md": (repo / "CLAUDE.md").read_bytes().hex()}
    assert all(between in (old, new) for between in found["between"])
    assert old in found["between"] and new in found["between"]
    codes = {(code, state) for code, state, _ in found["ends"]}
    assert codes <= {(0, "accepted"), (2, "accepted")}, "2: the event was written already"
    assert [files for *_, files in found["ends"] if files != new] == []

    found = points(raised, retired(repo), "retire", "1", "--yes")
    assert found["unharmed"]
    assert all(between in (old, new) for between in found["between"])
    assert {(code, state) for code, state, _ in found["ends"]} <= {(0, "retired"), (2, "retired")}
    assert [files for *_, files in found["ends"] if files != old] == []


def retired(repo: Path) -> Path:
    """The copies of the run before make room."""
    import shutil

    for name in ("home-kept", "loom-kept"):
        shutil.rmtree(repo.with_name(name))
    return repo
