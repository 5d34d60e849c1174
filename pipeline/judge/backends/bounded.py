"""Bodies of answers that end: a server may send for ever, faster than any time-out notices."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

ANSWER_BYTES = 1 << 20
"""A hundred times the longest message that we ask for."""
RESULTS_BYTES = 64 << 20
"""Of a whole batch."""


class TooLong(Exception):
    """A body that went beyond its bound. Holds nothing of it."""


class Bounded:
    """A stream of bytes that gives up after so many."""

    def __init__(self, stream: "httpx2.SyncByteStream", most: int) -> None:
        self._stream, self._left = stream, most

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise TooLong
            yield chunk

    def close(self) -> None:
        """Closes what it reads from."""
        self._stream.close()


def bound(response: "httpx2.Response") -> None:
    """A hook of the HTTP client: runs before the body is read."""
    import httpx2

    class Stream(Bounded, httpx2.SyncByteStream):
        """As the client wants it."""

    if isinstance(response.stream, httpx2.SyncByteStream):
        results = response.url.path.endswith("/results")
        response.stream = Stream(response.stream, RESULTS_BYTES if results else ANSWER_BYTES)
