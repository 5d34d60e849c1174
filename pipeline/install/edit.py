"""Puts one value into a JSON text and takes one out, in the text's own manner of writing.

All else stays as it is, to the byte: an edit replaces one span. What `append` puts behind another
value, `cut` removes without a trace; the inner space of a container that was empty is lost to the
text, so `append` hands it out for `refill`.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from pipeline.install.jsontext import BOM, Node

_NEWLINE = re.compile(r"\r\n|\n|\r")
DEFAULT_UNIT = "  "


@dataclass(frozen=True, slots=True)
class Edit:
    """One span of a text and what takes its place."""

    start: int
    end: int
    text: str

    def applied(self, text: str) -> str:
        """The text afterwards."""
        return text[: self.start] + self.text + text[self.end :]


@dataclass(frozen=True, slots=True)
class Style:
    """How a document is written."""

    newline: str
    unit: str | None
    """What one level is indented by; None for a document on one line."""
    comma: str
    """Between the items of a line."""
    colon: str

    @classmethod
    def of(cls, text: str, root: Node) -> "Style":
        """Read off the first member; an empty document gets lines of their own."""
        found = _NEWLINE.search(text)
        newline = found[0] if found else "\n"
        if not root.spans:
            return cls(newline, DEFAULT_UNIT, ", ", ": ")
        gap = text[root.start + 1 : root.spans[0][0]]
        unit = _indent(gap) if _NEWLINE.search(gap) else None
        name = root.members[0]
        tight = text[: name.node.start].endswith(":")
        return cls(newline, unit, "," if tight else ", ", ":" if tight else ": ")

    def lines(self, value: Any, indent: str) -> str:
        """A value over several lines; the first carries no indentation."""
        text = json.dumps(value, indent=self.unit, separators=(",", self.colon), ensure_ascii=False)
        return text.replace("\n", self.newline + indent)

    def one_line(self, value: Any) -> str:
        """A value without any newline."""
        return json.dumps(value, separators=(self.comma, self.colon), ensure_ascii=False)


def append(text: str, into: Node, style: Style, name: str | None, value: Any) -> tuple[Edit, str]:
    """Puts a value (under a name, in an object) behind the last one of a container.

    Second: the inner space of a container that was empty, else "".
    """
    label = "" if name is None else json.dumps(name, ensure_ascii=False) + style.colon
    if into.spans:
        start, end = into.spans[-1]
        gap = _space_before(text, start)
        if _NEWLINE.search(gap):
            indent = _indent(gap)
            body = style.newline + indent + label + style.lines(value, indent)
            return Edit(end, end, "," + body), ""
        return Edit(end, end, style.comma + label + style.one_line(value)), ""
    inner = text[into.start + 1 : into.end - 1]
    if style.unit is None:
        return Edit(into.start + 1, into.end - 1, label + style.one_line(value)), inner
    outer = _indent(_space_after_line_start(text, into.start))
    indent = outer + style.unit
    body = style.newline + indent + label + style.lines(value, indent) + style.newline + outer
    return Edit(into.start + 1, into.end - 1, body), inner


def cut(container: Node, at: int) -> Edit:
    """Takes one of several values out, with the comma and the space that tied it to the others."""
    spans = container.spans
    if at:
        return Edit(spans[at - 1][1], spans[at][1], "")
    return Edit(spans[0][0], spans[1][0], "")


def refill(container: Node, inner: str) -> Edit:
    """Empties a container and gives it its inner space back."""
    return Edit(container.start + 1, container.end - 1, inner)


def _indent(gap: str) -> str:
    """What stands in the last line of a text."""
    return gap[max(gap.rfind("\n"), gap.rfind("\r")) + 1 :]


def _space_before(text: str, at: int) -> str:
    return text[len(text[:at].rstrip(" \t\n\r")) : at]


def _space_after_line_start(text: str, at: int) -> str:
    """The indentation of the line in which a place stands."""
    line = _indent(text[:at]).removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]
