"""The schedulers' own programs, called without a shell and with a limit."""

import os
import shutil
import subprocess
from dataclasses import dataclass

LIMIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """How a program ended."""

    code: int
    out: bytes = b""
    err: str = ""

    @property
    def reason(self) -> str:
        """The last line of what it complained about."""
        lines = self.err.strip().splitlines()
        return lines[-1].strip() if lines else f"exit code {self.code}"


def has(program: str) -> bool:
    """It can be found on PATH."""
    return shutil.which(program) is not None


def call(*words: str, data: bytes | None = None) -> Answer:
    """Runs a program to its end, in English; one that is missing or hangs answers with 127."""
    try:
        done = subprocess.run(
            words,
            input=b"" if data is None else data,
            env=os.environ | {"LC_ALL": "C"},
            capture_output=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Answer(127, err=f"{words[0]}: {type(error).__name__}")
    return Answer(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))
