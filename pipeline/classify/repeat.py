"""Does a message say again what its person said just before?

A demand that had to be made twice was not met the first time. By itself that proves little: people
repeat tasks with one word changed, too. So it supports a rule and never decides.
"""

import regex

SHARE = 0.6
"""Of the message's letter triples, how many stand in the words before."""
LEAST_TRIPLES = 6
"""Shorter words ("yes please", "다시 해줘") are repeated without any meaning."""

_BETWEEN = regex.compile(r"[^\p{L}\p{N}]+")


def repeats(text: str, before: str) -> bool:
    """True when most of `text` stands in `before`, spaces, marks and case aside."""
    said = _triples(text)
    if len(said) < LEAST_TRIPLES:
        return False
    return len(said & _triples(before)) >= SHARE * len(said)


def _triples(text: str) -> set[tuple[str, str, str]]:
    letters = _BETWEEN.sub("", text.casefold())
    return set(zip(letters, letters[1:], letters[2:], strict=False))
