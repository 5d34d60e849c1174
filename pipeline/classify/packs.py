"""Loads the rule packs: folders of TOML and word lists in, one frozen set out.

A later folder adds rules or replaces them by id, so that a user can mend an installed pack without
touching it. One broken file stops everything with a RuleError that names file, rule, field and
value: half a rule set gives wrong numbers.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.classify import schema
from pipeline.classify.rule import Exclusion, Pack, Packs, Rule, Signal
from pipeline.classify.sentences import Latin
from pipeline.errors import RuleError
from pipeline.records import CaseType, Source

_Key = tuple[Source, str]
_ORDER = {kind: place for place, kind in enumerate(CaseType)}


def load(folders: Sequence[Path]) -> Packs:
    """The packs of all folders, later ones adding and overriding by id.

    A folder that does not exist is skipped (a user need not have rules). Raises RuleError.
    """
    gathered = _Gathered()
    for folder in folders:
        seen: set[str] = set()
        for file in schema.files(folder):
            gathered.add(file, file.path.read_bytes(), seen)
    return gathered.packs()


def rules(loaded: Packs) -> Iterator[tuple[Source, str, Rule]]:
    """All rules with source and language, in a stable order."""
    for (source, lang), pack in sorted(loaded.by_key.items()):
        for rule in pack.rules:
            yield source, lang, rule


class _Gathered:
    """What the files read so far hold together."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.rules: dict[_Key, dict[str, Rule]] = {}
        self.excludes: dict[_Key, dict[str, Exclusion]] = {}
        self.signals: dict[str, Signal] = {}
        self.lists: dict[tuple[str, Source, str], list[str]] = {}

    def add(self, file: schema.File, content: bytes, seen: set[str]) -> None:
        """`seen` holds the ids of the same folder: there an id twice is a mistake."""
        name = f"{file.kind}/{file.source}/{file.lang}/{file.path.name}"
        self.hash.update(f"{name}\0{len(content)}\0".encode() + content)
        key = (file.source, file.lang)
        if file.kind != schema.RULES:
            self.lists.setdefault((file.kind, *key), []).extend(schema.lines(file, content))
            return
        parsed = schema.parse(file, content)
        for name in parsed.ids():
            if name in seen:
                raise RuleError(f"{file.path}: {name}: id: used twice", "choose another id")
            seen.add(name)
        self.rules.setdefault(key, {}).update({rule.id: rule for rule in parsed.rules})
        self.excludes.setdefault(key, {}).update({e.id: e for e in parsed.excludes})
        self.signals.update({signal.id: signal for signal in parsed.signals})

    def packs(self) -> Packs:
        keys = {*self.rules, *self.excludes, *((s, lang) for _, s, lang in self.lists)}
        return Packs(
            by_key={key: self._pack(key) for key in sorted(keys)},
            signals=tuple(self.signals.values()),
            latin=Latin(
                words={
                    lang: frozenset(word.casefold() for word in words)
                    for lang, words in self._people("stopwords")
                },
                # `lower`, since `casefold` would make two letters of ß.
                letters={
                    lang: frozenset(letter.lower() for letter in letters)
                    for lang, letters in self._people("letters")
                },
            ),
            folds={
                lang: {ord(pair[0]): ord(pair[-1]) for pair in pairs}
                for lang, pairs in self._people("fold")
            },
            bare={
                lang: tuple(sorted({word.casefold() for word in words}, key=len, reverse=True))
                for lang, words in self._people("bare")
            },
            reviewers=tuple(
                word.casefold() for word in self.lists.get(("reviewers", Source.REVIEW, "any"), ())
            ),
            digest=self.hash.hexdigest(),
        )

    def _pack(self, key: _Key) -> Pack:
        found = self.rules.get(key, {}).values()
        return Pack(
            rules=tuple(sorted(found, key=lambda rule: _ORDER[rule.type])),
            excludes=tuple(self.excludes.get(key, {}).values()),
            harmless=tuple(self.lists.get(("harmless", *key), ())),
        )

    def _people(self, kind: str) -> Iterator[tuple[str, list[str]]]:
        for (found, source, lang), words in sorted(self.lists.items()):
            if found == kind and source is Source.HUMAN:
                yield lang, words
