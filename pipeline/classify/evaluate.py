"""`rules eval`: how often the packs are right on labelled messages, by language and by type.

In: JSON Lines (`id, lang, text, label` needed; `author, kind, interrupted, prev_user,
prev_assistant, sure` used when present). Out: records; printing is the command line's. A label
`a|b` means that either is right, `failure` is neutral, `disputed:…` is left out, and a correction
that its readers called `other` fits whichever type a rule gave.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.classify import engine
from pipeline.classify.rule import Packs
from pipeline.errors import UsageError
from pipeline.records import CaseType, Finding, Kind, Message

_Z95 = 1.959963984540054
_LABELS = {
    "missed": CaseType.MISSED_ITEM,
    "violated": CaseType.VIOLATED_INSTRUCTION,
    "premise": CaseType.MISTAKEN_PREMISE,
    "wrong": CaseType.WRONG_RESULT,
    "other": CaseType.OTHER,
}
_NEUTRAL, _NONE = "failure", "none"
_KINDS = {"message": Kind.TYPED, "queued": Kind.QUEUED, "reject_feedback": Kind.REJECTION}


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


@dataclass(frozen=True, slots=True)
class Judged:
    """A row with the verdict of the rules."""

    row: Row
    finding: Finding | None

    @property
    def decided(self) -> bool:
        return self.finding is not None and self.finding.decided

    @property
    def type_fits(self) -> bool:
        """Decided, and as its readers see it."""
        if self.finding is None or not self.finding.decided:
            return False
        return self.finding.type in self.row.types or CaseType.OTHER in self.row.types


@dataclass(frozen=True, slots=True)
class Ratio:
    """A share with its counts; `value` and `interval` are None when there is nothing to divide."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval."""
        if not self.whole:
            return None
        n, p = self.whole, self.part / self.whole
        centre = p + _Z95**2 / (2 * n)
        reach = _Z95 * math.sqrt(p * (1 - p) / n + _Z95**2 / (4 * n * n))
        scale = 1 + _Z95**2 / n
        return max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)


@dataclass(frozen=True, slots=True)
class TypeScore:
    """One type in one group."""

    precision: Ratio
    """Of the decided rows of this type, neutral ones aside: corrections that the type fits."""
    recall: Ratio
    """Of the rows labelled with this type alone: decided so."""


@dataclass(frozen=True, slots=True)
class Score:
    """One group of rows: a language, an author, or all."""

    name: str
    rows: int
    corrections: int
    neutral: int
    precision: Ratio
    """Decided rows that are corrections, of all decided rows that are not neutral."""
    recall: Ratio
    """Decided corrections of all corrections."""
    sure_recall: Ratio
    """The same among corrections that no careful reader would doubt."""
    type_right: Ratio
    """Decided corrections whose type fits."""
    reach: Ratio
    """Corrections that are decided or `other`."""
    noise: Ratio
    """Rows that are no correction and became `other`."""
    types: dict[CaseType, TypeScore]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Everything that `rules eval` may print."""

    groups: tuple[Score, ...]
    """By language or author, sorted by name."""
    total: Score
    misses: tuple[Judged, ...]
    """Corrections that no rule decided."""
    false_alarms: tuple[Judged, ...]
    """Decided rows that are no correction."""
    mistyped: tuple[Judged, ...]
    rule_hits: dict[str, Ratio]
    """By id of the deciding rule or cue: corrections of all its rows, neutral ones aside."""


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


def _row(data: dict[str, Any]) -> Row:
    labels = data["label"].split("|")
    message = Message(
        text=data["text"],
        kind=_KINDS[data.get("kind", "message")],
        interrupted=bool(data.get("interrupted", False)),
        previous=data.get("prev_user") or "",
        said=data.get("prev_assistant") or "",
    )
    return Row(
        id=str(data["id"]),
        author=str(data.get("author", "")),
        lang=data["lang"],
        message=message,
        types=frozenset(_LABELS[label] for label in labels if label not in (_NEUTRAL, _NONE)),
        neutral=_NEUTRAL in labels,
        sure=bool(data.get("sure", 0)),
    )


def evaluate(
    loaded: Packs, rows: Iterable[Row], by_author: bool = False, leave_out: str | None = None
) -> Evaluation:
    """Scores rows in groups by language (or author). `leave_out` drops one author's rows."""
    judged = [
        Judged(row, engine.classify(loaded, row.message)) for row in rows if row.author != leave_out
    ]
    groups: dict[str, list[Judged]] = {}
    for item in judged:
        groups.setdefault(item.row.author if by_author else item.row.lang, []).append(item)
    plain = [item for item in judged if not item.row.neutral]
    return Evaluation(
        groups=tuple(_score(name, groups[name]) for name in sorted(groups)),
        total=_score("all", judged),
        misses=tuple(item for item in plain if item.row.types and not item.decided),
        false_alarms=tuple(item for item in plain if item.decided and not item.row.types),
        mistyped=tuple(i for i in plain if i.decided and i.row.types and not i.type_fits),
        rule_hits=_rule_hits(plain),
    )


def _score(name: str, judged: Sequence[Judged]) -> Score:
    plain = [item for item in judged if not item.row.neutral]
    right = [item for item in plain if item.row.types]
    decided = [item for item in plain if item.decided]
    hits = [item for item in right if item.decided]
    sure = [item for item in right if item.row.sure]
    harmless = [item for item in plain if not item.row.types]
    noise = [item for item in harmless if item.finding and not item.decided]
    return Score(
        name=name,
        rows=len(judged),
        corrections=len(right),
        neutral=len(judged) - len(plain),
        precision=Ratio(len(hits), len(decided)),
        recall=Ratio(len(hits), len(right)),
        sure_recall=Ratio(sum(item.decided for item in sure), len(sure)),
        type_right=Ratio(sum(item.type_fits for item in hits), len(hits)),
        reach=Ratio(sum(item.finding is not None for item in right), len(right)),
        noise=Ratio(len(noise), len(harmless)),
        types={kind: _type_score(kind, plain) for kind in CaseType if kind is not CaseType.OTHER},
    )


def _type_score(kind: CaseType, plain: Sequence[Judged]) -> TypeScore:
    chosen = [i for i in plain if i.finding and i.finding.decided and i.finding.type is kind]
    labelled = [item for item in plain if item.row.types == {kind}]
    found = sum(1 for i in labelled if i.finding and i.finding.type is kind and i.decided)
    return TypeScore(
        precision=Ratio(sum(item.type_fits for item in chosen), len(chosen)),
        recall=Ratio(found, len(labelled)),
    )


def _rule_hits(plain: Sequence[Judged]) -> dict[str, Ratio]:
    found: dict[str, list[bool]] = {}
    for item in plain:
        if item.finding:
            found.setdefault(item.finding.rule_id, []).append(bool(item.row.types))
    return {name: Ratio(sum(rows), len(rows)) for name, rows in sorted(found.items())}
