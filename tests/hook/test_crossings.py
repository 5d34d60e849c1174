"""Nobody is told of a repository that is not his, however he names or points to it (T40)."""

import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline import hook
from tests.hook.conftest import World, item

NAME = "Café"
Place = Callable[[Path, Path], Path]
"""From an empty folder and the top of the repository that is to be kept to itself: where a session
begins. The repository lists one worktree, `linked`, which lies somewhere else."""


def folder(name: str, *inner: str) -> Place:
    """A plain neighbour, and what else is made in it; the session begins in the first."""

    def make(top: Path, main: Path) -> Path:
        place = top / name
        place.mkdir(parents=True, exist_ok=True)
        for below in inner:
            (place / below).mkdir(parents=True)
        return place

    return make


def points(line: str) -> Place:
    """A `.git` file of somebody's own making. `main`, `top` and `here` stand for paths."""

    def make(top: Path, main: Path) -> Path:
        here = top / "forged"
        here.mkdir()
        names = {"main": str(main), "top": str(top), "here": str(here)}
        (here / ".git").write_bytes(line.format(**names).encode())
        for own in (top / "fake", top / ".git" / "worktrees" / "linked"):
            own.mkdir(parents=True)
            (own / "gitdir").write_text(f"{here}/.git\n", encoding="utf-8")
            (own / "commondir").write_text(f"{main}/.git\n", encoding="utf-8")
        return here

    return make


def linked(name: str, to: str, *below: str) -> Place:
    """A link in a folder of one's own; the session begins in that folder, or below it."""

    def make(top: Path, main: Path) -> Path:
        path = top / "own" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(to.format(main=main))
        return Path(top, "own", *below)

    return make


def with_common_dir(top: Path, main: Path) -> Path:
    place = folder("own", ".git")(top, main)
    (place / ".git" / "commondir").write_text(f"{main}/.git\n", encoding="utf-8")
    (place / ".git" / "gitdir").write_text(f"{place}/.git\n", encoding="utf-8")
    return place


def listed_for_another(top: Path, main: Path) -> Path:
    """The main repository knows a worktree of that name, in another place."""
    return points("gitdir: {main}/.git/worktrees/linked\n")(top, main)


def moved_away(top: Path, main: Path) -> Path:
    return main.rename(top / "moved")


def copied(top: Path, main: Path) -> Path:
    return Path(shutil.copytree(main, top / "copy"))


def nested_by(entry: str) -> Place:
    """A repository within the repository."""

    def make(top: Path, main: Path) -> Path:
        inner = main / "src" / "nested"
        inner.mkdir(parents=True)
        if entry == "folder":
            (inner / ".git").mkdir()
        elif entry == "submodule":
            (inner / ".git").write_text("gitdir: ../../.git/modules/nested\n", encoding="utf-8")
        elif entry == "link":
            (inner / ".git").symlink_to(main / ".git")
        else:
            (inner / ".git").write_text(entry.format(main=main), encoding="utf-8")
        return inner

    return make


def out_of_it(top: Path, main: Path) -> Path:
    """A link in the repository leads to a folder that is not its own."""
    (top / "outside").mkdir()
    (main / "out").symlink_to(top / "outside")
    return main / "out"


def back_by_dots(top: Path, main: Path) -> Path:
    """Through a link the two dots lead elsewhere than they seem to."""
    (top / "far" / "below").mkdir(parents=True)
    (main / "far").symlink_to(top / "far" / "below")
    return main / "far" / ".."


