"""The settings file as a file: links, rights, owners, faults; and what a person is told."""

import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path

import pytest

import pipeline
from tests.install.calls import Run, ours

BEFORE = b'{\n  "model": "opus"\n}\n'


def backups(own_home: Path) -> list[Path]:
    folder = own_home / "twice-told" / "local_cases" / "backups"
    return sorted(folder.iterdir()) if folder.exists() else []


def test_shows_a_diff_keeps_a_backup_and_says_both(
    run: Run, settings: Path, own_home: Path
) -> None:
    settings.write_bytes(BEFORE)
    done = run("install", "hook", "--yes")
    assert done.code == 0
    assert f"+++ {settings}" in done.out
    assert '+    "UserPromptSubmit": [' in done.out
    assert "opus" not in done.out + done.err
    (kept,) = backups(own_home)
    assert kept.read_bytes() == BEFORE
    assert kept.stat().st_mode & 0o777 == 0o600
    assert str(kept) in done.out


def test_what_is_installed_is_left_alone(run: Run, settings: Path, own_home: Path) -> None:
    settings.write_bytes(BEFORE)
    run("install", "hook", "--yes")
    stat = settings.stat()
    done = run("install", "hook")
    assert (done.code, done.out) == (0, f"{settings}: unchanged\n")
    now = settings.stat()  # reading changes the time of access
    assert (now.st_ino, now.st_mtime_ns, now.st_mode) == (
        stat.st_ino,
        stat.st_mtime_ns,
        stat.st_mode,
    )
    assert len(backups(own_home)) == 1


def test_the_entries(run: Run, settings: Path) -> None:
    run("install", "hook", "--yes")
    found = ours(settings.read_bytes())
    assert list(found) == ["UserPromptSubmit", "SessionStart"]
    (prompt,), (start,) = found.values()
    assert list(prompt) == ["hooks"]
    assert start["matcher"] == "fork"
    for group in (prompt, start):
        (handler,) = group["hooks"]
        assert (handler["type"], handler["timeout"]) == ("command", 5)


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_dry_run_shows_and_writes_nothing(
    run: Run, settings: Path, own_home: Path, command: str
) -> None:
    settings.write_bytes(BEFORE)
    if command == "uninstall":
        run("install", "hook", "--yes")
    data = settings.read_bytes()
    files = sorted(own_home.rglob("*"))
    done = run(command, "hook", "--dry-run")
    assert done.code == 0
    assert "would be " in done.out
    assert "UserPromptSubmit" in done.out
    assert settings.read_bytes() == data
    assert sorted(own_home.rglob("*")) == files


@pytest.mark.parametrize("command", ["install", "uninstall"])
def test_ends_with_2_where_nobody_can_be_asked(run: Run, settings: Path, command: str) -> None:
    settings.write_bytes(BEFORE)
    if command == "uninstall":
        run("install", "hook", "--yes")
    data = settings.read_bytes()
    done = run(command, "hook")
    assert done.code == 2
    assert "--yes" in done.err
    assert settings.read_bytes() == data


def test_json(run: Run, settings: Path) -> None:
    settings.write_bytes(BEFORE)
    found = run("install", "hook", "--yes", "--json").json
    assert (found["done"], found["dry_run"], found["warnings"]) == (True, False, [])
    (change,) = found["changes"]
    assert (change["part"], change["target"], change["action"]) == ("hook", str(settings), "added")
    assert any("UserPromptSubmit" in line for line in change["diff"])
    again = run("install", "hook", "--json").json
    assert (again["done"], again["changes"][0]["action"]) == (False, "unchanged")
    gone = run("uninstall", "hook", "--json", "--yes").json
    assert gone["changes"][0]["action"] == "removed"
    assert gone["stays"][0]["path"].endswith("local_cases")
    assert run("uninstall", "hook", "--json").json["changes"][0]["action"] == "absent"


def test_uninstall_says_what_stays(run: Run, settings: Path, own_home: Path) -> None:
    home = own_home / "twice-told"
    (home / "ledger").mkdir(parents=True)
    run("install", "hook", "--yes")
    done = run("uninstall", "hook", "--yes")
    assert f"stays: {home / 'local_cases'}" in done.out
    assert f"stays: {home / 'ledger'}" in done.out
    assert (home / "local_cases").is_dir()


