"""What a statement is worth: does it name its object, does it come from a reviewer.

A bare correction ("no", "not that") is worth something only together with the action that it
answers. The words that name nothing (pronouns, negations, blame, filler) are data:
rules/<lang>/bare.txt.
"""

import regex

from pipeline.classify.normalise import HOLE, normalise
from pipeline.classify.rule import Packs
from pipeline.records import Finding, Message

_WORD = regex.compile(r"[\p{L}\p{N}_']+")
_UNSPACED = ("ko", "ja", "zh")
"""Written without spaces, or with endings stuck to the word: bare parts are cut out of the text."""


def is_named(loaded: Packs, message: Message, finding: Finding) -> bool:
    """True when words are left after the bare ones are gone, or something was quoted or pasted."""
    text = normalise(message.text).text.casefold()
    if HOLE in text:
        return True
    bare = loaded.bare.get(finding.lang, ())
    if finding.lang not in _UNSPACED:
        return any(len(word) > 2 and word not in bare for word in _WORD.findall(text))
    text = loaded.fold(text, finding.lang)
    for word in bare:
        text = text.replace(word, " ")
    return any(len(word) > 1 for word in _WORD.findall(text))


def is_review(loaded: Packs, about: str) -> bool:
    """Type and task of a subagent say that it was sent to review; others only report their work."""
    text = about.casefold()
    return any(word in text for word in loaded.reviewers)
