"""Whatever is broken: exit code 0, nothing or one whole object, no word on stderr (C6)."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.install.line import wrapped
from tests.hook.conftest import HOOK, World, item

Fault = Callable[[World, Path], str | None]


def _script(text: str) -> Fault:
    def make(world: World, top: Path) -> str:
        path = top / "hook.py"
        path.write_text(text, encoding="utf-8")
        return world.command(path)

    return make


def _damaged(change: Callable[[bytes], bytes]) -> Fault:
    def make(world: World, top: Path) -> None:
        path = world.snapshot_of(world.repo)
        path.write_bytes(change(path.read_bytes()))

    return make


def _home(change: Callable[[World], None]) -> Fault:
    def make(world: World, top: Path) -> None:
        change(world)

    return make


def _replace_by_pipe(world: World) -> None:
    path = world.snapshot_of(world.repo)
    path.unlink()
    os.mkfifo(path)


def _replace_by_folder(world: World) -> None:
    path = world.snapshot_of(world.repo)
    path.unlink()
    path.mkdir()


def _loop(world: World) -> None:
    path = world.snapshot_of(world.repo)
    path.unlink()
    path.symlink_to(path)


def _huge(world: World) -> None:
    with world.snapshot_of(world.repo).open("r+b") as handle:
        handle.truncate(2 << 30)


def _remove_seen(world: World) -> None:
    (world.home / "local_cases" / "seen").rmdir()


def _no_home(world: World) -> None:
    world.home.rename(world.home.with_name("gone"))


def _home_is_a_file(world: World) -> None:
    _no_home(world)
    world.home.write_text("x", encoding="utf-8")


FAULTS: dict[str, Fault] = {
    "no python": lambda world, top: world.command(python="/no/such/python"),
    "no script": lambda world, top: world.command(top / "none.py"),
    "empty script": _script(""),
    "syntax error": _script("def ("),
    "import error": _script("import no_such_module"),
    "exit 1": _script("raise SystemExit(1)"),
    "exit 2": _script("raise SystemExit(2)"),
    "half an object, then exit 2": _script(
        "import os\nos.write(1, b'{\"hookSpec')\nraise SystemExit(2)"
    ),
    "half an object, then killed": _script(
        "import os\nos.write(1, b'{\"hookSpec')\nos.kill(os.getpid(), 9)"
    ),
    "talks on standard error": _script("import sys\nsys.stderr.write('oh')\nraise SystemExit(1)"),
    "file cut": _damaged(lambda data: data[: len(data) // 2]),
    "file empty": _damaged(lambda data: b""),
    "file of zeros": _damaged(lambda data: b"\0" * len(data)),
    "one byte changed": _damaged(lambda data: data[:-20] + b"X" + data[-19:]),
    "no JSON": _damaged(lambda data: b"hello\n"),
    "another digest": _damaged(lambda data: data.replace(b'"digest":"', b'"digest":"0', 1)),
    "file is a pipe": _home(_replace_by_pipe),
    "file is a folder": _home(_replace_by_folder),
    "file is a loop of links": _home(_loop),
    "file of 2 GB": _home(_huge),
    "no folder of markers": _home(_remove_seen),
    "no home": _home(_no_home),
    "home is a file": _home(_home_is_a_file),
}


@pytest.mark.parametrize("size", [0, 5 << 20], ids=["short prompt", "5 MB prompt"])
@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_silent(world: World, tmp_path: Path, name: str, size: int) -> None:
    world.render(item())
    command = FAULTS[name](world, tmp_path)
    done = world.run(world.event(prompt="x" * size), command)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"[]", b"null", b'"x"', b"not json", b"\xff\xfe\0", b'{"session_id":"a"}',
        b'{"session_id":1,"cwd":2,"hook_event_name":"UserPromptSubmit","prompt":3}',
        b'{"session_id":null,"cwd":null,"hook_event_name":null}', b"\0" * (10 << 20),
        b'{"session_id":"a","cwd":"relative","hook_event_name":"UserPromptSubmit","prompt":"x"}',
        b'{"session_id":"a","cwd":"/no/such/folder","hook_event_name":"UserPromptSubmit","prompt":""}',
    ],
    ids=lambda data: f"{data[:40]!r} of {len(data)}",
)  # fmt: skip
def test_odd_events_are_silent(world: World, data: bytes) -> None:
    world.render(item())
    done = world.run(data)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_closed_streams(world: World) -> None:
    world.render(item())
    for closing in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full"):
        text = f"({wrapped(world.command())}) {closing}"
        done = subprocess.run(
            ["sh", "-c", text], input=world.event(), capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b""), closing


@pytest.mark.parametrize(
    "environment",
    [
        {}, {"LANG": "C"}, {"PYTHONPATH": "."}, {"PYTHONHOME": "/nowhere"},
        {"PYTHONSTARTUP": "/nowhere"}, {"AI_AGENT": "1", "CLAUDECODE": "1"},
    ],
    ids=str,
)  # fmt: skip
def test_any_environment(world: World, environment: dict[str, str]) -> None:
    """The current folder and the environment run no code of theirs (T41)."""
    for name in ("json.py", "posix.py", "sitecustomize.py", "_sha256.py", "time.py"):
        (world.repo / name).write_text("raise SystemExit(2)", encoding="utf-8")
    world.render(item())
    done = world.run(world.event(), env={"PATH": "/usr/bin:/bin", **environment}, cwd=world.repo)
    assert done.returncode == 0
    assert json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGALRM])
def test_killed_while_it_reads(world: World, number: int) -> None:
    child = subprocess.Popen(
        ["sh", "-c", wrapped(f"exec {world.command()}")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdin is not None
    deadline = time.monotonic() + 10
    python: list[int] = []
    while not python and time.monotonic() < deadline:
        tasks = Path(f"/proc/{child.pid}/task/{child.pid}/children")
        python = [int(word) for word in tasks.read_text(encoding="ascii").split()]
        time.sleep(0.005)
    os.kill(python[0], number)
    out, err = child.communicate(world.event())
    assert (child.returncode, out, err) == (0, b"", b"")


def test_it_gives_up_in_time_when_nothing_comes(world: World) -> None:
    """A writer that stalls: the deadline inside ends the hook, long before the client's own."""
    reader, writer = os.pipe()
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), str(world.home)],
        stdin=reader, capture_output=True, timeout=20, check=False,
    )  # fmt: skip
    assert time.monotonic() - begun < 5
    assert (done.stdout, done.stderr) == (b"", b"")
    os.close(reader)
    os.close(writer)


@pytest.mark.parametrize("limit", ["-v 65536", "-n 8", "-t 5"])
def test_scarce_resources(world: World, limit: str) -> None:
    world.render(item())
    text = f"ulimit {limit}; " + wrapped(world.command())
    done = subprocess.run(["sh", "-c", text], input=world.event(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert not done.stdout or json.loads(done.stdout)


def test_a_file_replaced_while_it_is_read_is_never_mixed(world: World) -> None:
    """Old or new, whole; the digest tells."""
    path = world.snapshot_of(world.repo)
    contents = []
    for text in ("first-set", "second-set"):
        world.render(*[item(n, 1, text=f"{text} {n}") for n in range(1, 5)])
        contents.append(path.read_bytes())
    for number in range(60):
        fresh = path.with_suffix(".new")
        fresh.write_bytes(contents[number % 2])
        child = subprocess.Popen(
            ["sh", "-c", f"exec {world.command()}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        fresh.replace(path)
        out, _ = child.communicate(world.event(session_id=str(number)))
        text = json.loads(out)["hookSpecificOutput"]["additionalContext"]
        assert ("first-set" in text) != ("second-set" in text)
