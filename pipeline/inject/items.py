"""Turns cases into the lines that the agent is shown: short, inert, facts and no orders."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from pipeline.masking.inert import inert
from pipeline.masking.masker import recheck
from pipeline.records import Case, CaseType, Source

SHOWN_FOR = timedelta(days=30)
MOST_HUMAN, MOST_NOTICED = 4, 2
ITEM_MAX_CHARS, GIST_MAX_CHARS, ID_CHARS = 280, 60, 8
FENCE_WORDS = ("Twice Told: recent corrections", "End of Twice Told corrections")
_TAG = re.compile(r"<(?=/?[A-Za-z!?])")
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://\S+|\bwww\.\S+|\bgit@\S+")
_COMMAND = re.compile(r"`[^`]*`|(?m:^\s*[$#>]\s.*$)")


@dataclass(frozen=True, slots=True)
class Item:
    """One line for the agent, and the case behind it."""

    case: Case
    text: str
    until: datetime
    """From this instant on it is too old to be shown."""

    @property
    def units(self) -> int:
        """Length in UTF-16 units, the stricter way to count the client's limit."""
        return len(self.text.encode("utf-16-le", "surrogatepass")) // 2

    @property
    def human(self) -> bool:
        """A person said it."""
        return self.case.source is Source.HUMAN


def choose(cases: Iterable[Case], now: datetime) -> list[Item]:
    """At most four that a person said and two that were noticed, of one repository, newest first.

    Only decided and open ones of the last 30 days; a bare one ("no, not that") only together with
    the action that it answers (S3.25).
    """
    left = {True: MOST_HUMAN, False: MOST_NOTICED}
    chosen = []
    for case in sorted(cases, key=lambda case: (case.at, case.id), reverse=True):
        item = Item(case, line(case), case.at + SHOWN_FOR)
        if is_worth_showing(case) and item.until > now and left[item.human]:
            left[item.human] -= 1
            chosen.append(item)
    return chosen


def is_worth_showing(case: Case) -> bool:
    """Decided, not taken back, and it says what it is about."""
    decided = case.type is not CaseType.OTHER and case.state == "open"
    return decided and (case.named or bool(case.tool))


def line(case: Case) -> str:
    """`- 2026-10-18 violated instruction (d4e5f6a7), after Edit src/api.py: ...`, whole."""
    kind = case.type.value.replace("-", " ")
    typed = case.source is Source.HUMAN
    gist = recheck(case.gist)[:GIST_MAX_CHARS] if typed else ""
    action = f", after {case.tool} {gist}".rstrip() if case.tool else ""
    head = _quiet(f"- {case.day} {kind} ({case.id[:ID_CHARS]}){action}: ")
    words = recheck(case.text)
    # What nobody typed goes without links and commands, and so without what the tool was given.
    words_left = words if typed else _COMMAND.sub("…", _URL.sub("…", words))
    text = head + " " * (not head.endswith(" ")) + _quiet(words_left)
    return text if len(text) <= ITEM_MAX_CHARS else text[: ITEM_MAX_CHARS - 1] + "…"


def _quiet(text: str) -> str:
    """One line without controls, tags of anybody's markup, or our own fence."""
    flat = _TAG.sub("‹", " ".join(inert(text).split()))
    for words in FENCE_WORDS:
        flat = re.sub(re.escape(words), "…", flat, flags=re.IGNORECASE)
    return flat
