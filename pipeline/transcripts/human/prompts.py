"""User lines without a tool result: what a person typed, and what the client put in (U1-U14)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.records import Kind
from pipeline.transcripts import markers
from pipeline.transcripts.content import texts
from pipeline.transcripts.fields import origin_kind, parse_version
from pipeline.transcripts.human.piece import Class, Piece
from pipeline.transcripts.human.tags import own_text, tagged


def prompt(data: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]]) -> Iterator[Piece]:
    """One piece for each text block; never none."""
    words = list(texts(blocks))
    if not words:
        yield Piece(Class.HARNESS, "X", "no_text")
    for text in words:
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
    return own_text(text) or _by_marks(data, text)


def _by_marks(data: Mapping[str, Any], text: str) -> Piece:
    origin = origin_kind(data.get("origin"))
    source = data.get("promptSource")
    if origin not in (None, "human"):
        return Piece(Class.HARNESS, "U4", f"origin_{_slug(origin)}")
    if data.get("turnOrigin") not in (None, "human", "sdk"):
        return Piece(Class.HARNESS, "U5", "turn_origin")
    found = tagged(text, trusted=source in ("typed", "queued"), row="U6")
    if found is not None:
        return found
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


def _slug(text: str) -> str:
    return re.sub(r"[^a-z]+", "_", text.lower())[:30]
