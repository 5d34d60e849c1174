"""Which repository a folder belongs to: real git, real worktrees, hostile ones too."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.transcripts import repository
from pipeline.transcripts.repository import Repositories, Repository, from_git

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, "-C", str(folder), *words], check=True, capture_output=True)


def made(path: Path, origin: str = "", commit: bool = False) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    if origin:
        git(path, "remote", "add", "origin", origin)
    if commit:
        git(path, "commit", "-q", "--allow-empty", "-m", "first")
    return path


def found(path: Path | str) -> Repository:
    place = from_git(str(path))
    assert place is not None
    return place


ORIGIN = "git@forge.example:weavers/Loom.git"


def test_sub_folders(tmp_path: Path) -> None:
    top = made(tmp_path / "loom")
    deep = top / "a" / "b"
    deep.mkdir(parents=True)
    assert found(top) == found(deep)
    assert found(top).base_name == "loom"
    assert found(top).certain


def test_worktrees(tmp_path: Path) -> None:
    """Beside the repository, inside it, and where the client puts them."""
    for origin, folder in ((ORIGIN, "with"), ("", "without")):
        top = made(tmp_path / folder / "loom", origin, commit=True)
        places = (tmp_path / folder / "beside", top / "inside", top / ".claude/worktrees/fix")
        for number, place in enumerate(places):
            git(top, "worktree", "add", "-q", "-b", f"w{number}", str(place))
            (place / "sub").mkdir()
            assert found(place) == found(place / "sub")
            assert found(place).key == found(top).key
            assert found(place).tree != found(top).tree


def test_a_link_to_a_repository(tmp_path: Path) -> None:
    top = made(tmp_path / "loom")
    (top / "a" / "b").mkdir(parents=True)
    for name, target in (("linked", top), ("linked-below", top / "a" / "b")):
        link = tmp_path / name
        link.symlink_to(target)
        assert found(link) == found(top)


@pytest.mark.parametrize(
    "url",
    [
        "git@forge.example:weavers/Loom.git",
        "git@forge.example:weavers/Loom",
        "forge.example:weavers/Loom.git",
        "git@forge.example:/weavers/Loom.git",
        "ssh://git@forge.example/weavers/Loom.git",
        "ssh://git@forge.example:2222/weavers/Loom.git",
        "https://forge.example/weavers/Loom.git",
        "https://forge.example/weavers/Loom",
        "https://forge.example/weavers/Loom/",
        "https://forge.example:8443/weavers//Loom.git",
        "https://ann:secret@forge.example/weavers/Loom.git",
        "https://FORGE.example/weavers/Loom.git",
        "git://forge.example/weavers/Loom.git",
    ],
)
def test_origins_that_are_one(tmp_path: Path, url: str) -> None:
    place = found(made(tmp_path / "checkout", url))
    assert place.key == found(made(tmp_path / "other" / "name", ORIGIN)).key
    assert place.base_name == "loom"


def test_origins_that_are_two(tmp_path: Path) -> None:
    urls = (
        ORIGIN,
        "git@forge.example:weavers/Loom2.git",
        "git@forge.example:spinners/Loom.git",
        "git@other.example:weavers/Loom.git",
    )
    keys = {found(made(tmp_path / str(n), url)).key for n, url in enumerate(urls)}
    assert len(keys) == 4


@pytest.mark.parametrize(
    "url", ["/srv/git/loom.git", "../loom.git", "file:///srv/git/loom.git", "x"]
)
def test_a_local_origin_is_no_identity(tmp_path: Path, url: str) -> None:
    """Another machine has another path: two clones of it stay two."""
    one, two = (found(made(tmp_path / name, url)) for name in ("one", "two"))
    assert one.key != two.key
    assert one.base_name == "one"


def test_no_remote_is_its_path(tmp_path: Path) -> None:
    assert found(made(tmp_path / "a" / "loom")).key != found(made(tmp_path / "b" / "loom")).key


def test_no_repository(tmp_path: Path) -> None:
    assert from_git(str(tmp_path)) is None
    place = Repositories().of(str(tmp_path), str(tmp_path))
    assert not place.certain


@pytest.mark.parametrize(
    "cwd",
    [
        "",
        ".",
        "loom",
        "~",
        "/no/such/folder",
        "/\0",
        "/x\ud800",
        "-C",
        "--help",
        "/dev/null",
        "/" + "x" * 5000,
    ],
)
def test_folders_that_are_none(cwd: str) -> None:
    assert from_git(cwd) is None
    assert NAME.match(Repositories().of(cwd, cwd).base_name)


# Folders that are gone


def test_gone_folders(tmp_path: Path) -> None:
    places = Repositories()
    one = places.of("/gone/loom", "/gone/loom")
    assert places.of("/gone/loom/src", "/gone/loom") == one, "below where the session began"
    assert places.of("/gone/loom-2", "/gone/loom") != one, "a neighbour is no sub-folder"
    assert places.of("/gone/wheel", "/gone/loom") != one
    assert not one.certain
    assert one.base_name == "loom"


def test_gone_folders_with_one_slug_stay_two() -> None:
    """Claude's own folder name is the same for both."""
    one, two = "/home/dev/Open Cloth/my_loom.io", "/home/dev/Open-Cloth/my-loom-io"
    places = Repositories()
    assert places.of(one, one).key != places.of(two, two).key


