"""A line too big to hold: its JSON events are read from a stream out of which long strings are cut.

Human lines grow to many megabytes through pasted images; the words beside the image are small.
"""

import codecs
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import ijson
from ijson.common import ObjectBuilder

from pipeline.records import Line, Skipped

STRING_MAX_BYTES = 1 << 16
RECORD_MAX_EVENTS = 100_000
CHUNK_BYTES = 1 << 18


def decode_oversize(
    path: Path, number: int, handle: BinaryIO, offset: int, length: int
) -> Line | Skipped:
    """The object of an oversize line, every string cut to 64 KiB. Never raises for bad data."""
    builder = ObjectBuilder()
    try:
        events = ijson.basic_parse(
            _Shortened(handle, offset, length), buf_size=CHUNK_BYTES, use_float=True
        )
        for count, (event, value) in enumerate(events):
            if count > RECORD_MAX_EVENTS:
                return Skipped(path, number, "oversize")
            builder.event(event, value)
    except (ijson.JSONError, ValueError, RecursionError):
        return Skipped(path, number, "oversize")
    value = getattr(builder, "value", None)
    if not isinstance(value, dict):
        return Skipped(path, number, "oversize")
    kind = value.get("type")
    return Line(path, number, kind if isinstance(kind, str) else "", value)


class _Shortened:
    """A reader over a stretch of a file; what exceeds STRING_MAX_BYTES of a string is left out."""

    def __init__(self, handle: BinaryIO, offset: int, length: int) -> None:
        self._pieces = _shorten(_chunks(handle, offset, length))

    def read(self, size: int) -> bytes:
        """The next piece, b"" at the end; `size` 0 is ijson's probe for the type."""
        return next(self._pieces, b"") if size else b""


def _chunks(handle: BinaryIO, offset: int, length: int) -> Iterator[bytes]:
    handle.seek(offset)
    while length > 0 and (chunk := handle.read(min(CHUNK_BYTES, length))):
        length -= len(chunk)
        yield chunk


def _shorten(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Valid UTF-8 JSON, piece by piece; inside a string at most STRING_MAX_BYTES are passed on."""
    inside = escaped = False
    kept = 0
    utf8 = codecs.getincrementaldecoder("utf-8")("replace")
    for chunk in chunks:
        out = bytearray()
        at = 0
        while at < len(chunk):
            if not inside:
                quote = chunk.find(b'"', at)
                end = len(chunk) if quote < 0 else quote + 1
                out += chunk[at:end]
                inside, kept, at = quote >= 0, 0, end
                continue
            end, inside, escaped = _string_end(chunk, at, escaped)
            body = end if inside else end - 1
            room = STRING_MAX_BYTES - kept
            if body - at <= room:
                out += chunk[at:body]
            elif room > 0:
                out += _whole_escapes(chunk[at : at + room])
            kept += body - at
            if not inside:
                out += b'"'
            at = end
        if clean := utf8.decode(bytes(out)):
            yield clean.encode()


def _string_end(chunk: bytes, at: int, escaped: bool) -> tuple[int, bool, bool]:
    """Where the string ends in this chunk, whether it goes on, and if a backslash is open."""
    if escaped:
        at += 1
    while True:
        quote = chunk.find(b'"', at)
        if quote < 0:
            tail = len(chunk) - len(chunk.rstrip(b"\\"))
            open_escape = min(tail, max(len(chunk) - at, 0)) % 2 == 1
            return len(chunk), True, open_escape
        slashes = quote - at - len(chunk[at:quote].rstrip(b"\\"))
        if slashes % 2 == 0:
            return quote + 1, False, False
        at = quote + 1


def _whole_escapes(body: bytes) -> bytes:
    """The cut piece of a string without a half escape at its end (`\\`, or a cut `\\u12`)."""
    cut = body.rfind(b"\\", max(0, len(body) - 6))
    return body if cut < 0 else body[:cut]
