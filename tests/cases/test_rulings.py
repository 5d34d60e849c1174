"""What people decided outlives nights; what they forgot is nowhere any more (T23, X.4, X.8)."""

import gzip
import hashlib
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from pipeline.cases import read, rulings
from pipeline.cases.store import open_writer
from pipeline.config import Config
from tests.collect.homes import (
    MISSED,
    PLAIN,
    VIOLATED,
    answer,
    cases,
    command,
    environment,
    everywhere,
    forked,
    put,
    reader,
    run,
    talk,
    texts,
)
from tests.transcripts.builders import at, prompt

SECRET = "You forgot the zanzibar tests."
WORD = "zanzibar"


@pytest.fixture
def told(config: Config, root: Path) -> Config:
    """A home with three cases, one of them with the word, after a night."""
    put(root, "s1", talk("s1", PLAIN, SECRET, VIOLATED))
    put(root, "s2", talk("s2", PLAIN, MISSED, seconds=90_000))
    assert command(config, "nightly").returncode == 0
    return config


def case_id(config: Config, text: str) -> str:
    return next(case.id for case in cases(config) if case.text == text)


def again(config: Config, root: Path, how: str) -> None:
    """Ways in which the same words come along once more."""
    if how == "fork":
        copy = forked(talk("s1", PLAIN, SECRET, VIOLATED), "a-fork")
        put(root, "a-fork", [*copy, *talk("a-fork", PLAIN, seconds=99_000)])
    elif how == "growth":
        put(root, "s1", talk("s1", PLAIN, SECRET, VIOLATED, "go on"))
    words = ["collect", "--rebuild"] if how == "rebuild" else ["nightly"]
    assert command(config, *words).returncode == 0


WAYS = ("night", "rebuild", "fork", "growth")


@pytest.mark.parametrize("how", WAYS)
def test_what_was_dismissed_stays_dismissed(told: Config, root: Path, how: str) -> None:
    wrong = case_id(told, SECRET)
    assert command(told, "dismiss", wrong[:6]).returncode == 0
    again(told, root, how)
    assert [c.state for c in cases(told) if c.id == wrong] == ["dismissed"]
    assert sorted(c.text for c in cases(told, hidden=False)) == sorted([MISSED, VIOLATED])
    assert WORD not in command(told, "show", "loom", "--full").stdout
    assert WORD in command(told, "show", "loom", "--full", "--all").stdout
    rules = {rule["rule_id"]: rule for rule in answer(told, "stats")["rules"]}
    assert sum(rule["dismissed"] for rule in rules.values()) == 1


@pytest.mark.parametrize("how", WAYS)
def test_a_type_given_by_a_person_stays(told: Config, root: Path, how: str) -> None:
    case = case_id(told, SECRET)
    assert command(told, "retype", case, "wrong-result").returncode == 0
    again(told, root, how)
    found = next(c for c in cases(told) if c.id == case)
    assert (found.type.value, found.decided_by) == ("wrong-result", "person")
    with reader(told) as store:
        assert [row[1:3] for row in read.history(store, case)] == [
            ("rule", "missed-item"),
            ("person", "wrong-result"),
        ]


def test_a_dismissed_case_is_opened_again_by_a_type(told: Config) -> None:
    case = case_id(told, SECRET)
    command(told, "dismiss", case)
    command(told, "retype", case, "other")
    command(told, "dismiss", case)
    command(told, "retype", case, "missed-item")
    found = next(c for c in cases(told) if c.id == case)
    assert (found.state, found.type.value) == ("open", "missed-item")


@pytest.mark.parametrize("how", WAYS)
def test_what_was_forgotten_never_comes_back(told: Config, root: Path, how: str) -> None:
    assert command(told, "forget", case_id(told, SECRET), "--yes").returncode == 0
    again(told, root, how)
    assert texts(told) == sorted([MISSED, VIOLATED])
    assert everywhere(told.home, WORD) == []
    turns = answer(told, "stats")["totals"]["turns"]
    assert turns == len(["s1-u0", "s1-u2", "s2-u0", "s2-u1"]) + (how in ("fork", "growth"))


