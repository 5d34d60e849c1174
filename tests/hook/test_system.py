"""Whatever the system does to the hook: signals, limits, rights, clocks, slow readers (C6)."""

import errno
import fcntl
import hashlib
import json
import os
import resource
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.install.line import wrapped
from tests.hook.conftest import HOOK, World, item
from tests.hook.test_faults import TIMES

Done = subprocess.CompletedProcess[bytes]
Wait = Callable[[Callable[[], bool]], None]
NOBODY = 65_534
ROOT = os.getuid() == 0


def whole_or_nothing(done: Done) -> bool:
    """The contract; whether something was shown."""
    assert (done.returncode, done.stderr) == (0, b"")
    if done.stdout:
        output = json.loads(done.stdout)["hookSpecificOutput"]
        assert output["additionalContext"].endswith("End of Twice Told corrections.")
    return bool(done.stdout)


# Signals

STOPPED_AT = """
import os, sys
at, signal, top = int({at}), int({signal}), {top!r}
sys.path.insert(0, top)
import hook
lines = 0
def trace(frame, event, _):
    global lines
    lines += event == "line"
    if lines == at:
        sys.settrace(None)
        os.kill(os.getpid(), signal)
    return trace
sys.settrace(trace)
try:
    hook.start()
finally:
    sys.settrace(None)
    if {counts!r}:
        with open({counts!r}, "w") as file:
            file.write(str(lines))
"""
POINTS = 10


class Stepped:
    """The hook in a script that sends itself a signal at one of its lines."""

    def __init__(self, world: World, top: Path) -> None:
        self.world, self.script = world, top / "stepped.py"
        world.render(item())
        counts = top / "counts"
        self.write(at=-1, number=0, counts=str(counts))
        assert whole_or_nothing(world.run(world.event(session_id="all"), self.command))
        self.lines = int(counts.read_text())

    @property
    def command(self) -> str:
        return self.world.command(self.script)

    def write(self, at: int, number: int, counts: str = "") -> None:
        values = {"at": at, "signal": number, "top": str(HOOK.parent), "counts": counts}
        self.script.write_text(STOPPED_AT.format(**values), encoding="utf-8")

    def points(self) -> Iterator[int]:
        """Lines from the first to the last."""
        for point in range(POINTS):
            yield 1 + point * (self.lines - 1) // (POINTS - 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGALRM])
def test_a_signal_at_ten_points(world: World, tmp_path: Path, number: int) -> None:
    stepped = Stepped(world, tmp_path)
    for point in stepped.points():
        stepped.write(point, number)
        for again in TIMES:
            event = world.event(session_id=f"{point} {again}")
            assert not whole_or_nothing(world.run(event, stepped.command))


def test_stopped_at_ten_points_and_woken_late(
    world: World, tmp_path: Path, eventually: Wait
) -> None:
    """It has missed its deadline, and so says nothing, or had said all."""
    stepped = Stepped(world, tmp_path)
    for point in stepped.points():
        stepped.write(point, signal.SIGSTOP)
        child = shell(f"exec {stepped.command}")
        assert child.stdin
        child.stdin.write(world.event(session_id=f"{point}"))
        child.stdin.close()
        child.stdin = None
        (python,) = wait_for(eventually, lambda child=child: children(child.pid))
        eventually(lambda python=python: state(python) == "T")
        os.kill(python, signal.SIGCONT)
        out, err = child.communicate()
        whole_or_nothing(Done([], child.returncode, out, err))


def shell(command: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        ["sh", "-c", wrapped(command)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in tasks.read_text(encoding="ascii").split()]


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]


def wait_for(eventually: Wait, look: Callable[[], list[int]]) -> list[int]:
    found: list[int] = []

    def there() -> bool:
        found[:] = look()
        return bool(found)

    eventually(there)
    return found


# Limits

NOBODY = 65_534


def no_process() -> None:
    """The limit does not hold for root."""
    if os.getuid() == 0:
        os.setgroups([])
        os.setresuid(NOBODY, NOBODY, NOBODY)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


