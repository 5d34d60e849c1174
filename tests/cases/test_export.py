"""The way back: exports, what is found wrong with them, and what a restore keeps (T17, T22)."""

import gzip
import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipeline.cases import export
from pipeline.cases.schema import MIGRATIONS
from pipeline.cases.store import open_writer
from pipeline.config import Config
from pipeline.errors import StoreError
from tests.cases.test_rulings import SECRET, WORD, case_id
from tests.collect.homes import (
    MISSED,
    PLAIN,
    VIOLATED,
    cases,
    command,
    driver,
    everywhere,
    put,
    reader,
    run,
    state,
    tables,
    talk,
    texts,
)


@pytest.fixture
def told(config: Config, root: Path) -> Config:
    put(root, "s1", talk("s1", PLAIN, SECRET, VIOLATED))
    put(root, "s2", talk("s2", PLAIN, MISSED, seconds=90_000))
    assert command(config, "nightly").returncode == 0
    return config


@pytest.fixture
def saved(told: Config, tmp_path: Path) -> Path:
    """An export outside the home."""
    path = tmp_path / "mine.jsonl.gz"
    assert command(told, "export", str(path)).returncode == 0
    return path


def test_a_restore_into_an_empty_home_equals_the_source(
    told: Config, saved: Path, tmp_path: Path
) -> None:
    command(told, "dismiss", case_id(told, MISSED))
    command(told, "forget", case_id(told, SECRET), "--yes")
    command(told, "export", str(saved))
    other = replace(told, home=tmp_path / "other")
    assert command(other, "restore", str(saved)).returncode == 0
    assert tables(other) == tables(told)
    assert command(other, "nightly").returncode == 0
    assert state(other) == state(told)


def test_nights_keep_seven_exports(told: Config) -> None:
    folder = told.local_cases / "exports"
    begin = datetime(2026, 5, 1, 3, tzinfo=UTC)
    with open_writer(told.local_cases) as store:
        for night in range(10):
            newest = export.write_nightly(store, folder, begin + timedelta(days=night))
    found = sorted(path.name for path in folder.iterdir())
    assert len(found) == export.KEEP == 7
    assert newest.exists() or newest.name < found[0]
    assert export.read(folder / found[-1])


def test_a_damaged_store_is_said_and_last_nights_rows_come_back(told: Config) -> None:
    before = tables(told)
    (told.local_cases / "cases.duckdb").write_bytes(b"\0" * 100_000)
    shown = command(told, "show")
    assert (shown.returncode, shown.stdout) == (3, "")
    assert "twice-told restore" in shown.stderr
    newest = max((told.local_cases / "exports").iterdir())
    done = command(told, "restore", str(newest))
    assert done.returncode == 0, done.stderr
    assert tables(told) == before
    assert len(list(told.local_cases.glob("cases.duckdb.replaced-*"))) == 1


def test_a_flipped_byte_in_the_store_is_found_or_harmless(told: Config) -> None:
    """Never other words than were stored, and never a bug."""
    path = told.local_cases / "cases.duckdb"
    whole = path.read_bytes()
    expected = texts(told)
    chance = random.Random(11)
    refused = 0
    for _ in range(25):
        at = chance.randrange(len(whole))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        try:
            assert texts(told) == expected
        except StoreError:
            refused += 1
    assert 0 < refused <= 25


def test_a_lost_store_comes_back_without_its_transcripts(told: Config, root: Path) -> None:
    before = state(told)
    for path in root.rglob("*.jsonl"):
        path.unlink()
    (told.local_cases / "cases.duckdb").unlink()
    assert command(told, "nightly").returncode == 0
    assert cases(told) == []
    oldest = min((told.local_cases / "exports").iterdir())
    assert command(told, "restore", str(oldest)).returncode == 0
    assert state(told) == before


def test_a_restore_over_cases_needs_yes_and_keeps_the_old_store(told: Config, saved: Path) -> None:
    put(told.claude_dirs[0], "s3", talk("s3", "You forgot the changelog entry."))
    run(told)
    before = tables(told)
    done = command(told, "restore", str(saved))
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert tables(told) == before
    done = command(told, "restore", str(saved), "--yes", "--json")
    assert done.returncode == 0
    (name,) = json.loads(done.stdout)["set_aside"]
    assert len(cases(told)) == 3
    aside = replace(told, home=told.home.with_name("aside"))
    aside.local_cases.mkdir(parents=True)
    (told.local_cases / name).rename(aside.local_cases / "cases.duckdb")
    assert tables(aside) == before


