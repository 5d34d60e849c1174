"""The tables, as migrations that are never edited once released. Times are UTC microseconds."""

import contextlib
from collections.abc import Callable, Iterator

import duckdb

from pipeline.errors import OlderStoreError, StoreError


def m001_tables(con: duckdb.DuckDBPyConnection) -> None:
    """Files and their copies of turns, the cases chosen from them, and what people ruled."""
    con.execute("""
        CREATE TABLE files (
            key VARCHAR PRIMARY KEY, subagent BOOLEAN NOT NULL,
            device UBIGINT NOT NULL, inode UBIGINT NOT NULL, size UBIGINT NOT NULL,
            mtime_ns BIGINT NOT NULL, settings VARCHAR NOT NULL, script VARCHAR NOT NULL,
            present BOOLEAN NOT NULL, own_us BIGINT
        )""")
    con.execute("""
        CREATE TABLE turns (
            file VARCHAR NOT NULL, key VARCHAR NOT NULL, id VARCHAR NOT NULL,
            uuid VARCHAR NOT NULL, session VARCHAR NOT NULL, at_us BIGINT NOT NULL,
            day DATE NOT NULL, inferred_at BOOLEAN NOT NULL, repo VARCHAR NOT NULL,
            source VARCHAR NOT NULL, kind VARCHAR NOT NULL, "row" VARCHAR NOT NULL,
            number BIGINT NOT NULL, headless BOOLEAN NOT NULL, fate UTINYINT NOT NULL,
            answered BOOLEAN NOT NULL, interrupted BOOLEAN NOT NULL, type VARCHAR,
            rule_id VARCHAR NOT NULL, lang VARCHAR NOT NULL, text VARCHAR NOT NULL,
            tool VARCHAR NOT NULL, gist VARCHAR NOT NULL, said VARCHAR NOT NULL,
            admitted BOOLEAN NOT NULL, named BOOLEAN NOT NULL, masked_by VARCHAR NOT NULL,
            PRIMARY KEY (file, key)
        )""")
    con.execute("""
        CREATE TABLE cases (
            id VARCHAR PRIMARY KEY, key VARCHAR NOT NULL, file VARCHAR NOT NULL,
            session VARCHAR NOT NULL, at_us BIGINT NOT NULL, day DATE NOT NULL,
            inferred_at BOOLEAN NOT NULL, repo VARCHAR NOT NULL, source VARCHAR NOT NULL,
            kind VARCHAR NOT NULL, "row" VARCHAR NOT NULL, number BIGINT NOT NULL,
            interrupted BOOLEAN NOT NULL, type VARCHAR NOT NULL, rule_id VARCHAR NOT NULL,
            lang VARCHAR NOT NULL, text VARCHAR NOT NULL, tool VARCHAR NOT NULL,
            gist VARCHAR NOT NULL, said VARCHAR NOT NULL, admitted BOOLEAN NOT NULL,
            named BOOLEAN NOT NULL, masked_by VARCHAR NOT NULL
        )""")
    con.execute("CREATE INDEX turns_key ON turns (key)")
    con.execute("""
        CREATE TABLE repos (
            key VARCHAR PRIMARY KEY, name VARCHAR NOT NULL UNIQUE, base_name VARCHAR NOT NULL
        )""")
    con.execute("CREATE TABLE folders (key VARCHAR PRIMARY KEY, repo VARCHAR NOT NULL)")
    con.execute("""
        CREATE TABLE rulings (
            id VARCHAR PRIMARY KEY, state VARCHAR NOT NULL, type VARCHAR, at_us BIGINT NOT NULL
        )""")
    con.execute("""
        CREATE TABLE verdicts (
            id VARCHAR NOT NULL, at_us BIGINT NOT NULL, decided_by VARCHAR NOT NULL,
            type VARCHAR, rule_id VARCHAR NOT NULL
        )""")
    con.execute("""
        CREATE TABLE heard (
            key VARCHAR PRIMARY KEY, id VARCHAR NOT NULL, session VARCHAR NOT NULL,
            at_us BIGINT NOT NULL, day DATE NOT NULL, repo VARCHAR NOT NULL
        )""")
    con.execute("""
        CREATE TABLE shadow_hits (
            file VARCHAR NOT NULL, day DATE NOT NULL, rule_id VARCHAR NOT NULL,
            fired BIGINT NOT NULL, alone BIGINT NOT NULL, PRIMARY KEY (file, day, rule_id)
        )""")
    con.execute("""
        CREATE TABLE runs (
            at_us BIGINT NOT NULL, lines BIGINT NOT NULL, turns BIGINT NOT NULL,
            new_cases BIGINT NOT NULL
        )""")
    con.execute("CREATE TABLE tombstones (mark VARCHAR PRIMARY KEY)")
    con.execute("CREATE TABLE meta (name VARCHAR PRIMARY KEY, value VARCHAR NOT NULL)")


