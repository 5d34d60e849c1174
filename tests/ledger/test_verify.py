"""Every tampering with a ledger is found, in the file and in git's history (T32)."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest

from pipeline.ledger import anchor
from pipeline.ledger.book import append, read_bytes
from pipeline.ledger.event import Event, Happening, line
from pipeline.ledger.fold import fold
from pipeline.ledger.report import Report
from pipeline.ledger.verify import verify
from tests.ledger.made import BEGIN, Machine, event
from tests.ledger.repos import Clone, imported, started

H = Happening
NIGHTS = 24


@dataclass(frozen=True)
class Base:
    """A sound ledger with history, a merge, and events that are not committed."""

    top: Path
    state: Path
    head: str
    committed: bytes
    data: bytes
    """With what is not committed."""


def nights(random: Random) -> tuple[list[bytes], list[Event]]:
    """Versions of a file that two machines write to in turn, and what stands in the last."""
    machines = [Machine(1, random), Machine(2, random)]
    known: list[Event] = []
    versions = []
    for number in range(NIGHTS):
        known += machines[number % 2].night(known, BEGIN + timedelta(days=number))
        versions.append(b"".join(map(line, known)))
    return versions, known


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    top = tmp_path_factory.mktemp("base")
    clone, random = started(top / "repo"), Random(32)
    versions, _ = nights(random)
    imported(clone, versions)
    clone.git("checkout", "-q", "-b", "side", "HEAD~6")
    side = Machine(3, random, repos=("side",))
    for _ in range(2):
        now = BEGIN + timedelta(days=99)
        clone.night(side.night(read_bytes(clone.ledger.read_bytes()).events, now))
    clone.git("checkout", "-q", "main")
    clone.git("merge", "-q", "--no-edit", "side")
    clone.git("branch", "-q", "-D", "side")
    committed = clone.ledger.read_bytes()
    append(clone.ledger, [event(H.RAISED, 200_000, 4, repo="late", number=77)])
    report = verify(clone.ledger, top / "state")
    assert (report.problems, report.notes) == ((), ())
    assert report.commits == NIGHTS + 4
    return Base(top / "repo", top / "state", clone.head(), committed, clone.ledger.read_bytes())


@pytest.fixture(scope="module")
def clone(base: Base, tmp_path_factory: pytest.TempPathFactory) -> Clone:
    """The ledger's path is a part of what the anchor knows, so the repository stays in place."""
    return Clone(base.top)


def restore(base: Base, clone: Clone) -> None:
    shutil.rmtree(clone.top / ".git" / "refs" / "replace", ignore_errors=True)
    clone.git("update-ref", "refs/heads/main", base.head)
    clone.git("symbolic-ref", "HEAD", "refs/heads/main")
    clone.git("reset", "-q", "--hard")
    clone.ledger.parent.mkdir(exist_ok=True)
    clone.ledger.write_bytes(base.data)


# The file

Tamper = Callable[[bytes, Random], bytes]


