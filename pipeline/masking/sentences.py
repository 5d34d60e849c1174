"""Where the sentences of a message lie. A secret costs its sentence, not the whole message."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import regex

_GAP = regex.compile(r"\s*\n\s*|(?<=[.!?…][\"'”’)\]]*)\s+|(?<=[。！？])\s*")


def sentences(text: str) -> list[tuple[int, int]]:
    """Half-open spans in order, without the white space between them.

    A sentence ends at a line break, at a full stop with space behind it, or at a full-width stop.
    """
    spans = []
    at = 0
    for gap in _GAP.finditer(text):
        spans.append((at, gap.start()))
        at = gap.end()
    spans.append((at, len(text)))
    return [(start, end) for start, end in spans if start < end]


def widen(spans: Sequence[tuple[int, int]], start: int, end: int) -> tuple[int, int]:
    """A span grown to the whole sentences that it touches."""
    first = bisect_right(spans, start, key=lambda span: span[1])
    last = bisect_left(spans, end, key=lambda span: span[0]) - 1
    touched = spans[first : last + 1]
    return (min(start, touched[0][0]), max(end, touched[-1][1])) if touched else (start, end)