def test_gone_worktree_belongs_to_its_repository(tmp_path: Path) -> None:
    """Claude removes its worktrees: the most common folder that is gone."""
    for origin, name in ((ORIGIN, "a"), ("", "b")):
        top = made(tmp_path / name / "loom", origin)
        gone = f"{top}/.claude/worktrees/fix-hem/src"
        assert Repositories().of(gone, gone) == found(top)
        assert Repositories().of(gone, str(top)) == found(top)
    gone = "/gone/loom/.claude/worktrees/x"
    assert Repositories().of(gone, gone) == Repositories().of("/gone/loom", "/gone/loom")


def test_gone_sub_folder_belongs_to_where_the_session_began(tmp_path: Path) -> None:
    top = made(tmp_path / "loom", ORIGIN)
    assert Repositories().of(f"{top}/build", str(top)) == found(top)


def test_a_gone_folder_is_never_a_neighbour(tmp_path: Path) -> None:
    """A worktree of another repository with a longer common path answers for nobody."""
    made(tmp_path / "trees" / "1024", ORIGIN)
    gone = str(tmp_path / "trees" / "1252")
    place = Repositories().of(gone, gone)
    assert not place.certain
    assert place != found(tmp_path / "trees" / "1024")


def test_a_gone_folder_that_an_earlier_night_knew() -> None:
    known = Repository("0" * 32, "loom", certain=True)
    places = Repositories({repository.folder_key("/gone/loom"): known})
    assert places.of("/gone/loom", "/gone/loom") == known
    assert places.of("/gone/loom/src", "/gone/loom") == known
    assert places.of("/gone/loom/.claude/worktrees/x", "/gone/loom/.claude/worktrees/x") == known


# What a repository ships is not trusted


@pytest.mark.parametrize("kind", ["main", "worktree"])
def test_a_forged_git_file_takes_over_nothing(tmp_path: Path, kind: str) -> None:
    """A `.git` file may name any repository of the person's."""
    victim = made(tmp_path / "victim", ORIGIN, commit=True)
    target = victim / ".git"
    if kind == "worktree":
        git(victim, "worktree", "add", "-q", "-b", "w", str(tmp_path / "tree"))
        target = victim / ".git" / "worktrees" / "tree"
    forged = tmp_path / "forged"
    forged.mkdir()
    (forged / ".git").write_text(f"gitdir: {target}\n", encoding="utf-8")
    place = Repositories().of(str(forged), str(forged))
    assert place.key != found(victim).key
    assert place.base_name == "forged"


