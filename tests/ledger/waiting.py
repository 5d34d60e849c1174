"""Waits for what another process does, without a guess at how long it takes."""

import contextlib
import time
from pathlib import Path

import pytest


def has_open(pid: int, file: Path) -> None:
    """Until the process has opened the file that somebody else has locked."""
    deadline = time.monotonic() + 30
    handles = Path(f"/proc/{pid}/fd")
    if not handles.exists():
        pytest.skip("needs /proc")
    while time.monotonic() < deadline:
        with contextlib.suppress(FileNotFoundError):  # a handle that was closed meanwhile
            if any(str(handle.readlink()) == str(file) for handle in handles.iterdir()):
                return
        time.sleep(0.01)
    raise AssertionError("it never opened the file")
