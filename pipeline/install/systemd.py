"""The night as a timer of systemd's user manager."""

import os
from pathlib import Path

from pipeline.errors import StoreError
from pipeline.install import tools
from pipeline.install.change import Action, Change
from pipeline.install.night import Night
from pipeline.install.unit import change

PART = "schedule"
SERVICE, TIMER = "twice-told-nightly.service", "twice-told-nightly.timer"


class Systemd:
    """Two unit files and `systemctl --user`."""

    name = "systemd"

    def __init__(self, backups: Path) -> None:
        config = os.environ.get("XDG_CONFIG_HOME", "")
        base = Path(config) if os.path.isabs(config) else Path("~").expanduser() / ".config"
        self._folder = base / "systemd" / "user"
        self._backups = backups

    def is_reachable(self) -> bool:
        return tools.has("systemctl") and _ask("show-environment").code == 0

    def has_ours(self) -> bool:
        return any((self._folder / name).exists() for name in (SERVICE, TIMER))

    def installation(self, night: Night) -> list[Change]:
        files = [
            change(self._folder / name, night.filled(name, quoted), self._backups)
            for name in (SERVICE, TIMER)
        ]
        active = all(_ask(word, TIMER).code == 0 for word in ("is-enabled", "is-active"))
        if active and all(file.is_idle for file in files):
            return files
        switch = Change(
            PART, TIMER, Action.REPLACED if active else Action.ADDED,
            (f"+ systemctl --user daemon-reload, enable and restart {TIMER}",), _switch_on,
        )  # fmt: skip
        return [*files, switch]

    def removal(self) -> list[Change]:
        files = [change(self._folder / name, None, self._backups) for name in (TIMER, SERVICE)]
        if not self.is_reachable():
            return files
        off = Change(
            PART, TIMER, Action.REMOVED,
            (f"- systemctl --user disable --now {TIMER}",), _switch_off,
        )  # fmt: skip
        reload = Change(
            PART, "units", Action.REMOVED, ("- systemctl --user daemon-reload",), _reload
        )
        on = (self._folder / TIMER).exists() or _ask("is-active", TIMER).code == 0
        return [*([off] if on else []), *files, reload]

    def next_start(self) -> str | None:
        answer = _ask("show", TIMER, "--property=NextElapseUSecRealtime", "--value")
        return answer.out.decode("utf-8", "replace").strip() or None

    def advice(self) -> str | None:
        """Without lingering the user manager, and so the timer, ends with the last session."""
        answer = tools.call(
            "loginctl", "show-user", str(os.geteuid()), "--property=Linger", "--value"
        )
        if answer.out.strip() != b"no":
            return None
        return "the timer runs only while you are logged in; `loginctl enable-linger` changes that"


def quoted(word: str) -> str:
    """One word of ExecStart (systemd.service(5), version 252): C escapes, `%` and `$` doubled."""
    inner = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{inner}"'


def _ask(*words: str) -> tools.Answer:
    return tools.call("systemctl", "--user", *words)


def _order(*words: str) -> None:
    answer = _ask(*words)
    if answer.code != 0:
        raise StoreError(
            f"systemctl --user {' '.join(words)} failed: {answer.reason}",
            "see `systemctl --user status`, then run the command again",
        )


def _switch_on() -> None:
    _order("daemon-reload")
    _order("enable", TIMER)
    _order("restart", TIMER)


def _switch_off() -> None:
    _order("disable", "--now", TIMER)


def _reload() -> None:
    _order("daemon-reload")