def test_a_git_folder_with_a_pipe_does_not_hold_the_run(tmp_path: Path) -> None:
    victim = made(tmp_path / "victim", commit=True)
    git(victim, "worktree", "add", "-q", "-b", "w", str(tmp_path / "tree"))
    pipe = victim / ".git" / "worktrees" / "tree" / "gitdir"
    pipe.unlink()
    os.mkfifo(pipe)
    place = Repositories().of(str(tmp_path / "tree"), str(tmp_path / "tree"))
    assert NAME.match(place.base_name)


def test_a_submodule_is_its_own_repository(tmp_path: Path) -> None:
    """Its `.git` is a file too, and its git folder names it back."""
    inner = made(tmp_path / "inner", commit=True)
    top = made(tmp_path / "top", ORIGIN)
    git(top, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "part")
    git(top / "part", "remote", "set-url", "origin", "https://forge.example/weavers/part")
    place = found(top / "part")
    assert place.key != found(top).key
    assert place.base_name == "part"


def test_nothing_of_a_repository_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Monitor, hooks, pager, ssh command, aliases, filters: each would leave a marker."""
    top = made(tmp_path / "loom", ORIGIN, commit=True)
    marker = tmp_path / "marker"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {marker}\n", encoding="utf-8")
    trap.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in (
        "post-checkout",
        "post-index-change",
        "fsmonitor-watchman",
        "reference-transaction",
    ):
        (hooks / name).write_bytes(trap.read_bytes())
        (hooks / name).chmod(0o755)
    for key, value in {
        "core.fsmonitor": str(trap),
        "core.hooksPath": str(hooks),
        "core.pager": str(trap),
        "pager.config": str(trap),
        "pager.rev-parse": str(trap),
        "core.editor": str(trap),
        "core.sshCommand": str(trap),
        "core.askPass": str(trap),
        "credential.helper": f"!{trap}",
        "alias.config": f"!{trap}",
        "alias.rev-parse": f"!{trap}",
        "diff.external": str(trap),
    }.items():
        git(top, "config", key, value)
    for name in ("GIT_PAGER", "PAGER", "GIT_EDITOR", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF"):
        monkeypatch.setenv(name, str(trap))
    marker.unlink(missing_ok=True)
    assert found(top).base_name == "loom"
    assert not marker.exists()


def test_the_environment_names_no_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GIT_DIR of the caller (a hook that starts us) must not answer for every folder."""
    other = made(tmp_path / "other", ORIGIN)
    top = made(tmp_path / "loom")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert found(top).base_name == "loom"


def test_broken_repositories(tmp_path: Path) -> None:
    for number, text in enumerate(("", "gitdir: /nowhere", "gitdir: .", "\0\xff", "x" * 100_000)):
        folder = tmp_path / f"broken{number}"
        folder.mkdir()
        (folder / ".git").write_text(text, encoding="latin-1")
        assert NAME.match(Repositories().of(str(folder), str(folder)).base_name)


def test_git_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = made(tmp_path / "loom", ORIGIN)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert from_git(str(top)) is None
    assert Repositories().of(str(top), str(top)).base_name == "loom"


# Names


@example("../../etc/passwd")
@example("...")
@example("-rf")
@example("CON\x00.git")
@example("Ünï—コード")
@example("a" * 64 + "-" * 9)
@example("İstanbul")
@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_any_name_becomes_a_safe_one(name: str) -> None:
    assert NAME.match(repository.short_name(name))


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_origin_is_read(url: str) -> None:
    identity = repository.normalise_origin(url)
    host, slash, path = identity.partition("/")
    assert identity == "" or (host and slash and path)
    assert repository.normalise_origin("https://ann:pw@h.example/" + url).find("pw@") < 0


@given(st.text(st.characters(exclude_categories=()), max_size=60))
def test_any_folder_has_an_answer(cwd: str) -> None:
    place = Repositories().of("/gone/" + cwd, cwd)
    assert NAME.match(place.base_name)
    assert re.fullmatch(r"[0-9a-f]{32}", place.key)
