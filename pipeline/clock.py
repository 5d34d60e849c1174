"""The one place that turns instants into days and numbers. All else passes aware UTC instants."""

import os
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pipeline.errors import ConfigError, UsageError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now() -> datetime:
    """The present instant, aware UTC."""
    return datetime.now(UTC)


def zone(name: str | None) -> ZoneInfo:
    """The person's time zone: by name, else $TZ, else the system's, else UTC.

    Raises ConfigError for a name that the zone database does not have.
    """
    if name:
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ConfigError(
                f"timezone {name!r} is not known", "use a name such as Europe/Berlin"
            ) from error
    for candidate in (os.environ.get("TZ", "").lstrip(":"), _system_zone()):
        if candidate:
            try:
                return ZoneInfo(candidate)
            except (ZoneInfoNotFoundError, ValueError, OSError):
                continue
    return ZoneInfo("UTC")


def _system_zone() -> str:
    """Name behind /etc/localtime (Linux and macOS link it into the zone database), or ""."""
    _, found, name = os.path.realpath("/etc/localtime").partition("zoneinfo/")
    if found:
        return name
    try:
        return Path("/etc/timezone").read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def local_day(at: datetime, tz: tzinfo) -> date:
    """The person's calendar day of an instant. Days of 23 and 25 hours come out right."""
    return at.astimezone(tz).date()


def day_start(day: date, tz: tzinfo) -> datetime:
    """The first instant of a local day, in UTC; at the ends of the calendar its own bound."""
    try:
        return datetime.combine(day, time(), tz).astimezone(UTC)
    except OverflowError:
        first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
        return first if day.year == MINYEAR else last


def parse_day(text: str) -> date:
    """`2026-03-08` as a date. Raises UsageError."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise UsageError(f"{text[:40]!r} is not a date", "write it as 2026-03-08") from error


def window(
    days: int | None, since: date | None, until: date | None, tz: tzinfo, at: datetime
) -> tuple[datetime | None, datetime | None]:
    """Half-open instants [start, end) for `--days N` or `--since D --until D` (both days included).

    None stands for no bound. Raises UsageError when both forms are given or the bounds cross.
    """
    if days is not None and (since or until):
        raise UsageError("--days cannot be combined with --since or --until", "use one of them")
    if days is not None:
        if days < 1:
            raise UsageError("--days must be 1 or more", "use --days 7 for the last week")
        first = max(local_day(at, tz).toordinal() - days + 1, 1)
        return day_start(date.fromordinal(first), tz), None
    if since and until and since > until:
        raise UsageError("--since lies after --until", "swap the two dates")
    start = day_start(since, tz) if since else None
    end = day_start(until + timedelta(days=1), tz) if until and until < date.max else None
    return start, end


def parse_instant(value: object) -> datetime | None:
    """An ISO-8601 string or a Unix time in seconds or milliseconds as aware UTC, else None.

    A string without an offset is read as UTC (Claude Code writes `Z`; 1.0.0-2.1.332, Nov 2026).
    The first and the last year of the calendar count as no time: not every zone has a day there.
    """
    try:
        at = _instant(value)
    except (ValueError, OverflowError, OSError):
        return None
    return at if at and MINYEAR < at.year < MAXYEAR else None


def microseconds(at: datetime) -> int:
    """An instant as the store keeps it: whole microseconds since 1970, exact."""
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def from_microseconds(count: int) -> datetime:
    """The instant that `microseconds` made such a number of."""
    return _EPOCH + timedelta(microseconds=count)


def _instant(value: object) -> datetime | None:
    if isinstance(value, str):
        at = datetime.fromisoformat(value)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC)
    return None
