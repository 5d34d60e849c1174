"""Lines of Markdown as bytes: which of them are text, and which lie in code fences and comments.

No more of Markdown than a marker at the beginning of a line needs: a fence or comment that is
indented by four spaces or more cannot hold such a line.
"""

import re
from collections.abc import Iterator

BOM = b"\xef\xbb\xbf"
OURS = re.compile(rb" {0,3}<!--[ \t]*twice-told:")
"""A marker of ours, whole or damaged."""
_FENCE = re.compile(rb" {0,3}(`{3,}(?=[^`]*\Z)|~{3,})")
_COMMENT = re.compile(rb" {0,3}<!--")


def text_lines(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Number, place and bytes (with its end) of each line outside of fences and comments."""
    for number, start, line, is_text in _lines(data):
        if is_text:
            yield number, start, line


def open_at_end(data: bytes) -> int:
    """The line of a fence or comment that is still open where the file ends, else 0."""
    opened = 0
    for number, _, _, is_text in _lines(data + b"\n\n"):
        opened = 0 if is_text else opened or number
    return opened


def _lines(data: bytes) -> Iterator[tuple[int, int, bytes, bool]]:
    """Every line; last: it is neither inside nor the edge of a fence or a longer comment."""
    at = len(BOM) if data.startswith(BOM) else 0
    closes: re.Pattern[bytes] | None = None
    for number, line in enumerate(data[at:].splitlines(keepends=True), 1):
        if closes is not None:
            yield number, at, line, False
            closes = None if closes.search(line) else closes
        elif fence := _FENCE.match(line.rstrip(b"\r\n")):
            closes = re.compile(rb"\A {0,3}%s{%d,}\s*\Z" % (fence[1][:1], len(fence[1])))
            yield number, at, line, False
        elif _COMMENT.match(line) and b"-->" not in line and not OURS.match(line):
            closes = re.compile(rb"-->")
            yield number, at, line, False
        else:
            yield number, at, line, True
        at += len(line)
