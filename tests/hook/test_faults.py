"""Whatever is broken: exit code 0, nothing or one whole object, no word on stderr (C6)."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
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


def _home_is_a_loop(world: World) -> None:
    _no_home(world)
    world.home.symlink_to(world.home)


def _of_another_tree(world: World) -> None:
    world.render(item(), tree=world.home).replace(world.snapshot_of(world.repo))


def _of_another_schema(world: World) -> None:
    path = world.snapshot_of(world.repo)
    rest = path.read_bytes().partition(b"\n")[2].replace(b'"schema":1', b'"schema":0')
    path.write_bytes(b'{"digest":"%s"}\n' % hashlib.sha256(rest).hexdigest().encode() + rest)


def _no_repository(world: World) -> None:
    shutil.rmtree(world.repo)


TIMES = range(3)
"""Each fault meets so many prompts (C6)."""
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
    "home is a loop of links": _home(_home_is_a_loop),
    "file of another tree": _home(_of_another_tree),
    "file of another schema": _home(_of_another_schema),
    "folder deleted": _home(_no_repository),
    "wrong version": _script("import sys\nassert sys.version_info > (99,)"),
}


@pytest.mark.parametrize("size", [0, 5 << 20], ids=["short prompt", "5 MB prompt"])
@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_silent(world: World, tmp_path: Path, name: str, size: int) -> None:
    world.render(item())
    command = FAULTS[name](world, tmp_path)
    for number in TIMES:
        done = world.run(world.event(prompt="x" * size, session_id=f"s{number}"), command)
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
    for _ in TIMES:
        done = world.run(data)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_closed_streams(world: World) -> None:
    world.render(item())
    for closing in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full") * len(TIMES):
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
    env = {"PATH": "/usr/bin:/bin", **environment}
    for number in TIMES:
        done = world.run(world.event(session_id=f"s{number}"), env=env, cwd=world.repo)
        assert (done.returncode, done.stderr) == (0, b"")
        assert json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


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


REPLACE = """
import os, sys
path = sys.argv[1]
fresh = path + ".new"
contents = [open(name, "rb").read() for name in sys.argv[2:]]
print(flush=True)
while os.getppid() == int(os.environ["PARENT"]):
    for data in contents:
        with open(fresh, "wb") as file:
            file.write(data)
        os.replace(fresh, path)
"""
READS = 10_000


def test_a_file_replaced_while_it_is_read_is_never_mixed(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old or new, whole; the digest tells (T39)."""
    monkeypatch.chdir(tmp_path)  # the hook goes elsewhere
    path, names, texts = world.snapshot_of(world.repo), [], []
    for words, count in (("first-set", 4), ("second-set", 2)):
        world.render(*[item(n, 1, text=f"{words} {n}") for n in range(1, count + 1)])
        texts.append(world.read(world.repo))
        names.append(path.rename(tmp_path / words))
    world.render(item())
    writer = subprocess.Popen(
        [sys.executable, "-I", "-c", REPLACE, path, *names],
        stdout=subprocess.PIPE, env={"PARENT": str(os.getpid())},
    )  # fmt: skip
    try:
        assert writer.stdout
        writer.stdout.readline()
        deadline = time.monotonic() + 30
        while world.read(world.repo) not in texts:
            assert time.monotonic() < deadline
        found = Counter(world.read(world.repo) for _ in range(READS))
    finally:
        writer.kill()
        writer.communicate()
    assert set(found) == set(texts)
    assert min(found.values()) > READS // 100, "it was replaced all the time"
