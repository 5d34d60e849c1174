"""What the agent had done just before a turn: its last tool call and its last words."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pipeline.records import Action
from pipeline.transcripts.content import content_blocks, texts
from pipeline.transcripts.markers import CLIENT_FLAGS
from pipeline.transcripts.spine import Spine

WALK_MAX_LINES = 400
GIST_MAX_CHARS = 200
SAID_MAX_CHARS = 500
SAID_MAX_LINES = 6
"""How far above a call its words are looked for: they stand in the same message."""
_POOR = frozenset(
    {
        "Read",
        "Grep",
        "Glob",
        "LS",
        "TodoWrite",
        "TaskList",
        "TaskGet",
        "TaskCreate",
        "TaskUpdate",
        "ToolSearch",
        "WebSearch",
        "WebFetch",
        "BashOutput",
    }
)
"""Tools that change nothing: a correction is seldom about them."""
_TELLING = (
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "url",
    "description",
    "query",
    "prompt",
    "plan",
    "skill",
)
"""Input fields that say what a call is about, the most telling first."""


def before_prompt(spine: Spine, place: int, session_id: str) -> Action | None:
    """The action that a prompt answers: along parentUuid, else in file order of the session.

    The chain matters after a rewind, where file order would give the abandoned branch.
    """
    return _summary(_chain(spine, place)) or _summary(_in_order(spine, place, session_id))


def call_inputs(spine: Spine, place: int, tool_use_id: str) -> Mapping[str, Any]:
    """The inputs of the call with this id, among the lines before a place; empty if not found."""
    for _, data in spine.backwards(place, WALK_MAX_LINES):
        for block in _blocks(data):
            if block.get("type") == "tool_use" and block.get("id") == tool_use_id:
                inputs = block.get("input")
                return inputs if isinstance(inputs, dict) else {}
    return {}


def call_name(spine: Spine, place: int, tool_use_id: str) -> str:
    """The tool of the call with this id, among the lines before a place; "" if not found."""
    for _, data in spine.backwards(place, WALK_MAX_LINES):
        for block in _blocks(data):
            if block.get("type") == "tool_use" and block.get("id") == tool_use_id:
                return _tool(block)
    return ""


def of_call(spine: Spine, place: int, tool_use_id: str) -> Action | None:
    """The call that a refusal, an approval comment or an answer belongs to.

    Of a question it is the call before it, with the question as the agent's last words.
    """
    for earlier, data in spine.backwards(place, WALK_MAX_LINES):
        for block in _blocks(data):
            if block.get("type") == "tool_use" and block.get("id") == tool_use_id:
                if block.get("name") == "AskUserQuestion":
                    return _question(spine, earlier, data, block)
                return Action(_tool(block), gist(block), _last_text(spine, earlier, data))
    return None


def _question(
    spine: Spine, place: int, data: Mapping[str, Any], block: Mapping[str, Any]
) -> Action:
    before = before_prompt(spine, place, str(data.get("sessionId") or ""))
    inputs = block.get("input")
    asked = inputs.get("questions") if isinstance(inputs, dict) else None
    questions = [
        str(item.get("question") or "")
        for item in (asked if isinstance(asked, list) else [])
        if isinstance(item, dict)
    ]
    said = " ".join(questions)[:SAID_MAX_CHARS]
    if before is None or not before.tool:
        return Action("AskUserQuestion", said[:GIST_MAX_CHARS], said)
    return Action(before.tool, before.gist, said)


def _chain(spine: Spine, place: int) -> Iterator[Mapping[str, Any]]:
    """The agent's lines above a prompt, nearest first, back to the person's words before."""
    wanted = _parent(spine[place])
    for _ in range(WALK_MAX_LINES):
        found = spine.find(wanted, place, WALK_MAX_LINES) if wanted else None
        if found is None or _is_prompt(spine[found]):
            return
        if is_agent(spine[found]):
            yield spine[found]
        place, wanted = found, _parent(spine[found])


def _in_order(spine: Spine, place: int, session_id: str) -> Iterator[Mapping[str, Any]]:
    for _, data in spine.backwards(place, WALK_MAX_LINES):
        if session_id and data.get("sessionId") not in (session_id, None):
            continue
        if _is_prompt(data):
            return
        if is_agent(data):
            yield data


def _parent(data: Mapping[str, Any]) -> str:
    """The line above; over a compaction the logical one."""
    parent = data.get("parentUuid") or data.get("logicalParentUuid")
    return parent if isinstance(parent, str) else ""


def is_agent(data: Mapping[str, Any]) -> bool:
    """A line of the model itself, not the client's own text (errors)."""
    message = data.get("message")
    return (
        data.get("type") == "assistant"
        and isinstance(message, dict)
        and message.get("model") != "<synthetic>"
    )


def _is_prompt(data: Mapping[str, Any]) -> bool:
    """A person's prompt, which begins the turn: nothing above it is answered by the next one."""
    if data.get("type") != "user" or any(data.get(flag) is True for flag in CLIENT_FLAGS):
        return False
    blocks = content_blocks(data)
    return bool(blocks) and all(
        block.get("type") in ("text", "image")
        and not str(block.get("text") or "").lstrip().startswith(("[Request interrupted", "<"))
        for block in blocks
    )


def _summary(lines: Iterable[Mapping[str, Any]]) -> Action | None:
    """The agent's lines, nearest first, as one action. Reads on only as far as it must."""
    chosen: Mapping[str, Any] | None = None
    said, beyond = "", 0
    for data in lines:
        said = said or text_of(data)
        if chosen is None or _tool(chosen) in _POOR:
            calls = [block for block in reversed(_blocks(data)) if _is_call(block)]
            telling = next((block for block in calls if _tool(block) not in _POOR), None)
            chosen = telling or chosen or next(iter(calls), None)
        else:
            beyond += 1
        if (chosen and _tool(chosen) not in _POOR) and (said or beyond > SAID_MAX_LINES):
            break
    if chosen is not None:
        return Action(_tool(chosen), gist(chosen), said)
    return Action("", "", said) if said else None


def _blocks(data: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return content_blocks(data) if data.get("type") == "assistant" else []


def _is_call(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "tool_use" and block.get("name") != "AskUserQuestion"


def _tool(block: Mapping[str, Any]) -> str:
    name = block.get("name")
    return name[:80] if isinstance(name, str) else ""


def text_of(data: Mapping[str, Any]) -> str:
    """The end of what the agent says in a line, on one line; "" in a line of anybody else."""
    return " ".join(" ".join(texts(_blocks(data))).split())[-SAID_MAX_CHARS:]


def _last_text(spine: Spine, place: int, data: Mapping[str, Any]) -> str:
    """What the agent said with a call: in its own line or in an earlier line of the message."""
    if text := text_of(data):
        return text
    message = data.get("message")
    identity = message.get("id") if isinstance(message, dict) else None
    for _, earlier in spine.backwards(place, 8):
        other = earlier.get("message")
        if isinstance(other, dict) and identity and other.get("id") == identity:
            if text := text_of(earlier):
                return text
        elif _is_prompt(earlier):
            break
    return ""


def gist(block: Mapping[str, Any]) -> str:
    """One line that says what a call was about, at most 200 characters."""
    inputs = block.get("input")
    if not isinstance(inputs, dict):
        return ""
    for field in _TELLING:
        value = inputs.get(field)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())[:GIST_MAX_CHARS]
    return json.dumps(inputs, ensure_ascii=False, default=str)[:GIST_MAX_CHARS] if inputs else ""
