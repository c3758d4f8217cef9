"""Until when a person wants something skipped: dates and spans of time in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

__all__ = ["DEFAULT_SPAN", "UNTIL", "expiry"]

DEFAULT_SPAN = "30d"
"""For ``for now`` and for conditions (``until the fix is merged``), which have no date."""

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905 - shorter
)
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "a couple of": 2,
    "couple of": 2,
    "three": 3,
    "a few": 3,
    "four": 4,
    "six": 6,
}
_UNITS = {"hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30)}
_THIS = {"today": 1, "tonight": 1, "this week": 7, "this sprint": 14, "this month": 30, "this quarter": 91}

_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in _MONTHS)  # noqa: PLR2004 - may
_COUNT = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_SPAN = re.compile(rf"\bfor\s+(?:the\s+next\s+)?({_COUNT}|\d{{1,3}})\s+(hour|day|week|month)s?\b")
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_MONTH_DAY = re.compile(rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}}))?")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b(?:,?\s+(\d{{4}}))?")
_MONTH_ONLY = re.compile(rf"\b(?:until|till|before)\s+({_MONTH})\b")
_WEEKDAY = re.compile(rf"\b(?:until|till|before|by)\s+(next\s+)?({'|'.join(_WEEKDAYS)})\b")
_RELATIVE = re.compile(
    r"\b(tomorrow|next\s+(?:week|month|sprint|quarter|year)|(?:the\s+)?end\s+of\s+(?:the\s+|this\s+)?(?:day|week|month|sprint|quarter|year))\b"
)
UNTIL = re.compile(
    r"\b(?:for\s+now|for\s+the\s+time\s+being|for\s+the\s+moment|until|till|"
    r"for\s+(?:the\s+next\s+)?(?:a|an|one|two|three|four|six|\d{1,3}|a\s+couple\s+of|a\s+few)\s+(?:hour|day|week|month)s?|"
    r"this\s+(?:week|sprint|month|quarter)|today|tonight)\b"
)
"""Where a sentence begins to say until when."""


def expiry(mask: str, said_at: datetime | None, now: datetime) -> str | None:
    """Return the end of a skip as `make_skip` takes it, a date or a span; ``None`` where it is over already.

    ``mask`` is the sentence in lower case, ``said_at`` when it was said: a span and a date without its year count from
    there, or from ``now`` where nobody knows.
    """
    since = said_at or now
    end = _date(mask, since)
    if end is None:
        span = _span(mask)
        if span is None:
            return DEFAULT_SPAN
        if said_at is None:
            return f"{max(1, round(span / timedelta(days=1)))}d"
        end = since + span
    return end.isoformat(timespec="seconds") if end > now else None


def _span(mask: str) -> timedelta | None:
    if match := _SPAN.search(mask):
        count = int(match[1]) if match[1].isdigit() else _NUMBERS[" ".join(match[1].split())]
        return count * _UNITS[match[2]]
    return next((timedelta(days=days) for words, days in _THIS.items() if re.search(rf"\b{words}\b", mask)), None)


def _date(mask: str, since: datetime) -> datetime | None:
    """Return the first instant of the day that the words name, if any."""
    if match := _ISO.search(mask):
        return _day(int(match[1]), int(match[2]), int(match[3]))
    for pattern, month, day in ((_MONTH_DAY, 1, 2), (_DAY_MONTH, 2, 1)):
        if match := pattern.search(mask):
            return _next_such_day(since, _month(match[month]), int(match[day]), match[3])
    if match := _MONTH_ONLY.search(mask):
        return _next_such_day(since, _month(match[1]), 1, None)
    if match := _WEEKDAY.search(mask):
        days = (_WEEKDAYS.index(match[2]) - since.weekday()) % 7 or 7
        return _midnight(since + timedelta(days=days + (7 if match[1] and days < 7 else 0)))  # noqa: PLR2004 - a week
    if match := _RELATIVE.search(mask):
        return _relative(match[1], since)
    return None


def _relative(words: str, since: datetime) -> datetime:
    """Return the day that ``tomorrow``, ``next week`` or ``the end of the month`` names; a week begins on Monday."""
    unit = words.rsplit(maxsplit=1)[-1]
    if unit == "year":
        return datetime(since.year + 1, 1, 1, tzinfo=UTC)
    if unit == "month":
        return _midnight((since.replace(day=1) + timedelta(days=32)).replace(day=1))
    days = {"tomorrow": 1, "day": 1, "week": 7 - since.weekday(), "sprint": 14, "quarter": 91}[unit]
    return _midnight(since + timedelta(days=days))


def _midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _month(name: str) -> int:
    return next(number for number, full in enumerate(_MONTHS, 1) if full.startswith(name[:3]))


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None


def _next_such_day(since: datetime, month: int, day: int, year: str | None) -> datetime | None:
    if year:
        return _day(int(year), month, day)
    this_year = _day(since.year, month, day)
    return this_year if this_year is None or this_year > since else _day(since.year + 1, month, day)
