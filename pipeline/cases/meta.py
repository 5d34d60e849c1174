"""What the store knows of its home and its runs: zone, machine, last reading, what runs found."""

import secrets
from datetime import datetime
from zoneinfo import ZoneInfo

from pipeline.cases.store import Store
from pipeline.clock import from_microseconds, local_day, microseconds


def keep_zone(store: Store, zone: ZoneInfo) -> None:
    """Counts all days anew when the person's time zone has changed, so that no unit is split."""
    known = store.rows("SELECT value FROM meta WHERE name = 'zone'")
    if known and known[0][0] == zone.key:
        return
    with store.transaction():
        instants = [row[0] for row in store.rows("SELECT DISTINCT at_us FROM turns")]
        days = [local_day(from_microseconds(at), zone) for at in instants]
        store.con.execute("CREATE OR REPLACE TEMP TABLE days (at_us BIGINT PRIMARY KEY, day DATE)")
        store.con.execute("INSERT INTO days SELECT unnest(?), unnest(?)", [instants, days])
        for table in ("turns", "cases", "heard"):
            store.con.execute(
                f"UPDATE {table} SET day = days.day FROM days WHERE days.at_us = {table}.at_us"
            )
        store.con.execute("INSERT OR REPLACE INTO meta VALUES ('zone', ?)", [zone.key])


def note_collected(store: Store, at: datetime) -> None:
    """When the transcripts were read last: the hook tells when that is long ago."""
    value = str(microseconds(at))
    store.con.execute("INSERT OR REPLACE INTO meta VALUES ('collected_us', ?)", [value])


def collected_at(store: Store) -> datetime | None:
    """When the transcripts were read last."""
    rows = store.rows("SELECT value FROM meta WHERE name = 'collected_us'")
    return from_microseconds(int(rows[0][0])) if rows else None


def put_run(store: Store, at: datetime, lines: int, turns: int, new_cases: int) -> None:
    """Remembers what a run found, for the watch over format drift."""
    store.con.execute(
        "INSERT INTO runs VALUES (?, ?, ?, ?)", [microseconds(at), lines, turns, new_cases]
    )


def turns_per_line(store: Store, since: datetime, at_least: int) -> list[float]:
    """Turns per line of each run since then that read enough lines, oldest first."""
    rows = store.rows(
        "SELECT turns / lines FROM runs WHERE at_us >= ? AND lines >= ? ORDER BY at_us",
        [microseconds(since), at_least],
    )
    return [row[0] for row in rows]


def machine_id(store: Store) -> str:
    """Names this home in ledgers, 16 hex digits; drawn at first use, kept by exports."""
    found = store.rows("SELECT value FROM meta WHERE name = 'machine'")
    if found:
        return str(found[0][0])
    drawn = secrets.token_hex(8)
    store.con.execute("INSERT INTO meta VALUES ('machine', ?)", [drawn])
    return drawn
