"""The command line: reads the words, loads the one module needed, turns errors into codes."""

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from pipeline import __version__, clock, config
from pipeline.commands.context import Context
from pipeline.commands.table import COMMANDS, GLOBAL, ORIGINAL_FLAGS, Command
from pipeline.errors import NotBuiltError, PipelineError
from pipeline.files import private_dir, write_private
from pipeline.screen import Screen

BUG, INTERRUPTED, USAGE = 4, 130, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; never raises."""
    words = list(sys.argv[1:] if argv is None else argv)
    screen = Screen.for_terminal(color="--no-color" not in words)
    home: list[Path] = []
    try:
        return _run(_with_command(words), screen, home)
    except PipelineError as error:
        screen.error(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        screen.error("stopped", "what was finished is stored; run it again to go on")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else USAGE
    except Exception as error:  # the one door for bugs
        screen.error(*_crash(error, home))
        return BUG


def _with_command(words: list[str]) -> list[str]:
    """`--show R/T` stands for `show R/T`, and other flags without a command for `collect`."""
    if any(word in COMMANDS for word in words):
        return words
    if "--show" in words:
        at = words.index("--show")
        return ["show", *words[at + 1 : at + 2], *words[:at], *words[at + 2 :]]
    return ["collect", *words] if set(words) & ORIGINAL_FLAGS else words


def _run(words: list[str], screen: Screen, home: list[Path]) -> int:
    parser = _parser()
    args = parser.parse_args(words)
    if args.command is None:
        parser.print_help()
        return 0
    settings = config.load(
        getattr(args, "home", None),
        getattr(args, "claude_dir", ()),
        getattr(args, "config", None),
    )
    home.append(settings.home)
    screen.quiet = getattr(args, "quiet", False)
    command = COMMANDS[args.command]
    if command.module is None:
        raise NotBuiltError(
            f"`{command.name}` is part of the plan and not built yet",
            "see CHANGELOG.md for what there is",
        )
    context = Context(
        settings,
        screen,
        json=getattr(args, "json", False),
        dry_run=getattr(args, "dry_run", False),
        yes=getattr(args, "yes", False),
    )
    module = importlib.import_module(f"pipeline.commands.{command.module}")
    return int(getattr(module, command.function)(context, args))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="twice-told",
        description="Mines the corrections that you give your coding agent out of its session"
        " logs, so that nobody has to say them twice.",
        epilog="Each command explains itself: twice-told COMMAND --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"twice-told {__version__}")
    _add_global(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in COMMANDS.values():
        _add_command(commands, command)
    return parser


def _add_command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", command: Command
) -> None:
    examples = "\n".join(f"  {line}" for line in command.examples)
    parser = commands.add_parser(
        command.name,
        help=command.summary,
        description=command.summary,
        epilog=f"examples:\n{examples}" if examples else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for argument in command.arguments:
        parser.add_argument(*argument.flags, **argument.settings)
    _add_global(parser)


def _add_global(parser: argparse.ArgumentParser) -> None:
    """Accepted before and after the command; a default in both would undo what was said first."""
    group = parser.add_argument_group("everywhere")
    for argument in GLOBAL:
        group.add_argument(*argument.flags, default=argparse.SUPPRESS, **argument.settings)


def _crash(error: Exception, home: list[Path]) -> tuple[str, str]:
    """A bug leaves the places it passed in a log of its own, without any value or message."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{type(error).__name__}", *(f"{f.filename}:{f.lineno} {f.name}" for f in frames)]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"
    message = f"a bug in twice-told: {type(error).__name__} at {where}"
    if not home:
        return message, "please report it with these words"
    try:
        folder = private_dir(home[0] / "local_cases" / "runs")
        path = folder / f"crash-{clock.now():%Y%m%dT%H%M%S%f}.log"
        write_private(path, "\n".join(lines).encode() + b"\n")
    except (PipelineError, OSError):
        return message, "please report it with these words"
    return message, f"please report it; the places it passed are in {path}"
