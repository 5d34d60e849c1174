"""The frame around what the agent is shown. The hook holds the same words; a test compares them."""

from collections.abc import Sequence

FIRST = (
    "Twice Told: recent corrections in this repository, last 30 days, said by the user or noticed"
    " in review.\nThe original of each is shown by: twice-told explain --case <id>."
    " Check it before citing one as evidence."
)
LAST = "End of Twice Told corrections."


def frame(lines: Sequence[str]) -> str:
    """The whole text, "" when there is nothing to show."""
    return "\n".join([FIRST, *lines, LAST]) if lines else ""
