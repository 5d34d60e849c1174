"""JSON text with the place of every value, for editors that may not touch the rest of a file.

In: the whole text of a document. Out: a tree of nodes with half-open spans in characters. Strict
(RFC 8259): no comments, no trailing commas, no NaN, no raw control characters in strings, nothing
after the value; and no member twice, since then nobody can say which one a reader takes.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

DEPTH_MAX = 100
BOM = "\ufeff"

_SPACE = re.compile(r"[ \t\n\r]*")
_PLAIN = r'[^"\\\x00-\x1f]*+'
_ESCAPE = r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
_OPEN_STRING = re.compile(rf'"{_PLAIN}(?:{_ESCAPE}{_PLAIN})*+')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"true|false|null")
_NEWLINE = re.compile(r"\r\n|\n|\r")
_INTEGER_DIGITS_MAX = 300


@dataclass(frozen=True, slots=True)
class Node:
    """One value."""

    value: Any
    """As `json.loads` gives it."""
    start: int
    end: int
    items: tuple["Node", ...] = ()
    """Of an array."""
    members: tuple["Member", ...] = ()
    """Of an object, in the order of the text."""

    def member(self, name: str) -> "Member | None":
        """The member of an object with this name."""
        return next((member for member in self.members if member.name == name), None)

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Where the items or members stand, without the commas."""
        return [(i.start, i.end) for i in self.items] or [(m.start, m.end) for m in self.members]


@dataclass(frozen=True, slots=True)
class Member:
    """A name and its value."""

    name: str
    start: int
    """Of the quote before the name."""
    node: Node

    @property
    def end(self) -> int:
        """Behind the value."""
        return self.node.end


class JsonFault(ValueError):
    """Why a text is no JSON, with line and column, both counted from 1. Quotes nothing of it."""

    def __init__(self, text: str, at: int, reason: str) -> None:
        ends = [found.end() for found in _NEWLINE.finditer(text, 0, at)]
        begin = ends[-1] if ends else len(BOM) if text.startswith(BOM) else 0
        self.line, self.column, self.reason = len(ends) + 1, at - begin + 1, reason
        super().__init__(f"line {self.line}, column {self.column}: {reason}")


def parse(text: str) -> Node:
    """The one value of a document, after a byte-order mark if there is one. Raises JsonFault."""
    start = _skip(text, len(BOM) if text.startswith(BOM) else 0)
    node = _value(text, start, 0)
    end = _skip(text, node.end)
    if end < len(text):
        raise _fault(text, end, "something stands behind the end of the document")
    return node


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _fault(text: str, at: int, reason: str) -> JsonFault:
    if at >= len(text):
        reason = "the document ends too early"
    elif text.startswith(("//", "/*", "#"), at):
        reason = "a comment, which JSON does not have"
    return JsonFault(text, at, reason)


def _value(text: str, at: int, depth: int) -> Node:
    if depth > DEPTH_MAX:
        raise _fault(text, at, f"nested deeper than {DEPTH_MAX} levels")
    match text[at : at + 1]:
        case "{":
            return _object(text, at, depth)
        case "[":
            return _array(text, at, depth)
        case '"':
            end = _string_end(text, at)
            return Node(json.loads(text[at:end]), at, end)
    if found := _WORD.match(text, at):
        return Node(json.loads(found[0]), at, found.end())
    if found := _NUMBER.match(text, at):
        whole = found[0].lstrip("-").isdecimal() and len(found[0]) < _INTEGER_DIGITS_MAX
        return Node(int(found[0]) if whole else float(found[0]), at, found.end())
    raise _fault(text, at, "a value is expected here")


def _string_end(text: str, at: int) -> int:
    found = _OPEN_STRING.match(text, at)
    end = found.end() if found else at
    if text[end : end + 1] != '"':
        raise _fault(text, end, "a string with a wrong escape or a raw control character")
    return end + 1


def _array(text: str, start: int, depth: int) -> Node:
    items: list[Node] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]" or items:
        items.append(_value(text, at, depth + 1))
        at = _skip(text, items[-1].end)
        if text[at : at + 1] == "]":
            break
        at = _comma(text, at, "]")
    return Node([item.value for item in items], start, at + 1, items=tuple(items))


def _object(text: str, start: int, depth: int) -> Node:
    members: dict[str, Member] = {}
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}" or members:
        if text[at : at + 1] != '"':
            raise _fault(text, at, "the name of a member is expected here, in double quotes")
        name_end = _string_end(text, at)
        name = json.loads(text[at:name_end])
        if name in members:
            raise _fault(text, at, "a member whose name this object has already")
        colon = _skip(text, name_end)
        if text[colon : colon + 1] != ":":
            raise _fault(text, colon, "a colon is expected here")
        node = _value(text, _skip(text, colon + 1), depth + 1)
        members[name] = Member(name, at, node)
        at = _skip(text, node.end)
        if text[at : at + 1] == "}":
            break
        at = _comma(text, at, "}")
    value = {name: member.node.value for name, member in members.items()}
    return Node(value, start, at + 1, members=tuple(members.values()))


def _comma(text: str, at: int, closing: str) -> int:
    if text[at : at + 1] != ",":
        raise _fault(text, at, f"a comma or {closing} is expected here")
    return _skip(text, at + 1)
