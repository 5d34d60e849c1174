"""Reads one file of a rule folder strictly: an unknown key is an error, never a guess.

    rules/<lang>/*.toml       [[rule]] of one family, or [[exclude]] of the whole language
    rules/<lang>/*.txt        harmless, stopwords, bare: one entry a line, `#` starts a comment
    rules/any/*.toml          [[signal]]
    rules/noticed/<source>/   <lang>.toml: [[rule]] that names its type, [[exclude]]; harmless.txt
    rules/mask/               not ours

Every error is a RuleError that names file, rule id, field and value.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from pipeline.classify.pattern import Pattern
from pipeline.classify.rule import Exclusion, Fact, On, Rule, Sample, Signal, Status
from pipeline.errors import RuleError
from pipeline.records import CaseType, Source

FORMAT = 1
RULES = "rules"
CUE = "cue"
EXCLUDE = "exclude"
WORD_LISTS = ("harmless", "stopwords", "bare", "reviewers")

_FAMILIES = (*(t.value for t in CaseType if t is not CaseType.OTHER), CUE, EXCLUDE)
_LANGUAGE = re.compile(r"[a-z]{2}")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class File:
    """One file of a pack and what its place says about it."""

    path: Path
    kind: str
    """RULES for TOML, else the name of a word list."""
    source: Source
    lang: str
    """Two letters, or "any"; a noticed word list is "any" too."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What one TOML file holds."""

    rules: tuple[Rule, ...] = ()
    excludes: tuple[Exclusion, ...] = ()
    signals: tuple[Signal, ...] = ()

    def ids(self) -> list[str]:
        """All ids, repeated ones as often as they occur."""
        ids = [rule.id for rule in self.rules]
        return ids + [e.id for e in self.excludes] + [signal.id for signal in self.signals]


def files(folder: Path) -> Iterator[File]:
    """The pack files below one rules folder, sorted; nothing when it does not exist."""
    for child in sorted(folder.iterdir()) if folder.is_dir() else ():
        if child.name == "noticed":
            for source in (Source.REVIEW, Source.GUARD, Source.SELF):
                yield from _folder(child / source.value, source, "any")
        elif child.is_dir() and (_LANGUAGE.fullmatch(child.name) or child.name == "any"):
            yield from _folder(child, Source.HUMAN, child.name)


def _folder(folder: Path, source: Source, lang: str) -> Iterator[File]:
    for path in sorted(folder.glob("*.toml")):
        yield File(path, RULES, source, lang if source is Source.HUMAN else path.stem)
    for path in sorted(folder.glob("*.txt")):
        if path.stem not in WORD_LISTS:
            raise RuleError(
                f"{path}: no word list is called {path.stem!r}",
                f"known lists: {', '.join(WORD_LISTS)}",
            )
        yield File(path, path.stem, source, lang)


def lines(file: File, content: bytes) -> list[str]:
    """Entries of a word list. Raises RuleError when it is no UTF-8."""
    text = _decoded(file, content)
    return [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]


def _decoded(file: File, content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RuleError(f"{file.path}: not UTF-8: {error.reason}", "save it as UTF-8") from error


def parse(file: File, content: bytes) -> Parsed:
    """One TOML file."""
    try:
        data = tomllib.loads(_decoded(file, content))
    except tomllib.TOMLDecodeError as error:
        raise RuleError(f"{file.path}: not TOML: {error}", "mend the file") from error
    top = _Fields(str(file.path), data)
    top.choice("format", (FORMAT,))
    top.choice("language", (file.lang,))
    if file.lang == "any":
        signals = tuple(_signal(fields) for fields in top.tables("signal"))
        top.done()
        return Parsed(signals=signals)
    noticed = file.source is not Source.HUMAN
    family = top.choice("source" if noticed else "family", (file.source,) if noticed else _FAMILIES)
    prefix = f"{file.lang}.{family}."
    rules: tuple[Rule, ...] = ()
    excludes: tuple[Exclusion, ...] = ()
    if noticed or family != EXCLUDE:
        given = None if noticed else CaseType.OTHER if family == CUE else CaseType(family)
        rules = tuple(_rule(fields, prefix, given) for fields in top.tables("rule"))
    if noticed or family == EXCLUDE:
        excludes = tuple(_exclusion(fields, prefix, "id") for fields in top.tables("exclude"))
    top.done()
    return Parsed(rules, excludes)


def _rule(fields: "_Fields", prefix: str, given: CaseType | None) -> Rule:
    name = fields.identity(prefix)
    kind = given or CaseType(fields.choice("type", tuple(t.value for t in CaseType)))
    question = fields.flag("question", kind is CaseType.VIOLATED_INSTRUCTION)
    rule = Rule(
        id=name,
        type=kind,
        status=fields.member("status", Status),
        summary=fields.text("summary"),
        keywords=tuple(word.casefold() for word in fields.texts("keywords", least=1)),
        pattern=Pattern(fields.text("pattern"), name),
        match=fields.samples("match", {"text", "span"}, least=2),
        reject=fields.samples("reject", {"text", "because"}, least=2),
        known_miss=fields.samples("known_miss", {"text", "because"}, least=0),
        exclude=tuple(_exclusion(f, f"{name}/", "name") for f in fields.tables("exclude")),
        needs=fields.members("needs", Fact),
        unless=fields.members("unless", Fact),
        question=question,
    )
    fields.done()
    return rule


def _exclusion(fields: "_Fields", prefix: str, key: str) -> Exclusion:
    name = fields.identity(prefix) if key == "id" else fields.slug(key, prefix)
    fields.text("because")
    exclusion = Exclusion(
        id=name,
        on=fields.member("on", On),
        pattern=Pattern(fields.text("pattern"), name),
        stops=tuple(fields.texts("stops", least=1)),
        families=fields.members("types", CaseType) if key == "id" else frozenset(),
    )
    fields.done()
    return exclusion


def _signal(fields: "_Fields") -> Signal:
    signal = Signal(
        id=fields.identity("any.signal."),
        status=fields.member("status", Status),
        needs=fields.members("needs", Fact, least=1),
        unless=fields.members("unless", Fact),
        max_chars=fields.number("max_chars"),
    )
    fields.text("summary")
    fields.done()
    return signal


class _Fields:
    """One TOML table that is taken apart field by field; `done` refuses what nobody took."""

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

    def tables(self, field: str) -> Iterator["_Fields"]:
        for place, value in enumerate(self.take(field, list, []), 1):
            if not isinstance(value, dict):
                raise self.fail(field, f"entry {place} is no table")
            yield _Fields(f"{self.where}: {field} {place}", value)

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
