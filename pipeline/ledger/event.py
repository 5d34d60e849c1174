"""One event of the ledger: a line of canonical JSON whose id is a digest of its other fields.

All fields are enumerated, counted or dated. None can hold text that someone said, so a ledger
leaks nothing by construction: what does not fit the schema is neither written nor read.
"""

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Any

from pipeline.errors import LedgerError
from pipeline.records import CaseType, Source

TAG = "tt1:"
"""Names the digest: SHA-256 over the canonical line without its id, first 32 hex digits."""
NUMBER_MAX = 1 << 31
YEARS = range(2000, 3000)
"""Of an event's time."""
LAST = datetime(YEARS[-1], 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
"""What follows an event of this time has it too: see `in_order`."""


class Happening(StrEnum):
    """What can happen to a bundle."""

    RAISED = "raised"
    COUNTED = "counted"
    HELD = "held"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REOPENED = "reopened"
    RETIRED = "retired"


class Reason(StrEnum):
    """Why a proposal was rejected."""

    NOT_A_RULE = "not-a-rule"
    ALREADY_THERE = "already-there"
    ONE_OFF = "one-off"
    WRONG = "wrong"


class Form(StrEnum):
    """What an accepted proposal became."""

    RULE = "rule"
    HOOK = "hook"
    ELSEWHERE = "elsewhere"


@dataclass(frozen=True, slots=True)
class Counts:
    """How much one machine holds of a bundle."""

    sessions: int
    days: int
    cases: int
    first: date
    last: date
    """Local days of the oldest and the newest case."""
    sources: tuple[int, int, int, int]
    """Cases by source, in the order of `Source`; they add up to `cases`."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line. Fields that its kind does not have are None."""

    at: datetime
    """UTC. A machine's events have times of their own, later than all that it had read of their
    bundles."""
    event: Happening
    repo: str
    type: CaseType
    machine: str
    """16 hex digits, drawn at random when a home first writes to a ledger."""
    number: int | None = None
    """raised, reopened: the number that is claimed; else the one that the person was shown."""
    previous: int | None = None
    """reopened: the number under which it was closed."""
    counts: Counts | None = None
    """raised, counted, held, reopened: of this machine alone."""
    reason: Reason | None = None
    form: Form | None = None
    rule: str | None = None
    """accepted as a rule: `rule_hash` of its sentence."""

    @property
    def id(self) -> str:
        """The same for the same fields, on every machine."""
        return _id(self)

    @property
    def bundle(self) -> tuple[str, CaseType]:
        """What it is about."""
        return self.repo, self.type


_PLACES = {kind: place for place, kind in enumerate(Happening)}


def in_order(events: Iterable[Event]) -> list[Event]:
    """By time; those of one instant as they are named in `Happening`, where a decision stands
    behind what it decides; then by id."""
    return sorted(events, key=lambda event: (event.at, _PLACES[event.event], event.id))


def rule_hash(sentence: str) -> str:
    """Names a rule's sentence without telling it: 16 hex digits."""
    return hashlib.sha256(" ".join(sentence.split()).encode()).hexdigest()[:16]


_COUNTS = ("sessions", "days", "cases", "first", "last", "sources")
_COMMON = ("id", "at", "event", "repo", "type", "machine")
_OWN: Mapping[Happening, tuple[str, ...]] = {
    Happening.RAISED: ("number", *_COUNTS),
    Happening.COUNTED: _COUNTS,
    Happening.HELD: _COUNTS,
    Happening.REOPENED: ("number", "previous", *_COUNTS),
    Happening.ACCEPTED: ("number", "form", "rule"),
    Happening.REJECTED: ("number", "reason"),
    Happening.RETIRED: ("number",),
}
_REPO = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}\Z")
_HEX = re.compile(r"[0-9a-f]{16}\Z")


def line(event: Event) -> bytes:
    """The event as it stands in the ledger, with its newline.

    Raises LedgerError for one that no reader would take; nothing of its values is told.
    """
    try:
        data = _canonical({"id": event.id, **_fields(event)})
        if parse(data) == event:
            return data + b"\n"
    except (AttributeError, TypeError, ValueError, OverflowError):
        pass
    raise LedgerError("an event does not fit the ledger's schema", "report this as a bug")


