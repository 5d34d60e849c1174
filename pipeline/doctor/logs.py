"""Are there transcripts, and do they live long enough to be read?"""

from datetime import timedelta
from pathlib import Path

from pipeline.doctor.finding import Finding, edit, ok, quoted, red, warn
from pipeline.doctor.scene import Scene
from pipeline.doctor.settings import settings_of
from pipeline.errors import PipelineError
from pipeline.folders import CLAUDE_FOLDERS
from pipeline.transcripts.discover import discover

PERIOD_DEFAULT_DAYS = 30
"""`cleanupPeriodDays` of Claude Code; 1 at least, and 0 is an error since 2.1.89 (docs of August
2026). The client deletes older transcripts at the start of a session, and says nothing."""
NIGHT = timedelta(days=1)


def found(scene: Scene) -> Finding:
    """Transcripts in the folders that are read; else in one that is not."""
    config = scene.config
    number = len(discover(config.claude_dirs).files)
    others = [folder for folder in _other_folders(scene) if discover([folder]).files]
    if number:
        also = f"; {', '.join(map(str, others))} has some too and is not read" if others else ""
        return ok(f"{number} transcripts{also}")
    places = ", ".join(str(folder / "projects") for folder in config.claude_dirs)
    if others:
        return red(
            f"none in {places}, but in {others[0]}",
            f"twice-told nightly --claude-dir {quoted(others[0])}"
            f"  # for good: claude_dirs in {config.file}",
        )
    return red(f"none in {places}", "twice-told doctor --claude-dir DIR  # where Claude Code's are")


def _other_folders(scene: Scene) -> list[Path]:
    """Where Claude Code keeps its logs when nobody says otherwise."""
    known = {folder.resolve() for folder in scene.config.claude_dirs}
    usual = [scene.user_home / name for name in CLAUDE_FOLDERS]
    return [folder for folder in usual if folder.resolve() not in known]


def retention(scene: Scene) -> Finding:
    """Twice the gap between nights must fit into the client's period, or one missed night loses
    what was said (T22)."""
    days, path = PERIOD_DEFAULT_DAYS, scene.config.claude_dirs[0] / "settings.json"
    for folder in scene.config.claude_dirs:
        period = _period(folder)
        if not isinstance(period, int) or isinstance(period, bool) or period < 1:
            file = folder / "settings.json"
            return red(f"cleanupPeriodDays in {file} is no number of days", edit(file, "1 or more"))
        if period < days:
            days, path = period, folder / "settings.json"
    run = scene.ran
    if run is None:
        return warn(f"logs are kept for {days} days, and none was read yet", "twice-told nightly")
    gap = scene.now - run.at
    if timedelta(days=days) < 2 * NIGHT:
        return red(
            f"logs are kept for {days} day only: one missed night loses some",
            edit(path, "cleanupPeriodDays: 30 or more"),
        )
    if timedelta(days=days) < 2 * gap:
        return red(
            f"logs are kept for {days} days, the last run was {gap.days} days ago",
            "twice-told nightly",
        )
    return ok(f"logs are kept for {days} days")


def _period(folder: Path) -> object:
    """As it stands in the settings; the default where it does not, or they cannot be read (the
    client ignores such a file, and another check tells)."""
    try:
        root = settings_of(folder / "settings.json")
    except PipelineError:
        root = None
    return root.value.get("cleanupPeriodDays", PERIOD_DEFAULT_DAYS) if root else PERIOD_DEFAULT_DAYS
