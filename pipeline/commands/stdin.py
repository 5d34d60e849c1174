"""Standard input, for commands that are told their text there."""

import sys
from pathlib import Path
from typing import BinaryIO

from pipeline.errors import UsageError


def stdin() -> BinaryIO:
    """The bytes of standard input. Raises UsageError when the caller has closed it."""
    if sys.stdin is None:
        raise UsageError("standard input is closed", "pipe the text into the command")
    return sys.stdin.buffer


def file_or_stdin(name: str) -> Path:
    """The file of that name; standard input for `-`."""
    return Path("/dev/stdin" if name == "-" else name)
