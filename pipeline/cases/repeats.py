"""What proposals are counted from: the cases that count, and the sessions in which the agent acted.

A case counts when it is open, of a decided type, and says what it is about (S3.25): it names its
object, or the action that it answers is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from pipeline.cases.last_word import RULED, STATE, TYPE
from pipeline.cases.store import Store
from pipeline.clock import from_microseconds, microseconds
from pipeline.records import CaseType, Source

_COUNTING = f"""
    SELECT r.name AS repo, {TYPE} AS type, c.session, c.day, c.at_us, c.source
    FROM cases AS c JOIN repos AS r ON r.key = c.repo {RULED}
    WHERE {STATE} = 'open' AND {TYPE} <> 'other' AND (c.named OR c.tool <> '')"""
_BY_SOURCE = ", ".join(f"count(*) FILTER (source = '{source}')" for source in Source)

Bundle = tuple[str, CaseType]
"""Short name of a repository, and one of the four types."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The cases of one bundle in one session on one local day."""

    session: str
    day: date
    begun_at: datetime
    """Of the oldest of them, UTC."""
    sources: tuple[int, int, int, int]
    """Cases by source, in the order of `Source`."""

    @property
    def human(self) -> bool:
        """A person said one of them."""
        return self.sources[0] > 0

    @property
    def noticed(self) -> bool:
        """One of them was noticed."""
        return any(self.sources[1:])


@dataclass(frozen=True, slots=True)
class Watched:
    """A bundle and the instant that parts its history in two."""

    bundle: Bundle
    at: datetime


@dataclass(frozen=True, slots=True)
class Halves:
    """What happened up to an instant, and after it."""

    cases: tuple[int, int]
    """Cases of the bundle that count."""
    sessions: tuple[int, int]
    """Sessions of the repository in which the agent acted. One that acted on both sides counts on
    both; copies in forks and resumed sessions count for the original."""


def units(store: Store, until: date | None = None) -> dict[Bundle, list[Unit]]:
    """All bundles with cases that count, by name; `until` is the last local day to look at."""
    rows = store.rows(
        f"""SELECT repo, type, session, day, min(at_us), {_BY_SOURCE} FROM ({_COUNTING})
        WHERE $until IS NULL OR day <= $until
        GROUP BY repo, type, session, day ORDER BY repo, type, day, session""",
        {"until": until},
    )
    found: dict[Bundle, list[Unit]] = {}
    for repo, kind, session, day, at_us, *sources in rows:
        begun_at = from_microseconds(at_us)
        unit = Unit(session, day, begun_at, (sources[0], sources[1], sources[2], sources[3]))
        found.setdefault((repo, CaseType(kind)), []).append(unit)
    return found


def halves(store: Store, watched: Sequence[Watched]) -> list[Halves]:
    """One for each, in their order. Cases from before the first session that is known are left
    out: a home from before sessions were kept knows only those whose transcripts still exist."""
    if not watched:
        return []
    rows = store.rows(
        f"""WITH watched AS (
            SELECT unnest($places) AS place, unnest($repos) AS repo, unnest($types) AS type,
                unnest($times) AS split_us),
        seen AS (
            SELECT w.place, count(DISTINCT h.session) FILTER (h.at_us <= split_us) AS before,
                count(DISTINCT h.session) FILTER (h.at_us > split_us) AS after,
                min(h.at_us) AS first_us
            FROM watched AS w JOIN repos AS r ON r.name = w.repo JOIN heard AS h ON h.repo = r.key
            WHERE h.id IN (SELECT id FROM acted) GROUP BY w.place),
        said AS (
            SELECT w.place, count(*) FILTER (c.at_us <= split_us) AS before,
                count(*) FILTER (c.at_us > split_us) AS after
            FROM watched AS w JOIN ({_COUNTING}) AS c ON c.repo = w.repo AND c.type = w.type
            LEFT JOIN seen AS s ON s.place = w.place
            WHERE c.at_us > split_us OR c.at_us >= s.first_us GROUP BY w.place)
        SELECT coalesce(said.before, 0), coalesce(said.after, 0), coalesce(seen.before, 0),
            coalesce(seen.after, 0)
        FROM watched AS w LEFT JOIN said ON said.place = w.place
            LEFT JOIN seen ON seen.place = w.place
        ORDER BY w.place""",
        {
            "places": list(range(len(watched))),
            "repos": [item.bundle[0] for item in watched],
            "types": [item.bundle[1].value for item in watched],
            "times": [microseconds(item.at) for item in watched],
        },
    )
    return [Halves((row[0], row[1]), (row[2], row[3])) for row in rows]
