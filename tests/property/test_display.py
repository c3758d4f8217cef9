from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from memento_tui.tui.display import cells, has_hidden, hidden_characters, literal, shown

HOSTILE = (
    "\x00\x07\x08\t\n\r\x0b\x1b\x7f\x85\x9b\xa0\xad\u0301\u0338\u034f\u061c\u0e47\u1160\u1161\u200b\u200c\u200d\u200e"
    "\u2028\u202e\u2066\u2764\u2800\u3000\u3164\ufe0e\ufe0f\ufeff\uffa0\uffff\ud800\udfff\ue000\U0001f1e9\U0001f3fd"
    "\U0001f468\U0001fae8\U000e0041\U000e007f\U000e0100\U0010ffff#1<>[]漢कیא्"
)
texts = st.text(st.one_of(st.characters(), st.sampled_from(HOSTILE)))
"""Any code points, lone surrogates included, and often those that are told apart."""

FORBIDDEN = frozenset(
    [
        *"\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0\U00016fe4\U0001d159",
        *map(chr, range(0xFE00, 0xFE10)),
        *map(chr, range(0xE0100, 0xE01F0)),
        *map(chr, range(0x180B, 0x1810)),
        *map(chr, range(0x1F3FB, 0x1F400)),
    ]
)


def is_showable(character: str) -> bool:
    is_emoji_to_come = 0x1F000 <= ord(character) <= 0x1FAFF and unicodedata.category(character) == "Cn"
    return (character.isprintable() or is_emoji_to_come) and character not in FORBIDDEN


@given(texts)
def test_a_line_holds_only_what_a_terminal_may_show(text: str) -> None:
    line = shown(text)
    assert all(map(is_showable, line))
    line.encode()


@given(texts)
def test_lines_hold_only_what_a_terminal_may_show(text: str) -> None:
    lines = shown(text, multiline=True)
    assert all(character == "\n" or is_showable(character) for character in lines)


@given(texts, st.booleans())
def test_showing_again_changes_nothing(text: str, multiline: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    once = shown(text, multiline=multiline)
    assert shown(once, multiline=multiline) == once
    assert not has_hidden(once)


@given(texts)
def test_no_letter_bears_more_than_six_marks(text: str) -> None:
    marks = 6
    for character in shown(text):
        marks = marks + 1 if cell_len(character) == 0 else 0
        assert marks <= 6


@given(texts)
def test_what_was_replaced_was_counted(text: str) -> None:
    assert has_hidden(text) == bool(hidden_characters(text))
    if not has_hidden(text):
        assert "\x1b" not in text
        assert "\u202e" not in text


@given(texts, st.integers(0, 60), st.booleans())
def test_cells_are_filled_exactly(text: str, width: int, ellipsis: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    line = cells(text, width, ellipsis=ellipsis)
    assert cell_len(line) == width
    assert all(map(is_showable, line))


@given(texts)
def test_literal_content_says_what_is_shown(text: str) -> None:
    assert literal(text).plain == shown(text)
