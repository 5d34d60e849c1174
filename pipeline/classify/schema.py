"""Reads one file of a rule folder strictly: an unknown key is an error, never a guess.

    rules/<lang>/*.toml       [[rule]] of one family, or [[exclude]] of the whole language
    rules/<lang>/*.txt        harmless, stopwords, letters, bare, fold: one entry a line,
                              `#` starts a comment
    rules/any/*.toml          [[signal]]
    rules/noticed/<source>/   <lang>.toml: [[rule]] that names its type, [[exclude]]; harmless.txt
    rules/mask/               not ours

Every error is a RuleError that names file, rule id, field and value.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.classify.fields import Fields
from pipeline.classify.pattern import Pattern
from pipeline.classify.rule import Exclusion, Fact, On, Rule, Signal, Status
from pipeline.errors import RuleError
from pipeline.records import CaseType, Source

FORMAT = 1
RULES = "rules"
CUE = "cue"
EXCLUDE = "exclude"
FOLD = "fold"
WORD_LISTS = ("harmless", "stopwords", "letters", "bare", FOLD, "reviewers")

_FAMILIES = (*(t.value for t in CaseType if t is not CaseType.OTHER), CUE, EXCLUDE)
_LANGUAGE = re.compile(r"[a-z]{2}")


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
    """Entries of a word list. Raises RuleError when it is no UTF-8, or an entry no pair."""
    text = _decoded(file, content)
    found = [line.strip() for line in text.splitlines() if line.strip() and line[0] != "#"]
    for entry in found if file.kind == FOLD else ():
        if len(entry) != 3 or entry[1] != " ":
            raise RuleError(
                f"{file.path}: {entry[:20]!r} is no pair of characters",
                "write the character, a space and the one it is read as",
            )
    return found


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
    top = Fields(str(file.path), data)
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


def _rule(fields: Fields, prefix: str, given: CaseType | None) -> Rule:
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


def _exclusion(fields: Fields, prefix: str, key: str) -> Exclusion:
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


def _signal(fields: Fields) -> Signal:
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
