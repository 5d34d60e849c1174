"""What a check says: a state, a line, and the command that comes next."""

import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class State(StrEnum):
    """How bad it is."""

    OK = "ok"
    WARN = "warn"
    """It works, but not as it should; the exit code stays 0."""
    RED = "red"


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer of one check. Paths, ids and figures only, never a person's words."""

    state: State
    detail: str
    next: str = ""
    """A line for the shell; empty when all is well."""


def ok(detail: str) -> Finding:
    """Nothing to do."""
    return Finding(State.OK, detail)


def warn(detail: str, next_: str) -> Finding:
    """Worth a look."""
    return Finding(State.WARN, detail, next_)


def red(detail: str, next_: str) -> Finding:
    """Does not work."""
    return Finding(State.RED, detail, next_)


def quoted(path: Path | str) -> str:
    """For a line of shell."""
    return shlex.quote(str(path))


def edit(path: Path, what: str) -> str:
    """A line that opens a file of another program, which is the person's to change."""
    return f"${{EDITOR:-vi}} {quoted(path)}  # {what}"
