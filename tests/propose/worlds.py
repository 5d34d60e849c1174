"""Machines with a store and a ledger each, cases put into them, and ledgers merged as git does."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import duckdb

from pipeline.cases.rows import Correction, FileRow, MinedFile, RepoRow, TurnRow
from pipeline.cases.schema import migrate
from pipeline.cases.store import Store
from pipeline.cases.write import put_files
from pipeline.ledger.book import Books, after, append, read
from pipeline.ledger.event import Event, Form, Happening, Reason, rule_hash
from pipeline.ledger.fold import Proposal, State, fold
from pipeline.masking.masker import mask
from pipeline.masking.stored import table_digest
from pipeline.propose.raising import Bounds, Raised, night, write
from pipeline.records import CaseType, Fate, Kind, Source
from pipeline.transcripts.counts import Counts

BEGUN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
TEXT = mask("You forgot the footer.").text


@dataclass(frozen=True)
class Said:
    """One turn: a case, or (type None) a prompt only."""

    session: str
    hour: float
    """Since `BEGUN`; 24 make a day."""
    source: Source = Source.HUMAN
    type: CaseType | None = CaseType.MISSED_ITEM
    repo: str = "loom"
    named: bool = True
    tool: str = "Edit"
    worked: bool = True

    @property
    def at(self) -> datetime:
        return BEGUN + timedelta(hours=self.hour)


def mined(said: Said, name: str) -> MinedFile:
    """A transcript with this turn alone."""
    case = None
    if said.type is not None:
        case = Correction(
            said.type, "en.rule", "en", TEXT, mask(said.tool).text, mask("").text, mask("").text,
            False, said.named, table_digest(),
        )  # fmt: skip
    turn = TurnRow(
        f"{name}:0", name, said.session, said.at, said.at.date(), False, f"key-{said.repo}",
        said.source, Kind.TYPED, "U7", 1, False, Fate.SENT, True, False, case, said.worked,
    )  # fmt: skip
    return MinedFile(
        FileRow(name, False, 1, 1, 1, 1, "settings"),
        (turn,),
        frozenset([name]),
        (RepoRow(f"key-{said.repo}", said.repo, ()),),
        Counts(),
    )


def new_store() -> Store:
    """In memory; else as every home's."""
    store = Store(duckdb.connect(":memory:"), [])
    migrate(store.con)
    return store


@dataclass
class Machine:
    """One home: what it holds, and what its ledger says."""

    name: str
    """16 hex digits."""
    books: Books
    store: Store = field(default_factory=new_store)
    heard: int = 0

    @classmethod
    def new(cls, folder: Path, number: int = 0) -> "Machine":
        name = f"{number:016x}"
        return cls(name, Books(folder / name / "proposals.jsonl"))

    @property
    def path(self) -> Path:
        return self.books.home

    @property
    def events(self) -> tuple[Event, ...]:
        return read(self.path).events

    def hear(self, *told: Said) -> None:
        batch = [mined(said, f"{self.name}-{self.heard + n}") for n, said in enumerate(told)]
        self.heard += len(batch)
        if batch:
            put_files(self.store, batch, BEGUN)

    def sleep(self, now: datetime, bounds: Bounds | None = None) -> Raised:
        """One night."""
        added = night(self.store, self.books, bounds or Bounds(), self.name, now)
        write(self.books, added.events)
        return added

    def sleep_until(self, now: datetime, until: date | None) -> Raised:
        """A night that looks no further than a day."""
        return self.sleep(now, Bounds(until=until))

    def decide(self, happening: Happening, bundle: tuple[str, CaseType], now: datetime) -> None:
        """A person's word on a bundle, as the commands write it."""
        number = next(p.number for p in reversed(self.fold()) if p.bundle == bundle)
        accepted, rejected = happening is Happening.ACCEPTED, happening is Happening.REJECTED
        event = Event(
            after(self.events, now), happening, *bundle, self.name, number,
            reason=Reason.ONE_OFF if rejected else None,
            form=Form.RULE if accepted else None,
            rule=rule_hash("Keep the footer.") if accepted else None,
        )  # fmt: skip
        append(self.path, [event])

    def fold(self) -> list[Proposal]:
        return fold(self.events)

    def states(self) -> list[tuple[str, CaseType, State]]:
        return [(p.repo, p.type, p.state) for p in self.fold()]


def merge(machine: Machine, others: Iterable[Machine]) -> None:
    """Union by lines: what git's driver makes of two appended files."""
    lines = machine.path.read_bytes().splitlines(True) if machine.path.exists() else []
    known = set(lines)
    for other in others:
        if other.path.exists():
            lines += [
                line for line in other.path.read_bytes().splitlines(True) if line not in known
            ]
            known.update(lines)
    if lines:
        machine.path.parent.mkdir(parents=True, exist_ok=True)
        machine.path.write_bytes(b"".join(lines))


def essence(proposals: Sequence[Proposal]) -> list[tuple[object, ...]]:
    """All but numbers and opening times."""
    return sorted(
        (
            (p.repo, p.type.value, p.state.value, p.counts, str(p.decided_at), p.form, p.rule,
             p.reason, p.previous is None)
            for p in proposals
        ),
        key=repr,
    )  # fmt: skip
