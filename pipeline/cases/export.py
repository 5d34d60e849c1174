"""The nightly way back: everything in the store as one compressed, self-checking file.

The store is no cache: Claude Code deletes transcripts after 30 days. A line of JSON names the
format, then comes one line a row, and the last line holds the number of rows and their digest.
"""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from pipeline.cases import sound
from pipeline.cases.last_word import drop_stale_verdicts
from pipeline.cases.schema import MIGRATIONS
from pipeline.cases.store import Store
from pipeline.cases.tombstones import buried_keys
from pipeline.errors import StoreError
from pipeline.files import private_dir, write_private
from pipeline.masking.masker import recheck
from pipeline.masking.stored import table_digest

FORMAT = 1
KEEP = 7
TABLES = (
    "files", "turns", "cases", "heard", "acted", "shadow_hits", "showings", "repos", "folders",
    "trees", "rulings", "verdicts", "judged", "answers", "batched", "acceptances", "runs",
    "tombstones", "meta",
)  # fmt: skip
SWEEP_DUE = "sweep"
"""Name of the note that forgotten words still lie in some files, with the ids."""
_WORDS = frozenset({"text", "gist", "said"})
_CHECKED = _WORDS | {"tool", "session"}
_ID_AT = {
    "turns": 3, "cases": 1, "heard": 2, "acted": 2, "rulings": 1, "verdicts": 1, "judged": 1,
    "answers": 1, "batched": 3,
}  # fmt: skip
"""Where the case id stands in a row of these tables, behind the table's name."""
_UNFIT = (ValueError, KeyError, IndexError, TypeError, OverflowError)


def write_nightly(store: Store, folder: Path, now: datetime) -> Path:
    """Writes tonight's export and removes all but the newest seven. Returns its path.

    The largest stays too: after a lost store, seven poor nights must not push out the good one.
    """
    path = private_dir(folder) / f"cases-{now:%Y%m%dT%H%M%S%fZ}.jsonl.gz"
    _clear(folder)
    write(store, path, now)
    kept = sorted(folder.glob("cases-*.jsonl.gz"))
    largest = max(kept, key=lambda export: export.stat().st_size)
    for old in kept[:-KEEP]:
        if old != largest:
            old.unlink()
    return path


def _clear(folder: Path) -> None:
    """Removes what killed runs left half written."""
    for left in folder.glob(".cases-*"):
        left.unlink()


def write(store: Store, path: Path, now: datetime) -> int:
    """Writes an export and returns its number of rows. Raises StoreError."""
    return _save(path, rows(store), now)


def _save(path: Path, rows: Iterable[list[Any]], now: datetime) -> int:
    head = {"format": FORMAT, "schema": len(MIGRATIONS), "made_at": now.isoformat()}
    digest, number = hashlib.sha256(), 0
    lines = [_line(head)]
    for row in rows:
        lines.append(_line(row))
        digest.update(lines[-1])
        number += 1
    lines.append(_line({"rows": number, "sha256": digest.hexdigest()}))
    write_private(path, gzip.compress(b"".join(lines), 6, mtime=0))
    return number


def rows(store: Store) -> Iterator[list[Any]]:
    """Each row behind the name of its table; words are checked once more on their way out."""
    check = cache(recheck)
    for table in TABLES:
        columns = _columns(store, table)
        words = [at for at, name in enumerate(columns) if name in _WORDS]
        for row in store.rows(f"SELECT * FROM {table} ORDER BY ALL"):
            values = [value if _is_plain(value) else str(value) for value in row]
            for at in words:
                values[at] = check(values[at])
            yield [table, *values]


def _columns(store: Store, table: str) -> list[str]:
    described = store.con.execute(f"SELECT * FROM {table} LIMIT 0").description
    return [column[0] for column in described or []]


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float | bool)


