"""One TOML table taken apart field by field, strictly: what nobody takes is an error."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from pipeline.classify.rule import Sample
from pipeline.errors import RuleError

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_Choice = TypeVar("_Choice", bound=StrEnum)


class Fields:
    """Hands out the fields of one table; `done` refuses what nobody took.

    Every error is a RuleError that names file, rule id, field and value.
    """

    def __init__(self, where: str, data: Mapping[str, Any]) -> None:
        self.where = where
        self.left = dict(data)

    def fail(self, field: str, problem: str) -> RuleError:
        return RuleError(f"{self.where}: {field}: {problem}", "mend the field")

    def take(self, field: str, kind: type, default: Any = None) -> Any:
        value = self.left.pop(field, default)
        if value is None:
            raise self.fail(field, "missing")
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise self.fail(field, f"{str(value)[:60]!r} is no {kind.__name__}")
        return value

    def text(self, field: str) -> str:
        value: str = self.take(field, str)
        if not value.strip():
            raise self.fail(field, "empty")
        return value

    def flag(self, field: str, default: bool) -> bool:
        return bool(self.take(field, bool, default))

    def number(self, field: str) -> int:
        return int(self.take(field, int))

    def texts(self, field: str, least: int) -> list[str]:
        values: list[Any] = self.take(field, list, [])
        if len(values) < least:
            raise self.fail(field, f"{len(values)} entries, at least {least} needed")
        for value in values:
            if not isinstance(value, str) or not value.strip():
                raise self.fail(field, f"{str(value)[:60]!r} is no text")
        return values

    def choice(self, field: str, allowed: tuple[Any, ...]) -> Any:
        value = self.take(field, object)
        if value not in allowed:
            raise self.fail(
                field, f"{str(value)[:60]!r} is not one of {', '.join(map(str, allowed))}"
            )
        return value

    def member(self, field: str, kind: type[_Choice]) -> _Choice:
        return kind(self.choice(field, tuple(item.value for item in kind)))

    def members(self, field: str, kind: type[_Choice], least: int = 0) -> frozenset[_Choice]:
        allowed = [item.value for item in kind]
        values = self.texts(field, least)
        for value in values:
            if value not in allowed:
                raise self.fail(field, f"{value[:60]!r} is not one of {', '.join(allowed)}")
        return frozenset(kind(value) for value in values)

    def samples(self, field: str, keys: set[str], least: int) -> tuple[Sample, ...]:
        tables = list(self.tables(field))
        if len(tables) < least:
            raise self.fail(field, f"{len(tables)} samples, at least {least} needed")
        samples = []
        for table in tables:
            values = {key: table.text(key) for key in sorted(keys)}
            table.done()
            samples.append(Sample(values["text"], values.get("span", "")))
        return tuple(samples)

    def tables(self, field: str) -> Iterator["Fields"]:
        for place, value in enumerate(self.take(field, list, []), 1):
            if not isinstance(value, dict):
                raise self.fail(field, f"entry {place} is no table")
            yield Fields(f"{self.where}: {field} {place}", value)

    def identity(self, prefix: str) -> str:
        """The table's id, which from here on names it in every message."""
        value = self.text("id")
        self.where = f"{self.where.split(': ')[0]}: {value[:80]}"
        if not value.startswith(prefix) or not _SLUG.fullmatch(value[len(prefix) :]):
            raise self.fail("id", f"{value[:80]!r} is not {prefix}<slug>")
        return value

    def slug(self, field: str, prefix: str) -> str:
        value = self.text(field)
        if not _SLUG.fullmatch(value):
            raise self.fail(field, f"{value[:60]!r} is no slug")
        return prefix + value

    def done(self) -> None:
        if self.left:
            raise self.fail(sorted(self.left)[0], "unknown field")
