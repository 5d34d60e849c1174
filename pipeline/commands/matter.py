"""What a person who decides about a proposal has before them."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pipeline.cases import acceptances, read
from pipeline.cases.acceptances import Acceptance
from pipeline.cases.store import Store
from pipeline.commands.behind import counting
from pipeline.commands.context import Context
from pipeline.config import Config
from pipeline.errors import UsageError
from pipeline.ledger.book import Books
from pipeline.ledger.event import Happening
from pipeline.ledger.fold import Proposal
from pipeline.propose import books, target
from pipeline.propose.decide import chosen
from pipeline.propose.instructions import instructions
from pipeline.propose.standing import Location, standing
from pipeline.propose.target import Target, Tree
from pipeline.records import Case, CaseType


@dataclass(frozen=True, slots=True)
class Matter:
    """One proposal and what is known around it."""

    proposal: Proposal
    books: Books
    cases: tuple[Case, ...]
    """Those on this machine that count for it, newest first."""
    tree: Tree | None
    """The working tree of its repository, when the command runs inside it."""
    last: Mapping[str, date]
    """The day of each bundle's newest case."""
    known: Acceptance | None
    """Where its rule was written to."""


def matter(context: Context, store: Store | None, number: int, what: Happening) -> Matter:
    """Raises UsageError when there is nothing to decide so."""
    ledgers = books.books(context.config, store)
    proposal = chosen(books.proposals(ledgers), number, what)
    here = target.tree(cwd(), store)
    return Matter(
        proposal,
        ledgers,
        tuple(counting(store, proposal.repo, proposal.type)) if store else (),
        here if here and here.repo == proposal.repo else None,
        {f"{b.repo}/{b.type}": b.last for b in read.bundles(store)} if store else {},
        acceptances.recall(store, proposal.repo, proposal.type) if store else None,
    )


def places(found: Matter, config: Config, store: Store | None) -> Iterator[Target]:
    """Where a rule of the proposal may stand: where it was put, then all usual files."""
    if found.known:
        try:
            repo, path = found.proposal.repo, str(found.known.path)
            yield target.named(path, cwd(), repo, store, config.claude_dirs)
        except UsageError:
            pass  # moved since; the search goes on
    yield from target.usual(found.tree.top if found.tree else None, config.claude_dirs)


def exists_not_kept(found: Matter, config: Config, top: Path | None = None) -> Location | None:
    """The line in which a violated instruction stands already, as far as can be told. `top`: a
    working tree other than the one around the current folder."""
    top = top or (found.tree.top if found.tree else None)
    if found.proposal.type is not CaseType.VIOLATED_INSTRUCTION or top is None:
        return None
    return standing(found.cases, instructions(top, config.claude_dirs))


def next_step(*files: Path | None) -> str:
    """Which of the changed files are to be committed; the tool never does."""
    versioned = [
        str(file)
        for file in files
        if file and any(os.path.lexists(folder / ".git") for folder in file.parents)
    ]
    return f"next: commit {' and '.join(versioned)}" if versioned else "nothing of it lies in git"


def cwd() -> Path:
    """The current folder; a deleted one is in no repository, and that is all we ask."""
    try:
        return Path(os.getcwd())  # noqa: PTH109
    except OSError:
        return Path("/")
