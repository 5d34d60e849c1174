"""The command line: reads the words, loads the one module needed, turns errors into codes."""

import argparse
import errno
import gc
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from pipeline import __version__, clock, config
from pipeline.commands.command import Command
from pipeline.commands.context import Context
from pipeline.commands.table import COMMANDS, GLOBAL, ORIGINAL_FLAGS
from pipeline.errors import NotBuiltError, PipelineError
from pipeline.files import private_dir, write_private
from pipeline.masking.inert import inert
from pipeline.screen import Screen, mute

KNOWN, BUG, INTERRUPTED, USAGE = 3, 4, 130, 2
ERROR_CHARS = 300
NO_FAULT_OF_OURS = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code; never raises."""
    words = list(sys.argv[1:] if argv is None else argv)
    screen = Screen.for_terminal(color="--no-color" not in words)
    try:
        code = _guarded(words, screen)
        screen.out.flush()
        return code
    except BrokenPipeError:
        mute(screen.out)
        return 0
    except OSError as error:
        mute(screen.out)
        screen.error(f"cannot write the output: {error.strerror}", "free some space")
        return KNOWN
    finally:
        screen.end_talk()


def _guarded(words: list[str], screen: Screen) -> int:
    home: list[Path] = []
    try:
        return _run(*_meant(words), screen, home)
    except PipelineError as error:
        screen.error(error.message, error.hint)
        return error.exit_code
    except KeyboardInterrupt:
        screen.error("stopped", "what was finished is stored; run it again to go on")
        return INTERRUPTED
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else USAGE
    except Exception as error:  # the one door for bugs
        if isinstance(error, OSError) and error.errno in NO_FAULT_OF_OURS:
            raise
        screen.error(_crash(error, home), "")
        return BUG


def _meant(words: list[str]) -> tuple[str | None, list[str]]:
    """The command that is asked for, if any, and the words with it.

    `--show R/T` stands for `show R/T`, and other flags without a command for `collect`.
    """
    own = list(_own_words(words))
    for at, word in own:
        name, _, value = word.partition("=")
        if name == "--show":
            rest = [value] if value else words[at + 1 : at + 2]
            return "show", ["show", *rest, *words[:at], *words[at + 1 + (not value) :]]
        if name in ORIGINAL_FLAGS:
            return "collect", ["collect", *words]
        if not word.startswith("-"):
            break
    return next((word for _, word in own if word in COMMANDS), None), words


def _own_words(words: list[str]) -> Iterator[tuple[int, str]]:
    """The words that are not values of the options that hold everywhere, with their places."""
    values = {flag for a in GLOBAL if "metavar" in a.settings for flag in a.flags}
    skip = False
    for at, word in enumerate(words):
        if not skip:
            yield at, word
        skip = not skip and word in values


def _run(asked: str | None, words: list[str], screen: Screen, home: list[Path]) -> int:
    if asked and COMMANDS[asked].module is None and not {"-h", "--help"} & set(words):
        raise NotBuiltError(
            f"`{asked}` is part of the plan and not built yet",
            "see CHANGELOG.md for what there is",
        )
    parser = _parser(asked)
    args = parser.parse_args(words)
    if args.command is None:
        parser.print_help()
        return 0
    settings = config.load(
        getattr(args, "home", None),
        [*getattr(args, "claude_dir_before", ()), *getattr(args, "claude_dir", ())],
        getattr(args, "config", None),
    )
    home.append(settings.home)
    screen.quiet = getattr(args, "quiet", False)
    screen.verbose = getattr(args, "verbose", False)
    command = COMMANDS[args.command]
    context = Context(
        settings,
        screen,
        json=getattr(args, "json", False),
        dry_run=getattr(args, "dry_run", False),
        yes=getattr(args, "yes", False),
    )
    return int(_function(command)(context, args))


def _function(command: Command) -> Callable[[Context, argparse.Namespace], int]:
    """What a command runs. Nothing that an import makes is garbage, so nobody looks for any."""
    gc.disable()
    try:
        module = importlib.import_module(f"pipeline.commands.{command.module}")
    finally:
        gc.freeze()
        gc.enable()
    function: Callable[[Context, argparse.Namespace], int] = getattr(module, command.function)
    return function


class _Parser(argparse.ArgumentParser):
    """Quotes what it did not understand without what a terminal would obey."""

    def error(self, message: str) -> NoReturn:
        super().error(" ".join(inert(message).split())[:ERROR_CHARS])


def _parser(asked: str | None) -> argparse.ArgumentParser:
    """All commands by name; only the one that is asked for with its arguments."""
    parser = _Parser(
        prog="twice-told",
        description="Mines the corrections that you give your coding agent out of its session"
        " logs, so that nobody has to say them twice.",
        epilog="Each command explains itself: twice-told COMMAND --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"twice-told {__version__}")
    _add_global(parser, "_before")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in COMMANDS.values():
        _add_command(commands, command, whole=command.name == asked)
    return parser


def _add_command(
    commands: "argparse._SubParsersAction[_Parser]", command: Command, whole: bool
) -> None:
    if not whole:
        commands.add_parser(command.name, help=command.summary, add_help=False)
        return
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


def _add_global(parser: argparse.ArgumentParser, suffix: str = "") -> None:
    """Accepted before and after the command; a default in both would undo what was said first,
    and so would one list for what can be repeated."""
    group = parser.add_argument_group("everywhere")
    for argument in GLOBAL:
        settings = {"default": argparse.SUPPRESS, **argument.settings}
        if settings.get("action") == "append":
            settings["dest"] = argument.flags[0].lstrip("-").replace("-", "_") + suffix
        group.add_argument(*argument.flags, **settings)


def _crash(error: Exception, home: list[Path]) -> str:
    """A bug leaves the places it passed in a log of its own, without any value or message."""
    import traceback  # bugs are rare, starts are not

    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{type(error).__name__}", *(f"{f.filename}:{f.lineno} {f.name}" for f in frames)]
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "unknown place"
    message = f"a bug in twice-told: {type(error).__name__} at {where}"
    if not home:
        return f"{message}; please report it with these words"
    try:
        folder = private_dir(home[0] / "local_cases" / "runs")
        path = folder / f"crash-{clock.now():%Y%m%dT%H%M%S%f}.log"
        write_private(path, "\n".join(lines).encode() + b"\n")
    except (PipelineError, OSError):
        return f"{message}; please report it with these words"
    return f"{message}; please report it with {path}"
