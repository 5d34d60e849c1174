"""What the store keeps for the judge: who waits, what the models said, what it cost.

No words: answers are kept under the digest of what was asked. Of those to a forgotten case only the
bill stays.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pipeline.cases import read
from pipeline.cases.last_word import RULED, WORDS
from pipeline.cases.store import Store
from pipeline.clock import from_microseconds, microseconds
from pipeline.records import Case, CaseType

NIGHTS = 3
"""So many nights a case without a usable answer is asked about."""
DRAFT = "draft"
"""The purpose of an answer that words a rule."""


class Outcome(StrEnum):
    """What two models make of an undecided case."""

    DECIDED = "decided"
    """Both name the same type."""
    REAL = "real"
    """Both call it a correction of no type: it stays `other`."""
    DOUBTFUL = "doubtful"
    """None, says the first: hidden, and not asked again."""
    DISAGREED = "disagreed"
    """Or one refused: asked again when a prompt, a model or the rules change."""
    FAILED = "failed"
    """No usable answer: asked again on later nights."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A case that nobody has decided."""

    case: Case
    words: str
    """Digest of all that it says."""
    tries: int
    """Nights on which no usable answer came."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one model said to one question, and what that cost."""

    id: str
    """The case; "" for a labelled message, a draft or a forgotten case."""
    key: str
    """Digest of words, prompt and model; "" for a forgotten case."""
    purpose: str
    """`night`, `eval` or `draft`."""
    model: str
    prompt: str
    """Digest of the prompt's file."""
    label: str | None
    """None when no usable answer came."""
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a case."""

    id: str
    outcome: Outcome
    type: CaseType | None
    """Only when decided."""
    words: str
    basis: str
    """Digest of prompts, models and rules."""
    tries: int
    by: str
    """The models, for people."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One question of a batch."""

    name: str
    """Its custom_id."""
    id: str
    key: str
    model: str
    prompt: str
    most_usd: float
    """What it may cost."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A batch that was announced and whose answers are not stored yet."""

    token: str
    """Our name for it."""
    remote: str
    """The server's name; "" when we were killed before we knew it."""
    at: datetime
    place: str
    """Where it lies."""
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Queue:
    """Who waits."""

    all: int
    first: tuple[Waiting, ...]
    """As many as were wanted of them."""


def waiting(store: Store, basis: str, night: datetime, until: datetime | None, most: int) -> Queue:
    """Open human cases that rules and people leave as `other` and that may be asked about now:
    those that failed least first, then the newest. `night`: when this night began."""
    rows = store.rows(
        f"""
        SELECT c.id, {WORDS}, CASE WHEN j.basis = $basis THEN j.tries ELSE 0 END AS tries
        FROM cases AS c {RULED}
        WHERE c.type = 'other' AND c.source = 'human' AND k.id IS NULL
            AND ($until IS NULL OR c.at_us < $until OR c.inferred_at)
            AND (j.id IS NULL OR j.outcome IN ('disagreed', 'failed') AND j.basis <> $basis
                OR j.outcome = 'failed' AND j.tries < {NIGHTS} AND j.at_us < $night)
        ORDER BY tries, c.at_us DESC, c.id""",
        {
            "basis": basis,
            "night": microseconds(night),
            "until": microseconds(until) if until else None,
        },
    )
    found = read.cases_of(store, [row[0] for row in rows[:most]])
    first = tuple(Waiting(found[id_], words, tries) for id_, words, tries in rows[:most])
    return Queue(len(rows), first)


def labels(store: Store, keys: Sequence[str]) -> dict[str, str]:
    """What was answered to these questions, by key."""
    return dict(
        store.rows(
            "SELECT key, min(label) FROM answers"
            " WHERE label IS NOT NULL AND key IN (SELECT unnest(?)) GROUP BY key",
            [list(keys)],
        )
    )


