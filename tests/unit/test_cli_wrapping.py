"""Lines that are broken between words, as `memento review --inline` prints its cards."""

from __future__ import annotations

import pytest
from rich.cells import cell_len

from memento_tui.cli.output import bold
from memento_tui.cli.wrapping import wrap_words

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


def test_bold_letters_take_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memento_tui.cli.output._uses_colour", lambda: True)
    line = f"{bold('name')}  one two three"
    assert wrap_words(line, 20) == line


def test_lines_that_fit_stay_as_they_are() -> None:
    text = "  a  b\n\n\tc   "
    assert wrap_words(text, 80) == text


def test_the_terminal_says_how_wide_but_long_lines_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns, most in (("60", 60), ("300", 100)):
        monkeypatch.setenv("COLUMNS", columns)
        assert max(map(len, wrap_words(" ".join([SENTENCE] * 5)).split("\n"))) in range(most - 10, most + 1)
