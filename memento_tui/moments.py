"""Parse and format moments and spans of time. Every moment is in UTC."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta

from memento_tui import clock
from memento_tui.errors import InvalidField

__all__ = ["format_moment", "parse_moment", "parse_optional_end", "parse_span"]

_SPAN_PATTERN = re.compile(r"(\d{1,5})\s*(h|d|w|mo|y|hours?|days?|weeks?|months?|years?)")
_UNIT_DAYS = {"h": 1 / 24, "d": 1.0, "w": 7.0, "m": 30.0, "y": 365.0}


def format_moment(moment: datetime) -> str:
    """Return a moment as 27 characters that sort in the order of time: ``2026-11-21T08:15:00.000000Z``."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def parse_span(text: str) -> timedelta | None:
    """Return the length of ``7d``, ``12 hours``, ``2w``, ``3mo`` or ``1y``; ``None`` for any other text."""
    match = _SPAN_PATTERN.fullmatch(text.strip().lower())
    if match is None:
        return None
    return timedelta(days=int(match[1]) * _UNIT_DAYS[match[2][0]])


def parse_optional_end(written: str) -> str | None:
    """Return the text of an end as it was written; ``None`` for ``never`` or an empty text.

    `parse_moment` decides whether it is a moment at all.
    """
    return None if written.strip().lower() in ("", "never") else written


def parse_moment(value: object, field: str, now: datetime | None = None) -> datetime:
    """Return the moment that ``value`` names: an ISO 8601 date or time, a date object, or a span from now (``7d``).

    A date alone is its first instant; a time without a zone is taken as UTC.

    Raises:
        InvalidField: it is none of these, or no such day exists.

    """
    span = parse_span(value) if isinstance(value, str) else None
    try:
        if span is not None:
            return (now or clock.now()) + span
        parsed = datetime.fromisoformat(value.strip()) if isinstance(value, str) else value
        if isinstance(parsed, datetime):
            return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
        if isinstance(parsed, date):
            return datetime.combine(parsed, time(), UTC)
    except (ValueError, OverflowError):
        pass
    raise InvalidField(
        field,
        f"must be a date such as 2026-12-31, a time such as 2026-12-31T18:00Z, or a span such as 7d; not {value!r:.60}",
    )
