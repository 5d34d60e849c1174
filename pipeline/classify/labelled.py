"""Reads labelled messages and chooses among them.

JSON Lines: `id, lang, text, label` needed; `author, kind, interrupted, prev_user, prev_assistant,
sure` used when present. A label `a|b` means that either is right, `failure` is neutral,
`disputed:…` is left out.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import UsageError
from pipeline.records import CaseType, Kind, Message

KINDS = {"message": Kind.TYPED, "queued": Kind.QUEUED, "reject_feedback": Kind.REJECTION}

_LABELS = {
    "missed": CaseType.MISSED_ITEM,
    "violated": CaseType.VIOLATED_INSTRUCTION,
    "premise": CaseType.MISTAKEN_PREMISE,
    "wrong": CaseType.WRONG_RESULT,
    "other": CaseType.OTHER,
}
_NEUTRAL, _NONE = "failure", "none"


@dataclass(frozen=True, slots=True)
class Row:
    """One labelled message."""

    id: str
    author: str
    lang: str
    message: Message
    types: frozenset[CaseType]
    """The types that are right; empty when it is no correction."""
    neutral: bool
    sure: bool


def read(path: Path) -> list[Row]:
    """The rows of a labelled file, disputed ones left out. Raises UsageError naming the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read", "give a file of JSON Lines in UTF-8") from error
    rows = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
            if not data["label"].startswith("disputed"):
                rows.append(_row(data))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UsageError(
                f"{path}:{number}: no labelled message", "see the fields of `rules eval --help`"
            ) from error
    return rows


def message_of(data: dict[str, Any], lang: str | None = None) -> Message:
    """A message as these files hold it. Raises KeyError or TypeError when it has no text."""
    if not isinstance(data["text"], str):
        raise TypeError("text")
    return Message(
        text=data["text"],
        kind=KINDS.get(data.get("kind", "message"), Kind.TYPED),
        interrupted=data.get("interrupted") is True,
        previous=str(data.get("prev_user") or ""),
        said=str(data.get("prev_assistant") or ""),
        lang=lang,
    )


def _row(data: dict[str, Any]) -> Row:
    labels = data["label"].split("|")
    return Row(
        id=str(data["id"]),
        author=str(data.get("author", "")),
        lang=data["lang"],
        message=message_of(data),
        types=frozenset(_LABELS[label] for label in labels if label not in (_NEUTRAL, _NONE)),
        neutral=_NEUTRAL in labels,
        sure=bool(data.get("sure", 0)),
    )


def choose(
    rows: Iterable[Row],
    only: Collection[str] = (),
    skipped: Collection[str] = (),
    leave_out: str | None = None,
) -> list[Row]:
    """The rows in one of the languages `only` (all when empty), not `skipped`, not by an author."""
    return [
        row
        for row in rows
        if (not only or row.lang in only) and row.lang not in skipped and row.author != leave_out
    ]
