"""kill -9 anywhere: nothing lost, nothing doubled, and the next run needs no help (T14, T15)."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipeline.cases.schema import transaction
from pipeline.config import Config
from tests.collect.homes import (
    MISSED,
    PLAIN,
    VIOLATED,
    cases,
    command,
    driver,
    environment,
    everywhere,
    forked,
    put,
    run,
    state,
    tables,
    talk,
    texts,
)

FAILPOINTS = (Path(__file__).parent / "failpoints.py").read_text(encoding="utf-8")


def archive(root: Path) -> None:
    """More files than one transaction takes, forks whose original is settled at the end, scripts
    that are taken back at the end."""
    first = talk("m-origin", PLAIN, MISSED)
    put(root, "m-origin", first)
    put(root, "a-fork", [*forked(first, "a-fork"), *talk("a-fork", VIOLATED, seconds=5000)])
    for number in range(5):
        words = "You forgot the headings; add the missing ones in all of these files, please."
        put(root, f"script{number}", talk(f"script{number}", words, MISSED, version="2.0.76"))


STRIDE = os.environ.get("FAILPOINT_STRIDE", "13")
"""Every thirteenth place, before and after in turn; 1 visits all and takes some minutes."""


def points(config: Config, *words: str) -> dict[str, Any]:
    """Runs a command once for each place at which it can be killed, a normal run after each."""
    process = driver(config, FAILPOINTS, STRIDE, *words)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err[-2000:]
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found


def test_killed_at_every_write_commit_and_rename_of_a_night(config: Config, root: Path) -> None:
    archive(root)
    run(config)
    expected = sorted([c.id, c.text, c.session, c.repo] for c in cases(config))
    assert {session for _, text, session, _ in expected if text == MISSED} == {"m-origin"}
    found = points(config, "nightly")
    assert found["killed"] * int(STRIDE) >= 40, found
    assert found["unharmed"]
    assert found["codes"] == [0]
    assert [json.loads(state) for state in found["states"]] == [expected]


def test_killed_while_it_forgets_the_next_night_ends_it(config: Config, root: Path) -> None:
    """Before the commit the case is still there, after it no file holds it once a run has ended."""
    put(root, "s1", talk("s1", PLAIN, "You forgot the zanzibar tests."))
    put(root, "s2", talk("s2", PLAIN, VIOLATED))
    found = points(config, "forget", "--all", "--yes")
    assert found["killed"] * int(STRIDE) >= 20, found
    assert found["unharmed"]
    assert found["codes"] == [0]
    kept = [json.loads(state) for state in found["states"]]
    assert {len(rows) for rows in kept} <= {0, 2}
    assert [] in kept
    assert found["leaks"] == [], "a forgotten word is left in a file"


def test_killed_while_it_restores_a_store_is_always_there(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", PLAIN, MISSED))
    found = points(config, "restore", "EXPORT", "--yes")
    assert found["killed"] * int(STRIDE) >= 10, found
    assert found["unharmed"]
    assert found["codes"] == [0]
    assert [len(json.loads(state)) for state in found["states"]] == [1]
    assert found["without_store"] == 0


def test_killed_at_random_moments_again_and_again(config: Config, root: Path) -> None:
    """Fifteen kills while a few hundred files are read, some of them during the recovery from the
    one before; then one run that nobody disturbs."""
    for number in range(240):
        put(root, f"s{number:03}", talk(f"s{number:03}", PLAIN, MISSED))
    put(root, "fork", [*forked(talk("s000", PLAIN, MISSED), "fork"), *talk("fork", VIOLATED)])
    chance = random.Random(7)
    killed = 0
    for _ in range(15):
        process = driver(
            config, "import sys; from pipeline.cli import main; sys.exit(main(['nightly']))"
        )
        time.sleep(chance.uniform(0.15, 0.6))  # the moment of the kill, not a wait for something
        killed += process.poll() is None
        process.kill()
        process.communicate()
    assert killed >= 8
    done = command(config, "nightly", "--json")
    assert done.returncode == 0, done.stderr
    found = state(config)
    assert texts(config) == sorted([MISSED] * 240 + [VIOLATED])
    clean = Config(config.home.with_name("clean"), config.claude_dirs, config.timezone)
    run(clean)
    assert found == state(clean)
    assert not (config.local_cases / "cases.duckdb.wal").exists()


def test_an_interrupted_run_says_so_and_goes_on_next_time(config: Config, root: Path) -> None:
    for number in range(300):
        put(root, f"s{number:03}", talk(f"s{number:03}", PLAIN, MISSED))
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline", "collect", "--jobs", "2"],
        env=environment(config),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )
    deadline = time.monotonic() + 20
    while not (config.local_cases / "cases.duckdb").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)  # anywhere inside the run
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, ""), err
    assert "stopped" in err
    assert "Traceback" not in err
    assert command(config, "collect").returncode == 0
    assert texts(config) == [MISSED] * 300


# A full disk

LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
from pipeline.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("limit", [0, 100_000])
def test_a_full_disk_leaves_the_old_state(config: Config, root: Path, limit: int) -> None:
    """No file may grow past the limit: writes come back short, then fail."""
    put(root, "s1", talk("s1", PLAIN, MISSED))
    assert command(config, "nightly").returncode == 0
    before, exports = tables(config), sorted((config.local_cases / "exports").iterdir())
    for number in range(60):
        put(
            root,
            f"x{number}",
            talk(f"x{number}", *[f"{VIOLATED} {n} {'x' * 90}" for n in range(30)]),
        )
    process = driver(config, LIMITED, str(limit), "nightly")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, (out, err)
    assert "next: " in err
    assert "Traceback" not in err
    assert VIOLATED not in err
    now = tables(config)
    assert [row for row in before["cases"] if row not in now["cases"]] == []
    assert set(exports) <= set((config.local_cases / "exports").iterdir())
    done = command(config, "nightly", "--json")
    assert done.returncode == 0, done.stderr
    clean = Config(config.home.with_name("clean"), config.claude_dirs, config.timezone)
    run(clean)
    assert state(config) == state(clean)


def test_a_full_disk_leaves_no_half_export(config: Config, root: Path, tmp_path: Path) -> None:
    put(root, "s1", talk("s1", PLAIN, MISSED))
    run(config)
    target = tmp_path / "mine.gz"
    target.write_bytes(b"the old one")
    process = driver(config, LIMITED, "100", "export", str(target))
    assert process.communicate(timeout=30)[0] == ""
    assert process.returncode == 3
    assert target.read_bytes() == b"the old one"
    assert [p.name for p in tmp_path.iterdir() if "mine" in p.name] == ["mine.gz"]


# A damaged log

KILLED_WRITER = """
import os, sys
from pathlib import Path
from pipeline.commands.writing import writing
from pipeline.collect.run import Plan, collect
from pipeline import config
settings = config.load()
with writing(settings) as store:
    collect(store, settings, Plan())
    os.kill(os.getpid(), 9)
