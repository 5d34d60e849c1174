"""The stage of a night that raises what repeated; it never costs the others anything."""

from datetime import date

from pipeline import clock
from pipeline.cases.meta import machine_id
from pipeline.cases.store import Store
from pipeline.collect.summary import Summary
from pipeline.config import Config
from pipeline.errors import LedgerError
from pipeline.propose.books import books
from pipeline.propose.raising import Bounds, night, write

NOBODY = "0" * 16
"""The machine of a dry run, which has no name to give."""


def bounds_of(config: Config, until: date | None = None) -> Bounds:
    """What the settings ask of a bundle before it is raised."""
    return Bounds(config.raise_sessions, config.raise_days, until)


def propose(
    store: Store, config: Config, bounds: Bounds, summary: Summary, dry: bool = False
) -> None:
    """Raises what repeated. A ledger that fails costs the night nothing else."""
    found = books(config, store)
    machine = NOBODY if dry else machine_id(store)
    try:
        summary.warnings += found.faults()
        added = night(store, found, bounds, machine, clock.now())
        if not dry:
            write(found, added.events)
    except LedgerError as error:
        summary.unwritten = True
        summary.warnings.append(f"nothing was proposed: {error.message} ({error.hint})")
    else:
        summary.raised, summary.held = added.raised, added.held


def exit_code(summary: Summary) -> int:
    """Of a run that went on without its ledger: that of the error."""
    return LedgerError.exit_code if summary.unwritten else 0
