"""Text that can do nothing to a terminal or to a reader's eye.

Removed: C0 controls except newline and tab, DEL, C1, bidi controls, Unicode tag characters,
zero-width and other invisible characters, lone surrogates. Joiners and selectors stay inside an
emoji, where they are part of the picture.
"""

import re
from functools import cache

# Everything that nobody sees. Line and paragraph separators are no part of it: they show.
_INVISIBLE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without \t and \n, DEL, C1
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, fillers, Arabic mark
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"  # zero-width, bidi
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # musical controls, tags and the last selectors
    "\ud800-\udfff"  # a lone surrogate cannot be written as UTF-8 at all
)
_SELECTORS = "\ufe00-\ufe0f"
_NONCHARACTERS = "\ufdd0-\ufdef\ufffe\uffff"
_PICTURE = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u231a-\u27bf\u2934-\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_KEYCAP = "#*0-9"

# A joiner needs a picture on both sides (a selector or a skin tone may stand between); the emoji
# selector needs a picture or the base of a keycap before it. Everything else of the class goes.
_REMOVED = (
    f"(?P<joiner>(?<=[{_PICTURE}\ufe0f])\u200d(?=[{_PICTURE}]))"
    f"|(?P<selector>(?<=[{_PICTURE}{_KEYCAP}])[\ufe0e\ufe0f])"
    f"|[{_INVISIBLE}{_SELECTORS}{_NONCHARACTERS}]"
)
_ANY = f"[{_INVISIBLE}{_SELECTORS}]"
_compiled = cache(re.compile)
"""When first needed: every command starts with this module, and many have plain text only."""


def inert(text: str) -> str:
    """The text without what a terminal obeys or an eye misses. Clean text comes back as it is.

    Idempotent: removing one character can strand a joiner, so it repeats until nothing changes.
    """
    if text.isprintable() and text.isascii():
        return text
    removed = _compiled(_REMOVED)
    while True:
        kept = removed.sub(_keep, text)
        if kept == text:
            return text
        text = kept


def bare(text: str) -> bool:
    """No invisible character at all, not even inside an emoji."""
    return _compiled(_ANY).search(text) is None


def is_invisible(character: str) -> bool:
    """One character of the class, wherever it stands."""
    return _compiled(_ANY).match(character) is not None


def _keep(found: re.Match[str]) -> str:
    return found.group() if found.lastgroup else ""
