"""Decides for one line which of its pieces a person typed to the agent.

The rows (G and A here, U in `prompts.py`, T in `results.py`) are tried in order and the first that
matches decides; its name travels with the turn so that `explain` can show it. What cannot be proved
to be a person's words is not.
Facts come from 565 public transcripts of versions 1.0.0-2.1.212 and from runs of 2.1.197 and
2.1.332 (30 Nov 2026).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.records import Kind, Line
from pipeline.transcripts import markers
from pipeline.transcripts.content import content_blocks, is_result, texts
from pipeline.transcripts.fields import origin_kind
from pipeline.transcripts.human.piece import Class, Piece
from pipeline.transcripts.human.prompts import prompt
from pipeline.transcripts.human.results import with_results
from pipeline.transcripts.human.tags import own_text, tagged


def judge(line: Line, subagent: bool, barred: bool) -> list[Piece]:
    """The pieces of a `user` or `attachment` line, in order; never empty.

    `subagent` tells that the file was written by a subagent; `barred` that the working folder is
    one that is never read (our judge's, the user's exclude list).
    """
    if barred:
        return [Piece(Class.HARNESS, "G3", "excluded")]
    data = line.data
    side = "G1" if subagent else "G2" if _side(data) else ""
    pieces = list(_pieces(line.kind, data, side))
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
    if any(is_result(block) for block in blocks):
        yield from with_results(data, blocks, side)
    elif side:
        yield _directive(blocks, side)
    else:
        yield from prompt(data, blocks)


def _attachment(data: Mapping[str, Any], side: str) -> Piece:
    """A1-A3: a message typed while the agent works has no user line (since 2.1.97)."""
    attachment = data.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != "queued_command":
        return Piece(Class.HARNESS, side or "A3", "attachment")
    if side:
        return Piece(Class.HARNESS, side, "subagent")
    origin = origin_kind(attachment.get("origin"))
    if (
        attachment.get("commandMode") not in (None, "prompt")
        or origin not in (None, "human")
        or attachment.get("isMeta") is True
    ):
        return Piece(Class.HARNESS, "A2", "queued_command")
    blocks = content_blocks({"message": {"content": attachment.get("prompt")}})
    text = "\n".join(texts(blocks))
    return (
        own_text(text)
        or tagged(text, trusted=origin == "human", row="A1")
        or Piece(Class.HUMAN, "A1", text=text, kind=Kind.QUEUED)
    )


def _directive(blocks: Sequence[Mapping[str, Any]], side: str) -> Piece:
    """G1: a subagent's prompt is the parent model's, except the directive of `/fork` (2.1.197)."""
    text = "\n".join(texts(blocks))
    words = markers.fork_directive(text)
    if words:
        return Piece(Class.EMBEDDED, side, text=words, kind=Kind.COMMAND_ARGS)
    return Piece(Class.HARNESS, side, "subagent")
