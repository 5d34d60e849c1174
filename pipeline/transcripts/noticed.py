"""Mistakes that somebody other than the person pointed out, where they stand in a transcript.

What is found here is a statement with its source; whether it says that something went wrong is for
the rules of `rules/noticed/` to decide.
"""

import hashlib
import json
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.records import Line, Source
from pipeline.transcripts import markers
from pipeline.transcripts.content import content_blocks, result_text, texts

META_MAX_BYTES = 1 << 16
_TRAILER = re.compile(r"\AagentId: \S+")
_FIELD = {
    name: re.compile(rf"<{name}>(.*?)</{name}>", re.DOTALL)
    for name in ("task-id", "tool-use-id", "result")
}


@dataclass(frozen=True, slots=True)
class Statement:
    """What was said, by whom, and the call that it is about."""

    source: Source
    text: str
    agent_id: str = ""
    """Review: the subagent. Its findings stand in up to three places and count once."""
    tool_use_id: str = ""
    about: str = ""
    """Review: type and task of the subagent, as far as the line tells."""

    def key(self, uuid: str) -> str:
        """Identity across files: the place for guards and admissions, the words for findings."""
        if self.source is Source.REVIEW:
            digest = hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()[:16]
            return f"review:{self.agent_id[:80]}:{digest}"
        return f"{uuid}:{self.source.value}"


def statements(line: Line) -> Iterator[Statement]:
    """The noticed mistakes that a `user` or `attachment` line of a main transcript may hold."""
    data = line.data
    if line.kind == "attachment":
        yield from _attachment(data)
        return
    result = data.get("toolUseResult")
    for block in content_blocks(data):
        if block.get("type") == "tool_result":
            yield from _blocked(data, block)
            if isinstance(result, dict):
                yield from _findings(result, block)
        elif isinstance(text := block.get("text"), str):
            yield from _notification(text.lstrip())
            if words := markers.stop_feedback(text):
                yield Statement(Source.GUARD, words)


def _attachment(data: Mapping[str, Any]) -> Iterator[Statement]:
    """PostToolUse hooks that blocked (2.1.197, 2.1.332), and notifications that were queued."""
    attachment = data.get("attachment")
    if not isinstance(attachment, dict):
        return
    prompt = attachment.get("prompt")
    if attachment.get("type") == "queued_command" and isinstance(prompt, str):
        yield from _notification(prompt.lstrip())
    error = attachment.get("blockingError")
    event = str(attachment.get("hookEvent") or attachment.get("hookName") or "")
    if isinstance(error, dict) and event.startswith("PostToolUse"):
        text = error.get("blockingError")
        if isinstance(text, str) and text.strip():
            call = attachment.get("toolUseID")
            yield Statement(
                Source.GUARD, text.strip(), tool_use_id=call if isinstance(call, str) else ""
            )


def _blocked(data: Mapping[str, Any], block: Mapping[str, Any]) -> Iterator[Statement]:
    """A PreToolUse hook that refused the call. Denials by permission rules are policy, no fault."""
    if block.get("is_error") is not True:
        return
    text = result_text(block)
    words = markers.hook_verdict(text)
    decision = data.get("permissionDecision")
    if not words and isinstance(decision, dict) and decision.get("source") == "hook":
        words = text.strip()
    if words:
        yield Statement(Source.GUARD, words, tool_use_id=str(block.get("tool_use_id") or ""))


def _findings(result: Mapping[str, Any], block: Mapping[str, Any]) -> Iterator[Statement]:
    """A subagent that ran in the foreground: Task up to 2.1.52, Agent from 2.1.63."""
    agent = result.get("agentId")
    if not isinstance(agent, str) or result.get("status") not in ("completed", None):
        return
    content = result.get("content")
    found = [
        text
        for item in (content if isinstance(content, list) else [])
        if isinstance(item, dict)
        and isinstance(text := item.get("text"), str)
        and not _TRAILER.match(text)
    ]
    if words := "\n".join(found).strip():
        about = f"{result.get('agentType') or ''} {result.get('prompt') or ''}"[:500]
        yield Statement(
            Source.REVIEW, words, agent, str(block.get("tool_use_id") or ""), about.strip()
        )


def _notification(text: str) -> Iterator[Statement]:
    """A subagent that ran in the background (the default in 2.1.332) reports by notification."""
    if not text.startswith("<task-notification>"):
        return
    fields = {
        name: found[1].strip() for name, shape in _FIELD.items() if (found := shape.search(text))
    }
    if fields.get("result") and fields.get("task-id"):
        yield Statement(
            Source.REVIEW, fields["result"], fields["task-id"], fields.get("tool-use-id", "")
        )


def last_report(path: Path, data: Mapping[str, Any]) -> Statement | None:
    """The report with which a subagent ended, from the last assistant line of its own file."""
    message = data.get("message")
    agent = data.get("agentId")
    if not isinstance(message, dict) or not isinstance(agent, str):
        return None
    words = "\n".join(texts(content_blocks(data))).strip()
    if not words or message.get("stop_reason") not in ("end_turn", None):
        return None
    return Statement(Source.REVIEW, words, agent, "", _meta(path))


def _meta(path: Path) -> str:
    """Type and description of a subagent from the `.meta.json` beside its file (2.1.x), or ""."""
    meta = path.with_suffix(".meta.json")
    try:
        found = meta.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > META_MAX_BYTES:
            return ""
        data = json.loads(meta.read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    if not isinstance(data, dict):
        return ""
    return f"{data.get('agentType') or ''} {data.get('description') or ''}".strip()[:500]
