"""The input history of a Claude folder: what was typed around a paste."""

import json
from pathlib import Path

HISTORY_MAX_BYTES = 256 << 20


def paste_displays(root: Path) -> dict[str, list[str]]:
    """Displays with a paste placeholder in `<root>/history.jsonl`, by session id.

    Unreadable lines are passed over: history only helps to tell pastes from typed words.
    """
    found: dict[str, list[str]] = {}
    path = root / "history.jsonl"
    try:
        if not path.is_file() or path.stat().st_size > HISTORY_MAX_BYTES:
            return found
        with path.open("rb") as handle:
            for line in handle:
                if b"[Pasted text #" in line:
                    _add(found, line)
    except OSError:
        return found
    return found


def _add(found: dict[str, list[str]], line: bytes) -> None:
    try:
        entry = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return
    if not isinstance(entry, dict):
        return
    session, display = entry.get("sessionId"), entry.get("display")
    if isinstance(session, str) and isinstance(display, str):
        found.setdefault(session, []).append(display)
