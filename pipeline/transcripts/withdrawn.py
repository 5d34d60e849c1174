"""Prompts that were taken back: Esc before any output, a rewind, a resend with more text.

Both the old and the new prompt stay in the file without any mark (2.1.197 and 2.1.332).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from itertools import pairwise

from pipeline.records import Fate

RESENT_WITHIN = timedelta(minutes=10)
SIMILAR_RATIO = 0.8
COMPARED_CHARS = 2000


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt line of a file, in file order."""

    uuid: str
    parent: str
    position: object
    """turnPosition.promptIndex, equal for a rewound prompt and its replacement (2.1.332)."""
    session_id: str
    at: datetime | None
    text: str


def fates(prompts: Sequence[Prompt], answered: Callable[[str], bool]) -> dict[str, Fate]:
    """The fate of each prompt that was not simply sent, by uuid.

    `answered` tells whether the agent answered below a prompt in this file.
    """
    found: dict[str, Fate] = {}
    for earlier, later, siblings in _pairs(prompts):
        if not answered(earlier.uuid):
            fate = Fate.UNANSWERED
        elif siblings and _similar(earlier.text, later.text):
            fate = Fate.WITHDRAWN
        else:
            continue
        found[earlier.uuid] = max(fate, found.get(earlier.uuid, Fate.SENT))
    return found


def _pairs(prompts: Sequence[Prompt]) -> Iterator[tuple[Prompt, Prompt, bool]]:
    """Neighbours among the prompts below one parent, and neighbours that repeat a beginning.

    True marks the first: an answered prompt is taken back by a rewind only, never by a later "no,
    use tabs" that happens to begin with it.
    """
    below: dict[tuple[str, object], dict[str, Prompt]] = defaultdict(dict)
    for prompt in prompts:
        if prompt.parent:
            below[prompt.parent, prompt.position].setdefault(prompt.uuid, prompt)
    for group in below.values():
        for earlier, later in pairwise(group.values()):
            yield earlier, later, True
    for earlier, later in pairwise(prompts):
        if _is_resent(earlier, later):
            yield earlier, later, False


def _is_resent(earlier: Prompt, later: Prompt) -> bool:
    """The same beginning again within minutes, with more behind it."""
    return (
        earlier.uuid != later.uuid
        and earlier.session_id == later.session_id
        and len(later.text) > len(earlier.text) > 0
        and later.text.startswith(earlier.text)
        and earlier.at is not None
        and later.at is not None
        and timedelta() <= later.at - earlier.at <= RESENT_WITHIN
    )


def _similar(earlier: str, later: str) -> bool:
    a, b = earlier[:COMPARED_CHARS], later[:COMPARED_CHARS]
    return (
        b.startswith(a)
        or a.startswith(b)
        or (SequenceMatcher(None, a, b, autojunk=False).ratio() >= SIMILAR_RATIO)
    )
