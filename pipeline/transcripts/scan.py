"""Cuts a transcript into lines and decides from the bytes which of them must be parsed.

Claude Code writes compact JSON in a fixed order of keys (1.0.0-2.1.332, seen Nov 2026), so the head
of a line proves for most lines that no person's words stand in them: those are counted and never
parsed. Whatever does not look exactly like that is parsed. One buffer is reused; a line that does
not fit is never held in memory.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from pipeline.transcripts.markers import OUR_FENCE

BLOCK_BYTES = 1 << 20
LINE_MAX_BYTES = 1 << 20
"""A longer line is oversize: it is streamed or passed over (`oversize.py`)."""
HEAD_BYTES = 1 << 16
"""An oversize line is decided from this much of its beginning."""

_RESULT = re.compile(
    rb'\{(?:"tool_use_id":"[^"\\]*","type":"tool_result"|"type":"tool_result"(?:,"tool_use_id":"[^"\\]*")?)'
    rb',"content":"?'
)
_SPEAKING = re.compile(
    rb"The user doesn't want to |Permission for this |Claude requested permissions "
    rb"|\[Request interrupted"
    rb'|\w+:[^\s"]{1,80} hook error'
)
"""Beginnings of a tool result that can hold a person's words, a refusal or a hook's verdict."""
_VERDICT = re.compile(rb'"userFeedback":"|"source":"hook"')
"""Fields behind a failed result that hold such words or tell of them (2.1.332)."""
_TELLING = (b'questions"', b'answers"', b'annotations"', b'status":"completed"')
"""First fields of a structured result that holds answers to a question or an agent's findings."""

_SPEAKING_ATTACHMENTS = frozenset({b"attachment:queued_command", b"attachment:hook_blocking_error"})
_HEAD_SPAN = 2048
TYPE_MAX_CHARS = 60
"""Of the name of a type, in the counts; who makes up a longer one may put anything in it."""
ADMISSION_SPAN = 512
"""An agent that admits a mistake does so at the beginning of its answer."""
_PARSED = frozenset({b"assistant", b"attachment", b"queue-operation"})
"""Types that are parsed unless the head tells more."""
_NEXT = re.compile(rb'\{"(?:parentUuid":|type":"(?:user|attachment|queue-operation)")')
"""Beginning of a record that may hold words; within a line it begins a second object."""
_FAILED_SPAN = 200
"""So near to the end of its block stands a result's `is_error`."""
STATE_TYPES = frozenset(
    """summary ai-title custom-title agent-name last-prompt progress api-request api-request-blob
    api-request-shape tools-used file-history-snapshot file-history-delta mode permission-mode
    pr-link cost-state atis-latch bridge-session session_context relocated worktree-state
    fork-context-ref started launched result""".split()
)
"""Known types that hold no conversation; any other one is counted as unknown."""


@dataclass(slots=True)
class Raw:
    """A line that must be looked at: its bytes, or None for an oversize one."""

    number: int
    offset: int
    length: int
    spine: int
    """Place of the line among the conversation lines of its file."""
    data: bytes | None


@dataclass(slots=True)
class Scan:
    """What one pass over a file leaves behind."""

    counted: int = 0
    """Lines that were counted and need not be parsed."""
    not_human: Counter[str] = field(default_factory=Counter)
    state: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    offsets: list[int] = field(default_factory=list)
    """The spine: file offset and length of every conversation line, in file order."""
    lengths: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    calls: list[int] = field(default_factory=list)
    """Places of the lines in which the agent calls a tool."""
    talk: list[int] = field(default_factory=list)
    """Places of the agent's other lines."""


