"""Starts the hook once, without its guard, to see that it would work where it is to be called."""

import subprocess
from pathlib import Path

LIMIT_SECONDS = 10.0
EVENT = b'{"session_id":"probe","hook_event_name":"SessionStart","source":"startup","cwd":"/"}'
"""The hook has nothing to say to it and ends with 0."""


def faults(interpreter: str, script: str, home: str) -> list[str]:
    """What would keep the hook silent for ever, in a sentence; nothing when all is well."""
    if not Path(script).is_file():
        return [f"there is no hook at {script}: nothing will be shown until twice-told is mended"]
    try:
        done = subprocess.run(
            [interpreter, "-I", "-S", script, home],
            input=EVENT,
            capture_output=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [f"the hook cannot be started with {interpreter}: {type(error).__name__}"]
    if done.returncode or done.stdout:
        return [f"the hook does not work with {interpreter}: it ended with {done.returncode}"]
    return []
