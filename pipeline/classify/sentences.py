"""Cuts normalised text into sentences and says in which language each one is.

Scripts decide for Korean, Japanese, Chinese and Russian; languages in Latin letters vote with their
most frequent words and their own letters (data under rules/). Without a winner the whole text
decides, then the person's words before; what still says nothing is English.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import regex

DEFAULT = "en"

_FOREIGN = re.compile(r"[^\x00-\u036f\u2000-\u2ddf]")
"""Whatever is neither a Latin letter nor a common mark: none of the scripts has a letter outside.
One search less than four, for languages in Latin letters."""
_END = regex.compile(r"[.!?…。！？｡]+(?=[\s\"')\]」』】*~]|$)[\"')\]」』】*~]*|[。！？｡!?]+|\n+")
_HANGUL = regex.compile(r"[\uac00-\ud7a3\u3131-\u318e\u1100-\u11ff]")
_KANA = regex.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_HAN = regex.compile(r"\p{Han}")
_CYRILLIC = regex.compile(r"\p{Cyrillic}")
_WORD = re.compile(r"[^\W\d_]+")


_BEFORE_CHARS = 200


@dataclass(frozen=True, slots=True)
class Latin:
    """How languages in Latin letters are told apart."""

    words: Mapping[str, frozenset[str]]
    """By language: its most frequent words, casefolded."""
    letters: Mapping[str, frozenset[str]]
    """By language: its letters beyond a to z, in lower case."""
    speakers: Mapping[str, tuple[str, ...]] = field(init=False, repr=False)
    """By word: the languages that have it among their frequent ones."""
    writers: Mapping[str, tuple[str, ...]] = field(init=False, repr=False)
    """The same by letter."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "speakers", _turned(self.words))
        letters = {lang: self.letters.get(lang, frozenset()) for lang in self.words}
        object.__setattr__(self, "writers", _turned(letters))


def _turned(lists: Mapping[str, frozenset[str]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for lang, entries in lists.items():
        for entry in entries:
            found[entry] = (*found.get(entry, ()), lang)
    return found


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of the text, without the spaces around it."""

    text: str
    start: int
    """Offset of its first character in the whole text."""
    lang: str


def split(text: str) -> list[tuple[int, int]]:
    """Half-open spans of the sentences, in order, with their end marks, blank ones left out."""
    spans = []
    at = 0
    for end in [*(mark.end() for mark in _END.finditer(text)), len(text)]:
        piece = text[at:end].lstrip()
        if piece:
            start = end - len(piece)
            spans.append((start, start + len(piece.rstrip())))
        at = end
    return spans


def cut(text: str, latin: Latin, forced: str | None = None, before: str = "") -> Iterator[Sentence]:
    """The sentences of normalised text with their languages, each when it is asked for.

    `forced` gives every sentence one language. A sentence in Latin letters that has no clear vote
    follows the whole text, and that the person's words `before`.
    """
    kana = not text.isascii() and bool(_KANA.search(text))
    around: str | None = None
    for start, end in split(text):
        piece = text[start:end]
        lang = forced or by_script(piece, kana)
        if lang is None:
            lang, clear = vote(piece, latin)
            if not clear:
                if around is None:
                    # A text of one sentence has just been asked.
                    around = _clear(text, latin) if len(piece) < len(text.strip()) else ""
                    around = around or _clear(before[:_BEFORE_CHARS], latin)
                lang = around or lang
        yield Sentence(piece, start, lang)


def _clear(text: str, latin: Latin) -> str:
    lang, clear = vote(text, latin)
    return lang if clear else ""


def by_script(text: str, kana: bool = False) -> str | None:
    """The language that the script tells. `kana`: the text around is Japanese, so Han is too."""
    if text.isascii() or not _FOREIGN.search(text):
        return None
    if _HANGUL.search(text):
        return "ko"
    if _KANA.search(text):
        return "ja"
    if _HAN.search(text):
        return "ja" if kana else "zh"
    return "ru" if _CYRILLIC.search(text) else None


def vote(text: str, latin: Latin) -> tuple[str, bool]:
    """The language with most frequent words, and whether it is alone with that many.

    A letter that only some languages write counts like a word. English wins a draw.
    """
    words = latin.speakers.keys() & _WORD.findall(text.casefold())
    votes = [lang for word in words for lang in latin.speakers[word]]
    if not text.isascii():
        letters = latin.writers.keys() & text.lower()
        votes += [lang for letter in letters for lang in latin.writers[letter]]
    if not votes:
        return DEFAULT, False
    counts = Counter(votes)
    most = max(counts.values())
    best = [lang for lang in latin.words if counts.get(lang) == most]
    return (DEFAULT if DEFAULT in best else best[0]), len(best) == 1
