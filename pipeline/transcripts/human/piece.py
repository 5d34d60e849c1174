"""What the decision procedure gives: the pieces of a line, each with the row that decided it."""

from dataclasses import dataclass
from enum import StrEnum

from pipeline.records import Kind


class Class(StrEnum):
    """What a piece is. HUMAN and EMBEDDED are turns, MAYBE is one only when headless runs count."""

    HUMAN = "human"
    EMBEDDED = "embedded"
    MAYBE = "maybe"
    WEAK = "weak"
    SIGNAL = "signal"
    HARNESS = "harness"


@dataclass(frozen=True, slots=True)
class Piece:
    """One judged part of a line; `text` is raw and only set for a person's words."""

    verdict: Class
    row: str
    reason: str = ""
    """Why it is no turn: the key under which the run counts its line."""
    text: str = ""
    kind: Kind = Kind.TYPED
    tool_use_id: str = ""
    """The call that was refused, approved with a comment or answered."""
