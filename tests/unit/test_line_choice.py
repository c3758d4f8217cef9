"""Lines of a change that are taken or left."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memento_tui.text.line_choice import change_lines, text_of_chosen

TEXTS = st.text("ab\n", max_size=30)


def test_a_line_that_is_left_stands_as_it_was() -> None:
    lines = change_lines("one\ntwo\nthree", "one\n2\nthree\nfour")
    assert [(line.sign, line.text) for line in lines] == [
        (" ", "one"),
        ("-", "two"),
        ("+", "2"),
        (" ", "three"),
        ("+", "four"),
    ]
    assert text_of_chosen(lines, {4}) == "one\ntwo\nthree\nfour"
    assert text_of_chosen(lines, {1}) == "one\nthree"
    assert text_of_chosen(lines, {2}) == "one\ntwo\n2\nthree"


@given(TEXTS, TEXTS)
def test_all_lines_make_the_new_text_and_none_the_old_one(before: str, after: str) -> None:
    lines = change_lines(before, after)
    assert text_of_chosen(lines, {index for index, line in enumerate(lines) if line.part >= 0}) == after
    assert text_of_chosen(lines, ()) == before
