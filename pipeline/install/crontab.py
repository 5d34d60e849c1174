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
from pipeline.install import tools
from pipeline.install.change import Action, Change, files_shown
from pipeline.install.night import Night, next_start

PART, TARGET = "schedule", "crontab"
BEGIN = re.compile(rb"^# BEGIN twice-told\b.*\n", re.MULTILINE)
END = re.compile(rb"^# END twice-told\n", re.MULTILINE)
_ABSENT = re.compile(r"no crontab|can't open '[^'/]*': No such file")
"""As Vixie cron, cronie and macOS say it; BusyBox cannot open a file of the user's name."""
LINE_MAX = 990
"""Vixie cron cuts the command of a line at 1000 characters."""


class Crontab:
    """`crontab -l` and `crontab -`."""

    name = "crontab"

    def __init__(self, backups: Path) -> None:
        self._backups = backups

    def is_reachable(self) -> bool:
        return tools.has("crontab")

    def has_ours(self) -> bool:
        return self.is_reachable() and BEGIN.search(_read()) is not None

    def installation(self, night: Night) -> list[Change]:
        before = _read()
        block = _block(night)
        ours = len(BEGIN.findall(before))
        if ours == 1 and block in before:
            return [Change(PART, TARGET, Action.UNCHANGED)]
        action = Action.REPLACED if ours else Action.ADDED
        return [self._change(before, block + _without(before), action)]

    def removal(self) -> list[Change]:
        before = _read()
        return [self._change(before, _without(before), Action.REMOVED)]

    def next_start(self) -> str | None:
        return next_start(clock.now()) if self.has_ours() else None

    def advice(self) -> str | None:
        return "cron does not make up for a night that the machine slept through; the next one does"

    def _change(self, before: bytes, after: bytes, action: Action) -> Change:
        def make() -> Path | None:
            if _read() != before:
                raise ConfigError(
                    "the crontab was changed by somebody else in the meantime",
                    "it was not touched; run the command again",
                )
            kept = self._backup(before)
            _write(after)
            return kept

        shown = files_shown(TARGET, *(t.decode("utf-8", "replace") for t in (before, after)))
        return Change(PART, TARGET, action, shown, make)

    def _backup(self, data: bytes) -> Path | None:
        if not data:
            return None
        path = private_dir(self._backups) / f"{clock.now():%Y%m%dT%H%M%S%f}-crontab"
        write_private(path, data)
        prune(self._backups)
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


def _read() -> bytes:
    """Raises StoreError unless it is read or surely not there: else it would be lost."""
    answer = tools.call("crontab", "-l")
    if answer.code == 0:
        return answer.out
    if _ABSENT.search(answer.err):
        return b""
    raise StoreError(f"the crontab cannot be read: {answer.reason}", "see `crontab -l`")


def _write(crontab: bytes) -> None:
    answer = tools.call("crontab", "-", data=crontab) if crontab else tools.call("crontab", "-r")
    if answer.code != 0 or _read() != crontab:
        raise StoreError(
            f"the crontab was not taken: {answer.reason}", "see `crontab -l`; there is a backup"
        )
