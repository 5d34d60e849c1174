"""The form of an entry in the table of commands, and the values that arguments take."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument as argparse takes it."""

    flags: tuple[str, ...]
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the contract."""

    name: str
    summary: str
    examples: tuple[str, ...]
    arguments: tuple[Argument, ...] = ()
    module: str | None = None
    """In this folder; None when it is not built yet."""
    function: str = "run"


def arg(*flags: str, **settings: Any) -> Argument:
    """Short form for `table.py`."""
    return Argument(flags, settings)


def count(text: str) -> int:
    """From 0. Named as argparse reports a wrong value."""
    return _number(text, 0)


def proposal_number(text: str) -> int:
    """From 1. Named as argparse reports a wrong value."""
    return _number(text, 1)


def _number(text: str, least: int) -> int:
    number = int(text)
    if not least <= number < 1 << 31:
        raise ValueError
    return number
