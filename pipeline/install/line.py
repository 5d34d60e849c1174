"""The shell line that Claude Code runs: it ends with 0 and prints one JSON object or nothing.

Exit 2 throws a prompt away (Claude Code 2.1.197 and 2.1.332, seen November 2026), and a missing
script or interpreter or a syntax error ends in just that. So the guard stands in the line itself.
"""

import os
import re
import sys
from pathlib import Path

from pipeline.errors import ConfigError

MARKER = "# twice-told hook"
"""Ends each line of ours, of every version and home; nothing else in the line tells it is ours."""
HOOK = Path(__file__).resolve().parent.parent / "run_hook.py"

_SPECIAL = re.compile(r'[\\"$`]')
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def guarded(interpreter: str, script: str, home: str) -> str:
    """The line for these three absolute paths. Raises ConfigError for one that is unfit."""
    python, hook, folder = (f'"{_quoted(checked(path))}"' for path in (interpreter, script, home))
    return f"{wrapped(f'{python} -I -S {hook} {folder}')} {MARKER}"


def wrapped(command: str) -> str:
    """The guard around a command of sh: exit code 0, one whole object of ours or nothing.

    Standard input is read to its end on every path. The trap is for a shell that ends by itself:
    dash 0.5.12 does so with 2 when no process can be started, bash 5.2 with 254. The redirection
    stands at a group and not at `exec`: with too few file descriptors dash ends in 2 at the latter,
    which throws the prompt away (dash 0.5.12, limit 5 to 11).
    """
    return (
        f"trap 'exit 0' EXIT; {{ o=$({command}) && case $o in '{{\"hookSpecificOutput\":'*'}}}}')"
        " printf '%s' \"$o\";; esac; cat >/dev/null; } 2>/dev/null; exit 0"
    )


def is_ours(command: object) -> bool:
    """A hook command that some `install` wrote."""
    return isinstance(command, str) and command.rstrip().endswith(MARKER)


def interpreter() -> str:
    """The binary behind the Python that runs: no link of an environment, no shim.

    A pyenv shim alone would cost 145 ms at every prompt. Raises ConfigError for a script.
    """
    path = os.path.realpath(sys.executable)
    try:
        with Path(path).open("rb") as handle:
            is_script = handle.read(2) == b"#!"
    except OSError as error:
        raise ConfigError(
            f"the interpreter {path} cannot be read: {error.strerror}", "mend its permissions"
        ) from error
    if is_script:
        raise ConfigError(
            f"{path} is a script, not an interpreter", "run twice-told with a real Python binary"
        )
    return path


def checked(path: str) -> str:
    """A path that may stand in a line of shell, crontab, systemd or JSON. Raises ConfigError."""
    if _CONTROL.search(path):
        raise ConfigError(
            f"a path holds a line break or a control character: {path!r}",
            "rename that folder, or choose another home with --home",
        )
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"a path is not valid UTF-8: {path!r}",
            "rename that folder, or choose another home with --home",
        ) from error
    return path


def _quoted(path: str) -> str:
    """For the inside of double quotes in sh."""
    return _SPECIAL.sub(r"\\\g<0>", path)
