"""Where and when a line was written, also when it does not say so itself."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from pipeline import clock
from pipeline.records import Kind, Source, Turn
from pipeline.transcripts.decode import clean_surrogates
from pipeline.transcripts.discover import TranscriptFile
from pipeline.transcripts.fields import FIELD_MAX_CHARS, parse_version, text_field

PATH_MAX_CHARS = 4096
UNDATED = datetime(1970, 1, 1, tzinfo=UTC)
"""Of a line in a file whose own date no calendar holds."""
SLACK = timedelta(days=1)


class Bearings:
    """What the lines of a file say of session, time, folder and version, as they go by."""

    def __init__(self, file: TranscriptFile) -> None:
        self._stem = clean_surrogates(file.path.stem[:FIELD_MAX_CHARS])
        self._changed_at = clock.parse_instant(file.mtime_ns / 1e9) or UNDATED
        self._latest = max(self._changed_at, clock.now()) + SLACK
        """A later line was written by a wrong clock: it would be the newest for years."""
        self._at: datetime | None = None
        self.version: tuple[int, ...] | None = None
        """Of the client that wrote the nearest line before."""
        self.cwd = ""
        """Working folder of the nearest line before."""

    def note(self, data: Mapping[str, Any]) -> None:
        """Remembers what later lines without these fields are read by."""
        self.version = parse_version(data.get("version")) or self.version
        self._at = self._own_instant(data) or self._at
        self.cwd = self.cwd_of(data)

    def session_of(self, data: Mapping[str, Any]) -> str:
        """The line's own session; the file's name only where the line has none."""
        return text_field(data, "sessionId") or self._stem

    def cwd_of(self, data: Mapping[str, Any]) -> str:
        """The line's own working folder, else that of the nearest line before."""
        return text_field(data, "cwd", PATH_MAX_CHARS) or self.cwd

    def instant_of(self, data: Mapping[str, Any]) -> tuple[datetime, bool]:
        """When the line was written, and whether that is inferred from others or from the file."""
        at = self._own_instant(data)
        return at or self._at or self._changed_at, at is None

    def _own_instant(self, data: Mapping[str, Any]) -> datetime | None:
        at = clock.parse_instant(data.get("timestamp"))
        return at if at and at <= self._latest else None

    def turn(
        self,
        data: Mapping[str, Any],
        number: int,
        *,
        key: str,
        uuid: str,
        text: str,
        kind: Kind,
        row: str,
        source: Source = Source.HUMAN,
        headless: bool = False,
    ) -> Turn:
        """The turn of a line, as far as that line tells."""
        at, inferred = self.instant_of(data)
        return Turn(
            key=key,
            uuid=uuid,
            session_id=self.session_of(data),
            at=at,
            inferred_at=inferred,
            cwd=self.cwd_of(data),
            text=text,
            source=source,
            kind=kind,
            row=row,
            number=number,
            headless=headless,
        )
