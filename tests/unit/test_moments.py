from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from memento_tui.errors import InvalidField
from memento_tui.moments import format_moment, parse_moment, parse_span
from tests.made import NOW


@pytest.mark.parametrize(
    ("text", "days"),
    [("7d", 7), ("12 hours", 0.5), ("2w", 14), ("3mo", 90), ("1y", 365), (" 1 Week ", 7), ("0d", 0), ("2 months", 60)],
)
def test_a_span_is_a_number_and_a_unit(text: str, days: float) -> None:
    assert parse_span(text) == timedelta(days=days)
    assert parse_moment(text, "expires_at", NOW) == NOW + timedelta(days=days)


@pytest.mark.parametrize("text", ["", "7", "d", "7 apples", "-7d", "1.5d", "7d 2h", "9" * 6 + "d", "9" * 5000 + "d"])
def test_any_other_text_is_no_span(text: str) -> None:
    assert parse_span(text) is None


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("2026-12-31", datetime(2026, 12, 31, tzinfo=UTC)),
        ("2026-12-31T18:00Z", datetime(2026, 12, 31, 18, tzinfo=UTC)),
        ("2026-12-31T18:00", datetime(2026, 12, 31, 18, tzinfo=UTC)),
        ("2026-12-31 18:00:00+02:00", datetime(2026, 12, 31, 16, tzinfo=UTC)),
        (date(2026, 12, 31), datetime(2026, 12, 31, tzinfo=UTC)),
        (datetime(2026, 12, 31, 18), datetime(2026, 12, 31, 18, tzinfo=UTC)),  # noqa: DTZ001 - a time without a zone is the case
        (datetime(2026, 12, 31, 18, tzinfo=timezone(timedelta(hours=-3))), datetime(2026, 12, 31, 21, tzinfo=UTC)),
    ],
)
def test_a_moment_is_read_in_utc(value: object, moment: datetime) -> None:
    read = parse_moment(value, "expires_at")
    assert read == moment
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "value",
    ["", "never", "tomorrow", "2026-02-30", "2026-13-01", "31.12.2026", 5, 1.5, True, [], "9000y", "99999mo", "\ud800"],
)
def test_what_names_no_day_is_refused_by_field_and_with_an_example(value: object) -> None:
    with pytest.raises(InvalidField, match=r"expires_at: must be a date such as 2026-12-31") as caught:
        parse_moment(value, "expires_at")
    assert caught.value.field == "expires_at"


def test_moments_outside_the_calendar_of_utc_are_refused() -> None:
    for text in ("0001-01-01T00:00+01:00", "9999-12-31T23:59:59-01:00"):
        with pytest.raises(InvalidField, match="created_at"):
            parse_moment(text, "created_at")


def test_texts_of_moments_sort_in_the_order_of_time() -> None:
    moments = [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(999, 12, 31, 23, 59, tzinfo=UTC),
        NOW,
        NOW + timedelta(microseconds=1),
        NOW.astimezone(timezone(timedelta(hours=9))) + timedelta(seconds=1),
        datetime.max.replace(tzinfo=UTC),
    ]
    texts = [format_moment(moment) for moment in moments]
    assert texts == sorted(texts)
    assert {len(text) for text in texts} == {27}
    assert [datetime.fromisoformat(text) for text in texts] == moments
