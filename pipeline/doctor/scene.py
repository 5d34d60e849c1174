"""What the checks look at, gathered once, so that one fault does not show in every line."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pipeline import clock
from pipeline.cases import health, place, read, stats
from pipeline.cases.store import open_reader
from pipeline.config import Config
from pipeline.errors import PipelineError
from pipeline.transcripts.repository import Repositories, Repository


@dataclass(frozen=True, slots=True)
class Run:
    """The record that the last run left (`collect` writes it when all else is done)."""

    at: datetime
    adds_up: bool
    """Both sums of the contract hold."""
    warnings: int


@dataclass(frozen=True, slots=True)
class Stored:
    """What the store tells."""

    cases: int = 0
    trees: frozenset[str] = frozenset()
    """Keys of the working trees that have a hook file, of the repository here alone."""
    knows_here: bool = False
    """Something was heard in the repository of the current folder."""
    due: tuple[datetime, ...] = ()
    """When sessions began that had something to be shown."""
    due_here: tuple[datetime, ...] = ()
    """Those of the repository of the current folder."""
    shown: tuple[datetime, ...] = ()
    """When the agent was shown something."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything around one call of the doctor."""

    config: Config
    cwd: Path | None
    """Real path of the current folder; None when it was deleted."""
    user_home: Path
    now: datetime
    last: Run | PipelineError | None
    """The last run, or why its record cannot be read; None when there was none."""
    stored: Stored | PipelineError | None
    """None when there is no store, or none that was ever finished."""
    here: Repository | None = None
    """The repository of the current folder."""
    mounts: Path = field(default=place.MOUNTS)

    @property
    def ran(self) -> Run | None:
        """The last run, for checks that leave its faults to another one."""
        return self.last if isinstance(self.last, Run) else None


def look(config: Config, cwd: Path | None, user_home: Path, now: datetime) -> Scene:
    """Reads the record and the store, and asks git about the folder. Raises nothing known."""
    here = Repositories().of(str(cwd), str(cwd)) if cwd else None
    return Scene(
        config, cwd, user_home, now, last_run(config.local_cases),
        _stored(config.local_cases, here), here,
    )  # fmt: skip


def last_run(local_cases: Path) -> Run | PipelineError | None:
    """Reads `runs/last_run.json` and adds its figures up again."""
    path = local_cases / "runs" / "last_run.json"
    try:
        found = json.loads(path.read_bytes())
        at = clock.parse_instant(found["at"])
        if at is None:
            raise ValueError
        parts = ("human_lines", "state", "pending_tail")
        lines = sum(found[name] for name in parts) + sum(
            sum(found[name].values()) for name in ("not_human", "skipped")
        )
        turns = found["cases"]["by_source"].get("human", 0) + found["no_case"]
        adds_up = (lines, turns) == (found["lines"], found["turns"])
        return Run(at, adds_up, len(found["warnings"]))
    except FileNotFoundError:
        return None
    except OSError as error:
        return PipelineError(f"{path} cannot be read: {error.strerror}")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return PipelineError(f"{path} is damaged")


def _stored(local_cases: Path, here: Repository | None) -> Stored | PipelineError | None:
    """Every row is read once, so that a damaged block shows; the store is closed again at once."""
    try:
        with open_reader(local_cases) as store:
            if store is None:
                return None
            health.read_through(store)
            name = read.repo_name(store, here.key) if here else None
            trees = (tree for tree, repo in read.working_trees(store) if repo == name)
            return Stored(
                stats.totals(store)["cases"],
                frozenset(trees),
                name is not None,
                health.sessions_due(store),
                health.sessions_due(store, here.key) if here else (),
                health.shown_at(store),
            )
    except PipelineError as error:
        return error
