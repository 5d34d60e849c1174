"""Puts cases that say much the same together; "A not B" is not "B not A"."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from pipeline.records import Case

SIMILAR_RATIO = 0.6
COMPARED_WORDS = 60
_WORD = re.compile(r"\w+|[^\w\s]")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def grouped(cases: Sequence[Case]) -> list[list[Case]]:
    """The cases in groups, both in the order in which they came.

    A case joins the first group whose first case it resembles, so a group never drifts away from
    what it began with.
    """
    groups: list[tuple[list[str], list[Case]]] = []
    for case in cases:
        words = _words(case.text)
        for first, group in groups:
            if _alike(first, words):
                group.append(case)
                break
        else:
            groups.append((words, [case]))
    return [group for _, group in groups]


def _words(text: str) -> list[str]:
    """Words, or characters where a script writes no spaces between them."""
    spaced = _UNSPACED.sub(lambda found: f" {found[0]} ", text.casefold())
    return _WORD.findall(spaced)[:COMPARED_WORDS]


def _alike(a: list[str], b: list[str]) -> bool:
    """Two cheap upper bounds before the comparison itself. Words that both have, but in another
    order, turn a sentence round: then it is not the same."""
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if matcher.real_quick_ratio() < SIMILAR_RATIO or matcher.quick_ratio() < SIMILAR_RATIO:
        return False
    return matcher.ratio() == matcher.quick_ratio()
