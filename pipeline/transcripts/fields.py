"""Single fields of a record, as far as they can be believed: any of them may be missing or odd."""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from pipeline.transcripts.decode import clean_surrogates

FIELD_MAX_CHARS = 400
_NAME = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[\w-]{1,12}", re.ASCII)
"""A UUID as the client writes it, or as short a name as other tools give: no room for words."""
_VERSION = re.compile(r"\d{1,6}(\.\d{1,6}){1,3}")


def text_field(data: Mapping[str, Any], name: str, limit: int = FIELD_MAX_CHARS) -> str:
    """The beginning of a string that every sink can encode; "" for anything else."""
    value = data.get(name)
    return clean_surrogates(value[:limit]) if isinstance(value, str) else ""


def name_field(data: Mapping[str, Any], name: str) -> str:
    """A line's own name or its parent's; a long one that is no UUID may hold words."""
    value = text_field(data, name)
    return value if not value or _NAME.fullmatch(value) else digest(value)


def digest(*parts: object) -> str:
    """Identity of a line that has no uuid."""
    text = "\0".join(str(part) for part in parts)
    return "line:" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def prompt_position(data: Mapping[str, Any]) -> object:
    """`turnPosition.promptIndex`, None when absent (2.1.332)."""
    position = data.get("turnPosition")
    return position.get("promptIndex") if isinstance(position, dict) else None


def origin_kind(origin: object) -> str | None:
    """`origin.kind`; None when absent. Foreign files hold a bare string."""
    if isinstance(origin, dict):
        kind = origin.get("kind")
        return kind if isinstance(kind, str) else None
    return origin if isinstance(origin, str) else None


def parse_version(value: object) -> tuple[int, ...] | None:
    """`2.1.197` as a tuple; None for anything else."""
    if not isinstance(value, str) or not _VERSION.fullmatch(value):
        return None
    return tuple(int(part) for part in value.split("."))
