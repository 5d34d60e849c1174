"""Days and windows: each instant lies in exactly one day of its person."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline import clock
from pipeline.errors import ConfigError, UsageError

ZONES = (
    "UTC",
    "America/Los_Angeles",
    "Europe/Berlin",
    "Asia/Seoul",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Pacific/Kiritimati",
    "America/St_Johns",
)
FROM = datetime(2021, 1, 1, tzinfo=UTC)
LOS_ANGELES = ZoneInfo("America/Los_Angeles")


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("America/Los_Angeles", "2026-03-08", 23),
        ("America/Los_Angeles", "2026-11-01", 25),
        ("America/Los_Angeles", "2026-06-01", 24),
        ("Europe/Berlin", "2026-03-29", 23),
        ("Europe/Berlin", "2026-10-25", 25),
        ("Australia/Lord_Howe", "2026-04-05", 24.5),
        ("Australia/Lord_Howe", "2026-10-04", 23.5),
        ("Asia/Seoul", "2026-03-08", 24),
        ("UTC", "2026-11-01", 24),
    ],
)
def test_length_of_a_day(zone: str, day: str, hours: float) -> None:
    tz, first = ZoneInfo(zone), date.fromisoformat(day)
    length = clock.day_start(first + timedelta(days=1), tz) - clock.day_start(first, tz)
    assert length == timedelta(hours=hours)


@given(
    st.integers(0, 10 * 366 * 86_400).map(lambda seconds: FROM + timedelta(seconds=seconds)),
    st.sampled_from(ZONES),
)
@example(datetime(2026, 3, 8, 9, 59, 59, tzinfo=UTC), "America/Los_Angeles")
@example(datetime(2026, 11, 1, 8, 30, tzinfo=UTC), "America/Los_Angeles")
@example(datetime(2026, 11, 1, 9, 30, tzinfo=UTC), "America/Los_Angeles")
def test_each_instant_is_in_exactly_one_day(at: datetime, zone: str) -> None:
    tz = ZoneInfo(zone)
    day = clock.local_day(at, tz)
    near = (day + timedelta(days=step) for step in (-2, -1, 0, 1, 2))
    holding = [
        one
        for one in near
        if clock.day_start(one, tz) <= at < clock.day_start(one + timedelta(days=1), tz)
    ]
    assert holding == [day]


@pytest.mark.parametrize("zone", ZONES)
def test_days_follow_each_other_without_a_gap(zone: str) -> None:
    """Five years, day by day; no n times 86,400."""
    tz, day = ZoneInfo(zone), date(2024, 1, 1)
    while day.year < 2029:
        start = clock.day_start(day, tz)
        assert clock.local_day(start, tz) == day
        assert clock.local_day(start - timedelta(microseconds=1), tz) == day - timedelta(days=1)
        day += timedelta(days=1)


NOW = datetime(2026, 3, 10, 6, 30, tzinfo=UTC)
"""Still the 9th in Los Angeles, two days after the clocks went forward."""


@pytest.mark.parametrize(
    ("days", "since", "until", "start", "end"),
    [
        (None, None, None, None, None),
        (1, None, None, "2026-03-09T07:00:00+00:00", None),
        (2, None, None, "2026-03-08T08:00:00+00:00", None),
        (4, None, None, "2026-03-06T08:00:00+00:00", None),
        (None, "2026-03-08", None, "2026-03-08T08:00:00+00:00", None),
        (None, None, "2026-03-08", None, "2026-03-09T07:00:00+00:00"),
        (
            None,
            "2026-03-08",
            "2026-03-08",
            "2026-03-08T08:00:00+00:00",
            "2026-03-09T07:00:00+00:00",
        ),
        (
            None,
            "2026-11-01",
            "2026-11-01",
            "2026-11-01T07:00:00+00:00",
            "2026-11-02T08:00:00+00:00",
        ),
    ],
)
def test_window(
    days: int | None, since: str | None, until: str | None, start: str | None, end: str | None
) -> None:
    bounds = clock.window(
        days,
        clock.parse_day(since) if since else None,
        clock.parse_day(until) if until else None,
        LOS_ANGELES,
        NOW,
    )
    assert [bound.isoformat() if bound else None for bound in bounds] == [start, end]


@pytest.mark.parametrize(
    ("days", "since", "until"),
    [
        (0, None, None),
        (-3, None, None),
        (1, date(2026, 1, 1), None),
        (1, None, date(2026, 1, 1)),
        (None, date(2026, 1, 2), date(2026, 1, 1)),
    ],
)
def test_windows_that_are_refused(days: int | None, since: date | None, until: date | None) -> None:
    with pytest.raises(UsageError) as refused:
        clock.window(days, since, until, LOS_ANGELES, NOW)
    assert refused.value.hint
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize(
    ("days", "since", "until"),
    [
        (10**6, None, None),
        (10**12, None, None),
        (None, date.min, None),
        (None, None, date.max),
        (None, date.max, None),
        (None, date.min, date.max),
    ],
)
def test_windows_at_the_ends_of_the_calendar(
    zone: str, days: int | None, since: date | None, until: date | None
) -> None:
    start, end = clock.window(days, since, until, ZoneInfo(zone), NOW)
    assert start is None or start.tzinfo is UTC
    assert start is None or end is None or start < end
    assert since == date.max or start is None or start < NOW


@pytest.mark.parametrize("text", ["", "today", "2026-13-01", "2026-02-30", "1.2.2026", "２０２６"])
def test_days_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="is not a date"):
        clock.parse_day(text)


INSTANTS: dict[str, tuple[Any, str | None]] = {
    "client": ("2026-03-08T07:59:59.123Z", "2026-03-08T07:59:59.123000+00:00"),
    "offset": ("2026-03-08T08:59:59+01:00", "2026-03-08T07:59:59+00:00"),
    "no-offset": ("2026-03-08T07:59:59", "2026-03-08T07:59:59+00:00"),
    "day": ("2026-03-08", "2026-03-08T00:00:00+00:00"),
    "seconds": (1772359200, "2026-03-01T10:00:00+00:00"),
    "float": (1772359200.5, "2026-03-01T10:00:00.500000+00:00"),
    "milliseconds": (1772359200123, "2026-03-01T10:00:00.123000+00:00"),
    "epoch": (0, "1970-01-01T00:00:00+00:00"),
    "before": (-1, "1969-12-31T23:59:59+00:00"),
    "future": ("2099-01-01T00:00:00Z", "2099-01-01T00:00:00+00:00"),
    "first-year": ("0001-01-01T00:00:00Z", None),
    "last-year": ("9999-12-31T23:59:59Z", None),
    "leaves-the-calendar": ("0001-01-01T00:00:00+14:00", None),
    "words": ("not-a-date", None),
    "empty": ("", None),
    "none": (None, None),
    "bool": (True, None),
    "list": ([], None),
    "nan": (float("nan"), None),
    "infinity": (float("inf"), None),
    "huge": (10**400, None),
    "huge-float": (1e300, None),
    "very-negative": (-(10**20), None),
}


@pytest.mark.parametrize(("value", "at"), INSTANTS.values(), ids=INSTANTS.keys())
def test_parse_instant(value: Any, at: str | None) -> None:
    found = clock.parse_instant(value)
    assert (found.isoformat() if found else None) == at


@given(st.one_of(st.text(max_size=40), st.integers(), st.floats(), st.booleans(), st.none()))
def test_any_instant_has_a_day_everywhere(value: Any) -> None:
    at = clock.parse_instant(value)
    if at is not None:
        assert at.tzinfo is UTC
        for zone in ZONES:
            assert abs((clock.local_day(at, ZoneInfo(zone)) - at.date()).days) <= 1


# The person's zone


def test_zone_by_name() -> None:
    assert clock.zone("Asia/Kathmandu").key == "Asia/Kathmandu"


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "/etc/localtime", "UTC\0"])
def test_zones_that_are_none(name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        clock.zone(name)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("value", "key"),
    [("Asia/Seoul", "Asia/Seoul"), (":Asia/Seoul", "Asia/Seoul")],
)
def test_zone_of_the_environment(monkeypatch: pytest.MonkeyPatch, value: str, key: str) -> None:
    monkeypatch.setenv("TZ", value)
    assert clock.zone(None).key == key


@pytest.mark.parametrize("value", ["", "No/Where", "EST5EDT,M3.2.0,M11.1.0", "../x"])
def test_an_odd_environment_falls_back(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """To the system's zone, else UTC: never an error for what the person did not write."""
    monkeypatch.setenv("TZ", value)
    fallback = clock.zone(None)
    monkeypatch.delenv("TZ", raising=False)
    assert fallback == clock.zone(None)


def test_now_is_aware() -> None:
    assert clock.now().utcoffset() == timedelta()
