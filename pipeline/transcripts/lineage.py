"""Which of several transcripts with copies of the same lines is the original."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pipeline import clock

LINE_MAX_BYTES = 1 << 20
_UUID = re.compile(rb'"uuid"\s*:\s*"([^"]{1,80})"')
_TIMESTAMP = re.compile(rb'"timestamp"\s*:\s*"([^"]{1,40})"')
FIRST = datetime(1, 1, 1, tzinfo=UTC)


def oldest_own(paths: Sequence[Path]) -> dict[Path, datetime]:
    """For each readable file, when the oldest line was written that none of the others holds.

    A file without any such line gives FIRST: everything in it was copied from there. A fork always
    begins with a line of its own, younger than what it copied (2.1.197, 2.1.332).
    """
    lines = {path: found for path in paths if (found := _lines(path)) is not None}
    holders = Counter(identity for found in lines.values() for identity in found)
    own: dict[Path, datetime] = {}
    for path, found in lines.items():
        ages = [at for identity, at in found.items() if holders[identity] == 1 and at is not None]
        own[path] = min(ages, default=FIRST)
    return own


def _lines(path: Path) -> dict[str, datetime | None] | None:
    """Identity and time of every dated line: its uuid, else its time. None if unreadable."""
    found: dict[str, datetime | None] = {}
    try:
        with path.open("rb") as handle:
            while line := handle.readline(LINE_MAX_BYTES):
                uuid, at = _read(line)
                if uuid or at:
                    found.setdefault(uuid or f"at:{at}", at)
    except OSError:
        return None
    return found


def _read(line: bytes) -> tuple[str, datetime | None]:
    try:
        data = json.loads(line.decode("utf-8", "replace"))
        if isinstance(data, dict):
            uuid = data.get("uuid")
            return uuid if isinstance(uuid, str) else "", clock.parse_instant(data.get("timestamp"))
    except (ValueError, RecursionError):
        pass
    uuids, times = _UUID.findall(line), _TIMESTAMP.findall(line)
    return (
        uuids[-1].decode("utf-8", "replace") if uuids else "",
        clock.parse_instant(times[-1].decode("utf-8", "replace")) if times else None,
    )
