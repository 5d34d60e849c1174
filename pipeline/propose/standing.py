"""Whether an instruction that was violated already stands somewhere: "exists, not kept".

By words that a case and one line of instructions share. Precision first: a wrong hint sends people
to a line that has nothing to do with it, a missed one costs only the hint.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.propose.instructions import Instructions, instructions
from pipeline.propose.words import words
from pipeline.records import Case, CaseType

SHARED = 3
"""So many rare words in common are a match;"""
SHARED_OF_SHORT = 2
"""or so many, where they are nearly all that a short line says."""
NEARLY_ALL = 2 / 3
COMMON_LINES = 8
"""A word that stands in more lines than this is not rare."""
_WORD = re.compile(
    r"[\u30a0-\u30ff]{2,}|[\u3400-\u9fff]{2,}|[\uac00-\ud7af]{2,}|(?:(?![\u3040-\u9fff\uac00-\ud7af])[^\W\d_]){3,}"
)


@dataclass(frozen=True, slots=True)
class Location:
    """A line of instructions."""

    path: Path
    line: int


def already(
    kind: CaseType, cases: Sequence[Case], top: Path | None, claude: Sequence[Path]
) -> Location | None:
    """Where a violated instruction stands in what Claude Code reads in a working tree."""
    if kind is not CaseType.VIOLATED_INSTRUCTION or top is None:
        return None
    return standing(cases, instructions(top, claude))


def standing(cases: Sequence[Case], documents: Sequence[Instructions]) -> Location | None:
    """The line that more cases match than any other, at least two of them (or the only one)."""
    lines = [
        (Location(document.path, number), content(text))
        for document in documents
        for number, text in document.lines
        if not text.lstrip().startswith("<!--")
    ]
    spread = Counter(word for _, found in lines for word in found)
    heard = [content(f"{case.text} {case.gist}") for case in cases]
    best: tuple[int, int] = (0, 0)
    place: Location | None = None
    for location, found in lines:
        rare = frozenset(word for word in found if spread[word] <= COMMON_LINES)
        shared = [len(rare & said) for said in heard]
        matching = [number for number in shared if _matches(number, len(found))]
        score = len(matching), sum(matching)
        if score > best and len(matching) >= min(2, len(cases)):
            best, place = score, location
    return place


def content(text: str) -> frozenset[str]:
    """The words that tell what a text is about, in their shortest form."""
    found = (word.casefold() for word in _WORD.findall(text))
    return frozenset(_stem(word) for word in found if word not in words().generic)


def _matches(shared: int, of: int) -> bool:
    return shared >= SHARED or (shared >= SHARED_OF_SHORT and shared / of >= NEARLY_ALL)


def _stem(word: str) -> str:
    """Of an English plural the singular."""
    return word[:-1] if len(word) > 3 and word.isascii() and word.endswith("s") else word
