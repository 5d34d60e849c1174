"""Bytes of one physical line in, JSON objects out. Never raises; losses are named."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.records import Line, Skipped

_RESYNC = re.compile(
    r'\{\s*"(?:parentUuid"\s*:|type"\s*:\s*"(?:user|assistant|system|attachment|queue-operation)")'
)
"""Where the next record begins behind a cut one; blocks of a message begin differently."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_DECODER = json.JSONDecoder()
RESYNC_MAX_TRIES = 50
_BLANK = " \t\r\n\0\ufeff"


def decode(path: Path, number: int, data: bytes, last: bool) -> Iterator[Line | Skipped]:
    """The records of one line: objects, or pieces that are none, each with its reason.

    Survives what was seen in real files: byte-order marks, CRLF, runs of NUL, bad UTF-8, two
    objects without a separator, a cut object followed by the next one. `last` marks a line without
    a newline: an incomplete object there is being written and comes as `pending_tail`.
    """
    text = data.decode("utf-8", "replace")
    at = 0
    while True:
        at = _skip_blank(text, at)
        if at == len(text):
            return
        try:
            value, end = _DECODER.raw_decode(text, at)
        except RecursionError:
            yield Skipped(path, number, "too_deep")
            return
        except ValueError:
            resync = _next_record(text, at + 1, last)
            if resync is None:
                yield Skipped(path, number, "pending_tail" if last else "bad_json")
                return
            yield Skipped(path, number, "bad_json")
            at = resync
            continue
        yield _record(path, number, value)
        at = end


def _next_record(text: str, at: int, last: bool) -> int | None:
    """Where the next record begins behind a cut one.

    Objects inside the cut one are none, though they may look like a prompt (progress lines of
    2.1.12-2.1.78 hold a subagent's whole messages): more of the cut record follows them, or the
    record was cut within them.
    """
    for _ in range(RESYNC_MAX_TRIES):
        found = _RESYNC.search(text, at)
        if found is None:
            return None
        start = found.start()
        inside = text[start - 1] in ":,["
        try:
            end = _skip_blank(text, _DECODER.raw_decode(text, start)[1])
        except (ValueError, RecursionError):
            if not inside:
                return start
            at = start + 1
            continue
        more = text[end : end + 1]
        if not (more and more in ",]}") and not (inside and last and not more):
            return start
        at = end
    return None


def _skip_blank(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at


def _record(path: Path, number: int, value: Any) -> Line | Skipped:
    if not isinstance(value, dict):
        return Skipped(path, number, "not_an_object")
    kind = value.get("type")
    return Line(path, number, kind if isinstance(kind, str) else "", value)


def clean_surrogates(text: str) -> str:
    """Pairs joined, lone halves replaced: text that every sink can encode."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
