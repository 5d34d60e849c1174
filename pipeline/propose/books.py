"""Which ledgers a home writes to, and what stands in them."""

from pipeline.cases import read
from pipeline.cases.store import Store
from pipeline.config import Config
from pipeline.ledger.book import NAME, Books
from pipeline.ledger.fold import Proposal, fold
from pipeline.transcripts.repository import from_git


def books(config: Config, store: Store | None) -> Books:
    """The home's ledger takes all; a team's only the repository it lies in, or those that the
    settings name: a team must not learn the names of other clients."""
    home = config.home / "ledger" / NAME
    if config.ledger_folder is None:
        return Books(home)
    return Books(home, config.ledger_folder / NAME, _team_repos(config, store))


def proposals(found: Books) -> list[Proposal]:
    """The folded state of all ledgers of a home. Raises LedgerError."""
    return fold(*found.events())


def _team_repos(config: Config, store: Store | None) -> frozenset[str]:
    if config.ledger_repos is not None:
        return frozenset(config.ledger_repos)
    place = from_git(str(config.ledger_folder))
    name = read.repo_name(store, place.key) if place and store else None
    return frozenset([name] if name else [])
