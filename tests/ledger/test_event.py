"""A line is an event in one form, and nothing else is an event; no word gets in (T36)."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import LedgerError
from pipeline.ledger.book import append, read
from pipeline.ledger.event import Counts, Event, Form, Happening, line, parse
from pipeline.records import CaseType
from tests.ledger.made import FULL, event, events

RAISED = event(Happening.RAISED)
H = Happening


@given(events())
@settings(max_examples=300)
def test_a_line_comes_back_as_its_event_and_is_canonical(made: Event) -> None:
    data = line(made)
    assert parse(data[:-1]) == made
    assert data == json.dumps(json.loads(data), sort_keys=True, separators=(",", ":")).encode() + (
        b"\n"
    )
    assert data.count(b"\n") == 1


def test_the_golden_line() -> None:
    assert line(RAISED).decode() == (
        '{"at":"2026-03-01T03:17:00.000000Z","cases":3,"days":2,"event":"raised",'
        '"first":"2026-02-01","id":"tt1:091cfad0cc6e85b0a726299d78cb43cd","last":"2026-02-27",'
        '"machine":"0000000000000001","number":1,"repo":"webshop","sessions":2,'
        '"sources":{"guard":0,"human":3,"review":0,"self":0},"type":"missed-item"}\n'
    )


def test_one_moment_has_one_line_whatever_its_zone() -> None:
    elsewhere = RAISED.at.astimezone(timezone(timedelta(hours=9)))
    assert line(replace(RAISED, at=elsewhere)) == line(RAISED)


def changed(**fields: Any) -> bytes:
    """The line with other fields, its id as it was; a field that is `...` is left out."""
    value = json.loads(line(RAISED)) | fields
    kept = {name: v for name, v in value.items() if v is not ...}
    return json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )


GOOD = line(RAISED)[:-1]
SOURCES = {"guard": 0, "human": 3, "review": 0, "self": 0}
ODD: dict[str, bytes] = {
    "nothing": b"",
    "no json": b"{",
    "no utf-8": b"\xff\xfe{}",
    "utf-16": GOOD.decode().encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "carriage return": GOOD + b"\r",
    "a space": GOOD.replace(b",", b", ", 1),
    "another order": b'{"type":"missed-item",' + GOOD[1:].replace(b',"type":"missed-item"', b""),
    "a field twice": GOOD[:-1] + b',"type":"missed-item"}',
    "escapes": GOOD.replace(b"webshop", b"\\u0077ebshop"),
    "conflict marker": b"<<<<<<< HEAD",
    "array": b"[]",
    "deep": b"[" * 100_000 + b"]" * 100_000,
    "deep in a field": GOOD.replace(b'"webshop"', b"[" * 50_000 + b"]" * 50_000),
    "huge number": GOOD.replace(b'"number":1', b'"number":' + b"9" * 10_000),
    "big number": GOOD.replace(b'"number":1', b'"number":4294967296'),
    "float": GOOD.replace(b'"number":1', b'"number":1.0'),
    "exponent": GOOD.replace(b'"number":1', b'"number":1e999'),
    "not a number": GOOD.replace(b'"number":1', b'"number":NaN'),
    "lone surrogate": GOOD.replace(b"webshop", b"\\ud800"),
    "raw surrogate": changed(repo="\ud800"),
    "nul": changed(repo="web\0shop"),
    "unknown field": changed(text="You forgot the tests."),
    "other kind's field": changed(reason="one-off"),
    "missing field": changed(days=...),
    "no id": changed(id=...),
    "wrong id": changed(id="tt1:" + "0" * 32),
    "id without tag": changed(id=json.loads(GOOD)["id"][4:]),
    "id of a kind that cannot be": changed(id=["x"]),
    "event that is none": changed(event="praised"),
    "event as a list": changed(event=[]),
    "event as an object": changed(event={}),
    "other": changed(type="other"),
    "no type": changed(type="mistake"),
    "repository with a space": changed(repo="web shop"),
    "repository with a path": changed(repo="../web"),
    "repository in capitals": changed(repo="Webshop"),
    "repository with a line break": changed(repo="webshop\n"),
    "long repository": changed(repo="a" * 65),
    "empty repository": changed(repo=""),
    "repository as a number": changed(repo=5),
    "machine with a name": changed(machine="jane-laptop-0001"),
    "machine as null": changed(machine=None),
    "no time": changed(at="yesterday"),
    "time as a number": changed(at=5),
    "time without zone": changed(at="2026-03-01T03:17:00.000000"),
    "time elsewhere": changed(at="2026-03-01T12:17:00.000000+09:00"),
    "time with +00:00": changed(at="2026-03-01T03:17:00.000000+00:00"),
    "time without microseconds": changed(at="2026-03-01T03:17:00Z"),
    "week date": changed(at="2026-W09-7T03:17:00.000000Z"),
    "the last year": changed(at="9999-12-31T23:59:59.999999Z"),
    "the first year": changed(at="0001-01-01T00:00:00.000000Z"),
    "true for one": changed(number=True),
    "number as text": changed(number="1"),
    "zero": changed(number=0),
    "negative": changed(cases=-3),
    "true for a count": changed(days=True),
    "more days than cases": changed(days=4),
    "sum that is none": changed(sources=SOURCES | {"human": 2}),
    "sources as a list": changed(sources=[]),
    "sources as a number": changed(sources=5),
    "sources as null": changed(sources=None),
    "source unknown": changed(sources=SOURCES | {"jane": 0}),
    "source missing": changed(sources={"human": 3}),
    "crossed days": changed(first="2026-03-01"),
    "day of another form": changed(first="20260201"),
    "day as a number": changed(first=20260201),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_what_is_no_event_is_refused_with_a_reason(data: bytes) -> None:
    reason = parse(data)
    assert isinstance(reason, str)
    assert "forgot" not in reason


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
), st.sampled_from(sorted(json.loads(GOOD))))  # fmt: skip
@settings(max_examples=300)
def test_any_other_value_of_any_field_is_refused(value: Any, name: str) -> None:
    if value != json.loads(GOOD)[name] or isinstance(value, bool):
        assert isinstance(parse(changed(**{name: value})), str)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_without_a_traceback(data: bytes) -> None:
    assert isinstance(parse(data), str)


@pytest.mark.parametrize("at", range(0, len(GOOD), 3))
def test_any_changed_byte_is_seen(at: int) -> None:
    assert isinstance(parse(GOOD[:at] + bytes([GOOD[at] ^ 1]) + GOOD[at + 1 :]), str)


MISFITS: dict[str, Callable[[], Event]] = {
    "text as repository": lambda: replace(RAISED, repo="You forgot the tests."),
    "surrogate": lambda: replace(RAISED, repo="\ud800"),
    "machine with a name": lambda: replace(RAISED, machine="jane's laptop"),
    "plain text as type": lambda: replace(RAISED, type="missed-item"),  # type: ignore[arg-type]
    "other": lambda: replace(RAISED, type=CaseType.OTHER),
    "no zone": lambda: replace(RAISED, at=datetime(2026, 3, 1)),  # noqa: DTZ001
    "before all time": lambda: replace(RAISED, at=datetime.min.replace(tzinfo=UTC)),
    "after all time": lambda: replace(RAISED, at=datetime.max.replace(tzinfo=UTC)),
    "no number": lambda: replace(RAISED, number=None),
    "true": lambda: replace(RAISED, number=True),
    "too big": lambda: replace(RAISED, number=1 << 31),
    "counts missing": lambda: replace(RAISED, counts=None),
    "counts that are none": lambda: replace(RAISED, counts=replace(FULL, cases="many")),
    "counts elsewhere": lambda: replace(event(H.REJECTED), counts=FULL),
    "a number too much": lambda: replace(event(H.HELD), number=3),
    "sentence as a rule": lambda: replace(event(H.ACCEPTED), rule="Add the tests."),
    "a rule for a hook": lambda: replace(event(H.ACCEPTED), form=Form.HOOK),
    "no form": lambda: replace(event(H.ACCEPTED), form=None),
    "text as reason": lambda: replace(event(H.REJECTED), reason="no good"),  # type: ignore[arg-type]
    "three sources": lambda: replace(
        RAISED, counts=Counts(1, 1, 3, FULL.first, FULL.last, (1, 1, 1))  # type: ignore[arg-type]
    ),
}  # fmt: skip


@pytest.mark.parametrize("made", MISFITS.values(), ids=MISFITS)
def test_what_no_reader_would_take_is_not_written(
    made: Callable[[], Event], tmp_path: Path
) -> None:
    file = tmp_path / "ledger" / "proposals.jsonl"
    with pytest.raises(LedgerError) as caught:
        append(file, [RAISED, made()])
    assert not file.exists(), "all or none"
    for word in ("forgot", "jane", "tests", "no good"):
        assert word not in caught.value.message + caught.value.hint


SHAPES = (
    "sk-ant-{}", "ghp_{}", "password={}", "AKIA{}", "{}@example.com", "You forgot {}", "{} 빠졌어",
    "/home/{}/x", "select * from {}", "eyJ{}.e30.x", "+49 151 {}", "{}\n{}", "\x1b[31m{}", "{}",
)  # fmt: skip
PLACES = ("repo", "type", "machine", "event", "reason", "form", "rule", "number", "previous")
WITHIN = ("sessions", "first", "last", "sources")


def test_three_thousand_canaries_stay_outside(tmp_path: Path) -> None:
    """In every field, on the way in and in a foreign line; 600 of them of no known shape."""
    file, random = tmp_path / "ledger" / "proposals.jsonl", Random(36)
    honest = [event(kind, at) for at, kind in enumerate(Happening)]
    append(file, honest)
    before, taken = file.read_bytes(), 0
    for number in range(3000):
        secret = "".join(random.choices("abcdefghjkmnpqrstuvwxyzABCDEFGH23456789", k=20)) + "Q"
        canary = random.choice(SHAPES[:-1] if number % 5 else SHAPES[-1:]).replace("{}", secret)
        base = random.choice(honest)
        if number % 2:
            place = random.choice((*PLACES, *WITHIN))
            inner = place in WITHIN
            counted = base if base.counts else honest[0]
            made = (
                replace(counted, counts=replace(counted.counts or FULL, **{place: canary}))
                if inner
                else replace(base, **{place: canary})
            )
            with pytest.raises(LedgerError) as caught:
                append(file, [made])
            assert secret not in caught.value.message + caught.value.hint
            taken += 1
        else:
            value = json.loads(line(base))
            value[random.choice([*value, "text", canary])] = canary
            reason = parse(json.dumps(value, sort_keys=True, separators=(",", ":")).encode())
            assert isinstance(reason, str)
            assert secret not in reason
            taken += 1
    assert taken == 3000
    assert file.read_bytes() == before
    assert read(file).events == tuple(honest)
