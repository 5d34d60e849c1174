"""Homes with cases and proposals about them, raised as the night would."""

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipeline.config import Config
from pipeline.ledger.book import NAME, append, read
from pipeline.ledger.event import Counts, Event, Happening
from pipeline.ledger.fold import Proposal, fold
from pipeline.records import CaseType
from tests.collect.homes import PLAIN, cases, put, run
from tests.transcripts.builders import Record, at, calls, prompt, says

MACHINE = "ab" * 8
DAY = 86_400
SENTENCE = "Run the parser tests before you call it done."


def ledger(config: Config) -> Path:
    return config.home / "ledger" / NAME


def exchange(
    session: str, cwd: Path, text: str, tool: str = "Bash", seconds: int = 0, **inputs: Any
) -> list[Record]:
    """A request, a call of the agent, and what the person says to it."""
    common: dict[str, Any] = {"sessionId": session, "cwd": str(cwd)}
    return [
        prompt(f"{session}-u0", PLAIN, None, timestamp=at(seconds), **common),
        calls(f"{session}-a0", tool, f"{session}-u0", inputs=inputs or {"command": "make"},
              timestamp=at(seconds + 10), **common),
        prompt(f"{session}-u1", text, f"{session}-a0", timestamp=at(seconds + 60), **common),
        says(f"{session}-a1", "Done.", f"{session}-u1", timestamp=at(seconds + 80), **common),
    ]  # fmt: skip


def told_twice(config: Config, root: Path, cwd: Path, *texts: str, **call: Any) -> None:
    """Each text in a session and on a day of its own, collected."""
    for n, text in enumerate(texts):
        name = f"{cwd.name}{n}"
        put(root, name, exchange(name, cwd, text, seconds=n * DAY, **call), project=cwd.name)
    run(config)


def raise_(
    config: Config,
    number: int = 1,
    repo: str = "loom",
    kind: CaseType = CaseType.MISSED_ITEM,
    held: bool = False,
) -> None:
    """The event that the night would add."""
    known = read(ledger(config)).events
    when = datetime(2026, 3, 20, tzinfo=UTC) + timedelta(minutes=len(known))
    days = [case.day for case in cases(config)] or [when.date()]
    counts = Counts(2, 2, 2, min(days), max(days), (2, 0, 0, 0))
    what = Happening.HELD if held else Happening.RAISED
    append(
        ledger(config),
        [Event(when, what, repo, kind, MACHINE, None if held else number, counts=counts)],
    )


def states(config: Config) -> list[Proposal]:
    return fold(read(ledger(config)).events)


def commit(top: Path) -> None:
    for words in (
        ["add", "-A"],
        ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", "-C", str(top), *words], check=True)
