"""What honest machines do to a ledger in git raises no alarm and loses no event (T33)."""

import shutil
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from pipeline.ledger.book import read
from pipeline.ledger.event import Happening
from pipeline.ledger.verify import verify
from tests.ledger.made import BEGIN, Machine, event
from tests.ledger.repos import Clone, started

GRAPHS, STEPS = 200, 7


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return started(tmp_path_factory.mktemp("start") / "repo").top


class Team:
    """Two or three machines, each with a working tree and a branch of its own, and what they hold:
    each event of the model in git must be in the file, whatever was done in between."""

    def __init__(self, start: Path, top: Path, random: Random) -> None:
        shutil.copytree(start, top / "repo")
        self.random = random
        self.main = Clone(top / "repo")
        self.now = BEGIN
        self.machines = []
        self.clones = []
        for number in range(1, random.choice((2, 2, 3)) + 1):
            self.main.git("worktree", "add", "-q", "-b", f"m{number}", str(top / f"m{number}"))
            skew = timedelta(minutes=random.randint(-30, 30))
            self.machines.append(Machine(number, random, skew))
            self.clones.append(Clone(top / f"m{number}"))
        self.model: list[set[str]] = [set() for _ in self.clones]

    def step(self) -> str:
        me = self.random.randrange(len(self.clones))
        other = self.random.choice([n for n in range(len(self.clones)) if n != me])
        deed = self.random.choice(["night"] * 4 + ["merge", "rebase", "pick", "octopus"])
        getattr(self, deed)(me, other)
        return f"{deed} {me} {other}"

    def night(self, me: int, other: int) -> None:
        self.now += timedelta(minutes=self.random.randint(1, 600))
        clone = self.clones[me]
        new = self.machines[me].night(read(clone.ledger).events, self.now)
        clone.night(new)
        self.model[me] |= {event.id for event in new}

    def merge(self, me: int, other: int) -> None:
        self.clones[me].git("merge", "-q", "--no-edit", f"m{other + 1}")
        self.model[me] |= self.model[other]

    def rebase(self, me: int, other: int) -> None:
        self.clones[me].git("rebase", "-q", f"m{other + 1}")
        self.model[me] |= self.model[other]

    def pick(self, me: int, other: int) -> None:
        """The other's newest night, with as much of its neighbourhood as git takes for a part."""
        clone, theirs = self.clones[me], self.clones[other]
        if len(theirs.git("rev-list", "--parents", "-1", "HEAD").split()) != 2:
            return
        before = clone.ids
        clone.git("cherry-pick", "--allow-empty", "--keep-redundant-commits", f"m{other + 1}")
        assert before <= clone.ids <= before | self.model[other]
        self.model[me] |= clone.ids

    def octopus(self, me: int, other: int) -> None:
        """All branches into the one of nobody, and from there back to one machine."""
        main, before = self.main, self.main.head()
        branches = [f"m{n + 1}" for n in range(len(self.clones))]
        for branch in branches:  # git's own octopus asks no driver, so its merge is put together
            main.git("merge", "-q", "--no-edit", branch)
        parents = [word for one in (before, *branches) for word in ("-p", one)]
        main.git("reset", "-q", "--hard",
                 main.git("commit-tree", "HEAD^{tree}", *parents, "-m", "octopus"))  # fmt: skip
        everything = set().union(*self.model)
        assert main.ids >= everything
        self.clones[me].git("merge", "-q", "--no-edit", "main")
        self.model[me] |= main.ids


@pytest.mark.parametrize("seed", range(GRAPHS))
def test_merges_rebases_picks_and_octopuses(seed: int, start: Path, tmp_path: Path) -> None:
    team = Team(start, tmp_path, Random(seed))
    state = tmp_path / "state"
    done = []
    for at in range(STEPS):
        done.append(team.step())
        for clone, model in zip(team.clones, team.model, strict=True):
            assert clone.ids == model, done
        for clone in team.clones if at == STEPS - 1 else team.clones[: at % 2]:
            assert verify(clone.ledger, state).problems == (), done


def test_a_picked_decision_is_excused_while_what_it_decides_stands_on_a_branch(
    start: Path, tmp_path: Path
) -> None:
    shutil.copytree(start, tmp_path / "repo")
    clone = Clone(tmp_path / "repo")
    clone.git("branch", "other")
    raised, accepted = event(Happening.RAISED), event(Happening.ACCEPTED, 1)
    clone.night([accepted])
    assert [p.what for p in verify(clone.ledger, tmp_path / "s").problems] == [
        f"{accepted.id}: accepted before anything was raised or reopened"
    ]
    clone.git("checkout", "-q", "other")
    clone.night([raised])
    clone.git("checkout", "-q", "main")
    assert verify(clone.ledger, tmp_path / "s").problems == ()


def test_another_branch_is_no_loss(start: Path, tmp_path: Path) -> None:
    """What was verified on one branch is not there while an older one is checked out."""
    shutil.copytree(start, tmp_path / "repo")
    clone = Clone(tmp_path / "repo")
    clone.git("branch", "older")
    raised = event(Happening.RAISED)
    clone.night([raised])
    assert verify(clone.ledger, tmp_path / "s").problems == ()
    clone.git("checkout", "-q", "older")
    found = verify(clone.ledger, tmp_path / "s")
    assert found.problems == ()
    assert found.notes == (f"1 line ({raised.id}) verified before: on another branch only",)
    clone.git("branch", "-q", "-D", "main")
    assert len(verify(clone.ledger, tmp_path / "s").problems) == 1
