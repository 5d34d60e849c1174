"""What people decide about a case: wrong, of another type, forgotten. It outlives nights."""

import contextlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import duckdb

from pipeline.cases.store import FILE_NAME, Store
from pipeline.cases.write import microseconds, tombstone, tombstone_key
from pipeline.errors import StoreError
from pipeline.records import CaseType


def dismiss(store: Store, case: str, now: datetime) -> None:
    """Marks a case as wrong: it is shown no more and counts against its rule."""
    _rule(store, case, "dismissed", None, now)


def retype(store: Store, case: str, kind: CaseType, now: datetime) -> None:
    """Gives a case another type; a dismissed one is open again."""
    _rule(store, case, "open", kind, now)


def _rule(store: Store, case: str, state: str, kind: CaseType | None, now: datetime) -> None:
    at = microseconds(now)
    value = kind.value if kind else None
    with store.transaction():
        store.con.execute(
            "INSERT INTO rulings VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
            " state = excluded.state, type = coalesce(excluded.type, type), at_us = excluded.at_us",
            [case, state, value, at],
        )
        store.con.execute("INSERT INTO verdicts VALUES (?, ?, 'person', ?, '')", [case, at, value])


def forget(store: Store, cases: Sequence[str]) -> int:
    """Removes cases with all their copies and leaves tombstones; how many there were.

    The bytes are gone from the file only after `compact`.
    """
    with store.transaction():
        keys = [
            row[0]
            for row in store.rows(
                "SELECT key FROM cases WHERE id IN (SELECT unnest(?))", [list(cases)]
            )
        ]
        secret = tombstone_key(store)
        marks = [tombstone(secret, key) for key in keys]
        store.con.execute("INSERT OR IGNORE INTO tombstones SELECT unnest(?)", [marks])
        for table, column, values in (
            ("turns", "key", keys),
            ("cases", "key", keys),
            ("rulings", "id", cases),
            ("verdicts", "id", cases),
        ):
            store.con.execute(
                f"DELETE FROM {table} WHERE {column} IN (SELECT unnest(?))", [list(values)]
            )
    return len(keys)


def compact(folder: Path) -> None:
    """Writes the store anew, so that no deleted byte is left in it. Raises StoreError.

    DuckDB leaves what was deleted in free blocks of its file. Logs that were set aside as damaged
    go too: they can hold what was forgotten.
    """
    path = folder / FILE_NAME
    fresh = path.with_name(path.name + ".compact")
    fresh.unlink(missing_ok=True)
    try:
        with contextlib.closing(duckdb.connect(str(path))) as con:
            con.execute("CHECKPOINT")
            con.execute(f"ATTACH '{str(fresh).replace(chr(39), chr(39) * 2)}' AS fresh")
            name = con.execute("SELECT current_database()").fetchall()[0][0]
            con.execute(f'COPY FROM DATABASE "{name}" TO fresh')
            con.execute("DETACH fresh")
    except duckdb.Error as error:
        fresh.unlink(missing_ok=True)
        raise StoreError(
            f"{path} cannot be written anew ({type(error).__name__})",
            "free some space and forget again; the case itself is gone already",
        ) from error
    fresh.chmod(0o600)
    fresh.replace(path)
    for left in folder.glob(f"{FILE_NAME}.wal*"):
        left.unlink()
