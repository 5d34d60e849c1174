"""Did the last run happen, end well and add up, and will there be a next one?"""

import re
from datetime import datetime, timedelta
from pathlib import Path

from pipeline import clock
from pipeline.doctor.finding import Finding, ok, quoted, red, warn
from pipeline.doctor.scene import Scene
from pipeline.errors import PipelineError
from pipeline.install import schedule
from pipeline.wording import counted

OLD = timedelta(hours=48)
SKEW = timedelta(minutes=5)
"""Two clocks (a virtual machine and its host) differ by less."""
LOG_TAIL_BYTES = 1 << 17
AGAIN = "twice-told nightly"
_ENDED = re.compile(
    rb"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ) (?:the night ended (well|with (\d{1,3})|without)"
    rb"|preflight: (?:no package|.+ is missing or no))",
    re.MULTILINE,
)
"""The sentences of cron/nightly.sh that say how a night went; the rest of its log is not read."""


def last(scene: Scene) -> Finding:
    """A run in the last two days, and no failed one after it."""
    if isinstance(scene.last, PipelineError):
        return red(scene.last.message, AGAIN)
    failed = _failed(scene.config.local_cases / "runs", scene.last.at if scene.last else None)
    if failed:
        return failed
    if scene.last is None:
        return red("no run yet", AGAIN)
    age = scene.now - scene.last.at
    if age > OLD:
        return red(f"the last run was {age.days} days ago", AGAIN)
    return ok(f"last run {scene.last.at:%Y-%m-%d %H:%M} UTC")


def _failed(folder: Path, good: datetime | None) -> Finding | None:
    """What failed after the last good run: a night of the schedule, or a bug anywhere."""
    log = folder / "nightly.log"
    ends = list(_ENDED.finditer(_tail(log)))
    if ends:
        at = clock.parse_instant(ends[-1][1].decode())
        if ends[-1][2] != b"well" and at and (good is None or at > good):
            code = f" with {ends[-1][3].decode()}" if ends[-1][3] else ""
            return red(f"the night of {at:%Y-%m-%d} failed{code}", f"tail -n 20 {quoted(log)}")
    crashes = sorted(folder.glob("crash-*.log"))
    if crashes and (good is None or crashes[-1].stat().st_mtime > good.timestamp() + 1):
        return red("a bug stopped a command after the last run", f"cat {quoted(crashes[-1])}")
    return None


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_TAIL_BYTES))
            return file.read()
    except FileNotFoundError:
        return b""


def sums(scene: Scene) -> Finding:
    """The figures of the last run, added up again; and whether it warned of something (T6)."""
    run = scene.ran
    if run is None:
        return ok("nothing to add up")
    if not run.adds_up:
        return red("the last run's figures do not add up", "twice-told collect --rebuild")
    if run.warnings:
        return red(
            f"the last run gave {counted(run.warnings, 'warning')}", "twice-told status --json"
        )
    return ok("they add up")


def planned(scene: Scene) -> Finding:
    """A schedule, and one that is switched on."""
    found = schedule.current(schedule.schedulers(scene.config.local_cases))
    if found is None:
        return warn("nothing starts the night", "twice-told install schedule")
    start = found.next_start()
    if start is None:
        return red(f"{found.name}: set up but not running", "twice-told install schedule")
    return ok(f"{found.name}: next night {start}")


def zone(scene: Scene) -> Finding:
    """Which zone decides the day of a case."""
    return ok(f"days are those of {scene.config.timezone.key}")
