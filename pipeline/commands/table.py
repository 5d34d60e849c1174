"""All commands with their words: what `--help` teaches. Their modules load when called."""

from argparse import SUPPRESS
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.clock import parse_day
from pipeline.records import CaseType, Source


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
    """Short form for the table below."""
    return Argument(flags, settings)


def _day(text: str) -> Any:
    return parse_day(text)


GLOBAL = (
    arg("--json", action="store_true", help="one JSON document on standard output"),
    arg("--home", type=Path, metavar="DIR", help="where cases, settings and ledger live"),
    arg(
        "--claude-dir", type=Path, metavar="DIR", action="append",
        help="a Claude Code folder to read instead of ~/.claude; repeatable",
    ),
    arg("--config", type=Path, metavar="FILE", help="settings file instead of <home>/config.toml"),
    arg("--dry-run", action="store_true", help="say what would be done, write nothing"),
    arg("--yes", action="store_true", help="answer every question with yes"),
    arg("--no-color", action="store_true", help="no colours (NO_COLOR is respected too)"),
    arg("-q", "--quiet", action="store_true", help="no talk on standard error"),
    arg("-v", "--verbose", action="store_true", help="more talk on standard error"),
)  # fmt: skip

_WINDOW = (
    arg("--days", type=int, metavar="N", help="only transcripts that changed in the last N days"),
    arg("--since", type=_day, metavar="DAY", help="from this local day on, as 2026-03-08"),
    arg("--until", type=_day, metavar="DAY", help="up to and with this local day"),
)
_MODELS = (
    arg("--llm", action="store_true", help="two models sort the undecided ones (not built yet)"),
    arg("--propose", action="store_true", help="raise what repeated to the ledger (not built yet)"),
)
_TYPES = [kind.value for kind in CaseType]
_SOURCES = [source.value for source in Source]

_ALL = (
    Command(
        "collect",
        "Read what changed in the transcripts and store the corrections found there.",
        ("twice-told collect", "twice-told collect --days 4 --json"),
        (
            *_WINDOW,
            *_MODELS,
            arg("--jobs", type=int, metavar="N", default=1, help="processes to read with"),
            arg("--rebuild", action="store_true", help="read unchanged transcripts too"),
        ),
        "collect",
    ),
    Command(
        "show",
        "Show the corrections of a repository and type; without one, what there is.",
        ("twice-told show", "twice-told show webshop/missed-item --full"),
        (
            arg("bundle", nargs="?", metavar="REPO[/TYPE]", help="as `show` lists them"),
            arg("--full", action="store_true", help="whole texts, and what the agent said"),
            arg("--limit", type=int, metavar="N", default=20, help="at most so many (20)"),
            arg("--all", action="store_true", help="doubtful and dismissed ones too"),
        ),
        "show",
    ),
    Command(
        "turns",
        "Print what is recognised as typed by a person, read afresh from the transcripts.",
        ("twice-told turns --since 2026-11-01", "twice-told turns --all --json"),
        (
            arg("--since", type=_day, metavar="DAY", help="from this local day on"),
            arg("--session", metavar="ID", help="only this session"),
            arg("--all", action="store_true", help="the other lines too, each with its reason"),
        ),
        "turns",
    ),
    Command(
        "status",
        "One line about the last run.",
        ("twice-told status", "twice-told status --json"),
        (),
        "status",
    ),
)

_LATER = {
    "nightly": "The whole night: collect, judge, propose, export.",
    "cases": "List cases, one a line, for scripts.",
    "explain": "Tell which rule matched a text or a case, and what was tried.",
    "classify": "Classify messages from standard input, one JSON object a line.",
    "mask": "Mask secrets and personal data in standard input.",
    "dismiss": "Mark a case as wrong; it never comes back.",
    "retype": "Give a case another type.",
    "forget": "Remove a case for good.",
    "stats": "Figures that add up.",
    "rules": "List, check and measure the rule packs.",
    "export": "Write all masked cases to a file.",
    "restore": "Read an export back.",
    "proposals": "List what was said again and again.",
    "accept": "Make a proposal a rule.",
    "reject": "Drop a proposal.",
    "retire": "Take a rule out again.",
    "review": "Walk through the open proposals.",
    "ledger": "Check or print the ledger of proposals.",
    "inject": "Print what the hook would show.",
    "report": "Write the HTML report.",
    "judge": "Measure the models and their cost.",
    "install": "Install the hook and the nightly schedule.",
    "uninstall": "Remove the hook and the nightly schedule.",
    "doctor": "Check the health of everything.",
    "init": "Start a ledger in a repository.",
}
COMMANDS: Mapping[str, Command] = {command.name: command for command in _ALL} | {
    name: Command(
        name,
        summary + " (not built yet)",
        (),
        (arg("words", nargs="*", help=SUPPRESS),),
    )
    for name, summary in _LATER.items()
}
ORIGINAL_FLAGS = frozenset({"--days", "--since", "--until", "--llm", "--propose", "--rebuild"})
"""Flags of the original command line, which named no command."""
TYPES, SOURCES = _TYPES, _SOURCES
