"""What a schedule starts, and the templates that say when."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from pathlib import Path

from pipeline import resources
from pipeline.install.line import checked

AT = time(3, 17)
"""Local time; stands in each template of cron/ too."""
COMMAND = "@COMMAND@"


@dataclass(frozen=True, slots=True)
class Night:
    """The command of the night. Every word is safe to be quoted."""

    words: tuple[str, ...]

    @classmethod
    def of(cls, interpreter: str, home: Path, more: tuple[str, ...]) -> "Night":
        """`cron/nightly.sh` for an interpreter of the environment (not resolved: it finds the
        packages by its place) and a home. Raises ConfigError for a path that cannot be quoted."""
        script = str(resources.folder("cron") / "nightly.sh")
        words = ("/bin/sh", script, interpreter, str(home), *more)
        return cls(tuple(checked(word) for word in words))

    def filled(self, template: str, quote: Callable[[str], str], between: str = " ") -> str:
        """A template of cron/ with the command in its place."""
        text = (resources.folder("cron") / template).read_text(encoding="utf-8")
        return text.replace(COMMAND, between.join(quote(word) for word in self.words))


def next_start(now: datetime) -> str:
    """The next night in the machine's zone, for schedulers that do not tell."""
    here = now.astimezone()
    day = here.date() if here.time() < AT else here.date() + timedelta(days=1)
    return datetime.combine(day, AT).astimezone().isoformat(timespec="minutes")
