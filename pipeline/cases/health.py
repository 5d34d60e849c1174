"""What `doctor` asks the store. Named queries, as in `read`."""

from datetime import datetime

from pipeline.cases.export import TABLES
from pipeline.cases.last_word import RULED, STATE, TYPE
from pipeline.cases.store import Store
from pipeline.clock import from_microseconds

_DAY_US = 24 * 3600 * 1_000_000


def read_through(store: Store) -> None:
    """Reads every row of every table: DuckDB (2.0.1) checks a block's sum only when it reads it.

    Indexes are not read, and no query finds damage in one; a restore makes them anew.
    """
    for table in TABLES:
        store.rows(f'SELECT bit_xor(hash(t)) FROM "{table}" AS t')


def sessions_due(store: Store, repo: str | None = None) -> tuple[datetime, ...]:
    """When sessions began, oldest first, at whose first prompt the hook had something to show.

    That is: a decided, open correction of their repository, not older than 30 days, and two days
    old at least, so that a night lies between it and the session. `repo`: of this one alone.
    """
    rows = store.rows(
        f"""
        WITH sessions AS (
            SELECT session, repo, min(at_us) AS began FROM turns
            WHERE source = 'human' AND NOT headless GROUP BY session, repo
        )
        SELECT DISTINCT s.began FROM sessions AS s JOIN cases AS c ON c.repo = s.repo
            {RULED}
        WHERE ($repo IS NULL OR s.repo = $repo) AND {TYPE} <> 'other' AND {STATE} = 'open'
            AND (c.named OR c.tool <> '')
            AND c.at_us BETWEEN s.began - $oldest AND s.began - $newest
        ORDER BY s.began""",
        {"repo": repo, "oldest": 30 * _DAY_US, "newest": 2 * _DAY_US},
    )
    return _instants(rows)


def shown_at(store: Store) -> tuple[datetime, ...]:
    """When the agent was shown corrections, by the transcripts' own rows, oldest first."""
    return _instants(store.rows("SELECT DISTINCT at_us FROM showings ORDER BY at_us"))


def _instants(rows: list[tuple[int]]) -> tuple[datetime, ...]:
    return tuple(from_microseconds(at) for (at,) in rows)
