"""Texts that are made to keep a pattern busy.

Each repeats a piece, or two in turn. Those made for one pattern end with its own letters behind a
line break: a pattern is given up at once when a letter that it needs occurs nowhere.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from pipeline.classify.normalise import LIMIT

PIECES = (
    "a", " ", "no ", "not ", "you ", "1", ", ", "x, ", "aA1_-./", "\n", "□",
    "가", "아니 ", "안 ", "あ", "の", "、", "不", "没", "的，", "не ", "ß ", "é",
)  # fmt: skip
_ATTACKS = 200
_LETTER_CHARS = 300
"""A pattern that doubles its work with each letter never comes to the end of this."""
_TAIL_CHARS = 300


def texts(source: str, words: Sequence[str] = ()) -> Iterator[str]:
    """For one pattern: general pieces, words that belong to it, and each of its letters."""
    letters = [c for c in source if c.isalnum() or c == " "]
    tail = "\n" + "".join(letters)[:_TAIL_CHARS]
    for piece in (*PIECES, *words):
        yield _fill(piece, tail)
    for letter in sorted(set(letters)):
        yield letter * _LETTER_CHARS + tail


def attacks() -> Iterator[str]:
    """200 texts for any pattern, with an end that makes a match fail late, and pieces in turn."""
    yield from (_fill(piece, "!") for piece in PIECES)
    pairs = islice(combinations(PIECES, 2), _ATTACKS - len(PIECES))
    yield from (_fill(first + second, "") for first, second in pairs)


def _fill(piece: str, end: str) -> str:
    return (piece * (LIMIT // len(piece) + 1))[: LIMIT - len(end)] + end
