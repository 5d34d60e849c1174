"""The closed list from which a model chooses, and what two choices come to."""

from enum import StrEnum

from pipeline.cases.judging import Outcome
from pipeline.records import CaseType


class Label(StrEnum):
    """What a model may say of a case."""

    MISSED_ITEM = "missed-item"
    VIOLATED_INSTRUCTION = "violated-instruction"
    MISTAKEN_PREMISE = "mistaken-premise"
    WRONG_RESULT = "wrong-result"
    OTHER = "other-correction"
    NONE = "not-a-correction"

    @property
    def type(self) -> CaseType | None:
        """The type that it names."""
        return None if self in (Label.OTHER, Label.NONE) else CaseType(self.value)


class Silence(StrEnum):
    """Why a model chose none."""

    REFUSED = "refused"
    FAILED = "failed"
    """No usable answer came: junk, a foreign id, a time-out, an error of the server."""


Said = Label | Silence


def said(text: str) -> Said | None:
    """As the store holds it; None for what this version does not know: another one put it there."""
    if text == Silence.REFUSED:
        return Silence.REFUSED
    return Label(text) if text in list(Label) else None


def outcome(first: Said, second: Said | None, control: bool = False) -> Outcome | None:
    """What becomes of a case. `second` None: not heard yet; then None, where it is needed."""
    if first is Silence.FAILED:
        return Outcome.FAILED
    if first is Silence.REFUSED:
        return Outcome.DISAGREED
    if second is None:
        return Outcome.DOUBTFUL if first is Label.NONE and not control else None
    if first is Label.NONE and second in (Label.NONE, Silence.FAILED):
        return Outcome.DOUBTFUL
    if second is Silence.FAILED:
        return Outcome.FAILED
    if second is not first:
        return Outcome.DISAGREED
    return Outcome.REAL if first is Label.OTHER else Outcome.DECIDED


def is_control(case: str) -> bool:
    """One case in twenty, always the same, goes to the second model whatever the first says."""
    return int(case, 16) % 20 == 0