def m002_hook(con: duckdb.DuckDBPyConnection) -> None:
    """Working trees for which the hook has a file; showings that transcripts tell of."""
    con.execute("CREATE TABLE trees (key VARCHAR PRIMARY KEY, repo VARCHAR NOT NULL)")
    con.execute("""
        CREATE TABLE showings (
            file VARCHAR NOT NULL, uuid VARCHAR NOT NULL, session VARCHAR NOT NULL,
            at_us BIGINT NOT NULL, PRIMARY KEY (file, uuid)
        )""")


def m003_judge(con: duckdb.DuckDBPyConnection) -> None:
    """What the models made of undecided cases, what each call said and cost, batches under way."""
    con.execute("""
        CREATE TABLE judged (
            id VARCHAR PRIMARY KEY, outcome VARCHAR NOT NULL, type VARCHAR, words VARCHAR NOT NULL,
            basis VARCHAR NOT NULL, at_us BIGINT NOT NULL, tries UTINYINT NOT NULL
        )""")
    con.execute("""
        CREATE TABLE answers (
            id VARCHAR NOT NULL, key VARCHAR NOT NULL, purpose VARCHAR NOT NULL,
            model VARCHAR NOT NULL, prompt VARCHAR NOT NULL, label VARCHAR, calls UTINYINT NOT NULL,
            tokens_in BIGINT NOT NULL, tokens_out BIGINT NOT NULL, cost_usd DOUBLE NOT NULL,
            at_us BIGINT NOT NULL
        )""")
    con.execute("""
        CREATE TABLE batched (
            token VARCHAR NOT NULL, remote VARCHAR NOT NULL, id VARCHAR NOT NULL,
            key VARCHAR NOT NULL, name VARCHAR NOT NULL, model VARCHAR NOT NULL,
            prompt VARCHAR NOT NULL, most_usd DOUBLE NOT NULL, at_us BIGINT NOT NULL,
            place VARCHAR NOT NULL, PRIMARY KEY (token, name)
        )""")


def m004_acted(con: duckdb.DuckDBPyConnection) -> None:
    """The turns after which the agent called a tool, by case id: what a rule is exposed to."""
    con.execute(
        "CREATE TABLE acted (file VARCHAR NOT NULL, id VARCHAR NOT NULL, PRIMARY KEY (file, id))"
    )


def m005_acceptances(con: duckdb.DuckDBPyConnection) -> None:
    """Into which file the rule of a bundle was written."""
    con.execute("""
        CREATE TABLE acceptances (
            repo VARCHAR NOT NULL, type VARCHAR NOT NULL, number BIGINT NOT NULL,
            path VARCHAR NOT NULL, rule VARCHAR NOT NULL, at_us BIGINT NOT NULL,
            PRIMARY KEY (repo, type)
        )""")


MIGRATIONS: tuple[Callable[[duckdb.DuckDBPyConnection], None], ...] = (
    m001_tables,
    m002_hook,
    m003_judge,
    m004_acted,
    m005_acceptances,
)


@contextlib.contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """All or nothing."""
    con.begin()
    try:
        yield
        con.commit()
    except BaseException:
        with contextlib.suppress(duckdb.Error):  # a stopped query has ended it already
            con.rollback()
        raise


def is_ready(con: duckdb.DuckDBPyConnection) -> bool:
    """The tables are all there; not so in a store whose first writer was killed at once.

    Raises StoreError for a store that another version of this program has made.
    """
    try:
        done = _done(con)
    except duckdb.CatalogException:  # asking for the list of all tables costs far more
        return False
    if 0 < done < len(MIGRATIONS):
        raise OlderStoreError(
            "the store comes from an older version of twice-told",
            "`twice-told collect` brings it up to date; nothing in it is lost",
        )
    return done == len(MIGRATIONS)


def _done(con: duckdb.DuckDBPyConnection) -> int:
    done = int(con.execute("SELECT count(*) FROM migrations").fetchall()[0][0])
    if done > len(MIGRATIONS):
        raise StoreError(
            f"the store has schema {done}, this version knows {len(MIGRATIONS)}",
            "install the newer version of twice-told again",
        )
    return done


def migrate(con: duckdb.DuckDBPyConnection) -> None:
    """Brings the tables up to date; each step and its own record are one transaction.

    Raises StoreError for a store that a newer version of this program has made.
    """
    con.execute(
        "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name VARCHAR NOT NULL)"
    )
    done = _done(con)
    for number, step in enumerate(MIGRATIONS[done:], done + 1):
        with transaction(con):
            step(con)
            con.execute("INSERT INTO migrations VALUES (?, ?)", [number, step.__name__])
