"""A hook that fails in any way costs nobody a prompt, and nothing broken reaches the model."""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from pipeline.install import line
from tests.client.desk import Desk
from tests.client.fake_api import texts

pytestmark = pytest.mark.client
WHOLE = json.dumps(
    {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "BROKEN"}}
)
HALF = f"import sys; sys.stdout.write({WHOLE[:-3]!r}); sys.stdout.flush()\n"
"""Begins a script that has printed half an object when it comes to grief."""

SCRIPTS = {
    "syntax error": "def main(:\n",
    "import error": "import nowhere_to_be_found\n",
    "exit 1": "raise SystemExit('BROKEN')\n",
    "exit 2": "import sys; print('BROKEN', file=sys.stderr); sys.exit(2)\n",
    "exit 2, whole object": f"import sys; print({WHOLE!r}); sys.exit(2)\n",
    "exit 2, half an object": HALF + "sys.exit(2)\n",
    "killed": "import os; os.kill(os.getpid(), 9)\n",
    "killed, half an object": HALF + "import os; os.kill(os.getpid(), 9)\n",
    "terminated, half an object": HALF + "import os; os.kill(os.getpid(), 15)\n",
    "reads nothing": "import os; os._exit(1)\n",
    "closed its output": "import os; os.close(1); print('BROKEN')\n",
    "empty": "",
}
NOTED = """
import os, pathlib, time
pathlib.Path(__file__).with_name("pid").write_text(str(os.getpid()))
"""
"""Begins a script that hangs, so that it can be ended after the test."""
SLOW = {
    "sleeps": NOTED + "time.sleep(60)\n",
    "sleeps, half an object": NOTED + HALF + "time.sleep(60)\n",
    "stopped, half an object": NOTED + HALF + "os.kill(os.getpid(), 19)\n",
}
Fault = Callable[[Desk], str]
"""Breaks something and gives the line for the settings."""


def hook_line(desk: Desk, python: str = sys.executable, hook: Path = line.HOOK) -> str:
    return line.guarded(python, str(hook), str(desk.ours))


def script(text: str) -> Fault:
    def fault(desk: Desk) -> str:
        path = desk.root / "broken.py"
        path.write_text(text, encoding="utf-8")
        return hook_line(desk, hook=path)

    return fault


def no_python(desk: Desk) -> str:
    return hook_line(desk, python="/nowhere/python")


def no_script(desk: Desk) -> str:
    return hook_line(desk, hook=Path("/nowhere/hook.py"))


def no_home(desk: Desk) -> str:
    return line.guarded(sys.executable, str(line.HOOK), "/nowhere")


def half_a_file(desk: Desk) -> str:
    (path,) = desk.snapshots()
    path.write_bytes(path.read_bytes()[:-40])
    return hook_line(desk)


def pipe(desk: Desk) -> str:
    (path,) = desk.snapshots()
    path.unlink()
    os.mkfifo(path)
    return hook_line(desk)


def no_markers(desk: Desk) -> str:
    """Where it cannot note that it has shown something, it shows nothing."""
    (desk.ours / "local_cases" / "seen").rmdir()
    return hook_line(desk)


FAULTS: dict[str, Fault] = {
    **{name: script(text) for name, text in (SCRIPTS | SLOW).items()},
    "no python": no_python,
    "no script": no_script,
    "no home": no_home,
    "half a hook file": half_a_file,
    "a pipe for a hook file": pipe,
    "no place for markers": no_markers,
}


@pytest.fixture(autouse=True)
def nothing_left(desk: Desk) -> Iterator[None]:
    """Ends a hanging script that the client left behind."""
    yield
    with suppress(FileNotFoundError, ProcessLookupError):
        pid = (desk.root / "pid").read_text(encoding="utf-8")
        if "broken.py" in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8"):
            os.kill(int(pid), signal.SIGKILL)


@pytest.mark.parametrize("name", FAULTS)
def test_the_prompt_goes_on(desk: Desk, name: str) -> None:
    project = desk.repository("kiteshop")
    desk.correct(project, "No, the kites are numbered from one.")
    desk.wire(FAULTS[name](desk))

    said = desk.prompt(project, "hello")
    assert (said.code, said.out) == (0, "Answer to: hello\n")
    assert said.hooks.printed == []
    if name not in SLOW:
        assert said.hooks.statuses == [("UserPromptSubmit", 0)]
    (body,) = desk.api.asked("hello")
    shown = "\n".join(text for _, text in texts(body))
    assert not [word for word in ("BROKEN", "UserPromptSubmit", "Twice Told") if word in shown]
    left = {row["attachment"]["type"] for row in desk.shown_rows()}
    assert left == ({"hook_cancelled"} if name in SLOW else set())


BARE = {
    "exit 2 throws the prompt away": ("import sys; sys.exit(2)\n", 0, ""),
    "half an object goes to the model": (HALF, 1, "BROKEN"),
}


@pytest.mark.parametrize("name", BARE)
def test_without_the_guard(desk: Desk, name: str) -> None:
    """What the guard is for, and that the test above would see it."""
    text, sent, broken = BARE[name]
    project = desk.repository("kiteshop")
    path = desk.root / "broken.py"
    path.write_text(text, encoding="utf-8")
    desk.wire(f'"{sys.executable}" "{path}"')
    said = desk.prompt(project, "hello")
    assert said.code == 0
    bodies = desk.api.asked("hello")
    assert len(bodies) == sent
    assert all(broken in json.dumps(body) for body in bodies)
