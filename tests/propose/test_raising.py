"""Which cases raise a bundle, put it on hold, or bring it back (S3.12-S3.14, S3.25)."""

import itertools
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from pipeline.cases import read, repeats, rulings
from pipeline.errors import LedgerError
from pipeline.inject.items import is_worth_showing
from pipeline.ledger.book import Books
from pipeline.ledger.book import read as read_ledger
from pipeline.ledger.event import Happening
from pipeline.ledger.fold import State, fold
from pipeline.ledger.verify import file_problems
from pipeline.propose.raising import Bounds
from pipeline.records import CaseType, Source
from tests.propose.worlds import BEGUN, Machine, Said, merge

BUNDLE = ("loom", CaseType.MISSED_ITEM)
NOW = BEGUN + timedelta(days=60)
R, OTHER = State.RAISED, CaseType.OTHER


def said(session: str, day: float, source: Source = Source.HUMAN, **more: object) -> Said:
    return Said(session, 24 * day, source, **more)  # type: ignore[arg-type]


REVIEW, GUARD = Source.REVIEW, Source.GUARD
ROWS = [
    ("nothing", [], None),
    ("once", [said("a", 0)], None),
    ("same session and day", [said("a", 0), said("a", 0.1)], None),
    ("same session, two days", [said("a", 0), said("a", 1)], None),
    ("same session for weeks", [said("a", day) for day in range(20)], None),
    ("two sessions, one day", [said("a", 0), said("b", 0.1)], None),
    ("ten sessions, one day", [said(f"s{n}", n / 40) for n in range(10)], None),
    ("two sessions, two days", [said("a", 0), said("b", 1)], R),
    ("a star: one session on two days, another on the first", [said("a", 0), said("a", 1),
        said("b", 0.1)], R),
    ("an angle: no two differ in both", [said("a", 0), said("a", 0.1), said("a", 1)], None),
    ("noticed only", [said("a", 0, REVIEW), said("b", 1, GUARD)], State.HELD),
    ("noticed only, often", [said(f"s{n}", n, REVIEW) for n in range(9)], State.HELD),
    ("noticed only, one session", [said("a", 0, REVIEW), said("a", 1, REVIEW)], None),
    ("one human and one noticed", [said("a", 0), said("b", 1, REVIEW)], R),
    ("one human and one noticed in its session", [said("a", 0), said("a", 1, REVIEW)], None),
    ("one human and one noticed on its day", [said("a", 0), said("b", 0.1, REVIEW)], None),
    ("only the noticed ones differ in both", [said("a", 0), said("a", 1, REVIEW),
        said("b", 0.1, REVIEW)], State.HELD),
    ("human and noticed in one unit", [said("a", 0), said("a", 0.1, REVIEW),
        said("b", 1, REVIEW)], R),
    ("another type", [said("a", 0), said("b", 1, type=CaseType.WRONG_RESULT)], None),
    ("another repository", [said("a", 0), said("b", 1, repo="weave")], None),
    ("undecided", [said("a", 0, type=OTHER), said("b", 1, type=OTHER)], None),
    ("no object and no action", [said("a", 0), said("b", 1, named=False, tool="")], None),
    ("no object, but the action", [said("a", 0), said("b", 1, named=False)], R),
    ("no action, but the object", [said("a", 0), said("b", 1, tool="")], R),
]  # fmt: skip


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine.new(tmp_path)


