"""Asks git, in folders whose content is nobody's we trust.

Only commands that read: without hooks, monitors, pagers, the user's GIT_ variables, the network,
and without what lets a repository disguise its history (replaced objects, grafts, a commit graph).
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from typing import IO

SECONDS = 5.0
_SAFE = (
    "--no-pager", "--no-replace-objects",
    "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat",
    "-c", "core.commitGraph=false", "-c", "protocol.allow=never",
)  # fmt: skip


def output(folder: str, *words: str) -> str:
    """Standard output of a git command that reads, "" when it fails or hangs."""
    return (answer(folder, *words) or b"").decode("utf-8", "replace")


def answer(folder: str, *words: str, data: bytes = b"", seconds: float = SECONDS) -> bytes | None:
    """The same as bytes, `data` on its standard input; None when it fails or hangs."""
    try:
        done = subprocess.run(
            _line(folder, words),
            env=_environment(),
            input=data,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return None
    return done.stdout if done.returncode == 0 else None


class Objects:
    """What objects hold, one after the other, so that a long history needs little memory."""

    def __init__(self, ask: IO[bytes], told: IO[bytes]) -> None:
        self._ask, self._told = ask, told

    def blob(self, name: str) -> bytes | None:
        """A file's bytes, by its id or by `commit:path`; None when it is no file, or not on this
        machine. A name holds no line break."""
        return self._content(name, b"blob")

    def tree(self, name: str) -> bytes | None:
        """A folder as git keeps it: `mode name NUL id` for each entry, the id in bytes."""
        return self._content(name, b"tree")

    def _content(self, name: str, kind: bytes) -> bytes | None:
        self._ask.write(os.fsencode(name) + b"\n")
        self._ask.flush()
        head = self._told.readline().split()
        if len(head) != 3 or not head[2].isdigit():
            return None
        content = self._told.read(int(head[2]) + 1)[:-1]
        return content if head[1] == kind else None


@contextlib.contextmanager
def objects(folder: str) -> Iterator[Objects]:
    """Raises OSError when git cannot be started, or ends before it is done."""
    process = subprocess.Popen(
        _line(folder, ("cat-file", "--batch")),
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pipesize=1 << 20,
    )
    assert process.stdin and process.stdout
    try:
        yield Objects(process.stdin, process.stdout)
    finally:
        process.kill()
        process.wait()
        with contextlib.suppress(OSError):
            process.stdin.close()
        process.stdout.close()


def _line(folder: str, words: tuple[str, ...]) -> list[str]:
    return ["git", *_SAFE, "-C", folder, *words]


def _environment() -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if not n.startswith("GIT_") and n != "PAGER"}
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
    }
