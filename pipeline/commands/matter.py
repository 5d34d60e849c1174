"""What a person who decides about a proposal has before them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pipeline.cases import acceptances, read
from pipeline.cases.acceptances import Acceptance
from pipeline.cases.store import Store
from pipeline.commands.context import Context
from pipeline.config import Config
from pipeline.errors import UsageError
from pipeline.inject.items import is_worth_showing
from pipeline.ledger.book import Books
from pipeline.ledger.event import Happening
from pipeline.ledger.fold import Proposal, State
from pipeline.propose import books, target
from pipeline.propose.decide import chosen
from pipeline.propose.standing import Location, already
from pipeline.propose.target import Target, Tree
from pipeline.records import Case, CaseType


@dataclass(frozen=True, slots=True)
class Matter:
    """One proposal and what is known around it."""

    proposal: Proposal
    books: Books
    cases: tuple[Case, ...]
    """Those on this machine that count for it, newest first."""
    taken_back: bool
    """There are cases of its bundle here, and none of them counts."""
    thin: bool
    """Some were taken back, and what counts here would not be raised any more."""
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
    cases = counting(store, proposal.repo, proposal.type) if store else []
    every = read.Wanted(repo=proposal.repo, type=proposal.type, hidden=True)
    heard = read.cases(store, every) if store else []
    return Matter(
        proposal,
        ledgers,
        tuple(cases),
        bool(heard and not cases),
        len(cases) < len(heard) and not _repeats(cases, context.config),
        here if here and here.repo == proposal.repo else None,
        {f"{b.repo}/{b.type}": b.last for b in read.bundles(store)} if store else {},
        acceptances.recall(store, proposal.repo, proposal.type) if store else None,
    )


def _repeats(cases: Sequence[Case], config: Config) -> bool:
    """They alone would be raised."""
    sessions, days = {case.session for case in cases}, {case.day for case in cases}
    return len(sessions) >= config.raise_sessions and len(days) >= config.raise_days


def counting(store: Store, repo: str, kind: CaseType) -> list[Case]:
    """The cases of this machine that a proposal rests on, newest first: open, decided, and no bare
    "no" without the action that it answers (S3.25)."""
    found = read.cases(store, read.Wanted(repo=repo, type=kind))
    return [case for case in found if is_worth_showing(case)]


def stands_already(context: Context, store: Store | None, proposal: Proposal) -> Location | None:
    """Where the instruction that an open proposal is about stands already, as far as can be told
    from the current folder."""
    violated = proposal.type is CaseType.VIOLATED_INSTRUCTION  # others need no look at their cases
    if not (store and violated and proposal.state is State.RAISED):
        return None
    here = target.tree(cwd(), store)
    if here is None or here.repo != proposal.repo:
        return None
    cases = counting(store, proposal.repo, proposal.type)
    return already(proposal.type, cases, here.top, context.config.claude_dirs)


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
    return already(found.proposal.type, found.cases, top, config.claude_dirs)


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
