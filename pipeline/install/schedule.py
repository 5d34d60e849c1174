"""The nightly schedule: which scheduler the machine has, and what would change in it."""

from pathlib import Path
from typing import Protocol

from pipeline.errors import ConfigError, StoreError
from pipeline.install.change import Action, Change
from pipeline.install.crontab import Crontab
from pipeline.install.launchd import Launchd
from pipeline.install.night import Night
from pipeline.install.systemd import Systemd

PART = "schedule"


class Scheduler(Protocol):
    """One way to start something every night."""

    name: str

    def is_reachable(self) -> bool:
        """It runs here and takes orders from this user."""

    def has_ours(self) -> bool:
        """Something of ours is in it, whole or in part."""

    def installation(self, night: Night) -> list[Change]:
        """What sets the night up; all of it idle when it is set up so."""

    def removal(self) -> list[Change]:
        """What takes everything of ours away."""

    def next_start(self) -> str | None:
        """When the next night begins, None when none will."""

    def advice(self) -> str | None:
        """What keeps nights from running, if that can be known."""


def schedulers(local_cases: Path) -> tuple[Scheduler, ...]:
    """All that we know; the first that is reachable is the best on its machine."""
    backups = local_cases / "backups"
    return Launchd(backups), Systemd(backups), Crontab(local_cases)


def choose(known: tuple[Scheduler, ...]) -> Scheduler:
    """Raises ConfigError where there is none."""
    for scheduler in known:
        if scheduler.is_reachable():
            return scheduler
    raise ConfigError(
        "no scheduler was found: no launchd, no systemd user manager, no crontab",
        "install cron, or start cron/nightly.sh yourself; `install hook` works without",
    )


def installation(known: tuple[Scheduler, ...], chosen: Scheduler, night: Night) -> list[Change]:
    """Sets the night up in one scheduler and takes an older one out of the others."""
    others = [one for one in known if one is not chosen and _has_ours(one, known)]
    moved = [change for other in others for change in other.removal()]
    return [*chosen.installation(night), *moved]


def removal(known: tuple[Scheduler, ...]) -> list[Change]:
    """Takes ours out of all of them; one idle change when there is nothing."""
    found = [change for one in known if _has_ours(one, known) for change in one.removal()]
    return found or [Change(PART, "schedule", Action.ABSENT)]


def current(known: tuple[Scheduler, ...]) -> Scheduler | None:
    """The scheduler that has ours."""
    return next((one for one in known if _has_ours(one, known)), None)


def _has_ours(one: Scheduler, known: tuple[Scheduler, ...]) -> bool:
    """A crontab that the user may not read (cron.allow) is no news beside another scheduler."""
    try:
        return one.has_ours()
    except StoreError:
        if any(other is not one and other.is_reachable() for other in known):
            return False
        raise
