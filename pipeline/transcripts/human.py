"""Decides for one line which of its pieces a person typed to the agent.

The rows (G1, U7, T2 ...) are tried in order and the first that matches decides; its name travels
with the turn so that `explain` can show it. What cannot be proved to be a person's words is not.
Facts come from 565 public transcripts of versions 1.0.0-2.1.212 and from runs of 2.1.197 and
2.1.332 (30 Nov 2026).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pipeline.records import Kind, Line
from pipeline.transcripts import markers


class Class(StrEnum):
    """What a piece is. HUMAN and EMBEDDED are turns, MAYBE is one only when headless runs count."""

    HUMAN = "human"
    EMBEDDED = "embedded"
    MAYBE = "maybe"
    WEAK = "weak"
    SIGNAL = "signal"
    HARNESS = "harness"


@dataclass(frozen=True, slots=True)
class Piece:
    """One judged part of a line; `text` is raw and only set for a person's words."""

    verdict: Class
    row: str
    reason: str = ""
    """Why it is no turn: the key under which the run counts its line."""
    text: str = ""
    kind: Kind = Kind.TYPED
    tool_use_id: str = ""
    """The call that was refused, approved with a comment or answered."""


def judge(line: Line, subagent: bool, excluded: Callable[[str], bool]) -> list[Piece]:
    """The pieces of a `user` or `attachment` line, in order; never empty.

    `subagent` tells that the file was written by a subagent; `excluded` tells which working
    folders are never read (our judge's, the user's exclude list).
    """
    data = line.data
    side = "G1" if subagent else "G2" if _side(data) else ""
    pieces = list(_pieces(line.kind, data, side))
    cwd = data.get("cwd")
    if isinstance(cwd, str) and excluded(cwd):
        return [Piece(Class.HARNESS, "G3", "excluded")]
    if str(data.get("entrypoint") or "").startswith("sdk"):
        return [_headless(piece) for piece in pieces]
    return pieces


def _headless(piece: Piece) -> Piece:
    """From an SDK entry point a program can type prompts and give reasons."""
    if piece.verdict not in (Class.HUMAN, Class.EMBEDDED):
        return piece
    return Piece(Class.MAYBE, piece.row, "headless", piece.text, piece.kind, piece.tool_use_id)


def _side(data: Mapping[str, Any]) -> bool:
    return data.get("isSidechain") is True or bool(data.get("agentId"))


def _pieces(kind: str, data: Mapping[str, Any], side: str) -> Iterator[Piece]:
    if kind == "attachment":
        yield _attachment(data, side)
        return
    blocks = content_blocks(data)
    if any(_is_result(block) for block in blocks):
        yield from _with_results(data, blocks, side)
    elif side:
        yield from _directive(blocks, side)
    else:
        yield from _prompt(data, blocks)


