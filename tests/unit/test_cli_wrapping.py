"""Lines that are broken between words, as `memento review --inline` prints its cards."""

from __future__ import annotations

import re

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from memento_tui.cli.inline_review import wrap_words
from memento_tui.cli.output import bold, safe

SENTENCE = "The staging API listens on port 9090 behind the proxy, and the old one was closed in the spring."


@pytest.mark.parametrize("width", [20, 60, 80, 120])
def test_no_line_is_wider_than_asked_and_no_word_is_broken_or_lost(width: int) -> None:
    wrapped = wrap_words(f"{SENTENCE}\n\n{SENTENCE}", width)
    assert max(map(cell_len, wrapped.split("\n"))) <= width
    assert wrapped.split() == f"{SENTENCE} {SENTENCE}".split()


def test_a_long_value_stays_right_of_its_name() -> None:
    first, *others = wrap_words(f"why asked  {SENTENCE}", 40).split("\n")
    assert first.startswith("why asked  The staging")
    assert len(others) > 1
    assert all(line[:11] == " " * 11 and line[11] != " " for line in others)


def test_what_a_difference_and_a_list_put_in_stays_put_in() -> None:
    assert wrap_words("+ one two three four five", 20) == "+ one two three four\n  five"
    assert wrap_words("    one two three four", 20) == "    one two three\n    four"


def test_a_word_wider_than_the_line_is_divided_by_cells() -> None:
    assert wrap_words("x" * 45, 20).split("\n") == ["x" * 20, "x" * 20, "x" * 5]
    wide = "\N{CJK UNIFIED IDEOGRAPH-4E2D}" * 15
    assert wrap_words(f"a {wide}", 20).split("\n") == ["a", wide[:10], wide[10:]]


@pytest.mark.parametrize(
    ("head", "value"),
    [
        ("source url  ", "https://example.com/" + "a" * 60),
        ("- ", "\N{CJK UNIFIED IDEOGRAPH-4E2D}" * 60),
        ("    ", "x" * 90),
        ("\N{CJK UNIFIED IDEOGRAPH-540D}  ", "x" * 90),
    ],
)
def test_a_word_that_does_not_fit_begins_behind_its_name_sign_or_indentation(head: str, value: str) -> None:
    rows = wrap_words(head + value, 60).split("\n")
    assert rows[0].startswith(head + value[0])
    assert all(row.startswith(" " * cell_len(head)) for row in rows[1:])
    assert rows[0].removeprefix(head) + "".join(row.strip() for row in rows[1:]) == value
    assert max(map(cell_len, rows)) <= 60


def test_no_line_begins_with_the_spaces_behind_a_word_that_filled_the_line_above() -> None:
    assert wrap_words("x" * 40 + "  y", 20).split("\n") == ["x" * 20, "x" * 20, "y"]
    assert wrap_words("x" * 40 + "   ", 20).split("\n") == ["x" * 20, "x" * 20]


_HEADS = st.sampled_from(["", "- ", "+", "    ", "name  ", "source url  ", "12:  "])
_WORDS = st.text(st.sampled_from("abz \N{CJK UNIFIED IDEOGRAPH-4E2D}\N{THUMBS UP SIGN}e\u0301\n[]"), max_size=80)
_COLOURS = st.sampled_from([None, "green", "red"])


@given(head=_HEADS, words=_WORDS, colour=_COLOURS, width=st.integers(20, 40))
def test_nothing_is_lost_no_line_is_too_wide_and_each_closes_its_styles(
    head: str, words: str, colour: str | None, width: int
) -> None:
    text = safe(head + words, multiline=True)
    shown = wrap_words(click.style(text, fg=colour), width)
    assert "".join(click.unstyle(shown).split()) == "".join(text.split())
    for line in shown.split("\n"):
        assert "\x1b" not in click.unstyle(line)
        assert cell_len(click.unstyle(line)) <= width
        assert re.findall(r"\x1b\[[\d;]*m", line)[-1:] in ([], ["\x1b[0m"])
        assert colour is None or not click.unstyle(line).strip() or "\x1b[" in line


@pytest.mark.parametrize("letters", [100, 150, 191, 192, 193])
def test_a_colour_is_begun_and_ended_in_each_line(letters: int) -> None:
    first, *others = wrap_words(click.style("+" + "x" * letters, fg="green"), 100).split("\n")
    assert first.endswith("x\x1b[0m")
    assert "".join(re.sub(r"\x1b\[(32|0)m", "", row).strip() for row in (first, *others)) == "+" + "x" * letters
    assert [row.startswith(" \x1b[32mx") and row.endswith("x\x1b[0m") for row in others] == [True] * len(others)


def test_a_style_over_several_lines_holds_in_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")  # whoever styled the text has asked already
    assert wrap_words(click.style("one\ntwo", bold=True), 20) == "\x1b[1mone\x1b[0m\n\x1b[1mtwo\x1b[0m"


def test_bold_letters_take_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memento_tui.cli.output._uses_colour", lambda: True)
    line = f"{bold('name')}  one two three"
    assert wrap_words(line, 20) == line


def test_lines_that_fit_stay_as_they_are() -> None:
    text = "  a  b\n\n   c   "
    assert wrap_words(text, 80) == text


def test_the_terminal_says_how_wide_but_long_lines_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns, most in (("60", 60), ("300", 100)):
        monkeypatch.setenv("COLUMNS", columns)
        assert max(map(len, wrap_words(" ".join([SENTENCE] * 5)).split("\n"))) in range(most - 10, most + 1)
