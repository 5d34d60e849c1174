"""Cuts normalised text into sentences and says in which language each one is.

Scripts decide for Korean, Japanese, Chinese and Russian; languages in Latin letters vote with their
most frequent words (data under rules/), and English wins a draw.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import regex

DEFAULT = "en"

_END = regex.compile(r"[.!?…。！？｡]+(?=[\s\"')\]」』】*~]|$)[\"')\]」』】*~]*|[。！？｡!?]+|\n+")
_HANGUL = regex.compile(r"[\uac00-\ud7a3\u3131-\u318e\u1100-\u11ff]")
_KANA = regex.compile(r"[\u3041-\u3096\u30a1-\u30fa]")
_HAN = regex.compile(r"\p{Han}")
_CYRILLIC = regex.compile(r"\p{Cyrillic}")
_WORD = regex.compile(r"\p{L}+")


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
    for mark in _END.finditer(text):
        spans.append((at, mark.end()))
        at = mark.end()
    spans.append((at, len(text)))
    trimmed = (_trim(text, start, end) for start, end in spans)
    return [(start, end) for start, end in trimmed if end > start]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    return start + lead, start + max(lead, len(piece.rstrip()))


def cut(
    text: str, words: Mapping[str, frozenset[str]], forced: str | None = None
) -> list[Sentence]:
    """The sentences of normalised text with their languages.

    `words` maps a language to its most frequent words; `forced` gives every sentence one language.
    """
    kana = bool(_KANA.search(text))
    return [
        Sentence(text[a:b], a, forced or language(text[a:b], words, kana)) for a, b in split(text)
    ]


def language(text: str, words: Mapping[str, frozenset[str]], kana: bool = False) -> str:
    """The language of one sentence. `kana`: the text around it is Japanese, so Han is too."""
    if not text.isascii():
        if _HANGUL.search(text):
            return "ko"
        if _KANA.search(text):
            return "ja"
        if _HAN.search(text):
            return "ja" if kana else "zh"
        if _CYRILLIC.search(text):
            return "ru"
    return _vote(text, words)


def _vote(text: str, words: Mapping[str, frozenset[str]]) -> str:
    spoken = set(_WORD.findall(text.casefold()))
    best, most = DEFAULT, len(spoken & words.get(DEFAULT, frozenset()))
    for lang, frequent in words.items():
        count = len(spoken & frequent)
        if count > most:
            best, most = lang, count
    return best
