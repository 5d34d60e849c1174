"""Random access to the conversation lines of one file, for the few that something hangs on."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from pipeline.records import Line
from pipeline.transcripts.decode import decode
from pipeline.transcripts.oversize import decode_oversize
from pipeline.transcripts.scan import Scan

WHOLE_MAX_BYTES = 1 << 18
"""A longer line is read with its long strings cut."""
CACHED_LINES = 512


class Spine:
    """The lines that parentUuid chains, by their place in the file (0-based).

    May be asked while the file is still being scanned: the handle stands where it stood before.
    """

    def __init__(self, path: Path, handle: BinaryIO, record: Scan) -> None:
        self._path = path
        self._handle = handle
        self._record = record
        self._cache: dict[int, Mapping[str, Any]] = {}

    def __len__(self) -> int:
        return len(self._record.offsets)

    def __getitem__(self, place: int) -> Mapping[str, Any]:
        """The line's object (the last one where several share it); empty when it is unreadable."""
        if place not in self._cache:
            if len(self._cache) >= CACHED_LINES:
                self._cache.clear()
            self._cache[place] = self._load(place)
        return self._cache[place]

    def _load(self, place: int) -> Mapping[str, Any]:
        resume = self._handle.tell()
        try:
            return self._read(place)
        finally:
            self._handle.seek(resume)

    def _read(self, place: int) -> Mapping[str, Any]:
        offset, length = self._record.offsets[place], self._record.lengths[place]
        number = self._record.numbers[place]
        if length > WHOLE_MAX_BYTES:
            item = decode_oversize(self._path, number, self._handle, offset, length)
            return item.data if isinstance(item, Line) else {}
        self._handle.seek(offset)
        data = self._handle.read(length)
        found: Mapping[str, Any] = {}
        for record in decode(self._path, number, data, last=False):
            if isinstance(record, Line):
                found = record.data
        return found

    def number(self, place: int) -> int:
        """Physical line number, from 1."""
        return self._record.numbers[place]

    def find(self, uuid: str, place: int, limit: int) -> int | None:
        """The nearest line before a place with this uuid, among `limit` lines, or None.

        Looks at the bytes first: most lines on the way are not the one.
        """
        wanted = uuid.encode("utf-8", "surrogatepass")
        for earlier in range(place - 1, max(-1, place - 1 - limit), -1):
            if self._record.lengths[earlier] <= WHOLE_MAX_BYTES:
                self._handle.seek(self._record.offsets[earlier])
                if wanted not in self._handle.read(self._record.lengths[earlier]):
                    continue
            if self[earlier].get("uuid") == uuid:
                return earlier
        return None

    def backwards(self, place: int, limit: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """The lines before a place, nearest first, at most `limit` of them."""
        for earlier in range(place - 1, max(-1, place - 1 - limit), -1):
            yield earlier, self[earlier]

    def forwards(self, place: int, limit: int) -> Iterator[Mapping[str, Any]]:
        """The lines after a place, in file order, at most `limit` of them."""
        for later in range(place + 1, min(len(self), place + 1 + limit)):
            yield self[later]