@pytest.mark.parametrize("shell", ["dash", "bash"])
def test_no_process_can_be_started(world: World, shell: str) -> None:
    """A shell that cannot fork ends by itself, and with 2 the prompt would be thrown away.

    Bash tries for 15 s first, so it is asked once; the client's own limit ends it before.
    """
    path = shutil.which(shell)
    if not path:
        pytest.skip(f"no {shell} here")
    for _ in TIMES if shell == "dash" else TIMES[:1]:
        done = subprocess.run(
            [path, "-c", wrapped(world.command())], input=world.event(), capture_output=True,
            preexec_fn=no_process, cwd="/", check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("limit", ["-v 65536", "-n 8", "-t 5"])
def test_scarce_resources(world: World, limit: str) -> None:
    world.render(item())
    text = f"ulimit {limit}; " + wrapped(world.command())
    for number in TIMES:
        event = world.event(session_id=f"s{number}")
        done = subprocess.run(["sh", "-c", text], input=event, capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert not done.stdout or json.loads(done.stdout)


# Rights: root obeys none, so it lays down what lets it pass by them

LESS_POWER = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"]


@pytest.fixture(scope="module")
def powerless() -> list[str]:
    """What a command is begun with, so that rights hold for it."""
    if not ROOT:
        return []
    if not shutil.which("setpriv") or subprocess.run([*LESS_POWER, "true"], check=False).returncode:
        pytest.skip("root cannot lay down its powers here")
    return LESS_POWER


def closed(world: World, place: str) -> Path:
    """Takes all rights from one of the things the hook needs."""
    path = {
        "home": world.home,
        "hook files": world.home / "local_cases" / "snapshots",
        "hook file": world.snapshot_of(world.repo),
        "markers": world.home / "local_cases" / "seen",
        "repository": world.repo,
        "the repository's git folder": world.repo / ".git",
    }[place]
    path.chmod(0)
    return path


@pytest.mark.parametrize(
    ("place", "shows"),
    [
        ("home", False), ("hook files", False), ("hook file", False), ("markers", False),
        ("repository", False), ("the repository's git folder", True),
    ],
)  # fmt: skip
def test_what_it_may_not_read(world: World, powerless: list[str], place: str, shows: bool) -> None:
    world.render(item())
    path = closed(world, place)
    try:
        for number in TIMES:
            event = world.event(session_id=f"s{number}")
            words = [*powerless, "sh", "-c", wrapped(world.command())]
            done = subprocess.run(words, input=event, capture_output=True, check=False)
            assert whole_or_nothing(done) is shows
    finally:
        path.chmod(0o700)


def test_a_script_it_may_not_read(world: World, powerless: list[str], tmp_path: Path) -> None:
    world.render(item())
    script = tmp_path / "hook.py"
    script.write_text("print('never')", encoding="utf-8")
    script.chmod(0)
    words = [*powerless, "sh", "-c", wrapped(world.command(script))]
    for _ in TIMES:
        done = subprocess.run(words, input=world.event(), capture_output=True, check=False)
        assert not whole_or_nothing(done)


def test_markers_that_cannot_be_written_show_nothing(world: World, powerless: list[str]) -> None:
    """A read-only disk, or a full one: what cannot be noted would be shown at every prompt."""
    world.render(item())
    (world.home / "local_cases" / "seen").chmod(0o500)
    words = [*powerless, "sh", "-c", wrapped(world.command())]
    for _ in TIMES:
        done = subprocess.run(words, input=world.event(), capture_output=True, check=False)
        assert not whole_or_nothing(done)


@pytest.mark.skipif(not ROOT, reason="only root gives files away")
def test_a_home_of_somebody_else(world: World) -> None:
    world.render(item())
    for path in [world.home, *world.home.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    for number in TIMES:
        whole_or_nothing(world.run(world.event(session_id=f"s{number}")))


def test_an_environment_that_moved(world: World, tmp_path: Path) -> None:
    """The interpreter is a link to nowhere."""
    world.render(item())
    python = tmp_path / "python"
    python.symlink_to(tmp_path / "gone" / "python3")
    for _ in TIMES:
        assert not whole_or_nothing(world.run(world.event(), world.command(python=str(python))))


# Clocks

AT = """
import sys, time
sys.path.insert(0, {top!r})
time.time = lambda: {seconds}
import hook
hook.start()
"""


@pytest.mark.parametrize(
    ("year", "seconds", "shows"), [(1970, 0, True), (2099, 4_070_908_800, False)]
)
def test_a_wrong_clock(world: World, tmp_path: Path, year: int, seconds: int, shows: bool) -> None:
    world.render(item())
    script = tmp_path / "at.py"
    script.write_text(AT.format(top=str(HOOK.parent), seconds=seconds), encoding="utf-8")
    for number in TIMES:
        done = world.run(world.event(session_id=f"s{number}"), world.command(script))
        assert whole_or_nothing(done) is shows, year


# Who reads late, and who is busy


@contextmanager
def full_pipe() -> Iterator[tuple[int, int, int]]:
    """Its ends, and how much stands in it."""
    reader, writer = os.pipe()
    flags = fcntl.fcntl(writer, fcntl.F_GETFL)
    fcntl.fcntl(writer, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    filled = 0
    try:
        while True:
            filled += os.write(writer, b" " * 4096)
    except BlockingIOError as error:
        assert error.errno == errno.EAGAIN
    fcntl.fcntl(writer, fcntl.F_SETFL, flags)
    try:
        yield reader, writer, filled
    finally:
        os.close(reader)


def marker(number: int) -> str:
    return hashlib.sha256(f"s{number}".encode()).hexdigest()


def test_a_full_pipe_and_a_slow_reader(world: World, eventually: Wait) -> None:
    """What is printed waits for its reader, a byte at a time, and arrives whole."""
    world.render(item())
    for number in TIMES:
        with full_pipe() as (reader, writer, filled):
            child = subprocess.Popen(
                ["sh", "-c", wrapped(world.command())],
                stdin=subprocess.PIPE, stdout=writer, stderr=subprocess.PIPE,
            )  # fmt: skip
            os.close(writer)
            assert child.stdin and child.stderr
            child.stdin.write(world.event(session_id=f"s{number}"))
            child.stdin.close()
            eventually((world.home / "local_cases" / "seen" / marker(number)).exists)
            data = b""
            while select.select([reader], [], [], 10)[0] and (piece := os.read(reader, 1 << 12)):
                data += piece
            assert data[:filled] == b" " * filled
            done = Done([], child.wait(10), data[filled:], child.stderr.read())
            assert whole_or_nothing(done)


def test_a_starved_processor(world: World) -> None:
    """On one processor with loops that are more important: late is silent, never half."""
    world.render(item())
    only = {min(os.sched_getaffinity(0))}
    loops = [
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "import os\nwhile os.getppid() == parent: pass"
             .replace("parent", str(os.getpid()))],
            preexec_fn=lambda: os.sched_setaffinity(0, only),
        )
        for _ in range(3)
    ]  # fmt: skip

    def idle() -> None:
        os.sched_setaffinity(0, only)
        os.nice(19)

    try:
        for number in TIMES:
            done = subprocess.run(
                ["sh", "-c", wrapped(world.command())],
                input=world.event(session_id=f"s{number}"), capture_output=True,
                preexec_fn=idle, check=False,
            )  # fmt: skip
            whole_or_nothing(done)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
