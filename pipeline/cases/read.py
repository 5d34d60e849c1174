"""What the store tells: files, bundles, cases, counts. Named queries, always with parameters."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pipeline.cases.store import Store
from pipeline.masking.stored import stored
from pipeline.records import Case, CaseType, Kind, Source

if TYPE_CHECKING:
    from pipeline.cases.rows import FileRow

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
RULED = "LEFT JOIN rulings AS k ON k.id = c.id LEFT JOIN judged AS j ON j.id = c.id"
"""Joins to `cases AS c` all who may have the last word: a person, then a rule, then the judge."""
TYPE = "coalesce(k.type, CASE WHEN c.type = 'other' THEN j.type END, c.type)"
STATE = """coalesce(k.state,
    CASE WHEN c.type = 'other' AND j.outcome = 'doubtful' THEN 'doubtful' END, 'open')"""
DECIDED_BY = """CASE WHEN k.type IS NOT NULL THEN 'person' WHEN c.type <> 'other' THEN 'rule'
    WHEN j.type IS NOT NULL THEN 'judge' END"""
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


def file_records(store: Store) -> "dict[str, FileRow]":
    """The record of every file ever read, by key."""
    from pipeline.cases.rows import FileRow  # a screen starts without what only a run needs

    rows = store.rows(
        "SELECT key, subagent, device, inode, size, mtime_ns, settings, script FROM files"
    )
    return {row[0]: FileRow(*row) for row in rows}


def known_folders(store: Store) -> dict[str, tuple[str, str]]:
    """Key and base name of the repository of every folder that was seen, by folder key."""
    rows = store.rows(
        "SELECT f.key, r.key, r.base_name FROM folders AS f JOIN repos AS r ON r.key = f.repo"
    )
    return {folder: (repo, name) for folder, repo, name in rows}


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


def collected_at(store: Store) -> datetime | None:
    """When the transcripts were read last."""
    rows = store.rows("SELECT value FROM meta WHERE name = 'collected_us'")
    return EPOCH + timedelta(microseconds=int(rows[0][0])) if rows else None


def case_ids(store: Store) -> set[str]:
    """The ids of all cases."""
    return {row[0] for row in store.rows("SELECT id FROM cases")}


def types_of(store: Store, keys: list[str]) -> dict[str, tuple[str, CaseType, Source]]:
    """Id, type and source of those of the turns that are cases, by turn key."""
    rows = store.rows(
        f"SELECT c.key, c.id, {TYPE}, c.source FROM cases AS c {RULED}"
        " WHERE c.key IN (SELECT unnest(?))",
        [keys],
    )
    return {key: (id_, CaseType(type_), Source(source)) for key, id_, type_, source in rows}


def dead_keys(store: Store, keys: list[str]) -> set[str]:
    """Those of the turns that were taken back, by the strongest word of any file."""
    rows = store.rows(
        "SELECT key FROM turns WHERE key IN (SELECT unnest(?)) GROUP BY key"
        " HAVING bool_or(fate = 2) OR (bool_or(fate = 1) AND NOT bool_or(answered))",
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
        id=row[0], at=EPOCH + timedelta(microseconds=row[1]), day=row[2], session=row[3],
        repo=row[4], type=CaseType(row[5]), source=Source(row[6]), state=row[7],
        decided_by=row[8], rule_id=row[9], text=stored(row[10], row[23]), tool=row[11],
        gist=stored(row[12], row[23]), said=stored(row[13], row[23]), kind=Kind(row[14]),
        row=row[15],
        lang=row[16], interrupted=row[17], named=row[18], admitted=row[19], file=row[20],
        number=row[21], inferred_at=row[22], confirmed=row[24],
    )  # fmt: skip


def turns_per_line(store: Store, since: datetime, at_least: int) -> list[float]:
    """Turns per line of each run since then that read enough lines, oldest first."""
    rows = store.rows(
        "SELECT turns / lines FROM runs WHERE at_us >= ? AND lines >= ? ORDER BY at_us",
        [int((since - EPOCH) / timedelta(microseconds=1)), at_least],
    )
    return [row[0] for row in rows]


def totals(store: Store) -> Mapping[str, int]:
    """How much the store holds: turns, sessions, cases, files."""
    row = store.rows("""
        SELECT (SELECT count(*) FROM heard), (SELECT count(DISTINCT session) FROM heard),
            (SELECT count(*) FROM cases), (SELECT count(*) FROM files)""")[0]
    return dict(zip(("turns", "sessions", "cases", "files"), row, strict=True))


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """How a rule fared with the people whose messages it read."""

    rule_id: str
    cases: int
    dismissed: int
    """Wrong ones, as people said; the rest was not objected to."""


def by_week(store: Store) -> list[tuple[date, int, int]]:
    """Monday, human turns and human corrections of each week, oldest first."""
    return store.rows(f"""
        SELECT date_trunc('week', day)::DATE AS week, sum(turns)::BIGINT, sum(cases)::BIGINT FROM (
            SELECT day, count(*) AS turns, 0 AS cases FROM heard GROUP BY day
            UNION ALL
            SELECT c.day, 0, count(*) FROM cases AS c {RULED}
            WHERE c.source = 'human' AND {STATE} = 'open' GROUP BY c.day
        ) GROUP BY week ORDER BY week""")


def shadow_rules(store: Store) -> list[tuple[str, int, int]]:
    """Rules on trial: id, how often each fired, and how often no active rule decided."""
    return store.rows(
        "SELECT rule_id, sum(fired)::BIGINT, sum(alone)::BIGINT FROM shadow_hits"
        " GROUP BY rule_id ORDER BY sum(fired) DESC, rule_id"
    )


def showings(store: Store) -> dict[str, int]:
    """How often the agent was shown corrections, by the transcripts' own rows; forks count once."""
    rows = store.rows("SELECT count(DISTINCT uuid), count(DISTINCT session) FROM showings")
    return {"times": rows[0][0], "sessions": rows[0][1]}


