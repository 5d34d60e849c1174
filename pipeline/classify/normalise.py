"""Makes a person's words comparable without moving a single character.

Text in, text of the same length out, so that a span found in the result is one of the original.
Marks and invisible characters are unified one for one; what the person only quotes (code, words in
quotation marks, pasted logs, paths, URLs) is blanked: pasted material must not decide anything. A
blanked noun inside a sentence becomes a run of `□`, so that a pattern can still see that something
stood there; whole blanked lines become spaces.
"""

import re
import unicodedata
from dataclasses import dataclass

import regex

HOLE = "□"
LIMIT = 2000
"""Characters that are looked at; what follows cannot change a verdict."""

_TIMEOUT_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Blank:
    """A stretch that decides nothing."""

    kind: str
    """fence, quoted-line, log, code, quote, url or path."""
    span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Normal:
    """Normalised text and what was blanked in it."""

    text: str
    blanks: tuple[Blank, ...]


def _table() -> dict[int, str]:
    table = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    table |= dict.fromkeys(map(ord, "‘’‚‛ʼʹ′＇"), "'")
    table |= dict.fromkeys(map(ord, "“”„‟″＂"), '"')
    table |= dict.fromkeys(map(ord, "…⋯"), "…")
    spaces = [*range(0x2000, 0x2010), *range(0x202A, 0x2030), *range(0x2060, 0x2070)]
    spaces += [0x00A0, 0x00AD, 0x180E, 0x1680, 0x205F, 0x3000, 0xFEFF, 0xFE0E, 0xFE0F]
    spaces += [code for code in [*range(0x20), *range(0x7F, 0xA0)] if code != 0x0A]
    table |= dict.fromkeys(spaces, " ")
    return {code: char for code, char in table.items() if char != chr(code)}


_UNIFY = _table()
_NOT_UNIFIED = re.compile(f"[{re.escape(''.join(map(chr, _UNIFY)))}]")
"""To look for one is far cheaper than to translate; most texts have none."""

# Format markers, not phrases: each kind with the literal that must occur before it is tried.
_LOG_LINE = (
    r"[ \t]*(?:"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d\b"  # time stamps
    r"|at \S.*[(:]|File .*line \d+|Traceback \(|Caused by:"  # stack frames
    r"|(?:[\w.]*(?:Error|Exception|Warning)|ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|npm ERR!)\b[:\] ]"
    r"|error\[?\w*\]?:|\d+ ?\||\$ |[+-]{3} |@@ |diff --git )"
)
_KINDS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("fence", ("```", "~~~"), r"(?s)(```|~~~).*?(?:\1|\Z)", " "),
    ("quoted-line", (">", "|"), r"(?m)^[ \t]*(?:>|\|.*\|[ \t]*$)[^\n]*$", " "),
    ("log", ("\n",), rf"(?m)^{_LOG_LINE}[^\n]*(?:\n[^\n]*)??(?=\n{_LOG_LINE}|\n\n|\Z)", " "),
    ("code", ("`",), r"`[^`\n]{1,300}`", HOLE),
    ("quote", ('"',), r'"[^"]{1,600}"', HOLE),
    ("quote", ("「", "『", "《"), r"「[^」]{1,200}」|『[^』]{1,200}』|《[^》]{1,200}》", HOLE),
    ("quote", ("'",), r"(?<![\p{L}\p{N}])'[^'\n]{1,200}'(?![a-zA-Z])", HOLE),
    ("url", ("://",), r"[a-z][a-z+.-]{1,20}://[!-~]+", HOLE),
    (
        "path",
        ("/", "\\"),
        r"(?<![\w/])(?:[A-Za-z]:[\\/]|~/|\.{1,2}/|/)[\w.@+-]+(?:[\\/][\w.@+-]*)*"
        r"|(?<![\w/])[\w.@+-]+(?:/[\w.@+-]+)*/[\w@+-]*\.[a-z]{1,5}\b",
        HOLE,
    ),
)
_COMPILED = tuple(
    (kind, gates, regex.compile(source, regex.IGNORECASE if kind == "url" else 0), fill)
    for kind, gates, source, fill in _KINDS
)
_GATE_CHARS = re.compile(
    f"[{re.escape(''.join(gate for _, gates, _, _ in _KINDS for gate in gates))}]"
)
"""A text without any of these has nothing to blank; most have none."""


def normalise(text: str) -> Normal:
    """The first LIMIT characters, unified and blanked; `len` is kept up to LIMIT. Never raises."""
    kept = text[:LIMIT]
    if not unicodedata.is_normalized("NFC", kept):
        composed = unicodedata.normalize("NFC", kept)
        if len(composed) == len(kept):
            kept = composed
    if _NOT_UNIFIED.search(kept):
        kept = kept.translate(_UNIFY)
    blanks: list[Blank] = []
    for kind, gates, pattern, fill in _COMPILED if _GATE_CHARS.search(kept) else ():
        if any(gate in kept for gate in gates):
            kept = _blank(kept, kind, pattern, fill, blanks)
    return Normal(kept, tuple(sorted(blanks, key=lambda blank: blank.span)))


def _blank(
    text: str, kind: str, pattern: regex.Pattern[str], fill: str, blanks: list[Blank]
) -> str:
    """Fills every match, keeping line ends; a pattern that runs for too long blanks nothing."""
    try:
        found = [match.span() for match in pattern.finditer(text, timeout=_TIMEOUT_SECONDS)]
    except TimeoutError:
        return text
    for start, end in found:
        lines = text[start:end].split("\n")
        text = text[:start] + "\n".join([fill * len(line) for line in lines]) + text[end:]
        blanks.append(Blank(kind, (start, end)))
    return text