def test_rulings_since_an_export_stand_after_its_restore(told: Config, saved: Path) -> None:
    command(told, "dismiss", case_id(told, MISSED))
    command(told, "retype", case_id(told, VIOLATED), "wrong-result")
    assert command(told, "restore", str(saved), "--yes").returncode == 0
    found = {case.text: case for case in cases(told)}
    assert found[MISSED].state == "dismissed"
    assert (found[VIOLATED].type.value, found[VIOLATED].decided_by) == ("wrong-result", "person")


def test_an_older_ruling_does_not_undo_a_newer_one(told: Config, saved: Path) -> None:
    command(told, "dismiss", case_id(told, MISSED))
    command(told, "export", str(saved))
    command(told, "retype", case_id(told, MISSED), "other")
    assert command(told, "restore", str(saved), "--yes").returncode == 0
    assert next(c.state for c in cases(told) if c.text == MISSED) == "open"


@pytest.mark.parametrize("fate", ["sound", "damaged", "lost"])
def test_what_was_forgotten_does_not_come_back_from_an_older_export(
    told: Config, saved: Path, fate: str
) -> None:
    """Not even into a free block of the new store; the tombstones are known from the store or,
    where that is damaged or lost, from the nightly exports."""
    command(told, "forget", case_id(told, SECRET), "--yes")
    command(told, "nightly")
    path = told.local_cases / "cases.duckdb"
    if fate == "damaged":
        path.write_bytes(b"\0" * 100_000)
    elif fate == "lost":
        path.unlink()
    assert WORD in gzip.decompress(saved.read_bytes()).decode()
    done = command(told, "restore", str(saved), "--yes")
    assert done.stdout.startswith("2 cases restored, 1 forgotten ones left out")
    assert texts(told) == sorted([MISSED, VIOLATED])
    assert everywhere(told.home, WORD) == []
    assert command(told, "collect", "--rebuild").returncode == 0
    assert texts(told) == sorted([MISSED, VIOLATED])


