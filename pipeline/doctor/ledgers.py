"""The ledgers' files by themselves; their history takes longer and has a command of its own."""

from pathlib import Path

from pipeline.doctor.finding import Finding, ok, quoted, red, warn
from pipeline.doctor.scene import Scene
from pipeline.errors import LedgerError
from pipeline.ledger.book import NAME, read
from pipeline.ledger.verify import ahead_of, file_problems, forgotten

VERIFY = "twice-told ledger verify"


def sound(scene: Scene) -> Finding:
    """Each line is an event that can follow, and what was verified before is still there."""
    team = scene.config.ledger_folder
    if team and not team.is_dir():
        return red(f"the settings name a ledger in {team}, which is gone", _again(team))
    folders = (scene.config.home / "ledger", *([team] if team else []))
    events, gone, ahead = 0, 0, 0
    for file in (folder / NAME for folder in folders):
        try:
            problems = file_problems(file)
            gone += len(forgotten(file, scene.config.local_cases / "ledger"))
            found = read(file).events
            events, ahead = events + len(found), ahead + len(ahead_of(found, scene.now))
        except LedgerError as error:
            return red(error.message, VERIFY)
        if problems:
            more = f" and {len(problems) - 1} more" if problems[1:] else ""
            return red(f"{problems[0].where}: {problems[0].what}{more}", VERIFY)
    if gone:
        return warn(f"{gone} events that were verified before are not in the file", VERIFY)
    if ahead:
        return warn(f"{ahead} events come from the future: a machine's clock was wrong", VERIFY)
    return ok(f"{events} events, each of them sound" if events else "nothing was raised yet")


def _again(team: Path) -> str:
    return f"twice-told init {quoted(team)}  # or take its [ledger] path out of the settings"
