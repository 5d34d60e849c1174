"""A turn in the making, with what only the file at hand can tell."""

from dataclasses import dataclass

from pipeline.records import Turn
from pipeline.transcripts.noticed import Statement


@dataclass(slots=True)
class Heard:
    """From the line in which it is found until the whole file is read, its turn may change."""

    turn: Turn
    place: int
    """Of its line on the spine."""
    statement: Statement | None = None
    """What was noticed; None for a person's words."""
    tool_use_id: str = ""
    prompt: bool = False
    """A person's prompt, or what looks like one: it stands in a user line, first and alone."""
    parent: str = ""
    position: object = None
    """`prompt_position` of its line."""
    since: int = -1
    """Place of the person's words before, in the same session."""
