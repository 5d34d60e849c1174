"""Turns of which several files hold a copy: which copy stands for all, and which turns are none.

Forks and resumed sessions repeat what they go on from.
"""

from collections.abc import Iterable
from datetime import datetime

from pipeline.cases.last_word import drop_stale_verdicts
from pipeline.cases.store import Store
from pipeline.clock import microseconds
from pipeline.records import Fate

_COPIED = """id, key, file, session, at_us, day, inferred_at, repo, source, kind, "row", number,
    interrupted, type, rule_id, lang, text, tool, gist, said, admitted, named, masked_by"""


def _dead(copies: str = "") -> str:
    """Whether the person took a turn back, by the strongest word of any of its `copies`."""
    return f"""bool_or(fate = {Fate.WITHDRAWN:d}) {copies} OR
        (bool_or(fate = {Fate.UNANSWERED:d}) {copies} AND NOT bool_or(answered) {copies})"""


def refresh(store: Store, keys: Iterable[str], now: datetime) -> None:
    """Chooses anew, for these turns, the copy that stands for all of them: heard, perhaps a case.

    A person's copy beats a headless one, the main transcript a subagent's; then the original: the
    file whose oldest line that no other file holds is oldest (a file without one comes first).
    """
    store.con.execute("CREATE OR REPLACE TEMP TABLE touched (key VARCHAR PRIMARY KEY)")
    store.con.execute("INSERT INTO touched SELECT unnest(?)", [list(keys)])
    store.con.execute(
        "CREATE OR REPLACE TEMP TABLE before AS SELECT id, type, rule_id FROM cases"
        " WHERE key IN (SELECT key FROM touched)"
    )
    for table in ("cases", "heard"):
        store.con.execute(f"DELETE FROM {table} WHERE key IN (SELECT key FROM touched)")
    store.con.execute(f"""
        CREATE OR REPLACE TEMP TABLE chosen AS SELECT * FROM (
            SELECT turns.*, {_dead("OVER copies")} AS dead
            FROM turns WHERE key IN (SELECT key FROM touched)
            WINDOW copies AS (PARTITION BY key)
        ) AS t JOIN (SELECT key AS file_key, subagent, own_us, present FROM files) AS f
            ON f.file_key = t.file
        WHERE NOT dead
        QUALIFY row_number() OVER (
            PARTITION BY key ORDER BY headless, subagent, own_us NULLS LAST, NOT present, file
        ) = 1""")
    store.con.execute(f"INSERT INTO cases SELECT {_COPIED} FROM chosen WHERE type IS NOT NULL")
    store.con.execute(
        "INSERT INTO heard SELECT key, id, session, at_us, day, repo FROM chosen"
        " WHERE source = 'human' AND NOT headless"
    )
    store.con.execute(
        """INSERT INTO verdicts SELECT c.id, $now, 'rule', c.type, c.rule_id FROM cases AS c
        LEFT JOIN before AS b ON b.id = c.id
        WHERE c.key IN (SELECT key FROM touched)
          AND (b.id IS NULL OR b.type <> c.type OR b.rule_id <> c.rule_id)""",
        {"now": microseconds(now)},
    )
    drop_stale_verdicts(store, "c.key IN (SELECT key FROM touched)")


def unsettled_files(store: Store, there: Iterable[str]) -> list[list[str]]:
    """Groups of main transcripts with copies of the same human turns and no known original.

    One of them, which is `there`, was read since: by this run or by one that was killed.
    """
    pairs = store.rows(
        """SELECT DISTINCT a.file, b.file FROM turns AS a JOIN turns AS b USING (key)
        JOIN files AS fa ON fa.key = a.file JOIN files AS fb ON fb.key = b.file
        WHERE a.file < b.file AND a.source = 'human' AND NOT fa.subagent AND NOT fb.subagent"""
    )
    groups: dict[str, set[str]] = {}
    for left, right in pairs:
        merged = groups.get(left, {left}) | groups.get(right, {right})
        for member in merged:
            groups[member] = merged
    rows = store.rows("SELECT key FROM files WHERE own_us IS NULL")
    wanted = {row[0] for row in rows} & set(there)
    unique = {id(group): group for group in groups.values() if group & wanted}
    return sorted(sorted(group) for group in unique.values())


def set_own(store: Store, own: dict[str, int | None], now: datetime) -> None:
    """Records when the oldest line of its own was written in each file; None: as it was."""
    with store.transaction():
        for file, at_us in own.items():
            if at_us is not None:
                store.con.execute("UPDATE files SET own_us = ? WHERE key = ?", [at_us, file])
        keys = store.rows(
            "SELECT DISTINCT key FROM turns WHERE file IN (SELECT unnest(?))", [list(own)]
        )
        refresh(store, [row[0] for row in keys], now)


def flag_scripts(store: Store, sessions: int, now: datetime) -> None:
    """Takes back the unmarked turns of files that begin with the same long prompt again and again.

    From `sessions` files on, a program wrote it; what was kept of it is dropped.
    """
    with store.transaction():
        keys = store.rows(
            """UPDATE turns SET headless = true, type = NULL, rule_id = '', lang = '', text = '',
                tool = '', gist = '', said = '', admitted = false, named = false
            WHERE "row" = 'U12' AND NOT headless AND file IN (
                SELECT key FROM files WHERE script IN (
                    SELECT script FROM files WHERE script <> '' GROUP BY script
                    HAVING count(*) >= ?))
            RETURNING key""",
            [sessions],
        )
        if keys:
            refresh(store, {row[0] for row in keys}, now)


def dead_keys(store: Store, keys: list[str]) -> set[str]:
    """Those of the turns that were taken back, by the strongest word of any file."""
    rows = store.rows(
        f"SELECT key FROM turns WHERE key IN (SELECT unnest(?)) GROUP BY key HAVING {_dead()}",
        [keys],
    )
    return {row[0] for row in rows}


def headless_keys(store: Store, keys: list[str]) -> set[str]:
    """Those of the turns of which every copy may have been typed by a program."""
    rows = store.rows(
        "SELECT key FROM turns WHERE key IN (SELECT unnest(?))"
        " GROUP BY key HAVING bool_and(headless)",
        [keys],
    )
    return {row[0] for row in rows}
