"""What the screens show: bundles, cases, repositories. Named queries, always with parameters."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from pipeline.cases.last_word import DECIDED_BY, RULED, STATE, TYPE
from pipeline.cases.store import Store
from pipeline.clock import from_microseconds
from pipeline.masking.stored import stored
from pipeline.records import Case, CaseType, Kind, Source

_FROM = f"FROM cases AS c JOIN repos AS r ON r.key = c.repo {RULED}"
_CASE = f"""
    SELECT c.id, c.at_us, c.day, c.session, r.name, {TYPE}, c.source, {STATE}, {DECIDED_BY},
        c.rule_id, c.text, c.tool, c.gist, c.said, c.kind, c."row", c.lang, c.interrupted,
        c.named, c.admitted, c.file, c.number, c.inferred_at, c.masked_by,
        c.type = 'other' AND k.id IS NULL AND coalesce(j.outcome = 'real', false)
    {_FROM}"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which cases a listing is about; None and "" stand for all."""

    repo: str | None = None
    type: CaseType | None = None
    source: Source | None = None
    since: date | None = None
    query: str = ""
    """Words that must all stand in the text, in any case."""
    hidden: bool = False
    """Doubtful and dismissed ones too."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """All visible cases of one repository and type."""

    repo: str
    type: CaseType
    cases: int
    sessions: int
    days: int
    noticed: int
    """How many of them nobody typed."""
    first: date
    last: date


def working_trees(store: Store) -> list[tuple[str, str]]:
    """Key of each known working tree and the name of its repository."""
    return store.rows(
        "SELECT t.key, r.name FROM trees AS t JOIN repos AS r ON r.key = t.repo ORDER BY t.key"
    )


def repo_name(store: Store, key: str) -> str | None:
    """The name of a repository, None when nothing was ever heard there."""
    rows = store.rows("SELECT name FROM repos WHERE key = ?", [key])
    return str(rows[0][0]) if rows else None


def free_name(store: Store, key: str, base_name: str) -> str:
    """The name that a repository gets when something is first heard in it."""
    taken = store.rows("SELECT 1 FROM repos WHERE name = ?", [base_name])
    return f"{base_name[:55]}-{key[:8]}" if taken else base_name


def bundles(store: Store, hidden: bool = False) -> list[Bundle]:
    """Largest and latest first; `hidden` counts doubtful and dismissed cases too."""
    condition = "" if hidden else f"WHERE {STATE} = 'open'"
    rows = store.rows(
        f"""WITH parts AS (  -- few rows, before anything distinct is counted
            SELECT c.repo, {TYPE} AS type, c.session, c.day,
                count(*) AS cases, count(*) FILTER (c.source <> 'human') AS noticed
            FROM cases AS c {RULED}
            {condition} GROUP BY ALL)
        SELECT r.name, type, sum(cases)::BIGINT, count(DISTINCT session), count(DISTINCT day),
            sum(noticed)::BIGINT, min(day), max(day)
        FROM parts JOIN repos AS r ON r.key = parts.repo
        GROUP BY r.name, type ORDER BY sum(cases) DESC, max(day) DESC, r.name, type"""
    )
    return [Bundle(row[0], CaseType(row[1]), *row[2:]) for row in rows]


def cases(store: Store, wanted: Wanted, limit: int | None = None) -> list[Case]:
    """Newest first."""
    condition, values = _where(wanted)
    bound = f" LIMIT {limit:d}" if limit is not None else ""
    rows = store.rows(f"{_CASE} {condition} ORDER BY c.at_us DESC, c.id{bound}", values)
    return [_case(row) for row in rows]


def listing(store: Store, wanted: Wanted) -> list[tuple[str, ...]]:
    """Id, day, repository, type, source and words of each, newest first.

    Whole cases of a large repository take three times as long.
    """
    condition, values = _where(wanted)
    rows = store.rows(
        f"SELECT c.id, c.day::VARCHAR, r.name, {TYPE}, c.source, c.text, c.masked_by"
        f" {_FROM} {condition} ORDER BY c.at_us DESC, c.id",
        values,
    )
    return [(*row, stored(text, masked_by)) for *row, text, masked_by in rows]


def case(store: Store, prefix: str) -> list[Case]:
    """The cases whose id begins so: none, the one that was meant, or too many."""
    rows = store.rows(
        f"{_CASE} WHERE starts_with(c.id, $prefix) ORDER BY c.id LIMIT 3", {"prefix": prefix}
    )
    return [_case(row) for row in rows]


def cases_of(store: Store, ids: list[str]) -> dict[str, Case]:
    """Cases by id; hidden ones too."""
    rows = store.rows(f"{_CASE} WHERE c.id IN (SELECT unnest(?))", [ids])
    return {row[0]: _case(row) for row in rows}


def _where(wanted: Wanted) -> tuple[str, dict[str, Any]]:
    terms: list[str] = []
    values: dict[str, Any] = {}
    if not wanted.hidden:
        terms.append(f"{STATE} = 'open'")
    for column, value in (
        ("r.name", wanted.repo),
        (TYPE, wanted.type and wanted.type.value),
        ("c.source", wanted.source and wanted.source.value),
    ):
        if value is not None:
            name = f"v{len(values)}"
            terms.append(f"{column} = ${name}")
            values[name] = value
    if wanted.since:
        terms.append("c.day >= $since")
        values["since"] = wanted.since
    for number, word in enumerate(wanted.query.split()):
        terms.append(f"contains(lower(c.text), $word{number})")
        values[f"word{number}"] = word.lower()
    return ("WHERE " + " AND ".join(terms) if terms else ""), values


def _case(row: tuple[Any, ...]) -> Case:
    return Case(
        id=row[0], at=from_microseconds(row[1]), day=row[2], session=row[3],
        repo=row[4], type=CaseType(row[5]), source=Source(row[6]), state=row[7],
        decided_by=row[8], rule_id=row[9], text=stored(row[10], row[23]), tool=row[11],
        gist=stored(row[12], row[23]), said=stored(row[13], row[23]), kind=Kind(row[14]),
        row=row[15],
        lang=row[16], interrupted=row[17], named=row[18], admitted=row[19], file=row[20],
        number=row[21], inferred_at=row[22], confirmed=row[24],
    )  # fmt: skip


def history(store: Store, case_: str) -> list[tuple[datetime, str, str | None, str]]:
    """All verdicts on a case, oldest first: when, by whom, type, rule."""
    rows = store.rows(
        "SELECT at_us, decided_by, type, rule_id FROM verdicts WHERE id = ? ORDER BY at_us", [case_]
    )
    return [(from_microseconds(at), by, kind, rule) for at, by, kind, rule in rows]


def turn_key(store: Store, case_: str) -> str:
    """The turn behind a case."""
    return str(store.rows("SELECT key FROM cases WHERE id = ?", [case_])[0][0])
