"""From transcripts to proposals: the stages of a night, its screens, and what it never loses."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.cases import repeats
from pipeline.cases.meta import machine_id
from pipeline.cases.repeats import Watched
from pipeline.cases.store import open_writer
from pipeline.config import Config
from pipeline.files import private_dir
from pipeline.ledger.book import append, read
from pipeline.ledger.event import Counts, Event, Form, Happening, Reason
from pipeline.records import CaseType
from tests.collect.conftest import *  # noqa: F403
from tests.collect.homes import (
    MISSED,
    PLAIN,
    VIOLATED,
    answer,
    cases,
    command,
    driver,
    forked,
    put,
    reader,
    run,
    talk,
)
from tests.transcripts.builders import BEGUN, Record, at, calls, prompt

DAY = 86_400
AGAIN = "You forgot the tests for the lexer."
KEYS = [
    "number", "repo", "type", "state", "sessions", "days", "cases", "first", "last",
    "accepted_at", "recurrences", "verdict",
]  # fmt: skip


def ledger(config: Config) -> Path:
    return config.home / "ledger" / "proposals.jsonl"


@pytest.fixture
def told(config: Config, root: Path) -> Config:
    """A bundle that repeats, and one that does not; nothing is collected yet."""
    put(root, "s1", talk("s1", PLAIN, MISSED))
    put(root, "s2", talk("s2", PLAIN, AGAIN, VIOLATED, seconds=2 * DAY))
    return config


def test_each_home_has_a_name_of_its_own_and_keeps_it(config: Config, tmp_path: Path) -> None:
    names = []
    for home in ("one", "two", "one"):
        here = replace(config, home=tmp_path / home)
        with open_writer(private_dir(here.local_cases)) as store:
            names.append(machine_id(store))
    assert names[0] == names[2] != names[1]
    assert all(re.fullmatch("[0-9a-f]{16}", name) for name in names)


def decide(config: Config, happening: Happening, days: int, **more: object) -> None:
    event = Event(
        BEGUN.replace(day=BEGUN.day + days), happening, "loom", CaseType.MISSED_ITEM, "f" * 16, 1,
        **more,  # type: ignore[arg-type]
    )  # fmt: skip
    append(ledger(config), [event])


def raise_early(config: Config) -> None:
    """A teammate had raised it before: then decisions of any day follow it."""
    counts = Counts(0, 0, 0, BEGUN.date(), BEGUN.date(), (0, 0, 0, 0))
    event = Event(BEGUN, Happening.RAISED, "loom", CaseType.MISSED_ITEM, "f" * 16, 1, counts=counts)
    append(ledger(config), [event])


# Stages


STAGES: list[tuple[list[str], list[int]]] = [
    (["nightly"], [1]),
    (["nightly", "--no-propose"], []),
    (["collect"], []),
    (["collect", "--propose"], [1]),
    (["collect", "--propose", "--until", "2026-03-03"], []),
    (["collect", "--propose", "--until", "2026-03-04"], [1]),
    (["--propose"], [1]),
]


@pytest.mark.parametrize(("words", "raised"), STAGES, ids=[" ".join(s[0]) for s in STAGES])
def test_which_commands_propose(told: Config, words: list[str], raised: list[int]) -> None:
    assert answer(told, *words)["proposals"] == {"raised": raised, "held": 0}
    assert ledger(told).exists() == bool(raised)
    assert answer(told, *words)["proposals"] == {"raised": [], "held": 0}


def test_a_second_night_adds_no_byte(told: Config) -> None:
    for words in (["nightly"], ["nightly"], ["collect", "--propose", "--rebuild"]):
        assert command(told, *words).returncode == 0
        assert len(read(ledger(told)).events) == 1
    assert answer(told, "status")["proposals"] == {"raised": [], "held": 0}


def test_a_dry_run_tells_what_would_be_raised(told: Config) -> None:
    command(told, "collect")
    done = command(told, "nightly", "--dry-run")
    assert "proposals: would be raised 1" in done.stdout
    assert answer(told, "collect", "--propose", "--dry-run")["proposals"]["raised"] == [1]
    assert not ledger(told).parent.exists()


def test_the_original_line_raises(told: Config) -> None:
    """Its other part, the judge, may not be there; what was collected and raised is."""
    command(told, "--days", "4000", "--llm", "--propose")
    assert [event.event for event in read(ledger(told)).events] == [Happening.RAISED]


@pytest.mark.parametrize("broken", ["folder", "file"])
def test_a_barred_ledger_costs_neither_cases_nor_export(told: Config, broken: str) -> None:
    told.home.mkdir()
    if broken == "folder":
        (told.home / "ledger").write_bytes(b"")
    else:
        ledger(told).mkdir(parents=True)
    done = command(told, "nightly")
    assert done.returncode == 3
    assert "warning: nothing was proposed: " in done.stderr
    assert len(cases(told)) == 3
    assert len(list((told.local_cases / "exports").iterdir())) == 1
    assert any("nothing was proposed" in text for text in answer(told, "status")["warnings"])
    assert command(told, "collect").returncode == 0


def test_the_ledger_holds_no_word_of_anybody(told: Config) -> None:
    command(told, "nightly")
    data = ledger(told).read_bytes()
    for word in (MISSED, "parser", "lexer", "s1", "s2", "/home/dev"):
        assert word.encode() not in data


def test_copies_of_a_case_raise_nothing(config: Config, root: Path) -> None:
    """A fork and a session that was resumed in a new file hold it again."""
    said = talk("s1", PLAIN, MISSED)
    put(root, "s1", said)
    put(root, "s2", [*forked(said, "s2"), *talk("s2", PLAIN, seconds=3 * DAY)])
    put(root, "s3", [*said, *talk("s1", PLAIN, begin=9, seconds=5 * DAY)])
    assert answer(config, "nightly")["proposals"]["raised"] == []
    put(root, "s4", talk("s4", AGAIN, seconds=6 * DAY))
    assert answer(config, "nightly")["proposals"]["raised"] == [1]
    assert answer(config, "proposals")[0]["cases"] == 2


# Screens


def test_the_list_has_the_keys_of_the_contract(told: Config) -> None:
    command(told, "nightly")
    (item,) = answer(told, "proposals")
    assert list(item) == KEYS
    assert item == dict(
        zip(KEYS, [1, "loom", "missed-item", "raised", 2, 2, 2, "2026-03-02", "2026-03-04",
                   None, None, None], strict=True)
    )  # fmt: skip
    assert command(told, "proposals").stdout == (
        "1\tloom\tmissed-item\traised\t2\t2\t2\t2026-03-04\t\n"
    )


def test_an_empty_list_says_what_to_do(told: Config) -> None:
    done = command(told, "proposals")
    assert (done.returncode, done.stdout) == (0, "")
    assert "twice-told nightly" in done.stderr
    assert answer(told, "proposals") == []


STATES: list[tuple[str, list[tuple[Happening, int, dict[str, object]]], list[str], list[str]]] = [
    ("raised", [], ["raised"], ["raised"]),
    ("rejected", [(Happening.REJECTED, 1, {"reason": Reason.ONE_OFF})], [], ["rejected"]),
    ("accepted", [(Happening.ACCEPTED, 1, {"form": Form.HOOK})], ["accepted"], ["accepted"]),
    ("retired", [(Happening.ACCEPTED, 1, {"form": Form.ELSEWHERE}), (Happening.RETIRED, 2, {})],
        [], ["retired"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("events", "open_", "all_"), [s[1:] for s in STATES], ids=[s[0] for s in STATES]
)
def test_what_is_closed_is_listed_with_all(
    told: Config,
    events: Sequence[tuple[Happening, int, dict[str, object]]],
    open_: list[str],
    all_: list[str],
) -> None:
    raise_early(told)
    for happening, days, more in events:
        decide(told, happening, days, **more)
    command(told, "nightly")
    assert [p["state"] for p in answer(told, "proposals")] == open_
    assert [p["state"] for p in answer(told, "proposals", "--all")] == all_
    (figures,) = [answer(told, "stats")]
    assert figures["proposals"]["all"] == sum(
        number for state, number in figures["proposals"].items() if state != "all"
    )
    assert [e["number"] for e in figures["effects"]] == ([1] if all_ == ["accepted"] else [])
    shown = command(told, "show", "1").stdout.splitlines()
    assert shown[0].startswith("1  loom  missed-item  (")
    assert all_[0] in shown[0]
    assert f"  {AGAIN}" in shown


def test_show_puts_the_cases_behind_a_number_on_screen(told: Config, root: Path) -> None:
    put(root, "s3", talk("s3", "You forgot it.", seconds=3 * DAY))
    command(told, "nightly")
    shown = command(told, "show", "1").stdout
    assert shown.splitlines()[1] == ("  cases: 2 in 2 sessions on 2 days, 2026-03-02 to 2026-03-04")
    assert "2 alike:" in shown
    assert VIOLATED not in shown
    assert [case["text"] for case in answer(told, "show", "1")] == [AGAIN, MISSED]
    assert [case["text"] for case in answer(told, "show", "1", "--limit", "1")] == [AGAIN]
    assert len(answer(told, "show", "1", "--all")) == 3, "the one without an object too"


@pytest.mark.parametrize("number", ["0", "2", "9999999999"])
def test_a_number_that_does_not_exist_is_a_usage_error(told: Config, number: str) -> None:
    command(told, "nightly")
    done = command(told, "show", number)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"there is no proposal {number}" in done.stderr
    assert "twice-told proposals" in done.stderr


def test_show_says_that_the_cases_lie_elsewhere(config: Config) -> None:
    counts = Counts(2, 2, 2, BEGUN.date(), BEGUN.date(), (2, 0, 0, 0))
    append(
        ledger(config),
        [Event(BEGUN, Happening.RAISED, "loom", CaseType.MISSED_ITEM, "f" * 16, 1, counts=counts)],
    )
    done = command(config, "show", "1")
    assert done.returncode == 0
    assert "its cases lie on another machine" in done.stderr
    assert answer(config, "show", "1") == []
    assert [p["number"] for p in answer(config, "proposals")] == [1]


def test_what_came_back_says_so(told: Config, root: Path) -> None:
    raise_early(told)
    decide(told, Happening.REJECTED, 1, reason=Reason.ONE_OFF)
    put(root, "s3", talk("s3", AGAIN, seconds=3 * DAY))
    assert answer(told, "nightly")["proposals"]["raised"] == [2]
    assert "came back as 2" in command(told, "show", "1").stdout
    assert "was 1 before" in command(told, "show", "2").stdout
    assert "came back as 2" in command(told, "proposals", "--all").stdout


# Effect


def busy(session: str, days: float, text: str = PLAIN, **fields: object) -> list[Record]:
    """A session in which the agent calls a tool after the only prompt."""
    common = {"sessionId": session, **fields}
    when = at(days * DAY)
    asked = prompt(f"{session}-u0", text, timestamp=when, **common)
    return [asked, calls(f"{session}-a0", "Edit", f"{session}-u0", timestamp=when, **common)]


def sessions(config: Config, days: int = 10) -> tuple[int, int]:
    bundle = ("loom", CaseType.MISSED_ITEM)
    with reader(config) as store:
        split = BEGUN.replace(day=BEGUN.day + days)
        return repeats.halves(store, [Watched(bundle, split)])[0].sessions


def test_exposure_comes_from_what_the_transcripts_tell(config: Config, root: Path) -> None:
    put(root, "a", busy("a", 1))
    put(root, "b", talk("b", PLAIN, seconds=DAY))
    put(root, "c", [*forked(busy("a", 1), "c"), *talk("c", PLAIN, seconds=2 * DAY)])
    put(root, "d", busy("a", 1) + busy("d", 12))
    put(root, "e", busy("e", 12, entrypoint="sdk-cli", promptSource="sdk", origin=None,
                        turnOrigin=None))  # fmt: skip
    put(root, "agent-f", busy("f", 12, isSidechain=True))
    run(config)
    assert sessions(config) == (1, 1)


def test_an_old_home_learns_of_its_sessions_and_an_export_carries_them(
    config: Config, root: Path, tmp_path: Path
) -> None:
    put(root, "a", busy("a", 1, MISSED))
    run(config)
    with open_writer(config.local_cases) as store:
        store.rows("UPDATE files SET settings = 'of an older reader'")
        for table in ("acted", "acceptances"):
            store.rows(f"DROP TABLE {table}")
        store.rows("DELETE FROM migrations WHERE number > 3")
    run(config)
    assert sessions(config) == (1, 0)
    assert command(config, "export", str(tmp_path / "x.gz")).returncode == 0
    assert command(config, "restore", str(tmp_path / "x.gz"), "--yes").returncode == 0
    assert sessions(config) == (1, 0)
    case = cases(config)[0].id
    assert command(config, "forget", case, "--yes").returncode == 0
    assert sessions(config) == (0, 0)
    with reader(config) as store:
        assert store.rows("SELECT * FROM acted") == []


def test_a_rule_that_works_says_so_everywhere(told: Config, root: Path) -> None:
    raise_early(told)
    for n in range(5):
        put(root, f"x{n}", busy(f"x{n}", n / 50 - 1, MISSED))
    decide(told, Happening.ACCEPTED, 3, form=Form.ELSEWHERE)
    for n in range(4):
        put(root, f"y{n}", busy(f"y{n}", 4 + n / 50))
    put(root, "z", talk("z", AGAIN, seconds=6 * DAY))
    command(told, "nightly")
    (item,) = answer(told, "proposals")
    assert (item["accepted_at"], item["recurrences"]) == ("2026-03-05T09:00:00Z", 1)
    assert item["verdict"] == "unknown"
    for n in range(30):
        put(root, f"w{n}", busy(f"w{n}", 7 + n / 50))
    command(told, "nightly")
    assert answer(told, "proposals")[0]["verdict"] == "works"
    words = "works: 1 in 34 sessions since, 7 in 5 before; rate 0.02 (0.00-0.16)"
    for shown in (command(told, "proposals"), command(told, "show", "1")):
        assert words in shown.stdout
    assert "works, 1 since 2026-03-05" in command(told, "stats").stdout
    assert json.loads(command(told, "stats", "--json").stdout)["effects"][0]["verdict"] == "works"


DIES = """
import os, sys
inner = os.write
def dying(handle, data):
    if os.readlink(f"/proc/self/fd/{handle}").endswith(".jsonl"):
        inner(handle, data[: len(data) * int(sys.argv[1]) // 100])
        os._exit(137)
    return inner(handle, data)
os.write = dying
from pipeline.cli import main
sys.exit(main(["nightly"]))
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
@pytest.mark.parametrize("percent", [0, 40, 100])
def test_a_night_that_dies_at_the_ledger_is_made_up_for(told: Config, percent: int) -> None:
    """T14: the cases are there already, and the next night appends what is missing, once."""
    process = driver(told, DIES, str(percent))
    process.communicate(timeout=60)
    assert process.returncode == 137
    assert answer(told, "nightly")["proposals"]["raised"] == ([] if percent == 100 else [1])
    assert [p["number"] for p in answer(told, "proposals")] == [1]
    assert len(read(ledger(told)).events) == 1
    assert len(cases(told)) == 3


def test_a_restore_keeps_the_name_in_ledgers(told: Config, tmp_path: Path) -> None:
    """The same cases under another name would be counted twice, in a file that forgets nothing."""
    command(told, "collect")
    saved = str(tmp_path / "x.gz")
    assert command(told, "export", saved).returncode == 0
    command(told, "nightly")
    before = ledger(told).read_bytes()
    assert command(told, "restore", saved, "--yes").returncode == 0
    command(told, "nightly")
    assert ledger(told).read_bytes() == before


@pytest.mark.parametrize("words", [["stats"], ["stats", "--json"]], ids=" ".join)
def test_a_barred_ledger_costs_stats_only_its_proposals(told: Config, words: list[str]) -> None:
    command(told, "collect")
    ledger(told).mkdir(parents=True)
    done = command(told, *words)
    assert done.returncode == 3
    assert f"{ledger(told)} is no file" in done.stderr
    if "--json" in words:
        figures = json.loads(done.stdout)
        assert (figures["totals"]["cases"], figures["proposals"]) == (3, None)
    else:
        assert "3 cases from" in done.stdout
        assert "proposals: unknown" in done.stdout


def test_lines_that_are_no_events_are_told_of(told: Config) -> None:
    command(told, "nightly")
    ledger(told).write_bytes(ledger(told).read_bytes() + b"torn\n")
    for words in (["proposals"], ["nightly"]):
        done = command(told, *words)
        assert done.returncode == 0
        assert "passed over: 1 of the lines" in done.stderr
        assert "`twice-told ledger verify` tells more" in done.stderr
