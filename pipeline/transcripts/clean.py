"""Reduces a person's piece to the words that the person gave: no injected blocks, no pastes."""

import re
from collections.abc import Sequence

from pipeline.transcripts.decode import clean_surrogates
from pipeline.transcripts.markers import strip_injected

_PASTED = re.compile(r'<pasted_content id="([^"]{1,64})">.*?</pasted_content id="\1">', re.DOTALL)
_PLACEHOLDER = re.compile(r"\[(?:Image #\d+|Pasted text #\d+(?: \+\d+ lines?)?)\]")


def clean(text: str, displays: Sequence[str] = ()) -> str:
    """The person's own words in a raw piece; "" when all of it was pasted or injected.

    `displays` are what the input box showed at prompts with a paste in the same session
    (`history.py`): up to 2.1.197 a paste stands unmarked inside the text, and only the display
    tells which part of it was typed.
    """
    text = clean_surrogates(text).replace("\r\n", "\n").replace("\r", "\n")
    text = _PASTED.sub("", strip_injected(text))
    for display in displays:
        typed = _typed_part(text.strip(), display)
        if typed is not None:
            text = typed
            break
    return _PLACEHOLDER.sub("", text).strip()


def _typed_part(text: str, display: str) -> str | None:
    """The display without its placeholders, when the text is the display with pastes filled in."""
    parts = [part.strip() for part in _PLACEHOLDER.split(display.replace("\r", "\n"))]
    if len(parts) < 2 or not text.startswith(parts[0]) or not text.endswith(parts[-1]):
        return None
    at = len(parts[0])
    for part in parts[1:-1]:
        found = text.find(part, at)
        if found < 0:
            return None
        at = found + len(part)
    if at > len(text) - len(parts[-1]):
        return None
    return "\n".join(part for part in parts if part)
