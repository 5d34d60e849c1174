"""The figures of `stats`: what the store holds, counted in ways that add up."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date

from pipeline.cases.last_word import DECIDED_BY, RULED, STATE, TYPE
from pipeline.cases.store import Store

Sort = tuple[str, str, str, str, str, int]
"""State, source, type, who decided, rule, and how many cases are all of that."""


@dataclass(frozen=True, slots=True)
class RuleRecord:
    """How a rule fared with the people whose messages it read."""

    rule_id: str
    cases: int
    dismissed: int
    """Wrong ones, as people said; the rest was not objected to."""


def totals(store: Store) -> Mapping[str, int]:
    """How much the store holds: turns, sessions, cases, files."""
    row = store.rows("""
        SELECT (SELECT count(*) FROM heard), (SELECT count(DISTINCT session) FROM heard),
            (SELECT count(*) FROM cases), (SELECT count(*) FROM files)""")[0]
    return dict(zip(("turns", "sessions", "cases", "files"), row, strict=True))


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
