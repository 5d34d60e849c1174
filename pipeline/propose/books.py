"""Which ledgers a home writes to, and what stands in them."""

from pathlib import Path

from pipeline.cases import read
from pipeline.cases.store import Store
from pipeline.config import Config
from pipeline.files import is_folder
from pipeline.ledger.book import NAME, Books
from pipeline.ledger.fold import Proposal, fold
from pipeline.transcripts.repository import Repository, from_git


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
    return frozenset([name_of(place, store)] if place else [])


def name_of(found: Repository, store: Store | None) -> str:
    """A repository in which nothing was heard yet goes by the name that it would get: a team's
    proposals can be about one. Another one of the same name is not it."""
    if store is None:
        return found.base_name
    known = read.repo_name(store, found.key)
    return known or read.free_name(store, found.key, found.base_name)