"""
DAMAGES = {
    "whole": lambda data: data,
    "cut": lambda data: data[: len(data) * 2 // 3],
    "zeroed tail": lambda data: data[: len(data) // 2] + bytes(len(data) - len(data) // 2),
    "flipped bit": lambda data: (
        data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 8]) + data[len(data) // 2 + 1 :]
    ),
    "garbage": lambda data: random.Random(3).randbytes(len(data)),
    "empty": lambda data: b"",
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_log_is_set_aside_and_read_again(config: Config, root: Path, damage: str) -> None:
    """Plain DuckDB refuses to open, or opens and is silently shorter; both must end well."""
    put(root, "s1", talk("s1", PLAIN, MISSED))
    run(config)
    put(root, "s2", talk("s2", PLAIN, VIOLATED))
    process = driver(config, KILLED_WRITER)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    log = config.local_cases / "cases.duckdb.wal"
    whole = log.read_bytes()
    assert len(whole) > 200
    log.write_bytes(DAMAGES[damage](whole))
    done = command(config, "collect", "--json")
    assert done.returncode == 0, done.stderr
    aside = sorted(p.name for p in config.local_cases.glob("*.wal.corrupt-*"))
    warnings = json.loads(done.stdout)["warnings"]
    assert [name for name in aside if any(name in warning for warning in warnings)] == aside
    assert damage not in ("zeroed tail", "garbage") or aside or not warnings
    if aside:
        assert (config.local_cases / aside[0]).read_bytes() == DAMAGES[damage](whole)
        assert "log was damaged" in done.stderr
    assert texts(config) == sorted([MISSED, VIOLATED])
    clean = Config(config.home.with_name("clean"), config.claude_dirs, config.timezone)
    run(clean)
    assert state(config) == state(clean)
    assert not log.exists()


def test_a_reader_of_a_damaged_log_is_told_what_mends_it(config: Config, root: Path) -> None:
    put(root, "s1", talk("s1", PLAIN, MISSED))
    run(config)
    (config.local_cases / "cases.duckdb.wal").write_bytes(bytes(4000))
    shown = command(config, "cases")
    if shown.returncode:
        assert shown.returncode == 3
        assert "twice-told collect" in shown.stderr
    assert command(config, "collect").returncode == 0
    assert command(config, "cases").stdout.count("\n") == 1


def test_a_log_is_not_set_aside_for_a_fault_of_the_store(config: Config, root: Path) -> None:
    """When the base is what is damaged, its log is kept for whoever can mend it."""
    put(root, "s1", talk("s1", PLAIN, MISSED))
    run(config)
    (config.local_cases / "cases.duckdb").write_bytes(b"\0" * 50_000)
    log = config.local_cases / "cases.duckdb.wal"
    log.write_bytes(b"perhaps precious")
    done = command(config, "collect")
    assert done.returncode == 3
    assert log.read_bytes() == b"perhaps precious"
    assert everywhere(config.home, "perhaps precious") == ["cases.duckdb.wal"]


def test_a_stopped_query_that_has_ended_its_transaction_is_still_an_interrupt() -> None:
    """DuckDB may have rolled back by itself; that it cannot again is nobody's news."""
    con = duckdb.connect()
    with pytest.raises(KeyboardInterrupt), transaction(con):
        con.execute("ROLLBACK")
        raise KeyboardInterrupt
