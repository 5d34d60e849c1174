"""Finds what a person names on the command line, by grammar and never as a path."""

import re

from pipeline.cases import read
from pipeline.cases.store import Store
from pipeline.errors import UsageError
from pipeline.records import Case

_ID = re.compile(r"[0-9a-f]{4,12}\Z")


def one_case(store: Store | None, text: str) -> Case:
    """The case that an id, or the beginning of one, stands for. Raises UsageError."""
    if not _ID.match(text):
        raise UsageError(
            "that is no case id", "ids are 12 hex digits; `twice-told cases` lists them"
        )
    found = read.case(store, text) if store else []
    if not found:
        raise UsageError(f"there is no case {text}", "`twice-told cases --all` lists them")
    if len(found) > 1:
        raise UsageError(f"{text} stands for several cases", "give more digits of the id")
    return found[0]
