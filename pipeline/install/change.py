"""One change that `install` or `uninstall` would make: shown first, then made."""

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pipeline.install.edit import Edit


class Action(StrEnum):
    """What happens to a target, in the word that is printed when it has happened."""

    ADDED = "added"
    REPLACED = "replaced"
    REMOVED = "removed"
    UNCHANGED = "unchanged"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done at one place."""

    part: str
    """`hook` or `schedule`."""
    target: str
    """A path, or the name of a table such as `crontab`."""
    action: Action
    diff: tuple[str, ...] = ()
    """Lines to show before; empty when nothing is done."""
    make: Callable[[], Path | None] = lambda: None
    """Does it, and returns the backup that it made."""

    @property
    def is_idle(self) -> bool:
        """There is nothing to do."""
        return self.action in (Action.UNCHANGED, Action.ABSENT)


def edits_shown(target: str, steps: Iterable[tuple[str, Edit]]) -> tuple[str, ...]:
    """A diff of just the characters that go and come, each with its line.

    Without the lines around it: a settings file may hold keys and tokens, and a file on one line
    would be shown whole.
    """
    shown: list[str] = []
    for text, edit in steps:
        shown.append(f"@@ line {text.count(chr(10), 0, edit.start) + 1} @@")
        for sign, piece in (("-", text[edit.start : edit.end]), ("+", edit.text)):
            if piece.strip():
                shown += [sign + line for line in piece.strip("\r\n").splitlines()]
    return (f"--- {target}", f"+++ {target}", *shown) if shown else ()


def files_shown(target: str, before: str, after: str) -> tuple[str, ...]:
    """An ordinary diff, for files that are wholly ours."""
    return tuple(
        difflib.unified_diff(before.splitlines(), after.splitlines(), target, target, lineterm="")
    )
