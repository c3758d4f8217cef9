"""How many lines the rows of a short list have, and what stands below their columns."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memento_tui import clock
from memento_tui.model import Skip, make_skip
from memento_tui.tui.columns import TextBelow, lines_for, rest_of
from memento_tui.tui.sections.entry_text import SKIP_BELOW, SKIP_COLUMNS


@pytest.mark.parametrize(
    ("total", "height", "lines"),
    [(0, 54, 1), (3, 54, 4), (13, 54, 4), (14, 54, 3), (27, 54, 2), (28, 54, 1), (100_000, 54, 1), (3, 29, 1)],
)
def test_rows_have_as_many_lines_as_all_of_them_have_room_for(total: int, height: int, lines: int) -> None:
    assert lines_for(total, height) == lines


def _skip(item: str, reason: str) -> Skip:
    now = clock.now()
    fields = {"id": "s", "item": item, "reason": reason, "expires_at": now + timedelta(days=9)}
    return make_skip({**fields, "created_at": now, "created_by": "claude"}, now=now, stored=True)


def _below(below: TextBelow[Skip], skip: Skip, width: int, height: int) -> list[str]:
    lines = below.lines(skip, SKIP_COLUMNS, ("ends", "what"), width, height)
    return ["".join(text for text, _ in line).strip() for line in lines]


def test_a_text_is_broken_between_words_and_its_last_line_shows_that_it_goes_on() -> None:
    skip = _skip("vendor/", "third-party code that nobody here has written and that nobody is ever to change")
    first, last = _below(SKIP_BELOW, skip, 50, 4)
    assert first == "third-party code that nobody here"
    assert last.endswith("\N{HORIZONTAL ELLIPSIS}")


def test_a_text_that_begins_as_the_row_does_goes_on_where_the_row_was_cut() -> None:
    item = "never regenerate the lock file of the web client by hand"
    whole = TextBelow[Skip](lambda skip, _: [(skip.item, "")])
    assert _below(whole, _skip(item, "a"), 100, 3) == []
    (rest,) = _below(whole, _skip(item, "a"), 50, 3)
    assert item.endswith(f" {rest}")
    assert not item.startswith(rest)


@pytest.mark.parametrize(
    ("text", "begun", "rest"),
    [
        ("Deployment goes through the queue.", "Deploy", "Deployment goes through the queue."),
        ("The deployment goes through the queue.", "The deploy", "deployment goes through the queue."),
        ("Deploy on Friday.", "Deploy", "on Friday."),
        ("Deploy.", "Deploy.", ""),
        ("Deploy: on Friday.", "Deploy", ": on Friday."),
        ("On Friday.", "Deploy", "On Friday."),
    ],
)
def test_what_a_text_says_beyond_its_beginning_starts_with_a_whole_word(text: str, begun: str, rest: str) -> None:
    assert rest_of(text, begun) == rest


def test_the_text_below_a_row_that_ends_within_its_word_begins_with_that_word() -> None:
    whole = TextBelow[Skip](lambda _, __: [("Deployment goes through the queue.", "")])
    assert _below(whole, _skip("Deploy", "a"), 100, 3) == ["Deployment goes through the queue."]


def test_a_short_text_leaves_its_lines_to_the_next_one() -> None:
    skip = _skip("vendor/", "ours never")
    assert _below(SKIP_BELOW, skip, 80, 4) == ["ours never", "made just now, global"]


def test_a_row_without_room_for_words_has_nothing_below() -> None:
    assert _below(SKIP_BELOW, _skip("vendor/", "third-party"), 30, 4) == []
