"""All checks in the order in which they are shown: what feeds us, what we keep, what we show."""

import traceback
from collections.abc import Callable
from pathlib import Path

from pipeline.doctor import fires, home, hookfile, judging, ledgers, logs, rules, runs, wired
from pipeline.doctor.finding import Finding, quoted, red
from pipeline.doctor.scene import Scene
from pipeline.errors import PipelineError

Check = Callable[[Scene], Finding]
CHECKS: tuple[tuple[str, Check], ...] = (
    ("logs", logs.found),
    ("retention", logs.retention),
    ("last run", runs.last),
    ("sums", runs.sums),
    ("schedule", runs.planned),
    ("clock", hookfile.clock),
    ("time zone", runs.zone),
    ("rules", rules.loaded),
    ("judge", judging.ready),
    ("store", home.store),
    ("ledger", ledgers.sound),
    ("disk", home.disk),
    ("privacy", home.private),
    ("hook", wired.installed),
    ("hook script", wired.script),
    ("interpreter", wired.interpreter),
    ("hook copies", wired.once),
    ("hooks on", wired.switched_on),
    ("trust", fires.trusted),
    ("hook fires", fires.fired),
    ("hook files", hookfile.fresh),
    ("this folder", hookfile.here),
)
"""Names are part of `--json`."""


def examine(scene: Scene) -> list[tuple[str, Finding]]:
    """Name and finding of every check; a check that fails is red itself."""
    return [(name, _guarded(check, scene)) for name, check in CHECKS]


def _guarded(check: Check, scene: Scene) -> Finding:
    """A doctor that dies of what it should find helps nobody."""
    try:
        return check(scene)
    except PipelineError as error:
        return red(error.message, error.hint)
    except OSError as error:
        name = error.filename or scene.config.home
        return red(f"{name} cannot be read: {error.strerror}", f"ls -ld {quoted(name)}")
    except Exception as error:  # an entry point of its own: no words of the error are shown
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        return red(f"a bug: {type(error).__name__} at {where}", "twice-told --version")