def _flip(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def _repacked(data: bytes, old: bytes, new: bytes) -> bytes:
    plain = gzip.decompress(data)
    assert old in plain
    return gzip.compress(plain.replace(old, new, 1))


def _hostile(head: dict[str, object], *rows: object) -> bytes:
    import hashlib

    lines = [json.dumps(row).encode() + b"\n" for row in rows]
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    tail = json.dumps({"rows": len(rows), "sha256": digest}).encode() + b"\n"
    return gzip.compress(json.dumps(head).encode() + b"\n" + b"".join(lines) + tail)


HEAD = {"format": 1, "schema": len(MIGRATIONS), "made_at": "2026-01-01T00:00:00+00:00"}
DAMAGES = {
    "cut": lambda d: d[: len(d) // 2],
    "empty": lambda d: b"",
    "no gzip": lambda d: b"hello\n" * 50,
    "one word changed": lambda d: _repacked(d, b"parser", b"Parser"),
    "one row gone": lambda d: gzip.compress(
        b"".join(line for n, line in enumerate(gzip.decompress(d).splitlines(True)) if n != 3)
    ),
    "newer": lambda d: _hostile(HEAD | {"schema": 999}),
    "other format": lambda d: _hostile(HEAD | {"format": 2}),
    "schema is no number": lambda d: _hostile(HEAD | {"schema": "x"}),
    "head is a list": lambda d: gzip.compress(b"[]\n[]\n"),
    "unknown table": lambda d: _hostile(HEAD, ["secrets", "x"]),
    "short row": lambda d: _hostile(HEAD, ["cases", "x"]),
    "long row": lambda d: _hostile(HEAD, ["tombstones", "x", "y"]),
    "no key": lambda d: _hostile(HEAD, ["turns", {}, {}, {}]),
    "bad tombstone key": lambda d: _hostile(
        HEAD, ["meta", "tombstone_key", "not hex"], ["tombstones", "x"], ["cases", "a", "b", "c"]
    ),
    "deeply nested": lambda d: gzip.compress(b"[" * 100_000 + b"\n" + b"{}\n"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_export_is_refused_and_the_store_untouched(
    told: Config, saved: Path, damage: str
) -> None:
    saved.write_bytes(DAMAGES[damage](saved.read_bytes()))
    before = tables(told)
    done = command(told, "restore", str(saved), "--yes")
    assert (done.returncode, done.stdout) == (3, ""), done
    assert "next: " in done.stderr
    assert tables(told) == before
    assert not [p.name for p in told.local_cases.iterdir() if "restoring" in p.name]


STOPPED = """
import sys
from pathlib import Path
inner = Path.chmod
def chmod(self, mode, **more):
    inner(self, mode, **more)
    if self.name.endswith(".restoring"):
        raise KeyboardInterrupt
Path.chmod = chmod
from pipeline.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_an_interrupted_restore_leaves_no_words_behind(told: Config, saved: Path) -> None:
    before = sorted(path.name for path in told.local_cases.iterdir())
    process = driver(told, STOPPED, "restore", str(saved), "--yes")
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert sorted(path.name for path in told.local_cases.iterdir()) == before


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("cases", "type = 'quokka'"),
        ("cases", "source = 'quokka'"),
        ("turns", "kind = 'quokka'"),
        ("rulings", "state = 'quokka'"),
        ("repos", "name = '../../etc'"),
        ("repos", "name = 'a b'"),
    ],
)
def test_values_that_no_run_writes_are_refused(
    told: Config, tmp_path: Path, table: str, change: str
) -> None:
    command(told, "dismiss", case_id(told, MISSED))
    with open_writer(told.local_cases) as store:
        store.rows(f"UPDATE {table} SET {change} WHERE rowid = 0")
    command(told, "export", str(tmp_path / "odd.gz"))
    other = replace(told, home=tmp_path / "other")
    done = command(other, "restore", str(tmp_path / "odd.gz"))
    assert (done.returncode, done.stdout) == (3, "")
    assert "a row of the export has the wrong shape" in done.stderr
    assert not (other.local_cases / "cases.duckdb").exists()


def test_a_row_twice_is_the_exports_fault(told: Config, tmp_path: Path) -> None:
    twice = ["tombstones", "m"]
    (tmp_path / "odd.gz").write_bytes(_hostile(HEAD, twice, twice))
    done = command(replace(told, home=tmp_path / "other"), "restore", str(tmp_path / "odd.gz"))
    assert done.returncode == 3
    assert "a row of the export has the wrong shape" in done.stderr


def test_words_of_an_export_are_masked_on_their_way_in(told: Config, saved: Path) -> None:
    """Who packs a file by hand can name any table as the one that masked it."""
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    head, *rows, _ = map(json.loads, gzip.decompress(saved.read_bytes()).splitlines())
    told_rows = json.loads(json.dumps(rows).replace(MISSED, f"use {key} here"))
    saved.write_bytes(_hostile(head, *told_rows))
    assert command(told, "restore", str(saved), "--yes").returncode == 0
    assert len(cases(told)) == 3
    assert everywhere(told.home / "local_cases" / "cases.duckdb", key) == []


def test_any_flipped_byte_of_an_export_is_found_or_harmless(saved: Path) -> None:
    whole = saved.read_bytes()
    expected = export.read(saved)
    found = 0
    for at in range(0, len(whole), max(1, len(whole) // 150)):
        saved.write_bytes(_flip(whole, at))
        try:
            assert export.read(saved) == expected
        except StoreError:
            found += 1
    assert found > 100


def test_an_export_masks_once_more(told: Config, tmp_path: Path) -> None:
    """What an older mask let into the store does not leave it (T24)."""
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with open_writer(told.local_cases) as store:
        store.rows("UPDATE cases SET text = ? WHERE text = ?", [f"use {key} here", MISSED])
        store.rows("UPDATE cases SET masked_by = ''")
    path = tmp_path / "again.gz"
    assert command(told, "export", str(path)).returncode == 0
    assert key not in gzip.decompress(path.read_bytes()).decode()
    for words in (["cases"], ["cases", "--json"], ["show", "loom", "--full"]):
        assert key not in command(told, *words).stdout
    with reader(told) as store_:
        assert store_.rows("SELECT count(*) FROM cases") == [(3,)]
