from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.api.lists import parse_category, parse_item_query, parse_skip_query
from memento_tui.errors import InvalidInput
from memento_tui.model.lists import ITEM_CATEGORIES, make_item, make_skip
from tests.made import NOW

ITEM = make_item(
    {
        "title": "Move to /v3",
        "content": "The old one answers 404.",
        "next_action": "Write the Migration",
        "category": "waiting_for",
        "tags": ["API", "db"],
    }
)
SKIP = make_skip(
    {"item": "vendor/", "reason": "Third-party code", "created_by": "Claude", "expires_at": NOW + timedelta(days=2)},
    now=NOW,
)


@pytest.mark.parametrize(("written", "asked"), [("Tu\u0308r", "Tür"), ("TÜR", "tu\u0308r")])
def test_words_are_found_however_their_accents_are_encoded(written: str, asked: str) -> None:
    item = make_item({"title": written, "content": "x", "category": "active_work"})
    skip = make_skip({"item": written, "reason": "x", "expires_at": NOW + timedelta(days=2)}, now=NOW)
    assert parse_item_query(asked).matches(item)
    assert parse_skip_query(asked).matches(skip, NOW)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "move",
        "404 migration",
        '"the migration"',
        '"the migr',
        "category:waiting",
        "category:waiting_for status:active",
        'category:"waiting for"',
        "category:doing category:wait status:",
        "tag:api tag:#DB",
        "move api",
        "category:",
        "tag:",
        "status:done status:active",
    ],
)
def test_an_item_is_found_by_its_words_and_fields(query: str) -> None:
    assert parse_item_query(query).matches(ITEM)


@pytest.mark.parametrize(
    "query",
    [
        "moved",
        "migration 500",
        "category:standing",
        "status:done",
        "status:paused",
        "tag:ap",
        "http:x",
        '"v3 the"',
        "status",
    ],
)
def test_an_item_is_not_found_by_what_it_does_not_say(query: str) -> None:
    assert not parse_item_query(query).matches(ITEM)


@pytest.mark.parametrize("query", ["", "VENDOR code", "by:claude", "expires:<3d", "expires:3d", "third-party expires:"])
def test_a_skip_is_found_by_its_words_its_maker_and_its_end(query: str) -> None:
    assert parse_skip_query(query).matches(SKIP, NOW)


@pytest.mark.parametrize("query", ["vendors", "by:cursor", "expires:<1d", "expires:<0d", "vendor by"])
def test_a_skip_is_not_found_by_what_it_does_not_say(query: str) -> None:
    assert not parse_skip_query(query).matches(SKIP, NOW)


def test_a_skip_that_is_over_does_not_end_soon() -> None:
    assert parse_skip_query("expires:<7d").matches(SKIP, NOW)
    assert not parse_skip_query("expires:<7d").matches(SKIP, NOW + timedelta(days=2))


def test_a_value_that_no_field_has_is_told_and_left_out() -> None:
    asked = parse_item_query("category:hobby move")
    assert asked.problems == (
        "There is no category 'hobby'; there are active work, standing decision, waiting for, session note.",
    )
    assert asked.matches(ITEM)
    itself = "To look for the text itself, put it in quotation marks:"
    assert parse_item_query("categry:waiting").problems == (
        f'There is no field categry:. Did you mean category:? {itself} "categry:waiting".',
    )
    assert parse_skip_query("expries:<7d").problems == (
        f'There is no field expries:. Did you mean expires:? {itself} "expries:<7d".',
    )
    assert parse_skip_query("https://a.b").problems == ()
    assert parse_skip_query("expires:soon").problems == ("expires: takes a span such as <7d, not 'soon'.",)
    for read, query in ((parse_item_query, "status:gone"), (parse_skip_query, "expires:soon")):
        with pytest.raises(InvalidInput):
            read(query, strict=True)


@pytest.mark.parametrize("text", ["tags: they", "tags:they", "Tag: x", "categry:waiting", "expries:<7d", "tag:"])
def test_what_stands_in_quotation_marks_is_a_text_whatever_it_looks_like(text: str) -> None:
    for asked in (parse_item_query(f'"{text}"', strict=True), parse_skip_query(f'"{text}"', strict=True)):
        assert asked.words == (text.casefold(),)


def test_a_word_that_ends_in_a_colon_is_no_field() -> None:
    assert parse_item_query("tags: they", strict=True).words == ("tags:", "they")
    assert parse_skip_query("expiry: soon", strict=True).words == ("expiry:", "soon")


def test_the_name_of_a_field_may_be_written_in_capital_letters() -> None:
    assert parse_item_query("Tag:api STATUS:active", strict=True) == parse_item_query("tag:api status:active")
    assert parse_skip_query("By:claude", strict=True).makers == ("claude",)


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("standing decision", "standing_decision"),
        ("Standing", "standing_decision"),
        (" waiting_for ", "waiting_for"),
        ("a", "active_work"),
        ("s", ""),
        ("", ""),
        ("hobby", ""),
    ],
)
def test_a_category_is_named_by_its_words_or_their_beginning(text: str, category: str) -> None:
    if category:
        assert parse_category(text) == category
    else:
        with pytest.raises(InvalidInput):
            parse_category(text)


@given(st.text())
def test_any_text_can_be_asked(text: str) -> None:
    assert parse_item_query(text).matches(ITEM) in (True, False)
    assert parse_skip_query(text).matches(SKIP, NOW) in (True, False)
    assert set(parse_item_query(text).categories) <= set(ITEM_CATEGORIES)
