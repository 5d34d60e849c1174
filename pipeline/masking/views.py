"""The same text as several readers would decode it, each character with its place in the original.

A secret hides behind JSON escapes, URL encoding, HTML entities or base64. Every
stage of decoding is a view of its own, because undoing an escape can also spoil a text that had
none (`C:\\new`). Detectors run over all of them; what they find is masked in the original.
"""

import base64
import binascii
import html
import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import regex

from pipeline.masking import inert

Edit = tuple[int, int, str]
"""Half-open span of a view's text, and what stands there instead."""


@dataclass(frozen=True, slots=True)
class View:
    """Text with a map home."""

    text: str
    spans: Sequence[tuple[int, int]] | None = None
    """For each character its half-open span in the original; None where both are the same text."""

    def home(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that a non-empty span of this view came from."""
        if self.spans is None:
            return start, end
        return self.spans[start][0], self.spans[end - 1][1]

    def edited(self, edits: Iterable[Edit]) -> "View":
        """A new view; each character of a replacement points to all that it replaces."""
        text: list[str] = []
        spans: list[tuple[int, int]] = []
        at = 0
        for start, end, new in edits:
            self._copy(at, start, text, spans)
            text.append(new)
            spans.extend([self.home(start, end)] * len(new))
            at = end
        if not text and at == 0:
            return self
        self._copy(at, len(self.text), text, spans)
        return View("".join(text), spans)

    def _copy(self, start: int, end: int, text: list[str], spans: list[tuple[int, int]]) -> None:
        text.append(self.text[start:end])
        if self.spans is None:
            spans.extend((i, i + 1) for i in range(start, end))
        else:
            spans.extend(self.spans[start:end])


def views(text: str) -> Iterator[View]:
    """The text itself, then each further stage of decoding that changes it; all normalised."""
    view = View(text)
    yield _normalised(view)
    for sign, decode in _DECODERS:
        if sign in view.text:
            later = view.edited(decode(view.text))
            if later is not view:
                view = later
                yield _normalised(view)


def _normalised(view: View) -> View:
    """NFKC without invisible characters. Works cluster by cluster, so that the map stays true."""
    if view.text.isascii() and view.text.isprintable():
        return view
    if not inert.bare(view.text):
        gone = (i for i, c in enumerate(view.text) if inert.is_invisible(c))
        view = view.edited((i, i + 1, "") for i in gone)
    if unicodedata.is_normalized("NFKC", view.text):
        return view
    return view.edited(_compatible(view.text))


def _compatible(text: str) -> Iterator[Edit]:
    for found in _CLUSTER.finditer(text):
        new = unicodedata.normalize("NFKC", found.group())
        if new != found.group():
            yield found.start(), found.end(), new


def _json(text: str) -> Iterator[Edit]:
    for found in _JSON_ESCAPE.finditer(text):
        yield found.start(), found.end(), json.loads(f'"{found.group()}"')


def _url(text: str) -> Iterator[Edit]:
    for found in _URL_ESCAPE.finditer(text):
        yield found.start(), found.end(), unquote(found.group())


def _html(text: str) -> Iterator[Edit]:
    for found in _HTML_ENTITY.finditer(text):
        yield found.start(), found.end(), html.unescape(found.group())


def _base64(text: str) -> Iterator[Edit]:
    """Blobs that decode to readable text; anything else that looks like base64 is left alone."""
    for found in _BASE64.finditer(text):
        plain = _from_base64(found.group())
        if plain:
            yield found.start(), found.end(), plain


def _from_base64(blob: str) -> str:
    """Both alphabets, with or without padding and line breaks. Returns "" for what is no text."""
    body = "".join(blob.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        plain = base64.b64decode(body + "=" * (-len(body) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return plain if all(c.isprintable() or c in "\r\n\t" for c in plain) else ""


_CLUSTER = regex.compile(r"\X")
_JSON_ESCAPE = regex.compile(
    r'\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|["\\/bfnrt])'
)
_URL_ESCAPE = regex.compile(r"(?:%[0-9A-Fa-f]{2})+")
_HTML_ENTITY = regex.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});")
# Twelve bytes at least: shorter blobs are words. Wrapped lines belong together when they are long.
_BASE64 = regex.compile(
    r"(?:[A-Za-z0-9+/_-]{60,}\n)+[A-Za-z0-9+/_-]+={0,2}|[A-Za-z0-9+/_-]{16,}={0,2}"
)

_DECODERS: tuple[tuple[str, Callable[[str], Iterator[Edit]]], ...] = (
    ("\\", _json),
    ("%", _url),
    ("&", _html),
    ("", _base64),
    ("\\", _json),
)
"""In this order, each on the result of the one before, behind a literal that must occur. JSON comes
again: what was in base64 is often JSON."""
