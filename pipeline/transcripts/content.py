"""What stands in a message: its blocks, the words of each. Foreign shapes hold nothing."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


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


def texts(blocks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The words of the text blocks."""
    for block in blocks:
        text = block.get("text")
        if block.get("type") == "text" and isinstance(text, str):
            yield text


def result_text(block: Mapping[str, Any]) -> str:
    """The words of a tool result: its string, or its text blocks joined by newlines."""
    content = block.get("content")
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(texts([item for item in content if isinstance(item, dict)]))
    return ""


def is_result(block: Mapping[str, Any]) -> bool:
    """What a tool gave back, or why it was not allowed to."""
    return block.get("type") == "tool_result"
