"""A person at a pseudo-terminal."""

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time

from pipeline.config import Config
from tests.collect.homes import environment

STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


class Desk:
    """A person at a terminal of 200 columns."""

    def __init__(self, config: Config, *words: str, **more: str) -> None:
        self.master, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pipeline", *words],
            env=environment(config, TERM="xterm-256color", COLUMNS="200", **more),
            stdin=theirs, stdout=theirs, stderr=theirs,
            preexec_fn=lambda: _own_terminal(theirs),
        )  # fmt: skip
        os.close(theirs)
        self.seen = ""
        self._data = b""

    def until(self, text: str) -> str:
        """Waits for a text behind all that was waited for before."""
        deadline = time.monotonic() + 20
        while text not in self.seen and time.monotonic() < deadline and self._read():
            pass
        assert text in self.seen, self.seen
        shown, _, self.seen = self.seen.partition(text)
        return shown

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def end(self) -> int:
        while self._read():
            pass
        return self.process.wait(60)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(60)
        os.close(self.master)

    def _read(self) -> bool:
        if not select.select([self.master], [], [], 20)[0]:
            return False
        try:
            more = os.read(self.master, 65536)
        except OSError:  # the other end is closed
            return False
        self._data += more
        self.seen += STYLES.sub("", more.decode("utf-8", "replace"))
        return bool(more)


def _own_terminal(handle: int) -> None:
    """^C reaches the process as from a keyboard."""
    os.setsid()
    fcntl.ioctl(handle, termios.TIOCSCTTY, 0)