def content_blocks(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The blocks of a message; a bare string is a text block. Foreign shapes give an empty list."""
    message = data.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [
        {"type": "text", "text": block} if isinstance(block, str) else block
        for block in content
        if isinstance(block, str | dict)
    ]


def _is_result(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "tool_result"


def _texts(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for block in blocks:
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str):
            yield text


# Attachments and subagents


def _attachment(data: Mapping[str, Any], side: str) -> Piece:
    """A1-A3: a message typed while the agent works has no user line (since 2.1.97)."""
    attachment = data.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return Piece(Class.HARNESS, side or "A3", "attachment")
    if side:
        return Piece(Class.HARNESS, side, "subagent")
    origin = _kind_of(attachment.get("origin"))
    if (
        attachment.get("commandMode") not in (None, "prompt")
        or origin not in (None, "human")
        or attachment.get("isMeta") is True
    ):
        return Piece(Class.HARNESS, "A2", "queued_command")
    prompt = attachment.get("prompt")
    text = "\n".join(_texts(content_blocks({"message": {"content": prompt}})))
    if markers.OUR_FENCE in text or markers.starts_observer(text):
        return Piece(Class.HARNESS, "G4", "own_text")
    return _tagged(text, trusted=origin == "human", row="A1") or Piece(
        Class.HUMAN, "A1", text=text, kind=Kind.QUEUED
    )


def _directive(blocks: Sequence[Mapping[str, Any]], side: str) -> Iterator[Piece]:
    """G1: a subagent's prompt is the parent model's, except the directive of `/fork` (2.1.197)."""
    text = "\n".join(_texts(blocks))
    words = markers.fork_directive(text)
    if words:
        yield Piece(Class.EMBEDDED, side, text=words, kind=Kind.COMMAND_ARGS)
    else:
        yield Piece(Class.HARNESS, side, "subagent")


# Prompts: user lines without a tool result


def _prompt(data: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]]) -> Iterator[Piece]:
    texts = list(_texts(blocks))
    if not texts:
        yield Piece(Class.HARNESS, "X", "no_text")
    for text in texts:
        yield _prompt_text(data, text)


def _prompt_text(data: Mapping[str, Any], text: str) -> Piece:
    if text.strip() in markers.INTERRUPTS:
        return Piece(Class.SIGNAL, "U1", "interrupt")
    if any(data.get(flag) is True for flag in markers.CLIENT_FLAGS) or data.get("rowSource") in (
        "harness",
        "hook",
    ):
        return Piece(Class.HARNESS, "U2", "client_text")
    if data.get("planContent") is not None or text.startswith(markers.PLAN):
        words = text.rpartition(markers.PLAN_FEEDBACK)[2] if markers.PLAN_FEEDBACK in text else ""
        if words.strip():
            return Piece(Class.EMBEDDED, "U3", text=words, kind=Kind.APPROVAL_COMMENT)
        return Piece(Class.HARNESS, "U3", "plan")
    if markers.OUR_FENCE in text or markers.starts_observer(text):
        return Piece(Class.HARNESS, "G4", "own_text")
    return _by_marks(data, text)


def _by_marks(data: Mapping[str, Any], text: str) -> Piece:
    origin = _kind_of(data.get("origin"))
    source = data.get("promptSource")
    if origin not in (None, "human"):
        return Piece(Class.HARNESS, "U4", f"origin_{_name(origin)}")
    if data.get("turnOrigin") not in (None, "human", "sdk"):
        return Piece(Class.HARNESS, "U5", "turn_origin")
    tagged = _tagged(text, trusted=source in ("typed", "queued"), row="U6")
    if tagged is not None:
        return tagged
    if source in ("typed", "queued"):
        kind = Kind.QUEUED if source == "queued" else Kind.TYPED
        return Piece(Class.HUMAN, "U7", text=text, kind=kind)
    if source == "suggestion_accepted":
        return Piece(Class.WEAK, "U8", "suggestion")
    if source == "system":
        return Piece(Class.HARNESS, "U9", "prompt_source")
    entrypoint = str(data.get("entrypoint") or "")
    if origin == "human" and not entrypoint.startswith("sdk"):
        return Piece(Class.HUMAN, "U10", text=text)
    if source == "sdk" or data.get("turnOrigin") == "sdk" or entrypoint.startswith("sdk"):
        return Piece(Class.MAYBE, "U11", "headless", text)
    return _unmarked(data, text, entrypoint)


def _unmarked(data: Mapping[str, Any], text: str, entrypoint: str) -> Piece:
    version = parse_version(data.get("version"))
    if version is None or version < markers.MARKED_SINCE:
        return Piece(Class.HUMAN, "U12", text=text)
    if entrypoint == "cli":
        return Piece(Class.HARNESS, "U13", "unmarked")
    return Piece(Class.MAYBE, "U14", "unmarked", text)


def _tagged(text: str, trusted: bool, row: str) -> Piece | None:
    """What a beginning says about a text; None when it says nothing.

    `trusted` texts are known to be typed: of the tags only those count that the client writes
    around a person's words, and only closed ones (people type such beginnings).
    """
    start = text.lstrip()
    if start.startswith(markers.COMMAND_TAGS) and (not trusted or markers.is_closed(start)):
        words = markers.command_words(start)
        if words:
            return Piece(Class.EMBEDDED, row, text=words, kind=Kind.COMMAND_ARGS)
        return Piece(Class.HARNESS, row, "command")
    if start.startswith("<bash-input>") and (not trusted or markers.is_closed(start)):
        return Piece(Class.HARNESS, row, "shell_command")
    if start.startswith(markers.INJECTED_TAGS):
        rest = markers.strip_injected(start)
        if not rest.strip():
            return Piece(Class.HARNESS, row, "injected")
        return None if trusted or rest != start else Piece(Class.HARNESS, row, "injected")
    if not trusted and start.startswith(markers.CLIENT_BEGINNINGS):
        return Piece(Class.HARNESS, row, "client_text")
    return None


# User lines with tool results


def _with_results(
    data: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]], side: str
) -> Iterator[Piece]:
    call = ""
    for block in blocks:
        if _is_result(block):
            identity = block.get("tool_use_id")
            call = identity if isinstance(identity, str) else ""
            yield from _result(data, block, call, side)
        elif not side:
            yield from _beside(data, block, call)


def _result(
    data: Mapping[str, Any], block: Mapping[str, Any], call: str, side: str
) -> Iterator[Piece]:
    text = result_text(block)
    feedback = data.get("userFeedback")
    failed = block.get("is_error") is True
    refused = isinstance(feedback, str) and data.get("toolDenialKind") == "user-rejected"
    if failed and text.startswith(markers.REFUSED_WITH_WORDS):
        words, row = text[len(markers.REFUSED_WITH_WORDS) :], "T2"
    elif failed and text.startswith(markers.REFUSED_WITH_REASON):
        words, row = text[len(markers.REFUSED_WITH_REASON) :], "T3"
    elif failed and text.startswith(markers.DENIED) and markers.DENIED_WORDS in text:
        words, row = text.partition(markers.DENIED_WORDS)[2], "T6"
    else:
        words, row = "", ""
    if refused and str(feedback).strip():
        words, row = str(feedback), "T1"
    if words.startswith(markers.CLARIFY):
        yield Piece(Class.SIGNAL, "T0", "clarify")
    elif words.strip():
        yield Piece(Class.EMBEDDED, row, text=words, kind=Kind.REJECTION, tool_use_id=call)
    elif failed and text.startswith(markers.REFUSED_BARE):
        yield Piece(Class.SIGNAL, "T4", "refused")
    elif text.strip() in markers.INTERRUPTS:
        yield Piece(Class.SIGNAL, "T7", "interrupt")
    elif not side and isinstance(data.get("toolUseResult"), dict):
        yield from _answers(data["toolUseResult"], call)
    else:
        yield Piece(Class.HARNESS, side or "T12", "tool_result")


def result_text(block: Mapping[str, Any]) -> str:
    """The words of a tool result: its string, or its text blocks joined by newlines."""
    content = block.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_texts([item for item in content if isinstance(item, dict)]))
    return ""


def _beside(data: Mapping[str, Any], block: Mapping[str, Any], call: str) -> Iterator[Piece]:
    """T11: a text block beside a tool result is the comment given with an approval."""
    for text in _texts([block]):
        if text.strip() in markers.INTERRUPTS:
            yield Piece(Class.SIGNAL, "U1", "interrupt")
        elif (
            text.strip() == markers.TOOL_LOADED
            or any(data.get(flag) is True for flag in markers.CLIENT_FLAGS)
            or _tagged(text, trusted=False, row="T11") is not None
        ):
            yield Piece(Class.HARNESS, "T11", "client_text")
        else:
            yield Piece(
                Class.EMBEDDED, "T11", text=text, kind=Kind.APPROVAL_COMMENT, tool_use_id=call
            )


# Answers to AskUserQuestion


def _answers(result: Mapping[str, Any], call: str) -> Iterator[Piece]:
    """T8: free answers and notes. A picked label is the model's wording, not the person's."""
    answers, questions = result.get("answers"), result.get("questions")
    if not isinstance(answers, dict) or not isinstance(questions, list):
        yield Piece(Class.HARNESS, "T12", "tool_result")
        return
    notes = result.get("annotations")
    found = False
    for question in questions:
        name = question.get("question") if isinstance(question, dict) else None
        if not isinstance(name, str):
            continue
        note = notes.get(name) if isinstance(notes, dict) else None
        for words in (
            _free_words(question, answers.get(name)),
            note.get("notes") if isinstance(note, dict) else None,
        ):
            if isinstance(words, str) and words.strip():
                found = True
                yield Piece(Class.EMBEDDED, "T8", text=words, kind=Kind.ANSWER, tool_use_id=call)
    if not found:
        yield Piece(Class.WEAK, "T8", "picked_answer")


def _free_words(question: Mapping[str, Any], answer: object) -> str:
    if not isinstance(answer, str) or answer == markers.NOTES_ONLY:
        return ""
    options = question.get("options")
    labels = {
        option["label"]
        for option in (options if isinstance(options, list) else [])
        if isinstance(option, dict) and isinstance(option.get("label"), str)
    }
    if answer in labels:
        return ""
    return _without_labels(answer, labels) if question.get("multiSelect") is True else answer


def _without_labels(answer: str, labels: set[str]) -> str:
    """Own words behind picked labels: labels are taken off the front, the rest is one piece."""
    rest = answer
    while True:
        for label in sorted(labels, key=len, reverse=True):
            if rest == label:
                return ""
            if rest.startswith(label + ", "):
                rest = rest[len(label) + 2 :]
                break
        else:
            break
    if len(rest) > 1 and rest[0] == rest[-1] == '"':
        return rest[1:-1]
    return rest


# Small readers of fields


def _kind_of(origin: object) -> str | None:
    """`origin.kind`; None when absent. Foreign files hold a bare string."""
    if isinstance(origin, dict):
        kind = origin.get("kind")
        return kind if isinstance(kind, str) else None
    return origin if isinstance(origin, str) else None


def _name(text: str) -> str:
    return re.sub(r"[^a-z]+", "_", text.lower())[:30]


def parse_version(value: object) -> tuple[int, ...] | None:
    """`2.1.197` as a tuple; None for anything else."""
    if not isinstance(value, str) or not re.fullmatch(r"\d{1,6}(\.\d{1,6}){1,3}", value):
        return None
    return tuple(int(part) for part in value.split("."))
