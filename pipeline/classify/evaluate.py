"""`rules eval`: how often the packs are right on labelled messages.

Rows in, records out; printing is the command line's. A correction that its readers called `other`
fits whichever type a rule gave.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipeline.classify import engine
from pipeline.classify.labelled import Row
from pipeline.classify.ratio import Ratio
from pipeline.classify.rule import Packs
from pipeline.records import CaseType, Finding


class By(StrEnum):
    """How the rows are grouped."""

    LANG = "lang"
    AUTHOR = "author"
    WITHOUT_AUTHOR = "without-author"
    """Each author left out in turn: figures that hang on one person show here."""


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
    """By language, author or the author left out, sorted by name."""
    total: Score
    misses: tuple[Judged, ...]
    """Corrections that no rule decided."""
    false_alarms: tuple[Judged, ...]
    """Decided rows that are no correction."""
    rule_hits: dict[str, Ratio]
    """By id of the deciding rule or cue: corrections of all its rows, neutral ones aside."""


def evaluate(loaded: Packs, rows: Iterable[Row], by: By = By.LANG) -> Evaluation:
    """Judges every row and scores them in groups and as a whole."""
    judged = [Judged(row, engine.classify(loaded, row.message)) for row in rows]
    groups = _groups(judged, by)
    plain = [item for item in judged if not item.row.neutral]
    return Evaluation(
        groups=tuple(_score(name, groups[name]) for name in sorted(groups)),
        total=_score("all", judged),
        misses=tuple(item for item in plain if item.row.types and not item.decided),
        false_alarms=tuple(item for item in plain if item.decided and not item.row.types),
        rule_hits=_rule_hits(plain),
    )


def _groups(judged: Sequence[Judged], by: By) -> dict[str, list[Judged]]:
    if by is By.WITHOUT_AUTHOR:
        authors = {item.row.author for item in judged}
        return {a: [item for item in judged if item.row.author != a] for a in authors}
    groups: dict[str, list[Judged]] = {}
    for item in judged:
        name = item.row.lang if by is By.LANG else item.row.author
        groups.setdefault(name, []).append(item)
    return groups


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