def rows(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def byte_edited(data: bytes, random: Random) -> bytes:
    at = random.choice([n for n, byte in enumerate(data) if byte != 10])
    return data[:at] + bytes([data[at] ^ random.choice((1, 2, 4, 8, 64))]) + data[at + 1 :]


def field_edited(data: bytes, random: Random) -> bytes:
    """The id stays."""
    kept = rows(data)
    at = random.randrange(len(kept))
    value = json.loads(kept[at]) | {"machine": "f" * 16}
    kept[at] = json.dumps(value, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    return b"".join(kept)


def edited_with_its_id(data: bytes, random: Random) -> bytes:
    events = list(read_bytes(data).events)
    at = random.randrange(len(events))
    old = events[at]
    new = random.choice([
        replace(old, at=old.at + timedelta(microseconds=1)),
        replace(old, repo=f"{old.repo}s"),
        replace(old, machine="f" * 16),
        replace(old, number=old.number + 1) if old.number else replace(old, repo="x"),
    ])  # fmt: skip
    return data.replace(line(old), line(new))


def dropped(data: bytes, random: Random) -> bytes:
    kept = rows(data)
    del kept[random.randrange(len(kept))]
    return b"".join(kept)


def cut(data: bytes, random: Random) -> bytes:
    return data[: -random.randint(2, len(data) - 1)]


def emptied(data: bytes, random: Random) -> bytes:
    return b""


def replayed(data: bytes, random: Random) -> bytes:
    """The newest event of a bundle, once more at another time, with an id that fits."""
    events = sorted(read_bytes(data).events, key=lambda e: e.at)
    newest = {e.bundle: e for e in events}
    again = random.choice(list(newest.values()))
    later = events[-1].at + timedelta(seconds=random.randint(1, 10**6))
    return data + line(replace(again, at=later))


def forged(data: bytes, random: Random) -> bytes:
    """A decision on what was never raised, or before it was."""
    kind = random.choice([H.ACCEPTED, H.REJECTED, H.RETIRED, H.REOPENED, H.COUNTED])
    if random.random() < 0.5:
        return data + line(event(kind, random.randint(0, 10**6), 9, repo="never"))
    known = random.choice(read_bytes(data).events)
    early = event(kind, -random.randint(1, 10**6), 9, repo=known.repo, type=known.type)
    return data + line(early)


def simultaneous(data: bytes, random: Random) -> bytes:
    known = random.choice(read_bytes(data).events)
    return data + line(event(H.RAISED, repo="x", at=known.at, machine=int(known.machine, 16)))


def garbage(data: bytes, random: Random) -> bytes:
    kept = rows(data)
    kept.insert(random.randrange(len(kept)), b"You forgot the tests.\n")
    return b"".join(kept)


TAMPERINGS: dict[str, Tamper] = {
    tamper.__name__: tamper
    for tamper in (byte_edited, field_edited, edited_with_its_id, dropped, cut, emptied, replayed,
                   forged, simultaneous, garbage)
}  # fmt: skip


@pytest.mark.parametrize("way", ["uncommitted", "staged", "committed"])
@pytest.mark.parametrize("tamper", TAMPERINGS.values(), ids=TAMPERINGS)
def test_a_changed_file_is_found(base: Base, clone: Clone, tamper: Tamper, way: str) -> None:
    """Fourteen each: 420."""
    for seed in range(14):
        restore(base, clone)
        clone.ledger.write_bytes(tamper(base.data, Random(seed)))
        if way != "uncommitted":
            clone.git("add", "ledger")
        if way == "committed":
            clone.commit()
        assert found(base, clone), seed


def found(base: Base, clone: Clone) -> Report | None:
    """The report when it holds a problem, each with its place and next step."""
    report = verify(clone.ledger, base.state)
    for problem in report.problems:
        assert problem.where and problem.what and problem.next
        assert problem.where.startswith((str(clone.top), "commit "))
        assert "forgot" not in problem.what + problem.next
    return report if report.problems else None


# The history


def amended(base: Base, clone: Clone, random: Random) -> None:
    clone.ledger.write_bytes(dropped(base.committed, random))
    clone.commit("--amend")


def reset(base: Base, clone: Clone, random: Random) -> None:
    clone.git("reset", "-q", "--hard", f"HEAD~{random.randint(1, 5)}")


def filtered(base: Base, clone: Clone, random: Random) -> None:
    """One line is taken out of every version."""
    versions, known = nights(Random(32))
    gone = line(random.choice(known))
    clone.git("update-ref", "refs/heads/main", clone.git("rev-list", "--max-parents=0", "HEAD"))
    imported(clone, [version.replace(gone, b"") for version in versions])


def begun_anew(base: Base, clone: Clone, random: Random) -> None:
    clone.git("checkout", "-q", "--orphan", "new")
    clone.ledger.write_bytes(dropped(base.data, random))
    clone.git("commit", "-q", "-am", "night")
    clone.git("branch", "-q", "-M", "main")


def evil_merge(base: Base, clone: Clone, random: Random) -> None:
    """A merge that takes the tree of one side; whole, or but for one line."""
    head = clone.head()
    clone.git("reset", "-q", "--hard")
    clone.git("checkout", "-q", "-B", "side", f"HEAD~{random.randint(1, 5)}")
    clone.night([event(H.RAISED, 10**6, 7, repo="theirs", number=90 + random.randint(0, 5))])
    side = clone.head()
    clone.git("checkout", "-q", "-B", "main", head)
    ours = random.random() < 0.5
    tree = clone.git("rev-parse", f"{head if ours else side}^{{tree}}")
    parents = ["-p", head, "-p", side] if random.random() < 0.5 else ["-p", side, "-p", head]
    clone.git("reset", "-q", "--hard", clone.git("commit-tree", tree, *parents, "-m", "merge"))
    clone.git("branch", "-q", "-D", "side")
    after = random.choice(["", "night"])
    if after:  # a later commit hides nothing
        (clone.top / "readme").write_text("more\n")
        clone.commit()


def deleted(base: Base, clone: Clone, random: Random) -> None:
    shutil.rmtree(clone.ledger.parent)
    if random.random() < 0.5:
        clone.commit()


def replaced_object(base: Base, clone: Clone, random: Random) -> None:
    """git itself would show the old history."""
    old = clone.head()
    clone.ledger.write_bytes(dropped(base.committed, random))
    clone.commit()
    clone.git("replace", clone.head(), old)


def dropped_and_brought_back(base: Base, clone: Clone, random: Random) -> None:
    clone.ledger.write_bytes(dropped(base.committed, random))
    clone.commit()
    clone.ledger.write_bytes(base.data)
    clone.commit()


HISTORIES = {
    tamper.__name__: tamper
    for tamper in (amended, reset, filtered, begun_anew, evil_merge, deleted, replaced_object,
                   dropped_and_brought_back)
}  # fmt: skip


@pytest.mark.parametrize("tamper", HISTORIES.values(), ids=HISTORIES)
def test_a_changed_history_is_found(
    base: Base, clone: Clone, tamper: Callable[[Base, Clone, Random], None]
) -> None:
    """Ten each: 80; with the files, 500."""
    for seed in range(10):
        restore(base, clone)
        tamper(base, clone, Random(seed))
        assert found(base, clone), seed


def test_an_evil_merge_is_named_with_its_commit(base: Base, clone: Clone) -> None:
    restore(base, clone)
    evil_merge(base, clone, Random(3))
    report = found(base, clone)
    assert report
    assert any(p.where.startswith("commit ") and "disappeared" in p.what for p in report.problems)


# What is none


def shuffled(base: Base, clone: Clone, random: Random) -> None:
    kept = rows(base.data)
    random.shuffle(kept)
    clone.ledger.write_bytes(b"".join(kept))
    clone.commit()


def doubled(base: Base, clone: Clone, random: Random) -> None:
    clone.ledger.write_bytes(base.data + b"\n" + b"".join(random.choices(rows(base.data), k=4)))


def squashed(base: Base, clone: Clone, random: Random) -> None:
    clone.git("reset", "-q", "--soft", "HEAD~5")
    clone.commit()


def untouched(base: Base, clone: Clone, random: Random) -> None:
    pass


def torn_line_mended(base: Base, clone: Clone, random: Random) -> None:
    clone.ledger.write_bytes(base.data + b'{"at":\n')
    clone.commit()
    assert found(base, clone)
    clone.ledger.write_bytes(base.data)
    clone.commit()


def merge_under_way(base: Base, clone: Clone, random: Random) -> None:
    """Without the attributes, so that git leaves a conflict; the person then keeps both sides."""
    clone.commit()
    clone.git("checkout", "-q", "-B", "side", "HEAD~1")
    clone.night([event(H.RAISED, 10**6, 7, repo="theirs", number=90)])
    clone.git("checkout", "-q", "main")
    attributes = clone.ledger.parent / ".gitattributes"
    attributes.write_text("")
    assert clone.tried("merge", "-q", "side").returncode
    clone.ledger.write_bytes(
        b"".join(row for row in rows(clone.ledger.read_bytes()) if row.startswith(b"{"))
    )


HONEST = {
    deed.__name__: deed
    for deed in (untouched, shuffled, doubled, squashed, torn_line_mended, merge_under_way)
}


@pytest.mark.parametrize("deed", HONEST.values(), ids=HONEST)
def test_what_is_no_tampering_is_not_taken_for_one(
    base: Base, clone: Clone, deed: Callable[[Base, Clone, Random], None], tmp_path: Path
) -> None:
    restore(base, clone)
    shutil.copytree(base.state, tmp_path / "state")
    deed(base, clone, Random(5))
    assert verify(clone.ledger, tmp_path / "state").problems == ()
    clone.tried("merge", "--abort")


# Where nothing or little can be known


def test_outside_git_the_file_alone_is_checked(base: Base, tmp_path: Path) -> None:
    file = tmp_path / "ledger" / "proposals.jsonl"
    append(file, read_bytes(base.data).events)
    report = verify(file, tmp_path / "state")
    assert report.problems == ()
    assert report.notes == ("outside git: the file alone was checked",)
    file.write_bytes(dropped(base.data, Random(1)))
    (problem,) = verify(file, tmp_path / "state").problems
    assert "verified there are gone" in problem.what
    (state,) = (tmp_path / "state").iterdir()
    assert problem.next.endswith(f"rm {state}")
    state.unlink()
    assert verify(file, tmp_path / "state").problems == ()


def test_a_ledger_that_is_not_there_is_sound(tmp_path: Path) -> None:
    report = verify(tmp_path / "ledger" / "proposals.jsonl", tmp_path / "state")
    assert (report.events, report.problems) == (0, ())
    assert not (tmp_path / "state").exists()


def test_before_the_first_commit_and_in_a_shallow_clone(base: Base, tmp_path: Path) -> None:
    fresh = Clone(tmp_path / "fresh")
    append(fresh.ledger, [event(H.RAISED)])
    fresh.git("init", "-q")
    report = verify(fresh.ledger, tmp_path / "state")
    assert report.notes == ("nothing is committed yet: the file alone was checked",)
    shallow = Clone(tmp_path / "shallow")
    source = f"file://{base.top}"
    fresh.git("clone", "-q", "--depth", "3", source, str(shallow.top))
    report = verify(shallow.ledger, tmp_path / "state")
    assert report.problems == ()
    assert report.notes[0].startswith("a shallow clone")


def test_looking_without_remembering_writes_nothing(base: Base, tmp_path: Path) -> None:
    file = base.top / "ledger" / "proposals.jsonl"
    verify(file, tmp_path / "state", remember=False)
    assert not (tmp_path / "state").exists()


def test_the_state_is_private_and_written_once(base: Base, clone: Clone, tmp_path: Path) -> None:
    restore(base, clone)
    verify(clone.ledger, tmp_path / "state")
    (file,) = (tmp_path / "state").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    before = file.stat()
    verify(clone.ledger, tmp_path / "state")
    assert file.stat().st_mtime_ns == before.st_mtime_ns
    kept = json.loads(file.read_bytes())
    assert kept["commit"] == base.head
    assert kept["count"] == len(kept["ids"]) == len(read_bytes(base.data).events)


@pytest.mark.parametrize("change", [
    lambda v: v["ids"].pop(), lambda v: v.update(count=5), lambda v: v.update(digest=""),
    lambda v: v.update(ids=[1]), lambda v: v.update(ids=None), lambda v: v.update(commit=5),
    lambda v: v.clear(),
])  # fmt: skip
def test_a_damaged_state_is_a_problem(
    base: Base, clone: Clone, tmp_path: Path, change: Callable[[dict[str, object]], object]
) -> None:
    restore(base, clone)
    verify(clone.ledger, tmp_path / "state")
    file = anchor.file_of(tmp_path / "state", clone.ledger)
    value = json.loads(file.read_bytes())
    change(value)
    file.write_text(json.dumps(value))
    (problem,) = verify(clone.ledger, tmp_path / "state").problems
    assert "is damaged" in problem.what
    assert str(file) in problem.what


def test_a_repository_that_git_does_not_read_is_a_problem(base: Base, tmp_path: Path) -> None:
    shutil.copytree(base.top, tmp_path / "repo")
    clone = Clone(tmp_path / "repo")
    (clone.top / ".git" / "HEAD").write_text("nonsense\n")
    (problem,) = verify(clone.ledger, tmp_path / "state").problems
    assert problem.what.startswith("git does not answer")


def test_an_object_that_is_gone_is_a_problem(base: Base, tmp_path: Path) -> None:
    fresh = started(tmp_path / "repo")
    fresh.night([event(H.RAISED)])
    blob = fresh.git("rev-parse", "HEAD:ledger/proposals.jsonl")
    fresh.night([event(H.ACCEPTED, 1)])
    (fresh.top / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    found = {problem.what for problem in verify(fresh.ledger, tmp_path / "state").problems}
    assert found == {"git cannot give the ledger of this commit or of its parent"}


def test_a_head_that_is_gone_is_a_problem(tmp_path: Path) -> None:
    fresh = started(tmp_path / "repo")
    fresh.night([event(H.RAISED)])
    head = fresh.head()
    (fresh.top / ".git" / "objects" / head[:2] / head[2:]).unlink()
    (problem,) = verify(fresh.ledger, tmp_path / "state").problems
    assert problem.what == "git cannot list the ledger's history"


def test_nothing_of_the_repository_runs(base: Base, tmp_path: Path) -> None:
    shutil.copytree(base.top, tmp_path / "repo")
    clone, trap = Clone(tmp_path / "repo"), tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path}/sprung'\ncat\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "core.editor", "diff.external",
                 "diff.x.textconv", "filter.x.clean", "filter.x.smudge", "filter.x.process",
                 "merge.x.driver", "core.sshCommand", "core.gitProxy", "gpg.program"):  # fmt: skip
        clone.git("config", name, str(trap))
    (clone.top / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    for hook in ("post-index-change", "reference-transaction", "post-checkout"):
        target = clone.top / ".git" / "hooks" / hook
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(trap)
    assert verify(clone.ledger, tmp_path / "state").problems == ()
    assert not (tmp_path / "sprung").exists()


def test_the_base_is_worth_tampering_with(base: Base) -> None:
    """All kinds of events and states occur in it."""
    events = read_bytes(base.data).events
    assert {e.event for e in events} == set(H)
    assert len({p.state for p in fold(events)}) >= 4
