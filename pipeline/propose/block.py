"""The one block of a CLAUDE.md that is ours: bytes in, bytes out, and none outside it ever changes.

    <!-- twice-told:begin 1 (…) -->
    <!-- twice-told:rule 12 webshop/missed-item 0123456789abcdef -->
    - A sentence.
    <!-- twice-told:end -->

Block comments on lines of their own: Claude Code strips them (2.1.332, Nov 2026), so they cost no
tokens. The digit behind `begin` tells what was put before the block: 0 nothing (the file was
empty), 1 an empty line, 2 the missing line end and an empty line; then the block has no line end
behind it either. ` new` says that there was no file. So what was put in can be taken out to the
byte. Markers inside code fences and open comments are somebody's text.
"""

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from pipeline.errors import ConfigError
from pipeline.ledger.event import rule_hash
from pipeline.propose.markdown import BOM, OURS, open_at_end, text_lines

BUDGET_LINES = 40
HINT = b" (accepted with twice-told; `twice-told retire NUMBER` takes a rule out again)"
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BEGIN = re.compile(rb"<!-- twice-told:begin ([012])( new)?(?: \([^()]*\))? -->\s*\Z")
_RULE = re.compile(
    rb"<!-- twice-told:rule ([1-9][0-9]{0,9}) ([a-z0-9._-]+/[a-z-]+) ([0-9a-f]{16}) -->\s*\Z"
)
_CONFLICT = re.compile(rb"^(?:<{7} |>{7} )", re.MULTILINE)
_END = re.compile(rb"<!-- twice-told:end -->\s*\Z")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule in a block."""

    number: int
    bundle: str
    """`repo/type`."""
    hash: str
    """`rule_hash` of what was accepted."""
    sentence: str
    """What stands there now."""
    line: int
    """Of its comment, from 1."""
    start: int
    end: int
    """Half-open, in bytes: its comment and all lines up to the next marker."""

    @property
    def is_changed(self) -> bool:
        """Somebody edited it since."""
        return rule_hash(self.sentence) != self.hash


@dataclass(frozen=True, slots=True)
class Block:
    """The block as it stands in a file."""

    start: int
    close: int
    """Where the end marker begins."""
    end: int
    before: int
    """The digit of the begin marker."""
    made_file: bool
    rules: tuple[Rule, ...]
    lines: int
    """With the markers."""


def parse(data: bytes, where: str) -> Block | None:
    """The block, None without one. `where` names the file in errors.

    Raises ConfigError with the line for a marker that is missing, doubled or damaged.
    """
    begin: tuple[int, int, bytes] | None = None
    close: tuple[int, int, bytes] | None = None
    marks: list[tuple[int, int, re.Match[bytes]]] = []
    for number, start, line in text_lines(data):
        if not OURS.match(line):
            if begin and not close and not marks and line.strip():
                raise _damaged(where, number, "text in the block that belongs to no rule")
        elif _BEGIN.match(line):
            if begin:
                raise _damaged(where, number, "a second block begins")
            begin = number, start, line
        elif _END.match(line):
            if not begin or close:
                raise _damaged(where, number, "an end marker without its beginning")
            close = number, start, line
        elif found := _RULE.match(line):
            if not begin or close:
                raise _damaged(where, number, "a rule's marker outside the block")
            marks.append((number, start, found))
        else:
            raise _damaged(where, number, "a marker that is not whole")
    if not begin:
        return None
    if not close:
        raise _damaged(where, begin[0], "the block that begins here has no end marker")
    head = _BEGIN.match(begin[2])
    assert head
    last = close[2].rstrip(b"\r\n") if head[1] == b"2" else close[2]
    return Block(
        start=begin[1], close=close[1], end=close[1] + len(last), before=int(head[1]),
        made_file=bool(head[2]), rules=_rules(data, marks, close[1]),
        lines=close[0] - begin[0] + 1,
    )  # fmt: skip


def _rules(
    data: bytes, marks: list[tuple[int, int, re.Match[bytes]]], close: int
) -> tuple[Rule, ...]:
    found = []
    ends = [start for _, start, _ in marks[1:]] + [close]
    for (number, start, mark), end in zip(marks, ends, strict=True):
        text = data[start + len(mark.string) : end].decode("utf-8", "replace")
        sentence = " ".join(text.split()).removeprefix("- ")
        found.append(
            Rule(int(mark[1]), mark[2].decode(), mark[3].decode(), sentence, number, start, end)
        )
    return tuple(found)


def add(
    data: bytes | None, number: int, bundle: str, sentence: str, where: str, head: bytes = b""
) -> bytes:
    """The file with one more rule, the last in the block. `head` begins a file that is new.

    Raises ConfigError as `parse`, for a file in UTF-16 or in the middle of a merge, and where a
    code fence or comment is open at the end.
    """
    old = head if data is None else data
    _check_is_markdown(old, where)
    found = parse(old, where)
    newline = _newline(old)
    mark = f"<!-- twice-told:rule {number} {bundle} {rule_hash(sentence)} -->"
    rule = mark.encode() + newline + b"- " + sentence.encode() + newline
    if found:
        return old[: found.close] + rule + old[found.close :]
    if opened := open_at_end(old):
        raise ConfigError(
            f"{where}: line {opened}: a code fence or comment is opened and never closed",
            "close it first; it was not touched",
        )
    before = 0 if not old.removeprefix(BOM) else 1 if old.endswith((b"\n", b"\r")) else 2
    new = b" new" if data is None else b""
    begin = b"<!-- twice-told:begin %d%s%s -->" % (before, new, HINT) + newline
    block = begin + rule + b"<!-- twice-told:end -->" + (b"" if before == 2 else newline)
    return old + newline * before + block


def _check_is_markdown(data: bytes, where: str) -> None:
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise ConfigError(f"{where} is UTF-16, not UTF-8", "save it as UTF-8; it was not touched")
    if _CONFLICT.search(data):
        raise ConfigError(
            f"{where} holds the marks of a merge that is not finished",
            "end the merge first; it was not touched",
        )


def remove(data: bytes, rule: Rule, where: str, head: bytes = b"") -> bytes | None:
    """The file without a rule, and without the block when it was the last one.

    None when the file was made for the block and holds nothing else but `head`.
    """
    found = parse(data, where)
    assert found and rule in found.rules, "the rule was parsed from these bytes"
    if len(found.rules) > 1:
        return data[: rule.start] + data[rule.end :]
    above, below = data[: found.start], data[found.end :]
    newline = _newline(data)
    if found.before == 1 and _ends_with_empty_line(above, newline):
        above = above.removesuffix(newline)
    elif found.before == 2 and above.endswith(newline * 2):
        above = above.removesuffix(newline * 2)
    elif found.before == 2:
        below = _LINE_END.sub(b"", below, count=1) if _LINE_END.match(below) else below
    rest = above + below
    return None if found.made_file and rest.strip() in (b"", head.strip()) else rest


def find(block: Block | None, number: int, bundle: str, hash_: str | None) -> Rule | None:
    """The rule that a proposal became: its hash, and its bundle or number. Numbers can change in a
    merge of ledgers, and a bundle's name from machine to machine."""
    if block is None:
        return None
    found = [
        rule
        for rule in block.rules
        if rule.hash == hash_ and (rule.bundle == bundle or rule.number == number)
    ]
    return max(found, key=lambda r: (r.bundle == bundle, r.number == number), default=None)


def standing(block: Block | None, number: int, bundle: str) -> Rule | None:
    """The rule that an interrupted acceptance has left."""
    rules = block.rules if block else ()
    return next((rule for rule in rules if (rule.number, rule.bundle) == (number, bundle)), None)


def over_budget(block: Block, last: Mapping[str, date]) -> list[Rule]:
    """Nothing within the budget; else the rules, those first whose bundle has been quiet for
    longest. `last`: the day of each bundle's newest case; one without any comes first."""
    if block.lines <= BUDGET_LINES:
        return []
    return sorted(block.rules, key=lambda rule: (last.get(rule.bundle, date.min), rule.number))


def _newline(data: bytes) -> bytes:
    found = _LINE_END.search(data)
    return found[0] if found else b"\n"


def _ends_with_empty_line(data: bytes, newline: bytes) -> bool:
    rest = data.removesuffix(newline)
    return rest != data and (not rest or rest.endswith((b"\n", b"\r")))


def _damaged(where: str, line: int, what: str) -> ConfigError:
    return ConfigError(
        f"{where}: line {line}: {what}", "mend the twice-told markers by hand; it was not touched"
    )
