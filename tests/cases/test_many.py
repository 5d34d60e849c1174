"""One writer, patient readers, and who holds what (T19)."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.cases.store import open_reader, open_writer
from pipeline.config import Config
from pipeline.errors import Busy
from pipeline.files import lock
from tests.collect.homes import (
    MISSED,
    PLAIN,
    cases,
    command,
    driver,
    environment,
    put,
    run,
    talk,
    texts,
)

HURRIED = """
import sys, time
slow = time.monotonic
time.monotonic = lambda: slow() * 100
from pipeline.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""Waits in hundredths: patience that has ended is tested without sitting it out."""
HOLD_LOCK = """
import os, sys, time
from pathlib import Path
from pipeline.files import lock, private_dir
with lock(private_dir(Path(os.environ["TWICE_TOLD_HOME"]) / "local_cases") / "lock"):
    print("held", flush=True)
    time.sleep(60)
"""
HOLD_STORE = """
import os, sys, time
from pathlib import Path
from pipeline.cases.store import open_reader, open_writer
door = open_writer if sys.argv[1] == "writer" else open_reader
with door(Path(os.environ["TWICE_TOLD_HOME"]) / "local_cases"):
    print("held", flush=True)
    time.sleep(60)
"""


@contextmanager
def held(config: Config, code: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    process = driver(config, code, *words)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def until(check: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def test_eight_runs_at_once_store_each_case_once(config: Config, root: Path) -> None:
    for number in range(12):
        put(root, f"s{number}", talk(f"s{number}", PLAIN, MISSED))
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "pipeline", "nightly", "--json"],
            env=environment(config),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        for _ in range(8)
    ]
    ends = [(process.communicate()[1], process.returncode) for process in runs]
    assert ends == [("", 0)] * 8
    assert texts(config) == [MISSED] * 12


def test_a_run_that_waits_too_long_ends_with_75_and_names_the_holder(
    config: Config, root: Path
) -> None:
    put(root, "s1", talk("s1", MISSED))
    with held(config, HOLD_LOCK) as holder:
        waiting = driver(config, HURRIED, "collect")
        out, err = waiting.communicate(timeout=30)
    assert (waiting.returncode, out) == (75, "")
    assert f"process {holder.pid}" in err
    assert "next: try again" in err


def test_the_lock_is_waited_for(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", MISSED))
    with held(config, HOLD_LOCK) as holder:
        waiting = driver(config, "from pipeline.cli import main; main(['collect'])")
        holder.kill()
        assert waiting.communicate(timeout=30)[1] == ""
    assert texts(config) == [MISSED]


def test_a_lock_file_with_a_living_foreign_process_in_it_is_no_obstacle(
    config: Config, root: Path
) -> None:
    """The lock is the kernel's, the number in the file only a name: no lock to remove by hand."""
    put(root, "s1", talk("s1", MISSED))
    config.local_cases.mkdir(parents=True)
    (config.local_cases / "lock").write_text(str(os.getppid()))
    assert command(config, "collect").returncode == 0
    assert (config.local_cases / "lock").read_text() != str(os.getppid())


def test_a_lock_lives_no_longer_than_its_process(tmp_path: Path) -> None:
    with lock(tmp_path / "lock"), pytest.raises(Busy, match=f"process {os.getpid()}"):
        with lock(tmp_path / "lock", 0.1):
            pass
    with lock(tmp_path / "lock", 0.1):
        pass


WAYS = [("writer", "cases"), ("reader", "dismiss"), ("reader", "collect"), ("writer", "show")]


@pytest.mark.parametrize(("holding", "asking"), WAYS, ids=[" then ".join(way) for way in WAYS])
def test_the_store_is_held_in_both_directions(
    config: Config, root: Path, holding: str, asking: str
) -> None:
    put(root, "s1", talk("s1", MISSED))
    run(config)
    words = [asking, cases(config)[0].id] if asking == "dismiss" else [asking]
    with held(config, HOLD_STORE, holding) as holder:
        hurried = driver(config, HURRIED, *words)
        out, err = hurried.communicate(timeout=30)
        assert (hurried.returncode, out) == (75, "")
        assert f"process {holder.pid}" in err
        assert MISSED not in err
        patient = driver(
            config,
            "import sys; from pipeline.cli import main; sys.exit(main(sys.argv[1:]))",
            *words,
        )
        holder.kill()
        patient.communicate(timeout=30)
        assert patient.returncode == 0


def test_readers_do_not_hinder_each_other(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", MISSED))
    run(config)
    with held(config, HOLD_STORE, "reader"):
        assert command(config, "cases").returncode == 0


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for workers in /proc")
def test_a_killed_run_takes_its_workers_along(config: Config, root: Path) -> None:
    """Workers share the lock of the run that started them: left over, they would hold it for
    ever (T14, T19)."""
    for number in range(400):
        put(root, f"s{number}", talk(f"s{number}", PLAIN, MISSED))
    code = "from pipeline.cli import main; main(['collect', '--jobs', '2'])"
    process = driver(config, code)
    until(lambda: len(children(process.pid)) >= 2 or process.poll() is not None)
    workers = children(process.pid)
    assert workers, "the run ended before it could be killed"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    until(lambda: not any(alive(pid) for pid in workers), 10)
    assert command(config, "collect").returncode == 0
    assert texts(config) == [MISSED] * 400


def children(pid: int) -> list[int]:
    try:
        found = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in re.findall(r"\d+", found)]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_failed_write_leaves_the_store_usable(config: Config) -> None:
    with pytest.raises(ZeroDivisionError), open_writer(config.local_cases) as store:
        with store.transaction():
            store.rows("INSERT INTO tombstones VALUES ('x')")
            _ = 1 / 0
    with open_reader(config.local_cases) as reading:
        assert reading is not None
        assert reading.rows("SELECT count(*) FROM tombstones") == [(0,)]
