"""Masks a text once before it is stored, and checks it again at every exit.

Inert first; then all views of the text are searched; what is found is masked in the original; and
the result is searched again until nothing fires. So the last search of any returned text found
nothing, which also makes masking twice the same as masking once. A text that nothing fires on comes
back as it is. A fault or a time-out leaves a marker and nothing of the text.
"""

import functools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import regex

from pipeline.errors import MaskError
from pipeline.masking import packs
from pipeline.masking.detectors import Detector, Do, Table, indexed
from pipeline.masking.inert import inert
from pipeline.masking.sentences import sentences, widen
from pipeline.masking.views import views
from pipeline.records import MaskedText

ERROR_MARKER = "[masked: error]"
_BLANK = "\ufdd0"
"""Stands for a marker while detectors look: a noncharacter, so that inert text holds none. Patterns
of free values exclude it."""
_ROUNDS = 8
"""One usually does. More only where a mask brings two pieces together that fire as a whole."""


@dataclass(frozen=True, slots=True)
class Masked:
    """What may be kept of a text."""

    text: MaskedText
    found: tuple[str, ...]
    """Kinds that fired, each once, by first place; ("error",) when masking failed."""


@dataclass(frozen=True, slots=True)
class _Hit:
    """One finding, as a half-open span of the text."""

    start: int
    end: int
    detector: Detector


def mask(text: str) -> Masked:
    """The text without secrets, SQL and personal data, harmless to a terminal. Never raises for a
    text; raises RuleError when the detectors themselves cannot be loaded."""
    table = packs.table()
    try:
        return _mask(inert(text), table)
    except Exception:  # an entry point: whatever went wrong, the text must not get out
        return Masked(MaskedText(ERROR_MARKER), ("error",))


def recheck(stored: str) -> MaskedText:
    """For text from our own store or an export: as it is when no detector fires, else masked."""
    return mask(stored).text


def fires(row: Detector, text: str) -> bool:
    """Whether one detector alone finds anything: the check of samples. Raises TimeoutError."""
    return any(_search(inert(text), indexed((row,))))


def _mask(text: str, table: Table) -> Masked:
    found: dict[str, None] = {}
    for _ in range(_ROUNDS):
        hits = sorted(_search(text, table), key=lambda hit: (hit.start, -hit.end))
        if not hits:
            return Masked(MaskedText(text), tuple(found))
        found.update((hit.detector.kind, None) for hit in hits)
        text = _without(text, hits)
    raise MaskError("masking does not settle", "report this as a bug")


def _search(text: str, table: Table) -> Iterator[_Hit]:
    """Findings in all views, unordered; none that consist of our own markers alone."""
    for view in views(_blanked(text, table.rows)):
        for row in table.likely(view.text):
            for start, end in row.spans(view.text):
                if view.text[start:end].strip(_BLANK):
                    yield _Hit(*view.home(start, end), row)


def _without(text: str, hits: Iterable[_Hit]) -> str:
    """The text with markers. Spans that touch share one; a secret's marker beats the others."""
    lines = sentences(text)
    spans = [_span(lines, hit) for hit in hits]
    spans.sort(key=lambda span: (span[0], -span[1]))
    merged: list[tuple[int, int, Detector]] = []
    for start, end, row in spans:
        if merged and start < merged[-1][1]:
            first, last, other = merged[-1]
            strong = row if (other.action, row.action) == (Do.REPLACE, Do.MARKER) else other
            merged[-1] = (first, max(last, end), strong)
        else:
            merged.append((start, end, row))
    for start, end, row in reversed(merged):
        text = text[:start] + row.marker() + text[end:]
    return text


def _span(lines: Sequence[tuple[int, int]], hit: _Hit) -> tuple[int, int, Detector]:
    if hit.detector.action is Do.MARKER:
        return (*widen(lines, hit.start, hit.end), hit.detector)
    return hit.start, hit.end, hit.detector


def _blanked(text: str, rows: tuple[Detector, ...]) -> str:
    """Our own markers, and only those of kinds that exist, are nothing to look at again."""
    if "[" not in text:
        return text
    return _markers(rows).sub(lambda found: _BLANK * len(found.group()), text)


@functools.cache
def _markers(rows: tuple[Detector, ...]) -> "regex.Pattern[str]":
    known = sorted({row.marker() for row in rows} | {ERROR_MARKER})
    return regex.compile("|".join(map(regex.escape, known)))
