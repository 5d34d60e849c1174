"""`judge eval`: how often each model, and the pair, is right on labelled messages.

The messages are masked before they are sent. Both models are asked about each, so that each has its
figures; in a night the second sees only what the first one typed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.classify import engine
from pipeline.classify.labelled import Row
from pipeline.classify.ratio import Ratio
from pipeline.classify.rule import Packs
from pipeline.config import JudgeConfig
from pipeline.judge.labels import Label, Said
from pipeline.judge.night import pair
from pipeline.judge.question import Question, Subject
from pipeline.masking.masker import mask
from pipeline.records import CaseType


@dataclass(frozen=True, slots=True)
class Item:
    """A labelled message before both models."""

    row: Row
    first: Question
    second: Question


@dataclass(frozen=True, slots=True)
class Score:
    """One model, or the pair. Neutral rows and those without an answer are left out."""

    name: str
    answered: int
    """For the pair: both gave the same answer."""
    precision: Ratio
    """Typed rows that are corrections, of all typed rows."""
    recall: Ratio
    """Typed corrections of all corrections that were asked about."""
    type_right: Ratio
    """Typed corrections whose type fits."""
    agreement: Ratio
    """Rows whose answer is the label that people gave, of all answered."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What `judge eval` prints."""

    rows: int
    scores: tuple[Score, Score, Score]
    """First model, second model, the pair."""
    hidden: Ratio
    """Corrections that a night would hide, since the first model says no."""


def chosen(loaded: Packs, rows: Iterable[Row], every: bool) -> list[Row]:
    """The rows that the rules leave as `other`, or all."""
    if every:
        return list(rows)
    judged = [(row, engine.classify(loaded, row.message)) for row in rows]
    return [row for row, finding in judged if finding is not None and not finding.decided]


def items(config: JudgeConfig, rows: Sequence[Row]) -> list[Item]:
    """Rows with their questions."""
    return [Item(row, *pair(config, _subject(row))) for row in rows]


def _subject(row: Row) -> Subject:
    said = mask(row.message.said).text
    return Subject("", mask(row.message.text).text, mask("").text, said)


def score(found: Sequence[Item], heard: Mapping[str, Said], config: JudgeConfig) -> Evaluation:
    """Figures of the answers that came."""
    plain = [item for item in found if not item.row.neutral]
    firsts = [(item.row, _label(heard.get(item.first.key))) for item in plain]
    seconds = [(item.row, _label(heard.get(item.second.key))) for item in plain]
    pairs = [
        (row, one if one is other else None)
        for (row, one), (_, other) in zip(firsts, seconds, strict=True)
    ]
    right = [label for row, label in firsts if row.types and label]
    return Evaluation(
        len(found),
        (
            _score(f"first ({config.first.id})", firsts),
            _score(f"second ({config.second.id})", seconds),
            _score("pair", pairs),
        ),
        Ratio(right.count(Label.NONE), len(right)),
    )


def _label(heard: Said | None) -> Label | None:
    return heard if isinstance(heard, Label) else None


def _score(name: str, answers: Sequence[tuple[Row, Label | None]]) -> Score:
    answered = [(row, label) for row, label in answers if label]
    typed = [(row, label) for row, label in answered if label.type]
    hits = [(row, label) for row, label in typed if row.types]
    return Score(
        name=name,
        answered=len(answered),
        precision=Ratio(len(hits), len(typed)),
        recall=Ratio(len(hits), sum(bool(row.types) for row, _ in answers)),
        type_right=Ratio(sum(_fits(row, label) for row, label in hits), len(hits)),
        agreement=Ratio(sum(_same(row, label) for row, label in answered), len(answered)),
    )


def _fits(row: Row, label: Label) -> bool:
    """A correction that its readers called `other` fits whichever type, as in `rules eval`."""
    return label.type in row.types or CaseType.OTHER in row.types


def _same(row: Row, label: Label) -> bool:
    if label is Label.NONE:
        return not row.types
    return (label.type or CaseType.OTHER) in row.types
