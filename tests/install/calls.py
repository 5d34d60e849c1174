"""What the tests of this room share: a command's result, programs on PATH, our groups."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Run = Callable[..., "Done"]


@dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def program(folder: Path, name: str, source: str) -> Path:
    """A program in Python that a scheduler's place is taken by."""
    path = folder / name
    path.write_text(f"#!{sys.executable} -I\n{source}", encoding="utf-8")
    path.chmod(0o755)
    return path


def ours(data: bytes) -> dict[str, list[Any]]:
    """The groups with our line, by event."""
    hooks = json.loads(data.decode("utf-8-sig")).get("hooks", {})
    found = {
        event: [
            group
            for group in groups
            if any("twice-told hook" in hook.get("command", "") for hook in group["hooks"])
        ]
        for event, groups in hooks.items()
    }
    return {event: groups for event, groups in found.items() if groups}
