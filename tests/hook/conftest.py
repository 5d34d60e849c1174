"""A home with one repository and its hook file, and the guarded line as it is registered."""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from pipeline import hook
from pipeline.inject.items import Item, line
from pipeline.inject.snapshots import document
from pipeline.install.line import wrapped
from pipeline.masking.masker import mask
from pipeline.records import Case, CaseType, Kind, Source

HOOK = Path(hook.__file__).with_name("run_hook.py")
NOW = datetime.now(UTC)


def case(number: int = 1, days_old: float = 1, **fields: object) -> Case:
    """A decided correction; `fields` override."""
    at = NOW - timedelta(days=days_old)
    values: dict[str, object] = {
        "id": f"{number:012x}", "at": at, "day": at.date(), "session": "s", "repo": "loom",
        "type": CaseType.MISSED_ITEM, "source": Source.HUMAN, "state": "open",
        "decided_by": "rule", "rule_id": "en.x.y", "text": mask(f"you forgot part {number}").text,
        "tool": "Edit", "gist": mask("src/loom.py").text, "said": mask("").text,
        "kind": Kind.TYPED, "row": "U7", "lang": "en", "interrupted": False, "named": True,
        "admitted": False, "file": "f", "number": 1, "inferred_at": False,
    }  # fmt: skip
    assert isinstance(values["day"], date)
    return Case(**{**values, **fields})  # type: ignore[arg-type]


def item(number: int = 1, days_old: float = 1, **fields: object) -> Item:
    """The line for it."""
    made = case(number, days_old, **fields)
    return Item(made, line(made), made.at + timedelta(days=30))


class World:
    """A repository, a home, and the hook between them."""

    def __init__(self, top: Path) -> None:
        self.home, self.repo = top / "home", top / "repo"
        for folder in ("snapshots", "seen"):
            (self.home / "local_cases" / folder).mkdir(parents=True)
        (self.repo / ".git").mkdir(parents=True)
        (self.repo / "src" / "deep").mkdir(parents=True)

    def snapshot_of(self, tree: Path) -> Path:
        name = hashlib.sha256(str(tree.resolve()).encode()).hexdigest()
        return self.home / "local_cases" / "snapshots" / f"{name}.json"

    def render(self, *items: Item, tree: Path | None = None, at: datetime = NOW) -> Path:
        """Puts a hook file for a tree (the repository)."""
        path = self.snapshot_of(tree or self.repo)
        path.write_bytes(document(path.stem, "loom", items, at))
        return path

    def event(self, **fields: object) -> bytes:
        """What Claude Code sends for a first prompt."""
        values = {
            "session_id": "5e55", "transcript_path": "/t.jsonl", "cwd": str(self.repo),
            "permission_mode": "default", "hook_event_name": "UserPromptSubmit",
            "prompt": "go on",
        }  # fmt: skip
        return json.dumps(values | fields).encode()

    def command(self, script: Path = HOOK, python: str = sys.executable) -> str:
        return f'"{python}" -I -S "{script}" "{self.home}"'

    def run(
        self, data: bytes, command: str | None = None, **options: object
    ) -> "subprocess.CompletedProcess[bytes]":
        """The guarded line through sh, as the client runs it."""
        text = wrapped(command or self.command())
        return subprocess.run(
            ["sh", "-c", text], input=data, capture_output=True, timeout=30, check=False,
            **options,  # type: ignore[call-overload]
        )  # fmt: skip

    def read(self, cwd: Path) -> str:
        """What the hook makes of a folder, asked in this process: for thousands of questions."""
        try:
            text = hook.message(os.fsencode(self.home), os.fsencode(cwd))
        except (OSError, ValueError):  # behind the guard all of them are silence
            return ""
        return str(json.loads(b'"' + text + b'"'))

    def shown(self, **fields: object) -> str:
        """The injected text, "" when nothing was printed."""
        done = self.run(self.event(**fields))
        assert (done.returncode, done.stderr) == (0, b"")
        if not done.stdout:
            return ""
        output = json.loads(done.stdout)["hookSpecificOutput"]
        assert output["hookEventName"] == "UserPromptSubmit"
        return str(output["additionalContext"])


@pytest.fixture
def world(tmp_path: Path) -> World:
    """An empty one."""
    return World(tmp_path)


@pytest.fixture
def eventually() -> Callable[[Callable[[], bool]], None]:
    """Waits for a condition, with a deadline."""

    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 10
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.01)

    return wait