NEIGHBOURS = (
    f"{NAME}-2", f"{NAME}2", f"{NAME}.old", f"{NAME}.git", f"{NAME} ", f" {NAME}", "Caf", "café",
    "CAFÉ", unicodedata.normalize("NFD", NAME), f"other/{NAME}", f"{NAME}\\", f"{NAME}\n", "-",
    f"{NAME}%2F", f"-{NAME}", f"{NAME}_src", f"{NAME}-src",
)  # fmt: skip
WORKTREE = "gitdir: {main}/.git/worktrees/"
FORGED = (
    "gitdir: {main}/.git", "gitdir: {main}", "{main}", "{main}/.git", "", "gitdir: ", "\0",
    WORKTREE + "linked", WORKTREE + "linked/", WORKTREE + "/linked", WORKTREE + "./linked",
    WORKTREE + "linked/../linked", WORKTREE + "..", WORKTREE + ".", WORKTREE,
    WORKTREE + "../../../other people/fake", WORKTREE + "unknown",
    WORKTREE + "linked\r", WORKTREE + "linked\0",
    WORKTREE + "linked\ngitdir: {top}/fake", "gitdir: {top}/fake\n" + WORKTREE + "linked",
    "gitdir: {top}/fake", "gitdir: {top}/fake/../../{main}/.git/worktrees/linked",
    "gitdir: ../repo/.git/worktrees/linked", "gitdir: .git/worktrees/linked",
    "gitdir: {main}/.git/modules/x", "gitdir: {main}/src/../.git/worktrees/linked",
    "gitdir: {top}/.git/worktrees/linked", "GITDIR: {main}/.git/worktrees/linked",
    WORKTREE + "linked" + " " * 300_000, "gitdir: {here}/../.git/worktrees/linked",
    "worktree {main}",
)  # fmt: skip
PLACES: dict[str, Place] = {
    **{f"neighbour {name!r}": folder(name, ".git") for name in NEIGHBOURS},
    **{f"plain {name!r}": folder(name) for name in NEIGHBOURS[:4]},
    **{f"{number}: {line[:60]!r}": points(line) for number, line in enumerate(FORGED)},
    "its parent": lambda top, main: main.parent,
    "common dir": with_common_dir,
    "listed elsewhere": listed_for_another,
    "moved away": moved_away,
    "copied": copied,
    "nested repository": nested_by("folder"),
    "submodule": nested_by("submodule"),
    "nested with a link": nested_by("link"),
    "nested and forged": nested_by(WORKTREE + "linked"),
    "link out of it": out_of_it,
    "dots behind a link": back_by_dots,
    "own .git is a link": linked(".git", "{main}/.git"),
    "own .git is a link to a worktree": linked(".git", "{main}/.git/worktrees/linked"),
    "own .git is a broken link": linked(".git", "{main}/.git/none"),
    "beside a link": linked("near", "{main}"),
}


def repository(world: World, top: Path) -> Path:
    """With a worktree, and a file of the hook for it."""
    main = world.repo.rename(top / NAME)
    admin = main / ".git" / "worktrees" / "linked"
    admin.mkdir(parents=True)
    (top / "linked").mkdir()
    (admin / "gitdir").write_text(f"{top}/linked/.git\n", encoding="utf-8")
    (top / "linked" / ".git").write_text(f"gitdir: {admin}\n", encoding="utf-8")
    world.render(item(), tree=main)
    return main


def test_there_are_enough_places() -> None:
    assert len(PLACES) >= 50


@pytest.mark.parametrize("name", PLACES)
def test_no_crossing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)  # the hook goes elsewhere
    main = repository(world, tmp_path)
    assert world.read(main) == world.read(tmp_path / "linked") != ""
    other = tmp_path / "other people"
    other.mkdir()
    assert world.read(PLACES[name](other, main)) == ""


def test_a_repository_at_the_root(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """`/.git`, which a test cannot make, is told by the system's answer alone."""
    monkeypatch.chdir(world.repo)
    world.render(item(), tree=Path("/"))
    assert world.read(world.repo.parent) == ""
    real = hook.posix.lstat

    def lstat(path: bytes) -> object:
        return real(world.repo / ".git" if path.replace(b"//", b"/") == b"/.git" else path)

    monkeypatch.setattr(hook.posix, "lstat", lstat)
    for folder in (Path("/"), Path("/usr"), Path("/usr/bin"), world.repo.parent):
        assert world.read(folder) != "", folder
    assert world.read(world.repo) == "", "that one is its own"