def scan(
    handle: BinaryIO,
    size: int,
    record: Scan,
    admissions: Sequence[bytes] = (),
    everything: bool = False,
) -> Iterator[Raw]:
    """The lines of the first `size` bytes that must be parsed, in file order.

    All others are counted in `record`. `admissions` are words, in lower case, of which one stands
    near the beginning of the assistant lines that are worth parsing. `everything` parses every line
    that is not oversize. The last line comes too when it has no newline.
    """
    buffer = bytearray(LINE_MAX_BYTES + BLOCK_BYTES)
    view = memoryview(buffer)
    base = filled = number = 0
    while True:
        room = min(BLOCK_BYTES, size - base - filled)
        got = handle.readinto(view[filled : filled + room]) if room > 0 else 0  # type: ignore[attr-defined]
        last = not got
        searched, filled = filled, filled + got
        start = 0
        while True:
            end = buffer.find(b"\n", max(start, searched), filled)
            if end < 0:
                if not last or start == filled:
                    break
                end = filled
            number += 1
            if end > start:
                raw = _line(
                    buffer, start, end, base + start, number, record, admissions, everything
                )
                if raw is not None:
                    yield raw
                else:
                    record.counted += 1
            start = end + 1
            if start >= filled:
                break
        if last:
            return
        start = min(start, filled)
        rest = filled - start
        if rest > LINE_MAX_BYTES:
            number += 1
            head = bytes(view[start : start + HEAD_BYTES])
            length, newline = _skip(handle, view, rest, size - base - filled)
            raw = _oversize(head, base + start, length, number, record)
            base += start + length + newline
            filled = 0
            handle.seek(base)
            if raw is not None:
                yield raw
            else:
                record.counted += 1
            continue
        view[:rest] = view[start:filled]
        base += start
        filled = rest


def _skip(handle: BinaryIO, view: memoryview, length: int, left: int) -> tuple[int, int]:
    """Passes over the rest of an oversize line: its whole length, and 1 if a newline ends it."""
    while left > 0:
        got = handle.readinto(view[: min(BLOCK_BYTES, left)])  # type: ignore[attr-defined]
        if not got:
            break
        end = view.obj.find(b"\n", 0, got)  # type: ignore[attr-defined]
        if end >= 0:
            return length + end, 1
        length += got
        left -= got
    return length, 0


def _line(
    buffer: bytearray,
    start: int,
    end: int,
    offset: int,
    number: int,
    record: Scan,
    admissions: Sequence[bytes],
    everything: bool,
) -> Raw | None:
    """The hot path: it runs once for every line of every log."""
    whole = (
        not everything
        and buffer[end - 1] == 0x7D
        and _NEXT.search(buffer, start + 1, end) is None
        and buffer.find(b"\0", start, end) < 0
    )
    kind, at = _kind(buffer, start, end) if whole else (b"", start)
    reason: str | None = None
    if kind == b"assistant":
        reason = _assistant(buffer, at, end, record, admissions)
    elif kind == b"user":
        reason = _user(buffer, at, end)
    elif kind.startswith(b"attachment:"):
        reason = None if _speaks(buffer, kind, at, end) else "attachment"
    elif kind == b"system":
        reason = "system"
    elif kind and kind not in _PARSED:
        _count_state(kind, record)
        if kind != b"progress":
            return None
        reason = ""
    record.offsets.append(offset)
    record.lengths.append(end - start)
    record.numbers.append(number)
    if reason is not None:
        if reason:
            record.not_human[reason] += 1
        return None
    return Raw(number, offset, end - start, len(record.offsets) - 1, bytes(buffer[start:end]))


def _kind(buffer: bytearray, start: int, end: int) -> tuple[bytes, int]:
    """The record's type and where its head goes on; b"" when the head is not as the client writes.

    An attachment comes as `attachment:<its type>`. Only scalars may stand before the type, and for
    an assistant line before the message, whose role then tells; so nothing nested can deceive.
    """
    find = buffer.find
    limit = min(end, start + _HEAD_SPAN)
    at = find(b'"type":"', start, limit)
    if at < 0:
        return b"", start
    message = find(b'"message":{', start, at)
    if message >= 0:
        role = find(b'"role":"assistant"', message, message + 300)
        if (
            role < 0
            or find(b"{", start + 1, message) >= 0
            or find(b"{", message + 11, role) >= 0
            or find(b'"user"', start, role + 64) >= 0
        ):
            return b"", start
        return b"assistant", role
    close = find(b'"', at + 8, min(limit, at + 8 + TYPE_MAX_CHARS + 1))
    if close < 0:
        return b"", start
    name = bytes(buffer[at + 8 : close])
    nested = find(b"{", start + 1, at)
    if nested >= 0:
        attached = nested == at - 1 and buffer.startswith(b'"attachment":', nested - 13)
        return (b"attachment:" + name, close) if attached else (b"", start)
    if name == b"assistant":
        return b"", start
    return name, close


