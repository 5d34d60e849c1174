"""kill -9 in mid-judge: what was stored is not asked again, and the next run goes on (T14)."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.config import Backend
from tests.collect.homes import command, environment
from tests.judge.conftest import KEY, Court, Serve

SETTINGS = """
[judge]
enabled = true
backend = "{backend}"
base_url = "{url}"
key_env = "MADE_UP_KEY"
max_usd = 1000
"""


def written(here: Court, backend: Backend = Backend.API) -> Court:
    """The settings as a file, for a process of its own."""
    text = SETTINGS.format(backend=backend, url=here.server.url)
    (here.config.home / "config.toml").write_text(text, encoding="utf-8")
    return here


def started(here: Court) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline", "nightly"],
        env=environment(here.config, MADE_UP_KEY=KEY),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.005)


@pytest.mark.parametrize("calls", [1, 7, 23, 31])
def test_killed_after_so_many_calls(court: Serve, calls: int) -> None:
    here = court(lambda case, model: "missed-item")
    here.ask(20)
    written(here)
    process = started(here)
    until(lambda: here.server.calls() >= calls)
    process.send_signal(signal.SIGKILL)
    process.wait()
    stored = {row[0] for row in here.stored("SELECT key FROM answers")}
    seen = len(here.server.received)
    assert seen - len(stored) <= 5, "only what was in flight is lost"
    done = command(here.config, "nightly", MADE_UP_KEY=KEY)
    assert done.returncode == 0, done.stderr
    asked_again = here.server.received[seen:]
    names = {str(row[0])[:16] for row in here.stored("SELECT key FROM answers")}
    before = {str(key)[:16] for key in stored}
    assert not before & {r.case["id"] for r in asked_again}, "nothing is paid twice"
    assert len(names) == 40
    assert {case.decided_by for case in here.cases()} == {"judge"}
    times = Counter((r.model, r.case["id"]) for r in here.server.received)
    assert max(times.values()) <= 2


@pytest.mark.parametrize("made", [False, True], ids=["before it was made", "before it was named"])
def test_killed_over_a_batch(court: Serve, made: bool, tmp_path: Path) -> None:
    """The server ends the process while it hands over a batch, with or without making one."""
    here = court(lambda case, model: "missed-item")
    here.ask(6)
    written(here, Backend.BATCH)
    process: list[subprocess.Popen[bytes]] = []

    def kill() -> None:
        os.kill(process[0].pid, signal.SIGKILL)
        process[0].wait()
        here.server.on_batch = lambda: None
        if not made:
            here.server.batches.clear()

    here.server.on_batch = kill
    process.append(started(here))
    process[0].wait(60)
    assert here.stored("SELECT count(*), max(remote) FROM batched") == [(6, "")]
    for _ in range(2):
        assert command(here.config, "nightly", MADE_UP_KEY=KEY).returncode == 0
    assert {case.decided_by for case in here.cases()} == {"judge"}
    assert [len(batch.entries) for batch in here.server.batches.values()] == [6, 6]


def test_an_interrupt_does_not_wait_for_a_silent_server(court: Serve) -> None:
    here = court(lambda case, model: "hang")
    here.ask(6)
    written(here)
    process = started(here)
    until(lambda: here.server.calls() >= 1)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    assert command(here.config, "cases").returncode == 0


def test_others_can_read_while_a_model_thinks(court: Serve) -> None:
    here = court(lambda case, model: "hang")
    here.ask(6)
    written(here)
    process = started(here)
    until(lambda: here.server.calls() >= 1)
    assert command(here.config, "cases").stdout.count("\n") == 6
    process.kill()
    process.wait()