def put_answers(
    store: Store, answers: Iterable[Answer], ended: Iterable[str], now: datetime
) -> None:
    """Stores answers, and with them that their batches have `ended`."""
    at = microseconds(now)
    with store.transaction():
        for a in answers:
            store.con.execute(
                "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [a.id, a.key, a.purpose, a.model, a.prompt, a.label, a.calls, a.tokens_in,
                 a.tokens_out, a.cost_usd, at],
            )  # fmt: skip
        for token in ended:
            store.con.execute("DELETE FROM batched WHERE token = ?", [token])


def settle(store: Store, verdicts: Iterable[Verdict], now: datetime) -> None:
    """Stores verdicts; all but failures enter the history of their cases."""
    at = microseconds(now)
    with store.transaction():
        for v in verdicts:
            kind = v.type.value if v.type else None
            store.con.execute(
                "INSERT OR REPLACE INTO judged VALUES (?, ?, ?, ?, ?, ?, ?)",
                [v.id, v.outcome.value, kind, v.words, v.basis, at, v.tries],
            )
            if v.outcome is not Outcome.FAILED:
                store.con.execute(
                    "INSERT INTO verdicts VALUES (?, ?, 'judge', ?, ?)",
                    [v.id, at, kind or CaseType.OTHER.value, f"{v.outcome}: {v.by}"],
                )


def announce(store: Store, token: str, entries: Sequence[Entry], now: datetime, place: str) -> None:
    """Before a batch is handed over: whatever happens then, it is known."""
    with store.transaction():
        for e in entries:
            store.con.execute(
                "INSERT INTO batched VALUES (?, '', ?, ?, ?, ?, ?, ?, ?, ?)",
                [token, e.id, e.key, e.name, e.model, e.prompt, e.most_usd, microseconds(now),
                 place],
            )  # fmt: skip


def name_batch(store: Store, token: str, remote: str) -> None:
    """The server's name for a batch."""
    store.con.execute("UPDATE batched SET remote = ? WHERE token = ?", [remote, token])


def drop_batch(store: Store, token: str) -> None:
    """A batch that the server never got, or whose answers will not come."""
    store.con.execute("DELETE FROM batched WHERE token = ?", [token])


def pending(store: Store) -> list[Pending]:
    """All batches under way, oldest first."""
    rows = store.rows(
        "SELECT token, remote, at_us, place, name, id, key, model, prompt, most_usd FROM batched"
        " ORDER BY at_us, token, name"
    )
    entries: dict[tuple[str, str, int, str], list[Entry]] = {}
    for token, remote, at_us, place, *rest in rows:
        entries.setdefault((token, remote, at_us, place), []).append(Entry(*rest))
    return [
        Pending(token, remote, from_microseconds(at_us), place, tuple(found))
        for (token, remote, at_us, place), found in entries.items()
    ]


def spent(store: Store, since: datetime) -> tuple[set[str], float]:
    """Cases that the nights since then asked about, and what was or may be paid for them."""
    rows = store.rows(
        """SELECT id, sum(usd) FROM (
            SELECT id, cost_usd AS usd FROM answers WHERE at_us >= $since AND purpose = 'night'
            UNION ALL SELECT id, most_usd FROM batched WHERE at_us >= $since
        ) GROUP BY id""",
        {"since": microseconds(since)},
    )
    return {row[0] for row in rows}, sum(row[1] for row in rows)


@dataclass(frozen=True, slots=True)
class Bill:
    """What one model cost at one time, for one purpose."""

    at: datetime
    purpose: str
    model: str
    questions: int
    answered: int
    calls: int
    tokens_in: int
    tokens_out: int
    cost_usd: float


def bills(store: Store) -> list[Bill]:
    """Everything that was ever paid, oldest first."""
    rows = store.rows(
        """SELECT at_us, purpose, model, count(*), count(label), sum(calls)::BIGINT,
            sum(tokens_in)::BIGINT, sum(tokens_out)::BIGINT, sum(cost_usd)
        FROM answers GROUP BY at_us, purpose, model ORDER BY at_us, model, purpose"""
    )
    return [Bill(from_microseconds(row[0]), *row[1:]) for row in rows]


def outcomes(store: Store) -> Mapping[str, int]:
    """How many cases ended how."""
    return dict(store.rows("SELECT outcome, count(*) FROM judged GROUP BY outcome"))
