"""The night as an agent of launchd. Written from Apple's launchd.plist(5) and launchctl(1), 2024;
never run on a Mac by this project's tests."""

import os
import time
from pathlib import Path
from xml.sax.saxutils import escape

from pipeline import clock
from pipeline.errors import StoreError
from pipeline.install import tools
from pipeline.install.change import Action, Change
from pipeline.install.night import Night, next_start
from pipeline.install.unit import change

PART = "schedule"
LABEL = "com.twice-told.nightly"
STILL_THERE = (5, 37)
"""What `bootstrap` ends with while an old job of the name is going: `bootout` does not wait."""
GONE_WITHIN_SECONDS, AGAIN_SECONDS = 10.0, 0.1


class Launchd:
    """One plist and `launchctl`, in the domain of the logged-in user."""

    name = "launchd"

    def __init__(self, backups: Path) -> None:
        self._path = Path("~").expanduser() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        self._backups = backups

    def is_reachable(self) -> bool:
        return tools.has("launchctl") and tools.call("launchctl", "print", _domain()).code == 0

    def has_ours(self) -> bool:
        return self._path.exists()

    def installation(self, night: Night) -> list[Change]:
        text = night.filled(f"{LABEL}.plist", _element, between="\n        ")
        file = change(self._path, text, self._backups)
        loaded = _is_loaded()
        if file.is_idle and loaded:
            return [file]
        load = Change(
            PART, LABEL, Action.REPLACED if loaded else Action.ADDED,
            (f"+ launchctl bootstrap {_domain()} {self._path}",), self._load,
        )  # fmt: skip
        return [file, load]

    def removal(self) -> list[Change]:
        file = change(self._path, None, self._backups)
        if not (self.is_reachable() and _is_loaded()):
            return [file]
        off = Change(
            PART, LABEL, Action.REMOVED, (f"- launchctl bootout {_domain()}/{LABEL}",), _unload
        )
        return [off, file]

    def next_start(self) -> str | None:
        return next_start(clock.now()) if _is_loaded() else None

    def advice(self) -> str | None:
        return None

    def _load(self) -> None:
        goes = _is_loaded()
        if goes:
            _unload()
        _order("bootstrap", _domain(), str(self._path), patience=goes * GONE_WITHIN_SECONDS)


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _is_loaded() -> bool:
    return tools.call("launchctl", "print", f"{_domain()}/{LABEL}").code == 0


def _unload() -> None:
    _order("bootout", f"{_domain()}/{LABEL}")


def _order(*words: str, patience: float = 0) -> None:
    deadline = time.monotonic() + patience
    while (answer := tools.call("launchctl", *words)).code in STILL_THERE:
        if time.monotonic() > deadline:
            break
        time.sleep(AGAIN_SECONDS)
    if answer.code != 0:
        raise StoreError(
            f"launchctl {' '.join(words)} failed: {answer.reason}",
            "see Console.app, then run the command again",
        )


def _element(word: str) -> str:
    return f"<string>{escape(word)}</string>"