Sort = tuple[str, str, str, str, str, int]
"""State, source, type, who decided, rule, and how many cases are all of that."""


def sorts(store: Store) -> list[Sort]:
    """All cases in one pass, for the two figures below."""
    return store.rows(f"""
        SELECT {STATE}, c.source, {TYPE}, coalesce({DECIDED_BY}, 'nobody'), c.rule_id, count(*)
        FROM cases AS c {RULED} GROUP BY ALL""")


def tally(found: Iterable[Sort]) -> dict[str, dict[str, int]]:
    """Those `sorts` by state, source, type, and by who decided; each adds up to all cases."""
    names = ("state", "source", "type", "decided_by")
    counts: dict[str, dict[str, int]] = {name: {} for name in names}
    for *values, _, number in found:
        for name, value in zip(names, values, strict=True):
            counts[name][value] = counts[name].get(value, 0) + number
    return counts


def by_rule(found: Iterable[Sort]) -> list[RuleRecord]:
    """Those `sorts` by rule: every rule that made cases, by number of cases."""
    cases, dismissed = Counter[str](), Counter[str]()
    for state, *_, rule, number in found:
        cases[rule] += number
        dismissed[rule] += number * (state == "dismissed")
    records = [RuleRecord(rule, number, dismissed[rule]) for rule, number in cases.items()]
    return sorted(records, key=lambda record: (-record.cases, record.rule_id))


def history(store: Store, case_: str) -> list[tuple[datetime, str, str | None, str]]:
    """All verdicts on a case, oldest first: when, by whom, type, rule."""
    rows = store.rows(
        "SELECT at_us, decided_by, type, rule_id FROM verdicts WHERE id = ? ORDER BY at_us", [case_]
    )
    return [(EPOCH + timedelta(microseconds=at), by, kind, rule) for at, by, kind, rule in rows]


def turn_key(store: Store, case_: str) -> str:
    """The turn behind a case."""
    return str(store.rows("SELECT key FROM cases WHERE id = ?", [case_])[0][0])