BAD = {
    "empty": (b"", "line 1, column 1"),
    "comment": (b'{\n  // mine\n  "a": 1\n}', "line 2, column 3"),
    "trailing comma": (b'{\r\n "a": 1,\r\n}', "line 3, column 1"),
    "cut": (b'{"a": ', "line 1, column 7"),
    "twice": (b'{"hooks": {}, "hooks": {}}', "line 1, column 15"),
    "twice below": (b'{"hooks": {"Stop": [], "Stop": []}}', "line 1, column 24"),
    "latin-1": (b'{\n"a": "caf\xe9"\n}', "line 2, byte 10"),
    "utf-16": ("{}".encode("utf-16"), "line 1, byte 1"),
    "array": (b"[]", "object"),
    "hooks of another kind": (b'{"hooks": []}', "hooks"),
    "event of another kind": (b'{"hooks": {"UserPromptSubmit": {}}}', "UserPromptSubmit"),
    "second event of another kind": (b'{"hooks": {"SessionStart": 1}}', "SessionStart"),
}


@pytest.mark.parametrize(("data", "place"), BAD.values(), ids=BAD)
def test_what_is_no_settings_file_is_refused_untouched(
    run: Run, settings: Path, own_home: Path, data: bytes, place: str
) -> None:
    settings.write_bytes(data)
    done = run("install", "hook", "--yes")
    assert done.code == 3
    assert str(settings) in done.err
    assert place in done.err
    assert settings.read_bytes() == data
    assert not backups(own_home)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o664])
def test_rights_are_kept(run: Run, settings: Path, mode: int) -> None:
    settings.write_bytes(BEFORE)
    settings.chmod(mode)
    for command in ("install", "uninstall"):
        assert run(command, "hook", "--yes").code == 0
        assert settings.stat().st_mode & 0o7777 == mode


@pytest.mark.parametrize("relative", [False, True])
def test_a_link_is_written_through(
    run: Run, settings: Path, tmp_path: Path, relative: bool
) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    real = dotfiles / "claude.json"
    real.write_bytes(BEFORE)
    link = os.path.relpath(real, settings.parent) if relative else str(real)
    settings.symlink_to(link)
    assert run("install", "hook", "--yes").code == 0
    assert settings.readlink() == Path(link)
    assert ours(real.read_bytes())
    assert run("uninstall", "hook", "--yes").code == 0
    assert settings.readlink() == Path(link)
    assert real.read_bytes() == BEFORE


def test_a_link_to_nothing_yet_is_written_through(run: Run, settings: Path, tmp_path: Path) -> None:
    settings.symlink_to(tmp_path / "later.json")
    assert run("install", "hook", "--yes").code == 0
    assert settings.is_symlink()
    assert ours((tmp_path / "later.json").read_bytes())


def make_read_only(path: Path) -> None:
    path.write_bytes(BEFORE)
    path.chmod(0o444)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_hard_link(path: Path) -> None:
    path.write_bytes(BEFORE)
    path.with_name("other").hardlink_to(path)


def make_loop(path: Path) -> None:
    path.symlink_to(path.name)


def make_foreign(path: Path) -> None:
    path.write_bytes(BEFORE)
    try:
        os.chown(path, 4242, -1)
    except PermissionError:
        pytest.skip("only root can give a file away")


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (make_read_only, "read-only"),
        (make_folder, "no regular file"),
        (make_pipe, "no regular file"),
        (make_hard_link, "several names"),
        (make_loop, "no regular file"),
        (make_foreign, "another user"),
    ],
)
def test_odd_files_are_refused(run: Run, settings: Path, make: object, word: str) -> None:
    assert callable(make)
    make(settings)
    before = settings.lstat()
    done = run("install", "hook", "--yes")
    assert done.code == 3
    assert word in done.err
    assert settings.lstat() == before


def test_a_missing_folder_is_named(run: Run, own_home: Path) -> None:
    done = run("install", "hook", "--yes")
    assert done.code == 3
    assert str(own_home / "claude") in done.err
    assert not (own_home / "claude").exists()
    assert run("uninstall", "hook", "--yes").code == 0


