"""What the rows of a store may say. Asked of rows that come from a file, before they count."""

from collections.abc import Iterable
from enum import StrEnum

from pipeline.cases.judging import Outcome
from pipeline.cases.store import Store
from pipeline.errors import StoreError
from pipeline.records import CaseType, Kind, Source

STATES = ("open", "dismissed")
REPOSITORY_NAME = "[a-z0-9][a-z0-9._-]{0,63}"


def _one_of(column: str, values: Iterable[StrEnum | str]) -> str:
    return f"{column} IN ({', '.join(repr(str(value)) for value in values)})"


_TYPE, _SOURCE, _KIND = (
    _one_of("type", CaseType),
    _one_of("source", Source),
    _one_of("kind", Kind),
)
_MAYBE_TYPE = f"(type IS NULL OR {_TYPE})"
_HOLDS = {
    "cases": f"{_TYPE} AND {_SOURCE} AND {_KIND}",
    "turns": f"{_MAYBE_TYPE} AND {_SOURCE} AND {_KIND}",
    "rulings": f"{_MAYBE_TYPE} AND {_one_of('state', STATES)}",
    "verdicts": _MAYBE_TYPE,
    "judged": f"{_one_of('outcome', Outcome)} AND (type IS NOT NULL) = (outcome = 'decided')"
    f" AND (type IS NULL OR ({_TYPE} AND type <> 'other'))",
    "acceptances": _TYPE,
    "repos": f"regexp_full_match(name, '{REPOSITORY_NAME}')",
}


def check(store: Store) -> None:
    """Raises StoreError when a row holds a value that no run of this program writes."""
    for table, condition in _HOLDS.items():
        if store.rows(f"SELECT 1 FROM {table} WHERE NOT ({condition}) LIMIT 1"):
            raise bad_shape()


def bad_shape() -> StoreError:
    """For a row that no export of ours holds."""
    return StoreError("a row of the export has the wrong shape", "try an older one")
