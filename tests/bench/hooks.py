"""The hook: what a prompt waits for, against the same guarded line around an empty program; and
whether a prompt is ever lost, when all is well and when it is not."""

import hashlib
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pipeline.install.line import wrapped
from tests.hook.conftest import World, item
from tests.hook.test_faults import FAULTS

ROUNDS = 300
PROMPTS, OF_ONE_WORLD = 5000, 8


def cases(top: Path) -> dict[str, float]:
    """Median seconds of each way a prompt can meet the hook. Taken in turns: noise meets all."""
    world = World(top / "hook")
    world.render(*map(item, range(1, 7)))
    seen = world.home / "local_cases" / "seen"
    shown = seen / hashlib.sha256(b"shown").hexdigest()
    shown.touch()
    empty = wrapped(f'"{sys.executable}" -I -S -c pass')
    known, long = (
        world.event(session_id="shown"),
        world.event(session_id="shown", prompt="x " * 10**5),
    )
    ways = {
        "empty": (empty, known),
        "shown": (wrapped(world.command()), known),
        "first": (wrapped(world.command()), world.event(session_id="new")),
        "long": (wrapped(world.command()), long),
    }
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, (line, event) in ways.items():
            for mark in set(seen.iterdir()) - {shown}:
                mark.unlink()
            begun = time.perf_counter()
            done = subprocess.run(["sh", "-c", line], input=event, capture_output=True, check=True)
            times[way].append(time.perf_counter() - begun)
            assert bool(done.stdout) == (way == "first")
    return {way: statistics.median(taken) for way, taken in times.items()}


@dataclass
class Fared:
    """How the prompts fared."""

    prompts: int = 0
    blocked: int = 0
    """The line ended with another code than 0."""
    talked: int = 0
    """Something stood on standard error."""
    broken: int = 0
    """What was printed is neither nothing nor one whole object of ours."""
    shown: int = 0

    def count(self, done: "subprocess.CompletedProcess[bytes]") -> None:
        """One more."""
        self.prompts += 1
        self.blocked += done.returncode != 0
        self.talked += bool(done.stderr)
        self.shown += bool(done.stdout)
        self.broken += bool(done.stdout) and not _is_whole(done.stdout)


def _is_whole(out: bytes) -> bool:
    try:
        output = json.loads(out)["hookSpecificOutput"]
        return output["hookEventName"] == "UserPromptSubmit" and bool(output["additionalContext"])
    except (ValueError, KeyError, TypeError):
        return False


def fates(top: Path) -> Fared:
    """5,000 prompts through the line as it is registered: each fault in turn with none."""
    fared = Fared()
    ways = itertools.cycle(way for fault in FAULTS.values() for way in (None, fault))
    while fared.prompts < PROMPTS:
        with tempfile.TemporaryDirectory(dir=top) as folder:
            world, fault = World(Path(folder) / "world"), next(ways)
            world.render(item())
            (Path(folder) / "fault").mkdir()
            command = fault(world, Path(folder) / "fault") if fault else None
            for number in range(min(OF_ONE_WORLD, PROMPTS - fared.prompts)):
                fared.count(world.run(world.event(session_id=f"s{number}"), command))
    return fared
