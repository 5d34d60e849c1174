"""Which ledgers a home writes to, and what stands in them."""

from pathlib import Path

from pipeline.cases import read
from pipeline.cases.store import Store
from pipeline.config import Config
from pipeline.files import is_folder
from pipeline.ledger.book import NAME, Books
from pipeline.ledger.fold import Proposal, fold
from pipeline.transcripts.repository import from_git


def books(config: Config, store: Store | None) -> Books:
    """The home's ledger takes all; a team's only the repository it lies in, or those that the
    settings name: a team must not learn the names of other clients."""
    home = config.home / "ledger" / NAME
    folder = config.ledger_folder
    if folder is None:
        return Books(home)
    named = config.ledger_repos
    repos = _around(folder, store) if named is None else frozenset(named)
    return Books(home, folder / NAME, repos)


def proposals(found: Books) -> list[Proposal]:
    """The folded state of all ledgers of a home. Raises LedgerError."""
    return fold(*found.events())


def _around(folder: Path, store: Store | None) -> frozenset[str]:
    """The repository that a folder lies in, which need not be there yet."""
    there = next((path for path in (folder, *folder.parents) if is_folder(path)), folder)
    place = from_git(str(there))
    name = read.repo_name(store, place.key) if place and store else None
    return frozenset([name] if name else [])
