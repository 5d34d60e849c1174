"""A pattern of a pack: compiled when it is first needed, and never allowed to run for long.

Most patterns are never tried on a given day because their keywords do not occur, and compiling all
of them would cost more than a night without news.
"""

from collections.abc import Sequence

import regex

from pipeline.errors import RuleError

TIMEOUT_SECONDS = 0.05
_FLAGS = regex.IGNORECASE | regex.VERSION0


class Pattern:
    """A regular expression with its owner's id. Two are equal when they say the same."""

    __slots__ = ("_compiled", "owner", "source")

    def __init__(self, source: str, owner: str) -> None:
        self.source = source
        self.owner = owner
        self._compiled: regex.Pattern[str] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and other.source == self.source

    def __hash__(self) -> int:
        return hash(self.source)

    def __repr__(self) -> str:
        return f"Pattern({self.source!r})"

    def compiled(self) -> regex.Pattern[str]:
        """Raises RuleError, naming the rule, when the expression is none."""
        if self._compiled is None:
            try:
                self._compiled = regex.compile(self.source, _FLAGS)
            except regex.error as error:
                raise RuleError(
                    f"{self.owner}: pattern cannot be compiled: {error}", "mend the pattern"
                ) from error
        return self._compiled

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Half-open spans of all matches that are not empty. Raises TimeoutError after 50 ms.

        Most texts have none, and a search alone tells so at the lowest cost.
        """
        compiled = self._compiled or self.compiled()
        if compiled.search(text, timeout=TIMEOUT_SECONDS) is None:
            return ()
        found = compiled.finditer(text, timeout=TIMEOUT_SECONDS)
        return [match.span() for match in found if match.end() > match.start()]

    def occurs(self, text: str) -> bool:
        """Whether it matches anywhere. Raises TimeoutError after 50 ms."""
        return self.compiled().search(text, timeout=TIMEOUT_SECONDS) is not None
