"""`doctor`: what works and what does not, one line a check, with the next step."""

from argparse import Namespace
from pathlib import Path

from pipeline import clock
from pipeline.commands.context import Context
from pipeline.doctor.checks import examine
from pipeline.doctor.finding import Finding, State
from pipeline.doctor.scene import look

PROBLEMS = 1


def run(context: Context, args: Namespace) -> int:
    """Prints the findings; 1 when one of them is red. Writes nothing."""
    scene = look(context.config, _here(), Path("~").expanduser(), clock.now())
    found = examine(scene)
    if context.json:
        context.screen.document([_json(name, finding) for name, finding in found])
    else:
        rows = [(f.state.value, name, f.detail, f.next) for name, f in found]
        context.screen.table(("", "check", "what was found", "next"), rows, styled=0)
        context.screen.talk(_sum(found))
    return PROBLEMS if any(f.state is State.RED for _, f in found) else 0


def _here() -> Path | None:
    """The current folder by its real path; None when it was deleted."""
    try:
        return Path.cwd().resolve()
    except OSError:
        return None


def _json(name: str, finding: Finding) -> dict[str, str]:
    return {
        "check": name,
        "state": finding.state.value,
        "detail": finding.detail,
        "next": finding.next,
    }


def _sum(found: list[tuple[str, Finding]]) -> str:
    count = {state: sum(f.state is state for _, f in found) for state in State}
    return f"{count[State.OK]} fine, {count[State.WARN]} to look at, {count[State.RED]} red"