def parse(data: bytes) -> Event | str:
    """The event of one line (without its newline), or why it is none."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return "no JSON"
    if not isinstance(value, dict):
        return "no object"
    try:
        event = _event(value)
    except (KeyError, TypeError, ValueError):
        return "fields or values that no event has"
    fields = _fields(event)
    if value["id"] != _digest(fields):
        return "its id does not match its fields"
    whole = _canonical({"id": value["id"], **fields})
    return event if whole == data else "not in canonical form"


def _fields(event: Event) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "at": event.at.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z",
        "event": event.event.value,
        "repo": event.repo,
        "type": event.type.value,
        "machine": event.machine,
    }
    counts = event.counts
    if counts is not None:
        fields |= {name: getattr(counts, name) for name in ("sessions", "days", "cases")}
        fields |= {name: getattr(counts, name).isoformat() for name in ("first", "last")}
        fields["sources"] = dict(zip(map(str, Source), counts.sources, strict=True))
    own = _OWN[event.event]
    fields |= {name: getattr(event, name) for name in own if name not in _COUNTS}
    return fields


def _event(value: Mapping[str, Any]) -> Event:
    """Raises KeyError, TypeError or ValueError for what is no event."""
    happening = Happening(value["event"])
    own = _OWN[happening]
    if value.keys() != {*_COMMON, *own}:
        raise ValueError
    kind = CaseType(value["type"])
    if kind is CaseType.OTHER or not _REPO.match(value["repo"]):
        raise ValueError
    if not _HEX.match(value["machine"]):
        raise ValueError
    form = Form(value["form"]) if "form" in own else None
    return Event(
        at=_at(value["at"]),
        event=happening,
        repo=value["repo"],
        type=kind,
        machine=value["machine"],
        number=_number(value["number"]) if "number" in own else None,
        previous=_number(value["previous"]) if "previous" in own else None,
        counts=_counts(value) if "sources" in own else None,
        reason=Reason(value["reason"]) if "reason" in own else None,
        form=form,
        rule=_rule(value["rule"], form) if "rule" in own else None,
    )


def _at(value: str) -> datetime:
    """What is not in canonical form is found later, by the bytes."""
    at = datetime.fromisoformat(value)
    if at.utcoffset() != timedelta() or at.year not in YEARS:
        raise ValueError
    return at.astimezone(UTC)


def _counts(value: Mapping[str, Any]) -> Counts:
    """Zero cases stand for a bundle all of whose cases were taken back since."""
    sources = value["sources"]
    if not isinstance(sources, dict) or sources.keys() != set(map(str, Source)):
        raise ValueError
    numbers = [_number(sources[source], least=0) for source in map(str, Source)]
    sessions, days, cases = (_number(value[n], least=0) for n in ("sessions", "days", "cases"))
    first, last = (date.fromisoformat(value[name]) for name in ("first", "last"))
    if sum(numbers) != cases or max(sessions, days) > cases or first > last:
        raise ValueError
    return Counts(
        sessions, days, cases, first, last, (numbers[0], numbers[1], numbers[2], numbers[3])
    )


def _number(value: object, least: int = 1) -> int:
    if type(value) is not int or not least <= value < NUMBER_MAX:
        raise ValueError
    return value


def _rule(value: object, form: Form | None) -> str | None:
    """A rule has a sentence, a hook or another place has none here."""
    if form is not Form.RULE:
        if value is not None:
            raise ValueError
        return None
    if not isinstance(value, str) or not _HEX.match(value):
        raise ValueError
    return value


@functools.lru_cache(maxsize=1 << 16)
def _id(event: Event) -> str:
    """Asked for often, and dearer than anything else here."""
    return _digest(_fields(event))


def _digest(fields: Mapping[str, Any]) -> str:
    return TAG + hashlib.sha256(_canonical(fields)).hexdigest()[:32]


def _canonical(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