def _line(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read(path: Path) -> list[list[Any]]:
    """The rows of an export. Raises StoreError when it is not whole."""
    try:
        with gzip.open(path) as handle:
            lines = handle.read().splitlines(keepends=True)
        head, tail = json.loads(lines[0]), json.loads(lines[-1])
        rows = [json.loads(line) for line in lines[1:-1]]
        sound = (
            head["format"] == FORMAT
            and tail["rows"] == len(rows)
            and tail["sha256"] == hashlib.sha256(b"".join(lines[1:-1])).hexdigest()
            and all(row[0] in TABLES for row in rows)
        )
        schema = int(head["schema"])
    except (OSError, EOFError, zlib.error, *_UNFIT, RecursionError) as error:
        raise StoreError(f"{path} is no export that can be read", "try an older one") from error
    if not sound:
        raise StoreError(f"{path} is damaged: rows and digest disagree", "try an older one")
    if schema > len(MIGRATIONS):
        raise StoreError(
            f"{path} comes from a newer version", "install the newer version of twice-told"
        )
    return rows


def restore(store: Store, rows: Sequence[list[Any]], newer: Sequence[list[Any]] = ()) -> None:
    """Fills an empty store; what people decided later (`newer`) stands. Raises StoreError.

    The words of a forgotten case are not even written: they would stay in free blocks of the file.
    """
    with store.transaction():
        first = ("meta", "tombstones", "rulings")
        for table in first:
            _fill(store, table, [row for row in rows if row[0] == table])
        _overrule(store, newer)
        try:
            known = {row[2]: row[_ID_AT[row[0]]] for row in rows if row[0] in ("turns", "cases")}
            buried = frozenset(known[key] for key in buried_keys(store, list(known)))
            kept = _without(rows, buried)
        except (AttributeError, *_UNFIT) as error:
            raise sound.bad_shape() from error
        store.con.execute("DELETE FROM rulings WHERE id IN (SELECT unnest(?))", [list(buried)])
        for table in TABLES:
            if table not in first:
                _fill(store, table, [row for row in kept if row[0] == table])
        drop_stale_verdicts(store)
        sound.check(store)


def _without(rows: Sequence[list[Any]], ids: frozenset[str]) -> list[list[Any]]:
    """What was paid for these cases stays, under no name."""
    kept = []
    for row in rows:
        if row[0] not in _ID_AT or row[_ID_AT[row[0]]] not in ids:
            kept.append(row)
        elif row[0] == "answers":
            kept.append(["answers", "", "", *row[3:]])
    return kept


def _fill(store: Store, table: str, rows: Sequence[list[Any]]) -> None:
    """Words are checked on their way in too: a file can come from anywhere."""
    names = _columns(store, table)
    if any(len(row) != len(names) + 1 for row in rows):
        raise sound.bad_shape()
    if not rows:
        return
    columns = dict(zip(names, map(list, zip(*(row[1:] for row in rows), strict=True)), strict=True))
    try:
        for name in _CHECKED & columns.keys():
            columns[name] = [recheck(value) for value in columns[name]]
        if "masked_by" in columns:
            columns["masked_by"] = [old and table_digest() for old in columns["masked_by"]]
        places = ", ".join("unnest(?)" for _ in names)
        store.con.execute(f"INSERT INTO {table} SELECT {places}", list(columns.values()))
    except (duckdb.ConstraintException, duckdb.DataError, TypeError, AttributeError) as error:
        raise sound.bad_shape() from error


def _overrule(store: Store, newer: Sequence[list[Any]]) -> None:
    """Rulings by time, all tombstones; the name in ledgers where the export has none."""
    for row in newer:
        if row[0] == "rulings":
            store.con.execute(
                "INSERT INTO rulings VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " state = excluded.state, type = excluded.type, at_us = excluded.at_us"
                " WHERE excluded.at_us > rulings.at_us",
                row[1:],
            )
        elif row[0] == "tombstones":
            store.con.execute("INSERT OR IGNORE INTO tombstones VALUES (?)", row[1:])
        elif row[0] == "meta" and row[1].startswith("tombstone_key"):
            name = f"tombstone_key:{row[2][:16]}"
            store.con.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", [name, row[2]])
        elif row[0] == "meta" and row[1] == "machine":  # another one would be counted beside it
            store.con.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", row[1:])
        elif row[0] == "meta" and row[1] == SWEEP_DUE:
            store.con.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", row[1:])


def decisions(rows: Iterable[list[Any]]) -> list[list[Any]]:
    """What people decided, of the rows of a store or an export."""
    return [row for row in rows if row[0] in ("rulings", "tombstones", "meta")]


def decisions_in(folder: Path) -> list[list[Any]]:
    """What all readable exports of a folder know of people's decisions."""
    found: list[list[Any]] = []
    for path in sorted(folder.glob("cases-*.jsonl.gz")):
        try:
            found += decisions(read(path))
        except StoreError:
            continue
    return found


def forget_in(folder: Path, ids: frozenset[str], now: datetime) -> None:
    """Writes every export in a folder anew without these cases. Raises StoreError.

    An export that cannot be read cannot be cleaned: it is removed, since it may hold the words.
    """
    _clear(folder)
    for path in sorted(folder.glob("cases-*.jsonl.gz")):
        try:
            found = read(path)
        except StoreError:
            path.unlink()
            continue
        kept = _without(found, ids)
        if kept != found:
            _save(path, kept, now)
