"""Everything that people see: data on standard output, talk on standard error, inert text only."""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any

from pipeline.masking.inert import inert

TYPE_COLORS = {
    "missed-item": "yellow",
    "violated-instruction": "red",
    "mistaken-premise": "magenta",
    "wrong-result": "cyan",
    "other": "bright_black",
}
STATE_COLORS = {"ok": "green", "warn": "yellow", "red": "bold red"}
_STYLES = TYPE_COLORS | STATE_COLORS


class Screen:
    """Two streams and what they can do. Rich is loaded only for a terminal."""

    def __init__(self, out: IO[str], err: IO[str], pretty: bool, color: bool) -> None:
        self.out, self.err = out, err
        self.pretty = pretty
        """Standard output is a terminal: tables, colours, wrapped text."""
        self.color = color
        self.quiet = self.verbose = False

    @classmethod
    def for_terminal(cls, color: bool) -> "Screen":
        """The process's own streams, in UTF-8 whatever the locale says."""
        out, err = (stream or _nowhere() for stream in (sys.stdout, sys.stderr))
        for stream in (out, err):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(encoding="utf-8", errors="replace")
        allowed = color and not os.environ.get("NO_COLOR")
        return cls(out, err, out.isatty(), allowed)

    def line(self, text: str = "") -> None:
        """One line of data."""
        self.out.write(inert(text) + "\n")

    def heading(self, text: str, kind: str, style: str, note: str) -> None:
        """A line above some others, with one word of it in colour on a terminal."""
        tail = f"  ({note})" if note else ""
        if not (self.pretty and self.color):
            self.line(f"{text}  {kind}{tail}")
            return
        from rich.console import Console
        from rich.text import Text

        parts = ((inert(text), "bold"), "  ", (kind, style), inert(tail))
        Console(file=self.out, highlight=False).print(Text.assemble(*parts))

    def document(self, value: Any) -> None:
        """One JSON document. Names in it can come from a transcript, so it is made inert too."""
        import json  # most screens are no documents

        self.out.write(inert(json.dumps(value, ensure_ascii=False, indent=2)) + "\n")

    def record(self, value: Any) -> None:
        """One JSON object on a line. A caller's own ids come back as they were, so that what is
        not inert is written as escapes."""
        import json

        line = json.dumps(value, ensure_ascii=False)
        self.out.write((line if inert(line) == line else json.dumps(value)) + "\n")

    def talk(self, text: str) -> None:
        """One line for the person at the terminal; nothing that a script would need."""
        if not self.quiet:
            self._say(inert(text) + "\n")

    def detail(self, text: str) -> None:
        """A line for those who asked for more."""
        if self.verbose:
            self.talk(text)

    def warn(self, text: str) -> None:
        """A line that is said even when quiet."""
        self._say(f"warning: {inert(text)}\n")

    def error(self, message: str, hint: str) -> None:
        """What failed, and what to do next."""
        self._say(f"twice-told: {inert(message)}\n")
        if hint:
            self._say(f"  next: {inert(hint)}\n")

    def _say(self, text: str = "") -> None:
        """Talk that nobody can take is lost and changes no exit code."""
        try:
            self.err.write(text)
            self.err.flush()
        except OSError:
            mute(self.err)

    def end_talk(self) -> None:
        """Also of what others wrote there: the interpreter must not fail on it at its end."""
        self._say()

    def table(
        self, columns: Sequence[str], rows: Sequence[Sequence[str]], styled: int | None = None
    ) -> None:
        """A table on a terminal, tab-separated lines in a pipe. `styled`: the column of types or
        states."""
        if not self.pretty:
            self.out.write("".join(["\t".join(map(_flat, row)) + "\n" for row in rows]))
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            word = row[styled] if styled is not None else ""
            style = _STYLES.get(word, "")
            table.add_row(
                *(Text(inert(cell), style if at == styled else "") for at, cell in enumerate(row))
            )
        Console(file=self.out, no_color=not self.color, highlight=False).print(table)

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[int, int], None] | None]:
        """A bar on a terminal, None (silence) elsewhere. Call it with what is done and all."""
        if self.quiet or not self.err.isatty():
            yield None
            return
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        console = Console(file=self.err, no_color=not self.color)
        with Progress(
            TextColumn(what), BarColumn(), DownloadColumn(), console=console, transient=True
        ) as bar:
            task = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


def mute(stream: IO[str]) -> None:
    """Nobody can take the rest of a stream: the interpreter must not try it again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _nowhere() -> IO[str]:
    """A process may be started with its streams closed."""
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123


def _flat(cell: str) -> str:
    """A cell of a tab-separated line holds neither tabs nor line breaks."""
    return " ".join(inert(cell).split()) if cell else ""