def _assistant(
    buffer: bytearray, at: int, end: int, record: Scan, admissions: Sequence[bytes]
) -> str | None:
    """One block stands in a line (2.x); in older lines a call may stand behind the text."""
    block = buffer.find(b'"content":[{"type":"', at, at + 200)
    if buffer.startswith(b"tool_use", block + 20):
        record.calls.append(len(record.offsets))
        return "assistant"
    if buffer.find(b'{"type":"tool_use"', at, end) >= 0:
        return None
    record.talk.append(len(record.offsets))
    if admissions and admits(bytes(buffer[at : min(end, at + ADMISSION_SPAN)]), admissions):
        return None
    return "assistant"


def admits(text: bytes, admissions: Sequence[bytes]) -> bool:
    """One of the words stands in the text, in any case of the Latin letters."""
    lowered = text.lower()
    ascii_only = lowered.isascii()
    for word in admissions:  # a plain loop: this runs for every answer of the agent
        if word in lowered:
            return True
        if ascii_only and not word.isascii():
            return False
    return False


def _speaks(buffer: bytearray, kind: bytes, at: int, end: int) -> bool:
    """Attachments that hold a person's words, a hook's verdict, or what our own hook has shown."""
    if kind == b"attachment:hook_additional_context":
        return buffer.find(OUR_FENCE.encode(), at, end) >= 0
    return kind in _SPEAKING_ATTACHMENTS


def _count_state(kind: bytes, record: Scan) -> None:
    record.state += 1
    name = kind.decode("utf-8", "replace")
    if name not in STATE_TYPES:
        record.unknown[name] += 1


def _user(buffer: bytearray, at: int, end: int) -> str | None:
    """`tool_result` when nothing in the line can be a person's words or a verdict on the agent."""
    body = buffer.find(b'"message":{"role":"user","content":[{', at, at + _HEAD_SPAN)
    result = _RESULT.match(buffer, body + 36, end) if body >= 0 else None
    if result is None or _SPEAKING.match(buffer, result.end(), end):
        return None
    at = result.end()
    close = buffer.find(b'},"uuid":"', at, end)
    if close < 0 or buffer.find(b'"type":"text"', at, close) >= 0:
        return None
    if not buffer.startswith(b"}]", close - 2):
        return None
    failed = buffer.find(b'"is_error":true', max(at, close - _FAILED_SPAN), close) >= 0
    if failed and _VERDICT.search(buffer, close, end):
        return None
    asked = buffer.find(b'"toolUseResult":{"', close, close + 1024)
    return None if buffer.startswith(_TELLING, asked + 18) else "tool_result"


def _oversize(head: bytes, offset: int, length: int, number: int, record: Scan) -> Raw | None:
    """An oversize line: counted when its head tells what it is, else left to be streamed."""
    buffer = bytearray(head)
    kind, at = _kind(buffer, 0, len(buffer))
    reason: str | None = None
    if kind == b"user":
        body = buffer.find(b'"message":{"role":"user","content":[{', at, at + _HEAD_SPAN)
        result = _RESULT.match(buffer, body + 36) if body >= 0 else None
        if result and buffer.find(b'},"uuid":"', result.end()) >= 0:
            reason = _user(buffer, at, len(buffer))
        elif result and not _SPEAKING.match(buffer, result.end()):
            reason = "tool_result"
    elif kind in (b"assistant", b"system"):
        reason = kind.decode()
    elif kind.startswith(b"attachment:"):
        reason = None if kind in _SPEAKING_ATTACHMENTS else "attachment"
    elif kind and kind not in _PARSED:
        _count_state(kind, record)
        return None
    record.offsets.append(offset)
    record.lengths.append(length)
    record.numbers.append(number)
    if reason is not None:
        record.not_human[reason] += 1
        return None
    return Raw(number, offset, length, len(record.offsets) - 1, None)
