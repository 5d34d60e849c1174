"""The hook: what a prompt waits for, against the same guarded line around an empty program."""

import hashlib
import statistics
import subprocess
import sys
import time
from pathlib import Path

from pipeline.install.line import wrapped
from tests.hook.conftest import World, item

ROUNDS = 300


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
