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
    inside = False
    kept = 0
    rest = b""
    utf8 = codecs.getincrementaldecoder("utf-8")("replace")
    for data in chunks:
        chunk, rest = _whole_escapes(rest + data)
        out = bytearray()
        at = 0
        while at < len(chunk):
            if not inside:
                quote = chunk.find(b'"', at)
                end = len(chunk) if quote < 0 else quote + 1
                out += chunk[at:end]
                inside, kept, at = quote >= 0, 0, end
                continue
            end, inside = _string_end(chunk, at)
            body = end if inside else end - 1
            room = STRING_MAX_BYTES - kept
            if body - at <= room:
                out += chunk[at:body]
            elif room > 0:
                out += _whole_escapes(chunk[at : at + room])[0]
            kept += body - at
            if not inside:
                out += b'"'
            at = end
        if clean := utf8.decode(bytes(out)):
            yield clean.encode()


def _string_end(chunk: bytes, at: int) -> tuple[int, bool]:
    """Where the string ends in this chunk, and whether it goes on; `at` is not within an escape."""
    start = at
    while True:
        quote = chunk.find(b'"', at)
        if quote < 0:
            return len(chunk), True
        slashes = quote - start - len(chunk[start:quote].rstrip(b"\\"))
        if slashes % 2 == 0:
            return quote + 1, False
        start = at = quote + 1


def _whole_escapes(data: bytes) -> tuple[bytes, bytes]:
    """A piece without the half escape at its end (`\\`, or a cut `\\u12`), and that half."""
    last = data.rfind(b"\\", max(0, len(data) - 6))
    slashes = last + 1 - len(data[: last + 1].rstrip(b"\\"))
    if slashes % 2 == 0:
        return data, b""
    length = 6 if data.startswith(b"u", last + 1) else 2
    return (data, b"") if len(data) - last >= length else (data[:last], data[last:])
