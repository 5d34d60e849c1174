"""A terminal of our own for the client: tmux on a private socket, read by polling."""

import shlex
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE_SECONDS = 60
POLL_SECONDS = 0.05
AGAIN_SECONDS = 1.5


def wait_for(found: Callable[[], object], what: str, tell: Callable[[], str] = str) -> None:
    """Polls until it is true. Fails with what was waited for, and what `tell` says then."""
    repeat(lambda: None, found, what, tell, PATIENCE_SECONDS)


def repeat(
    attempt: Callable[[], object],
    found: Callable[[], object],
    what: str,
    tell: Callable[[], str],
    each_seconds: float = AGAIN_SECONDS,
) -> None:
    """Tries, and tries again every `each_seconds` until it is true what should come of it."""
    deadline, next_at = time.monotonic() + PATIENCE_SECONDS, 0.0
    while time.monotonic() < deadline:
        if time.monotonic() >= next_at:
            attempt()
            next_at = time.monotonic() + each_seconds
        if found():
            return
        time.sleep(POLL_SECONDS)
    raise AssertionError(f"waited in vain for {what}\n{tell()}")


class Terminal:
    """One program in one pane. `with` ends both."""

    def __init__(
        self, socket: Path, command: Sequence[str], cwd: Path, env: Mapping[str, str]
    ) -> None:
        self._socket = socket
        variables = [f"{name}={value}" for name, value in env.items()]
        line = shlex.join(["env", "-i", "TERM=xterm-256color", *variables, *command])
        size = ("-x", "130", "-y", "45")
        self._tmux("-f", "/dev/null", "new-session", "-d", *size, "-c", str(cwd), line)

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server", check=False)

    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", check=False)

    def wait(self, *words: str) -> None:
        """Until all of them stand on the screen."""
        wait_for(lambda: all(w in self.screen() for w in words), f"{words}", self.screen)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys, check=False)

    def type(self, text: str) -> None:
        """Types a line and sends it.

        The client may lose keys that come right behind a change of its focus, so both steps are
        repeated until the screen shows what came of them.
        """

        def write() -> None:
            self.press("C-u")
            self._tmux("send-keys", "-l", text)

        def is_written() -> bool:
            return self._input().rstrip().endswith(text)

        repeat(write, is_written, f"{text!r} in the input", self.screen)
        repeat(
            lambda: self.press("Enter"),
            lambda: not is_written(),
            f"{text!r} to be sent",
            self.screen,
        )

    def _input(self) -> str:
        """The line with the last pointer: the input box, or the chosen row of a dialog."""
        return next((row for row in reversed(self.screen().splitlines()) if "❯" in row), "")

    def leave(self) -> None:
        """Ends the client as a person does, so that it writes all it has to write."""
        self.type("/exit")
        wait_for(lambda: not self._tmux("list-panes", check=False), "the end", self.screen)

    def _tmux(self, *args: str, check: bool = True) -> str:
        command = ["tmux", "-S", str(self._socket), *args]
        return subprocess.run(
            command, check=check, capture_output=True, text=True, timeout=PATIENCE_SECONDS
        ).stdout
