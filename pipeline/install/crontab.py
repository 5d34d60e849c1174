"""The night as a line of the user's crontab, between two comments; no other byte changes.

Our lines stand first: variables that the user sets further down (SHELL, PATH, MAILTO) hold from
there on and so change nothing for us, nor we for them.
"""

import re
import shlex
from pathlib import Path

from pipeline import clock
from pipeline.documents import prune
from pipeline.errors import ConfigError, StoreError
from pipeline.files import private_dir, write_private
from pipeline.install import memory, tools
from pipeline.install.change import Action, Change, files_shown
from pipeline.install.memory import Memory
from pipeline.install.night import Night, next_start

PART, TARGET = "schedule", "crontab"
MEMORY = Path(TARGET)
"""Under this name an install remembers whether there was a crontab: an empty one stays."""
BEGIN = re.compile(rb"^# BEGIN twice-told\b.*\n", re.MULTILINE)
END = re.compile(rb"^# END twice-told\r?\n", re.MULTILINE)
_ABSENT = re.compile(r"no crontab|can't open '[^'/]*': No such file")
"""As Vixie cron, cronie and macOS say it; BusyBox cannot open a file of the user's name."""
LINE_MAX = 990
"""Vixie cron cuts the command of a line at 1000 characters."""


class Crontab:
    """`crontab -l` and `crontab -`."""

    name = "crontab"

    def __init__(self, local_cases: Path) -> None:
        self._local_cases = local_cases

    def is_reachable(self) -> bool:
        return tools.has("crontab")

    def has_ours(self) -> bool:
        return self.is_reachable() and BEGIN.search(_read() or b"") is not None

    def installation(self, night: Night) -> list[Change]:
        before = _read()
        block, others = _block(night), _without(before or b"")
        ours = len(BEGIN.findall(before or b""))
        if ours == 1 and block in (before or b""):
            return [Change(PART, TARGET, Action.UNCHANGED)]
        if ours:
            return [self._change(before, block + others, Action.REPLACED)]
        made = Memory(made_file=before is None)
        return [self._change(before, block + others, Action.ADDED, made)]

    def removal(self) -> list[Change]:
        before = _read()
        after = _without(before or b"")
        goes = not after and memory.recall(self._local_cases, MEMORY).made_file
        return [self._change(before, None if goes else after, Action.REMOVED)]

    def next_start(self) -> str | None:
        return next_start(clock.now()) if self.has_ours() else None

    def advice(self) -> str | None:
        return "cron does not make up for a night that the machine slept through; the next one does"

    def _change(
        self, before: bytes | None, after: bytes | None, action: Action, new: Memory | None = None
    ) -> Change:
        """`new`: what is to be remembered from now on, if it is not remembered already."""

        def make() -> Path | None:
            if _read() != before:
                raise ConfigError(
                    "the crontab was changed by somebody else in the meantime",
                    "it was not touched; run the command again",
                )
            kept = self._backup(before)
            if new:
                memory.remember(self._local_cases, MEMORY, new)
            _write(after)
            if action is Action.REMOVED:
                memory.forget(self._local_cases, MEMORY)
            return kept

        texts = ((t or b"").decode("utf-8", "replace") for t in (before, after))
        return Change(PART, TARGET, action, files_shown(TARGET, *texts), make)

    def _backup(self, data: bytes | None) -> Path | None:
        if not data:
            return None
        folder = private_dir(self._local_cases / "backups")
        path = folder / f"{clock.now():%Y%m%dT%H%M%S%f}-crontab"
        write_private(path, data)
        prune(folder)
        return path


def _block(night: Night) -> bytes:
    """Raises ConfigError for what cron would take apart."""
    for word in night.words:
        if "%" in word:
            raise ConfigError(
                f"cron gives % a meaning of its own, so {word} cannot stand in a crontab",
                "choose a home without it, with --home",
            )
    block = night.filled("crontab", shlex.quote)
    if max(len(line.encode()) for line in block.splitlines()) > LINE_MAX:
        raise ConfigError(
            "the line for the crontab would be too long for cron", "choose a shorter home"
        )
    return block.encode()


def _without(crontab: bytes) -> bytes:
    """The crontab without our lines. Raises ConfigError when their end is missing."""
    while begin := BEGIN.search(crontab):
        end = END.search(crontab, begin.end())
        following = BEGIN.search(crontab, begin.end())
        if end is None or (following and following.start() < end.start()):
            raise ConfigError(
                "the crontab has a line '# BEGIN twice-told' without its '# END twice-told'",
                "mend it with `crontab -e`; it was not touched",
            )
        crontab = crontab[: begin.start()] + crontab[end.end() :]
    return crontab


def _read() -> bytes | None:
    """None for none. Raises StoreError unless it is read or surely not there: else it is lost."""
    answer = tools.call("crontab", "-l")
    if answer.code == 0:
        return answer.out
    if _ABSENT.search(answer.err):
        return None
    raise StoreError(f"the crontab cannot be read: {answer.reason}", "see `crontab -l`")


def _write(crontab: bytes | None) -> None:
    words = ("crontab", "-r") if crontab is None else ("crontab", "-")
    answer = tools.call(*words, data=crontab)
    if answer.code != 0 or _read() != crontab:
        raise StoreError(
            f"the crontab was not taken: {answer.reason}", "see `crontab -l`; there is a backup"
        )