def test_no_file_under_the_home_holds_what_was_forgotten(told: Config, root: Path) -> None:
    """The database with its free blocks, exports, stores and logs that were set aside, what killed
    runs left behind: raw and compressed."""
    folder = told.local_cases
    exports = folder / "exports"
    newest = str(sorted(exports.iterdir())[-1])
    command(told, "dismiss", case_id(told, SECRET))
    assert command(told, "restore", newest, "--yes").returncode == 0
    assert command(told, "restore", newest, "--yes").returncode == 0
    kept = sorted(folder.glob("cases.duckdb.replaced-*"))
    assert len(kept) == 2
    kept[0].write_bytes(kept[0].read_bytes()[:-9000] + bytes(9000))
    (folder / "cases.duckdb.wal.corrupt-20260101T000000Z").write_bytes(SECRET.encode())
    (folder / "cases.duckdb.fresh").write_bytes(SECRET.encode())
    (folder / "cases.duckdb.fresh.wal").write_bytes(SECRET.encode())
    (exports / ".cases-20260101T000000Z.jsonl.gz.x1y2").write_bytes(gzip.compress(SECRET.encode()))
    (exports / "cases-20260101T000000Z.jsonl.gz").write_bytes(gzip.compress(SECRET.encode()) + b"x")
    assert len(everywhere(told.home, WORD)) >= 7
    done = command(told, "forget", case_id(told, SECRET), "--yes")
    assert done.returncode == 0, done.stderr
    assert everywhere(told.home, WORD) == []
    assert texts(told) == sorted([MISSED, VIOLATED])
    assert len(list(folder.glob("cases.duckdb.replaced-*"))) >= 1, "sound ones are kept, cleaned"
    assert WORD not in done.stdout + done.stderr


def test_forgetting_all_takes_withdrawn_words_too(told: Config, root: Path) -> None:
    """A prompt that was taken back is no case any more, but its words were kept until now."""
    held = talk("s3", PLAIN)
    late = prompt("s3-w1", SECRET, "s3-a0", sessionId="s3", timestamp=at(70))
    put(root, "s3", [*held, late])
    run(told)
    assert texts(told).count(SECRET) == 2
    put(root, "s3", [*held, late, *talk("s3", "do this instead", begin=1)])
    run(told)
    assert texts(told).count(SECRET) == 1
    assert command(told, "forget", "--all", "--yes").returncode == 0
    assert texts(told) == []
    for word in (WORD, "parser", "push to main"):
        assert everywhere(told.home, word) == []
    assert command(told, "nightly").returncode == 0
    assert texts(told) == []


def test_tombstones_say_nothing_without_their_key(told: Config) -> None:
    case = case_id(told, SECRET)
    with reader(told) as store:
        key = read.turn_key(store, case)
    command(told, "forget", case, "--yes")
    with reader(told) as store:
        marks = {row[0] for row in store.rows("SELECT mark FROM tombstones")}
    assert len(marks) == 1
    for text in (SECRET, key, case, key.rpartition(":")[0], "s1-u1"):
        for name in ("md5", "sha1", "sha256", "sha512", "blake2b"):
            plain = hashlib.new(name, text.encode()).hexdigest()
            assert not any(plain.startswith(mark[:12]) or mark in plain for mark in marks)
    assert everywhere(told.home, key) == []


@pytest.mark.parametrize("words", [["forget", "--all"], ["forget", "ID"]])
def test_without_a_terminal_forgetting_needs_yes(told: Config, words: list[str]) -> None:
    before = texts(told)
    done = command(told, *[case_id(told, SECRET) if word == "ID" else word for word in words])
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert texts(told) == before


def test_a_night_after_a_forgotten_case_counts_it_as_none(told: Config) -> None:
    command(told, "forget", case_id(told, SECRET), "--yes")
    done = run(told, rebuild=True)
    assert (done.turns, done.known, done.no_case) == (5, 2, 3)


def test_a_busy_set_aside_store_is_kept_and_swept_later(config: Config, root: Path) -> None:
    """Somebody reads it: it is neither deleted nor left with the words for good."""
    put(root, "s1", talk("s1", MISSED))
    assert command(config, "nightly").returncode == 0
    export = next((config.local_cases / "exports").glob("*.gz"))
    assert command(config, "restore", str(export), "--yes").returncode == 0
    aside = next(config.local_cases.glob("cases.duckdb.replaced-*"))
    held = duckdb.connect(str(aside), read_only=True)
    child = [sys.executable, "-m", "pipeline", "forget", "--all", "--yes"]
    done = subprocess.run(child, env=environment(config), capture_output=True, check=False)
    held.close()
    assert done.returncode == 75
    assert aside.exists()
    assert command(config, "collect").returncode == 0
    assert not everywhere(config.home, "tests for the parser")


def test_a_sweep_that_is_due_outlives_a_restore(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", MISSED))
    assert command(config, "nightly").returncode == 0
    export = next((config.local_cases / "exports").glob("*.gz"))
    elsewhere = config.home / "old.gz"
    elsewhere.write_bytes(export.read_bytes())
    with open_writer(config.local_cases) as store:  # killed before its sweep
        rulings.forget(store, rulings.kept_ids(store))
    assert command(config, "restore", str(elsewhere), "--yes").returncode == 0
    elsewhere.unlink()
    assert command(config, "collect").returncode == 0
    assert not everywhere(config.home, "tests for the parser")
