"""What people decide about a case: wrong, of another type, forgotten. It outlives nights."""

import contextlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

import duckdb

from pipeline.cases import export
from pipeline.cases.store import FILE_NAME, Store, connect, private_files
from pipeline.cases.tombstones import tombstone, tombstone_key
from pipeline.clock import microseconds
from pipeline.errors import Busy, StoreError
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


def kept_ids(store: Store) -> list[str]:
    """All ids that words are kept of: the cases, and prompts that were taken back since."""
    rows = store.rows("SELECT id FROM cases UNION SELECT id FROM turns WHERE type IS NOT NULL")
    return sorted(row[0] for row in rows)


def forget(store: Store, cases: Sequence[str]) -> int:
    """Removes cases with all their copies and leaves tombstones; how many cases there were.

    The bytes are gone from all files only after `sweep`, which stays due until it has ended.
    """
    ids = list(cases)
    with store.transaction():
        rows = store.rows("SELECT DISTINCT key FROM turns WHERE id IN (SELECT unnest(?))", [ids])
        secret = tombstone_key(store)
        marks = [tombstone(secret, row[0]) for row in rows]
        store.con.execute("INSERT OR IGNORE INTO tombstones SELECT unnest(?)", [marks])
        number = len(store.rows("SELECT 1 FROM cases WHERE id IN (SELECT unnest(?))", [ids]))
        _delete(store.con, ids)
        waiting = " ".join(sorted({*due(store), *ids}))
        store.con.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [export.SWEEP_DUE, waiting])
    return number


def due(store: Store) -> frozenset[str]:
    """The forgotten cases whose words may still lie in exports and in free blocks of the store."""
    rows = store.rows("SELECT value FROM meta WHERE name = ?", [export.SWEEP_DUE])
    return frozenset(rows[0][0].split()) if rows else frozenset()


_PAID = {
    "answers": "UPDATE answers SET id = '', key = '' WHERE id IN (SELECT unnest(?))",
    "batched": "INSERT INTO answers SELECT '', '', 'night', model, prompt, NULL, 0, 0, 0, most_usd,"
    " at_us FROM batched WHERE id IN (SELECT unnest(?))",
}
"""What was paid for a case outlives it, under no name: the key tells its words to whoever guesses
them. Of a question under way it is the most that it may cost, since its answer finds nobody."""


def _delete(con: duckdb.DuckDBPyConnection, ids: Iterable[str]) -> None:
    """From every table that names cases; a store that was set aside may be older than some."""
    named = con.execute(
        "SELECT table_name FROM duckdb_columns() WHERE column_name = 'id' AND NOT internal"
        " AND database_name = current_database()"
    ).fetchall()
    for (table,) in named:
        if table in _PAID:
            con.execute(_PAID[table], [list(ids)])
        con.execute(f'DELETE FROM "{table}" WHERE id IN (SELECT unnest(?))', [list(ids)])


def sweep(folder: Path, ids: frozenset[str], now: datetime) -> None:
    """Takes the words of forgotten cases out of every file of a home. Raises StoreError.

    Exports first, then stores that a restore set aside, the store itself last: it remembers that
    this is due. What is damaged cannot be cleaned and goes.
    """
    export.forget_in(folder / "exports", ids, now)
    for path in sorted(folder.glob(f"{FILE_NAME}.*")):
        if path.suffix.startswith(".replaced-"):
            _rewrite_or_remove(path, ids)
    _rewrite(folder / FILE_NAME, ids)
    for path in folder.glob(f"{FILE_NAME}.*"):
        if not path.suffix.startswith(".replaced-"):
            path.unlink()


def _rewrite_or_remove(path: Path, ids: frozenset[str]) -> None:
    """A set-aside store that cannot be opened cannot be cleaned, and may hold the words."""
    try:
        with contextlib.closing(connect(path, read_only=True)):
            pass
    except Busy:
        raise
    except StoreError:
        path.unlink()
        return
    _rewrite(path, ids)


def _rewrite(path: Path, ids: frozenset[str]) -> None:
    """DuckDB leaves what was deleted in free blocks of its file, so the file is made anew."""
    fresh = path.with_name(path.name + ".fresh")
    for left in (fresh, fresh.with_name(fresh.name + ".wal")):
        left.unlink(missing_ok=True)
    with private_files(), contextlib.closing(connect(path, read_only=False)) as con:
        try:
            _delete(con, ids)
            con.execute("CHECKPOINT")
            con.execute(f"ATTACH '{str(fresh).replace(chr(39), chr(39) * 2)}' AS fresh")
            name = con.execute("SELECT current_database()").fetchall()[0][0]
            con.execute(f'COPY FROM DATABASE "{name}" TO fresh')
            con.execute("DELETE FROM fresh.meta WHERE name = ?", [export.SWEEP_DUE])
            con.execute("CHECKPOINT fresh")
            con.execute("DETACH fresh")
        except duckdb.Error as error:
            raise StoreError(
                f"{path} cannot be written anew ({type(error).__name__})",
                "free some space; the case itself is gone, and the next run goes on with this",
            ) from error
    fresh.replace(path)
