"""Questions at the terminal: yes or no, one key, a text in the person's editor."""

import contextlib
import os
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import termios
import tty
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from pipeline.commands.context import Context
from pipeline.errors import ConfigError, UsageError
from pipeline.files import PRIVATE_FILE

FILE_NAME = "rule.md"
SEQUENCE_SECONDS = 0.05


def can_ask(context: Context) -> bool:
    """A person sits there."""
    return bool(sys.stdin) and sys.stdin.isatty() and context.screen.err.isatty()


def check_askable(context: Context, what: str) -> None:
    """Raises UsageError when a question will come up that nobody can answer."""
    if not (context.yes or context.dry_run or can_ask(context)):
        raise UsageError(f"{what}, and nobody can be asked here", "say --yes, or --dry-run")


def agreed(context: Context, question: str) -> bool:
    """Yes or no; `check_askable` has been asked before."""
    if context.yes:
        return True
    return line(context, f"{question} [y/N] ").lower() in ("y", "yes")


def line(context: Context, prompt: str) -> str:
    """A line that the person types, in whatever encoding, "" at the end of input."""
    _prompt(context, prompt)
    return sys.stdin.buffer.readline().decode("utf-8", "replace").strip()


def key(context: Context, prompt: str, keys: Collection[str]) -> str:
    """One key of those allowed, without Enter; "q" at the end of input. ^C interrupts as ever.

    What was typed before the question is no answer to it, and neither is a part of an escape
    sequence: the key Up sends an `A`.
    """
    handle = sys.stdin.fileno()
    with _single_keys(handle):
        _prompt(context, prompt)
        while True:
            pressed = os.read(handle, 1).decode("ascii", "replace").lower()
            if pressed == "\x1b":
                _skip_sequence(handle)
            if pressed in ("", "\x04"):
                pressed = "q"
            if pressed in keys:
                context.screen.err.write(f"{pressed}\n")
                return pressed


@contextlib.contextmanager
def _single_keys(handle: int) -> Iterator[None]:
    """The terminal gives each key at once; as it was afterwards, also when the process is ended."""
    before = termios.tcgetattr(handle)

    def end(number: int, _: object) -> None:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)
        signal.signal(number, signal.SIG_DFL)
        signal.raise_signal(number)

    known = signal.signal(signal.SIGTERM, end)
    try:
        tty.setcbreak(handle, termios.TCSAFLUSH)
        yield
    finally:
        termios.tcsetattr(handle, termios.TCSADRAIN, before)
        signal.signal(signal.SIGTERM, known)


def _skip_sequence(handle: int) -> None:
    """The rest of what one key sends: `[` with parameters up to a final byte, or one more byte."""

    def following() -> bytes:
        return os.read(handle, 1) if select.select([handle], [], [], SEQUENCE_SECONDS)[0] else b""

    first = following()
    if first == b"O":
        following()
    while first == b"[" and (byte := following()) and not 0x40 <= byte[0] <= 0x7E:
        pass


def editor(environ: Mapping[str, str] = os.environ) -> str | None:
    """The person's editor, as a command line."""
    return environ.get("VISUAL") or environ.get("EDITOR") or None


def edited(text: str, command: str, output_free: bool) -> str:
    """The text after the person's editor has closed it, in a private file that goes afterwards.

    Raises ConfigError when the editor cannot be started, fails, or leaves no UTF-8.
    """
    with tempfile.TemporaryDirectory(prefix="twice-told-") as folder:  # 0700
        path = Path(folder) / FILE_NAME
        path.touch(PRIVATE_FILE)
        path.write_text(text + "\n", encoding="utf-8")
        try:
            words = [*shlex.split(command), str(path)]
            out = None if output_free else sys.stderr.fileno()
            code = subprocess.run(words, stdout=out, check=False).returncode
            if code:
                raise _editor_failed(f"ended with {code}")
            return path.read_bytes().decode()
        except UnicodeDecodeError as error:
            raise _editor_failed("left a file that is not UTF-8") from error
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else "is no command line"
            raise _editor_failed(f"cannot be used: {reason}") from error


def _editor_failed(reason: str) -> ConfigError:
    return ConfigError(
        f"the editor of $VISUAL or $EDITOR {reason}; nothing was changed",
        "mend the variable, or give the sentence with --text",
    )


def _prompt(context: Context, text: str) -> None:
    context.screen.out.flush()
    context.screen.err.write(text)
    context.screen.err.flush()