def test_from_a_deleted_folder(
    run: Run, settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert run("install", "hook", "--yes").code == 0
    assert run("install", "hook", "--yes", "--project").code == 3


def test_all_or_none_of_several_folders(run: Run, tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    words = ["install", "hook", "--yes", "--claude-dir", first, "--claude-dir", second]
    first.mkdir()
    assert run(*words).code == 3
    assert not (first / "settings.json").exists()
    second.mkdir()
    assert run(*words).code == 0
    for folder in (first, second):
        assert ours((folder / "settings.json").read_bytes())


def ask(settings: Path, answer: str, meanwhile: bytes | None = None) -> tuple[int, str]:
    """Installs on a terminal: waits for the question, perhaps changes the file, answers."""
    ours_, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline", "install", "hook"],
        stdin=theirs, stdout=theirs, stderr=theirs, cwd=Path(pipeline.__file__).parents[1],
    )  # fmt: skip
    os.close(theirs)
    seen = b""

    def read() -> bool:
        nonlocal seen
        ready, _, _ = select.select([ours_], [], [], 60)
        try:
            more = os.read(ours_, 65536) if ready else b""
        except OSError:  # the other end is closed
            more = b""
        seen += more
        return bool(more)

    while b"[y/N]" not in seen and read():
        pass
    if meanwhile is not None:
        settings.write_bytes(meanwhile)
    os.write(ours_, answer.encode() + b"\n")
    while read():
        pass
    code = process.wait(60)
    os.close(ours_)
    return code, seen.decode()


def test_asks_on_a_terminal(settings: Path) -> None:
    settings.write_bytes(BEFORE)
    code, seen = ask(settings, "n")
    assert (code, settings.read_bytes()) == (0, BEFORE)
    assert "nothing was changed" in seen
    code, seen = ask(settings, "y")
    assert code == 0
    assert seen.index("UserPromptSubmit") < seen.index("[y/N]")
    assert ours(settings.read_bytes())


def test_a_change_in_the_meantime_is_not_lost(settings: Path) -> None:
    settings.write_bytes(BEFORE)
    changed = b'{"model": "haiku"}'
    code, seen = ask(settings, "y", changed)
    assert code == 3
    assert "in the meantime" in seen
    assert settings.read_bytes() == changed


def test_an_old_line_is_replaced(run: Run, settings: Path) -> None:
    old = {"type": "command", "command": "python3 /old/hook.py || true # twice-told hook"}
    mine = {"type": "command", "command": "echo mine"}
    before = {
        "hooks": {
            "UserPromptSubmit": [{"hooks": [old]}, {"hooks": [mine]}],
            "Stop": [{"hooks": [old]}],
        }
    }
    settings.write_text(json.dumps(before, indent=2), encoding="utf-8")
    done = run("install", "hook", "--yes")
    assert "replaced" in done.out
    assert "-" in done.out
    found = json.loads(settings.read_bytes())["hooks"]
    assert "Stop" not in found
    assert [g["hooks"][0]["command"].split()[0] for g in found["UserPromptSubmit"]] == [
        "echo",
        "trap",
    ]
    assert b"/old/" not in settings.read_bytes()


def test_twenty_backups_are_kept(run: Run, settings: Path, own_home: Path) -> None:
    settings.write_bytes(BEFORE)
    for _ in range(12):
        run("install", "hook", "--yes")
        run("uninstall", "hook", "--yes")
    assert len(backups(own_home)) == 20
    assert settings.read_bytes() == BEFORE


def test_project(run: Run, repo: Path, claude: Path) -> None:
    file = repo / ".claude" / "settings.local.json"
    assert run("install", "hook", "--project", "--yes").code == 0
    assert ours(file.read_bytes())
    assert not (claude / "settings.json").exists()
    assert run("uninstall", "hook", "--project", "--yes").code == 0
    assert not (repo / ".claude").exists()


def test_project_keeps_a_folder_that_was_there(run: Run, repo: Path) -> None:
    folder = repo / ".claude"
    folder.mkdir()
    (folder / "settings.local.json").write_bytes(BEFORE)
    run("install", "hook", "--project", "--yes")
    run("uninstall", "hook", "--project", "--yes")
    assert (folder / "settings.local.json").read_bytes() == BEFORE


def test_project_needs_a_repository(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("install", "hook", "--project", "--yes")
    assert done.code == 3
    assert "no git repository" in done.err
    assert run("install", "schedule", "--project", "--yes").code == 2


@pytest.mark.parametrize("part", [".claude", ".claude/settings.local.json"])
def test_a_link_that_a_repository_ships_is_not_followed(
    run: Run, repo: Path, tmp_path: Path, part: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    file = outside / "settings.local.json"
    file.write_bytes(BEFORE)
    link = repo / part
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside if part == ".claude" else file)
    done = run("install", "hook", "--project", "--yes")
    assert done.code == 3
    assert "link" in done.err
    assert file.read_bytes() == BEFORE


@pytest.mark.parametrize("first", [True, False])
def test_double_wiring_is_said(run: Run, repo: Path, claude: Path, first: bool) -> None:
    words = [["install", "hook", "--yes"], ["install", "hook", "--project", "--yes"]]
    assert "too" not in run(*words[first]).err
    done = run(*words[not first])
    assert done.code == 0
    assert "stands in" in done.err
    assert "stands in" in run("uninstall", "hook", "--yes").err


def test_the_plugin_is_seen(run: Run, settings: Path) -> None:
    plugins = {"twice-told@market": True, "other@market": True}
    settings.write_text(json.dumps({"enabledPlugins": plugins}), encoding="utf-8")
    assert "plugin" in run("install", "hook", "--yes").err
    off = {"enabledPlugins": {"twice-told@market": False}, "disableAllHooks": True}
    settings.write_text(json.dumps(off), encoding="utf-8")
    done = run("install", "hook", "--yes")
    assert "plugin" not in done.err
    assert "disableAllHooks" in done.err