@pytest.mark.parametrize(("told", "state"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_what_makes_a_proposal(machine: Machine, told: list[Said], state: State | None) -> None:
    machine.hear(*told)
    added = machine.sleep(NOW)
    assert [p.state for p in machine.fold()] == ([state] if state else [])
    assert added.raised == ((1,) if state is R else ())
    assert added.held == (state is State.HELD)
    assert machine.path.exists() == (state is not None)


@pytest.mark.parametrize(
    ("bounds", "raised"),
    [((2, 2), True), ((3, 2), True), ((4, 2), False), ((2, 3), True), ((2, 4), False)],
    ids=str,
)
def test_the_settings_ask_for_more(machine: Machine, bounds: tuple[int, int], raised: bool) -> None:
    machine.hear(said("a", 0), said("b", 1), said("c", 2))
    assert bool(machine.sleep(NOW, Bounds(*bounds)).raised) == raised


def dismiss(machine: Machine, case: str) -> None:
    rulings.dismiss(machine.store, case, NOW)


def retype(machine: Machine, case: str) -> None:
    rulings.retype(machine.store, case, OTHER, NOW)


def forget(machine: Machine, case: str) -> None:
    rulings.forget(machine.store, [case])


@pytest.mark.parametrize("rule", [dismiss, retype, forget])
def test_what_a_person_took_back_counts_no_more(
    machine: Machine, rule: Callable[[Machine, str], None]
) -> None:
    machine.hear(said("a", 0), said("b", 1))
    (case,) = [row[0] for row in machine.store.rows("SELECT id FROM cases WHERE session = 'b'")]
    rule(machine, case)
    assert machine.sleep(NOW).events == ()


@pytest.mark.parametrize("rule", [dismiss, retype, forget])
def test_a_raised_bundle_stays_raised_and_its_count_shrinks(
    machine: Machine, rule: Callable[[Machine, str], None]
) -> None:
    machine.hear(said("a", 0), said("b", 1))
    machine.sleep(NOW)
    for (case,), left in zip(machine.store.rows("SELECT id FROM cases"), (1, 0), strict=True):
        rule(machine, case)
        (event,) = machine.sleep(NOW).events
        assert event.event is Happening.COUNTED
        (proposal,) = machine.fold()
        assert (proposal.state, proposal.counts.cases) == (R, left)
        assert machine.sleep(NOW).events == ()


def test_a_case_retyped_by_a_person_counts_for_its_new_bundle(machine: Machine) -> None:
    machine.hear(said("a", 0), said("b", 1, type=OTHER))
    (case,) = [row[0] for row in machine.store.rows("SELECT id FROM cases WHERE session = 'b'")]
    rulings.retype(machine.store, case, CaseType.MISSED_ITEM, NOW)
    assert machine.sleep(NOW).raised == (1,)


def test_a_held_bundle_is_raised_when_a_person_says_it(machine: Machine) -> None:
    machine.hear(said("a", 0, REVIEW), said("b", 1, REVIEW))
    assert machine.sleep(NOW).held == 1
    machine.hear(said("c", 2))
    assert machine.sleep(NOW).raised == (1,)
    (proposal,) = machine.fold()
    assert (proposal.state, proposal.previous) == (R, None)
    assert proposal.counts.sources == (1, 2, 0, 0)


def test_a_night_with_nothing_new_does_not_open_the_ledger(machine: Machine) -> None:
    machine.hear(said("a", 0), said("b", 1))
    machine.sleep(NOW)
    before = machine.path.stat()
    machine.path.chmod(0o400)
    for later in range(3):
        machine.hear(said("x", later, type=None))
        assert machine.sleep(NOW + timedelta(days=later)).events == ()
    after = machine.path.stat()
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)


def test_a_night_of_the_past_takes_nothing_back(machine: Machine) -> None:
    machine.hear(said("a", 0), said("b", 5), said("c", 9))
    assert machine.sleep_until(NOW, said("", 4).at.date()).events == ()
    assert machine.sleep_until(NOW, said("", 5).at.date()).raised == (1,)
    assert machine.fold()[0].counts.cases == 2
    assert len(machine.sleep(NOW).events) == 1
    assert machine.fold()[0].counts.cases == 3
    assert machine.sleep_until(NOW, said("", 5).at.date()).events == ()


# After a decision

CLOSED = [Happening.REJECTED, Happening.RETIRED]
DECIDED = BEGUN + timedelta(days=10)
AGAIN = [
    ("nothing new", [], False),
    ("one", [said("x", 11)], False),
    ("as many", [said("x", 11), said("y", 12)], True),
    ("as many, one noticed", [said("x", 11), said("y", 12, REVIEW)], True),
    ("as many, all noticed", [said("x", 11, REVIEW), said("y", 12, REVIEW)], False),
    ("as many, one session", [said("x", 11), said("x", 12)], False),
    ("one that began before", [said("b", 9.9), said("b", 10.01), said("y", 12)], False),
    ("more were before", [said("c", 2), said("x", 11), said("y", 12)], False),
    ("old ones only", [said("c", 2), said("d", 3), said("e", 4)], False),
]  # fmt: skip


@pytest.mark.parametrize("happening", CLOSED)
@pytest.mark.parametrize(("told", "again"), [r[1:] for r in AGAIN], ids=[r[0] for r in AGAIN])
def test_what_brings_a_bundle_back(
    machine: Machine, happening: Happening, told: list[Said], again: bool
) -> None:
    """As many new units as there had been, which repeat by themselves."""
    machine.hear(said("a", 0), said("b", 1))
    machine.sleep(BEGUN + timedelta(days=2))
    if happening is Happening.RETIRED:
        machine.decide(Happening.ACCEPTED, BUNDLE, DECIDED - timedelta(hours=1))
    machine.decide(happening, BUNDLE, DECIDED)
    machine.hear(*told)
    assert machine.sleep(NOW).raised == ((2,) if again else ())
    closed, *rest = machine.fold()
    assert (closed.number, closed.state.value) == (1, happening.value)
    assert [(p.number, p.previous, p.state) for p in rest] == ([(2, 1, R)] if again else [])
    assert machine.sleep(NOW).events == ()


def test_each_refusal_asks_for_twice_as_much(machine: Machine) -> None:
    """2 units raise; after a rejection 2 more, after the next one 4 more."""
    raised_on = []
    for day in range(30):
        machine.hear(said(f"s{day}", day))
        now = said("", day + 0.5).at
        if machine.sleep(now).raised:
            raised_on.append(day)
            machine.decide(Happening.REJECTED, BUNDLE, now + timedelta(minutes=1))
    assert raised_on == [1, 3, 7, 15]


def test_an_accepted_bundle_only_counts_on(machine: Machine) -> None:
    machine.hear(said("a", 0), said("b", 1))
    machine.sleep(DECIDED)
    machine.decide(Happening.ACCEPTED, BUNDLE, DECIDED)
    machine.hear(*[said(f"s{day}", day) for day in range(11, 30)])
    (event,) = machine.sleep(NOW).events
    assert event.event is Happening.COUNTED
    assert [p.state for p in machine.fold()] == [State.ACCEPTED]


# Several ledgers and machines


def test_what_another_machine_raised_is_only_counted_here(tmp_path: Path) -> None:
    one, two = Machine.new(tmp_path, 1), Machine.new(tmp_path, 2)
    for machine in (one, two):
        machine.hear(said(f"{machine.name}-a", 0), said(f"{machine.name}-b", 1))
    one.sleep(NOW)
    merge(two, [one])
    (event,) = two.sleep(NOW).events
    assert event.event is Happening.COUNTED
    assert event.at > one.events[-1].at
    (proposal,) = two.fold()
    assert (proposal.number, proposal.counts.cases, proposal.counts.sessions) == (1, 4, 4)


def test_two_bundles_that_took_one_number_get_two(tmp_path: Path) -> None:
    """T35: the same answer on every machine, whichever merged first."""
    one, two = Machine.new(tmp_path, 1), Machine.new(tmp_path, 2)
    one.hear(said("a", 0), said("b", 1))
    two.hear(said("c", 0, repo="weave"), said("d", 1, repo="weave"))
    assert one.sleep(NOW).raised == two.sleep(NOW + timedelta(hours=1)).raised == (1,)
    merge(one, [two])
    merge(two, [one])
    assert one.fold() == two.fold()
    assert [(p.number, p.repo) for p in one.fold()] == [(1, "loom"), (2, "weave")]


def test_a_teams_ledger_learns_of_its_repository_alone(tmp_path: Path) -> None:
    machine = Machine.new(tmp_path)
    (tmp_path / "team").mkdir()
    machine.books = Books(machine.path, tmp_path / "team" / "t.jsonl", frozenset(["loom"]))
    machine.hear(said("a", 0), said("b", 1))
    machine.hear(said("a", 0, repo="weave"), said("b", 1, repo="weave"))
    assert machine.sleep(NOW).raised == (1, 2)
    team, own = machine.books.events()
    assert [[e.repo for e in ledger] for ledger in (team, own)] == [["loom"], ["weave"]]
    assert {p.number for p in fold(team, own)} == {1, 2}
    assert machine.sleep(NOW).events == ()


@pytest.mark.parametrize("what", ["gone", "a link"])
def test_a_teams_folder_that_was_replaced_is_left_alone(tmp_path: Path, what: str) -> None:
    """`init` made a folder; what a repository puts in its place is not written to."""
    machine = Machine.new(tmp_path)
    team, victim = tmp_path / "clone" / "ledger", tmp_path / "victim"
    for folder in (victim, tmp_path / "clone" / ".git"):
        folder.mkdir(parents=True)
    if what == "a link":
        team.symlink_to(victim)
    machine.books = Books(machine.path, team / "t.jsonl", frozenset(["loom"]))
    machine.hear(said("a", 0), said("b", 1))
    with pytest.raises(LedgerError):
        machine.sleep(NOW)
    assert list(victim.iterdir()) == []
    assert team.exists() == (what == "a link")


def test_a_restored_home_raises_nothing_twice_for_the_team(tmp_path: Path) -> None:
    """It has its old name, and not its ledger."""
    machine = Machine.new(tmp_path)
    machine.hear(said("a", 0), said("b", 1))
    machine.sleep(NOW)
    (tmp_path / "team").mkdir()
    team = tmp_path / "team" / "t.jsonl"
    machine.path.rename(team)
    machine.sleep(NOW)
    assert [event.event for event in read_ledger(machine.path).events] == [Happening.RAISED]
    machine.books = Books(machine.path, team, frozenset(["loom"]))
    before = team.read_bytes()
    machine.sleep(NOW)
    assert team.read_bytes() == before
    assert file_problems(team) == []


def test_a_ledger_that_is_barred_is_a_known_error(machine: Machine) -> None:
    machine.path.parent.write_bytes(b"no folder")
    machine.hear(said("a", 0), said("b", 1))
    with pytest.raises(LedgerError):
        machine.sleep(NOW)


def test_what_counts_is_what_the_hook_may_show(machine: Machine) -> None:
    """One notion of a case that is worth something, in SQL here and in records there."""
    kinds = itertools.product(CaseType, Source, (True, False), ("", "Edit"))
    machine.hear(
        *[
            said(f"s{n}", n, source, type=kind, named=named, tool=tool)
            for n, (kind, source, named, tool) in enumerate(kinds)
        ]
    )
    ids = [case.id for case in read.cases(machine.store, read.Wanted())]
    for case in ids[::7]:
        rulings.dismiss(machine.store, case, NOW)
    for case in ids[::5]:
        rulings.retype(machine.store, case, CaseType.WRONG_RESULT, NOW)
    worth = [
        (case.repo, case.type, case.session)
        for case in read.cases(machine.store, read.Wanted(hidden=True))
        if is_worth_showing(case)
    ]
    counted = [
        (*bundle, unit.session)
        for bundle, units in repeats.units(machine.store).items()
        for unit in units
    ]
    assert sorted(counted) == sorted(worth)
    assert len(counted) > 20
