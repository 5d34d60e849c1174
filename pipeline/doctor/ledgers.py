"""The ledgers' files by themselves; their history takes longer and has a command of its own."""

from pathlib import Path

from pipeline.doctor.finding import Finding, ok, quoted, red, warn
from pipeline.doctor.scene import Scene
from pipeline.errors import LedgerError
from pipeline.files import is_folder
from pipeline.ledger.book import read
from pipeline.ledger.verify import ahead_of, file_problems, forgotten
from pipeline.propose.books import books
from pipeline.wording import counted

VERIFY = "twice-told ledger verify"


def sound(scene: Scene) -> Finding:
    """Each line is an event that can follow, and what was verified before is still there."""
    team = scene.config.ledger_folder
    if team and not is_folder(team):
        return red(f"the settings name a ledger in {team}, which is gone", _again(team))
    events, gone, ahead = 0, 0, 0
    for file in books(scene.config, None).files:
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
    if scene.config.ledger_repos is not None and team is None:
        return warn(
            "the settings say which repositories a team's ledger takes, and not where it is",
            f"twice-told init DIR  # or take [ledger] repos out of {quoted(scene.config.file)}",
        )
    if ahead:
        return warn(f"{ahead} events come from the future: a machine's clock was wrong", VERIFY)
    return ok(
        f"{counted(events, 'event')}, each of them sound" if events else "nothing was raised yet"
    )


def _again(team: Path) -> str:
    return f"twice-told init {quoted(team)}  # or take its [ledger] path out of the settings"
