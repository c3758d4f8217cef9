from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from rich.cells import cell_len, get_character_cell_size

from memento_tui.tui import display
from memento_tui.tui.display import ago, cells, has_hidden, hidden_characters, literal, shown

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)

DEFAULT_IGNORABLE = (
    (0xAD, 0xAD),
    (0x34F, 0x34F),
    (0x61C, 0x61C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
"""Unicode's own list of code points that show nothing."""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain ASCII, with [brackets] and <angles>",
        "Größe, naïve, “quoted” — and … a dash",
        "привет, γειά, 漢字かな交じり文, 한국어",
        "שלום עולם",
        "สวัสดีครับ",
        "नमस्ते दुनिया",
        "e\u0301 combining",
        "😀 🚀 🇩🇪 \U0001fae8",
    ],
)
def test_legible_text_is_shown_as_it_is(text: str) -> None:
    assert shown(text) == text
    assert not has_hidden(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[2Jb", "a<ESC>[2Jb"),
        ("\x1b]52;c;aGk=\x07", "<ESC>]52;c;aGk=<BEL>"),
        ("\x9b2J", "<CSI>2J"),
        ("a\x00b\x7f", "a<NUL>b<DEL>"),
        ("a\x01b", "a<U+0001>b"),
        ("user\u202egnp.exe", "user<U+202E>gnp.exe"),
        ("a\u2066b\u2069", "a<U+2066>b<U+2069>"),
        ("pass\u200bword", "pass<ZWSP>word"),
        ("a\u200b\u200b\u200bb", "a<ZWSP x3>b"),
        ("\ufeffstart", "<BOM>start"),
        ("fine\U000e0069\U000e0067\U000e006e text", 'fine<tags "ign"> text'),
        ("\u3164\u115f\u1160\u2800\uffa0", "<U+3164><U+115F><U+1160><U+2800><U+FFA0>"),
        ("lone \ud800 surrogate", "lone <U+D800> surrogate"),
        ("private \ue000", "private <U+E000>"),
        ("not a character \uffff", "not a character <U+FFFF>"),
        ("a\u2028b\u2029c", "a<U+2028>b<U+2029>c"),
        ("x\ufe0fy", "x<U+FE0F>y"),
        ("😀" + "".join(chr(0xE0100 + n) for n in range(20)), "😀<variation selectors x20>"),
        ("pass\u200dword", "pass<ZWJ>word"),
    ],
)
def test_what_acts_or_hides_is_shown_by_name(text: str, expected: str) -> None:
    assert shown(text) == expected
    assert has_hidden(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\u2764\ufe0f", "\u2764"),
        ("1\ufe0f\u20e3", "1\u20e3"),
        ("👨\u200d👩\u200d👧", "👨👩👧"),
        ("👍\U0001f3fd", "👍"),
        ("👩\U0001f3fd\u200d💻", "👩💻"),
        ("می\u200cشود", "میشود"),
        ("क्\u200dष", "क्ष"),
        ("a\u00a0b\u3000c\u2009d", "a b  c d"),
    ],
)
def test_what_is_harmless_where_it_stands_gives_no_alarm(text: str, expected: str) -> None:
    assert shown(text) == expected
    assert not has_hidden(text)


def test_emoji_take_the_cells_that_terminals_agree_on() -> None:
    assert cell_len(shown("👨\u200d👩\u200d👧👍\U0001f3fd")) == 8


@pytest.mark.parametrize(("first", "last"), DEFAULT_IGNORABLE)
def test_every_character_that_unicode_calls_ignorable_is_named(first: int, last: int) -> None:
    for code in range(first, last + 1):
        text = shown(f"a{chr(code)}b")
        assert re.fullmatch(r"a<.+>b", text), f"U+{code:04X} is shown as {text!r}"
        assert text.isascii()


def test_characters_that_are_always_shown_are_visible_and_have_a_width() -> None:
    plain = re.compile(f"[{display._PLAIN}]")
    for code in range(0x110000):
        character = chr(code)
        if plain.match(character):
            assert unicodedata.category(character) != "Cn" or 0x1F000 <= code <= 0x1FAFF
            assert character.isprintable() or 0x1F000 <= code <= 0x1FAFF
            assert get_character_cell_size(character) > 0
            assert not display._IS_BLANK.match(character)


def test_lines_are_kept_only_where_they_are_wanted() -> None:
    text = "one\r\n\ttwo\rthree\n\nfour\n"
    assert shown(text, multiline=True) == "one\n    two\nthree\n\nfour\n"
    assert shown(text) == "one / two / three / four"
    assert not has_hidden(text)


def test_a_pile_of_marks_is_cut() -> None:
    text = "Z" + "\u0335" * 40 + "a"
    assert shown(text) == "Z" + "\u0335" * 6 + "<34 marks>a"
    assert hidden_characters(text) == {"stray or stacked marks": 34}


def test_a_mark_at_the_start_cannot_alter_what_stands_to_the_left() -> None:
    assert shown("\u0338x") == "<1 mark>x"


def test_hidden_characters_are_described_and_counted() -> None:
    text = "a\u202eb\u202ec\x1bd\ud800\ue000\uffff\U000e0041\U000e0042"
    assert hidden_characters(text) == {
        "U+202E RIGHT-TO-LEFT OVERRIDE": 2,
        "U+001B ESC": 1,
        "U+D800 LONE SURROGATE": 1,
        "U+E000 PRIVATE USE": 1,
        "U+FFFF UNASSIGNED": 1,
        "tag characters": 2,
    }


def test_a_placeholder_written_out_is_not_hidden() -> None:
    assert shown("<U+202E>") == "<U+202E>"
    assert not has_hidden("<U+202E>")


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("abc", 5, "abc  "),
        ("abcdef", 5, "abcd…"),
        ("漢字漢字", 8, "漢字漢字"),
        ("漢字漢字", 7, "漢字漢…"),
        ("漢字漢字", 6, "漢字… "),
        ("漢字", 1, "…"),
        ("漢", 1, "…"),
        ("abc", 0, ""),
        ("e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"),
        ("a\nb", 5, "a / b"),
    ],
)
def test_cells_are_filled_exactly(text: str, width: int, expected: str) -> None:
    assert cells(text, width) == expected


def test_a_cut_may_go_unmarked() -> None:
    assert cells("漢字", 3, ellipsis=False) == "漢 "


@pytest.mark.parametrize("text", ["[/nope]", "[@click=app.quit]press[/]", "[bold]", "\\[escaped]", "[link=x]y[/link]"])
def test_brackets_stay_letters(text: str) -> None:
    content = literal(text, "bold")
    assert content.plain == text
    assert [span.style for span in content.spans] == ["bold"]


def test_literal_content_is_safe() -> None:
    assert literal("a\x1b\nb", multiline=True).plain == "a<ESC>\nb"


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (timedelta(seconds=59), "now"),
        (timedelta(minutes=5, seconds=59), "5m"),
        (timedelta(minutes=60), "1h"),
        (timedelta(hours=23, minutes=59), "23h"),
        (timedelta(days=2), "2d"),
        (timedelta(days=13, hours=23), "13d"),
        (timedelta(days=14), "2w"),
        (timedelta(days=60), "8w"),
        (timedelta(days=61), "2mo"),
        (timedelta(days=364), "11mo"),
        (timedelta(days=365), "1y"),
        (timedelta(days=800), "2y"),
    ],
)
def test_ages_are_told_in_one_unit(span: timedelta, expected: str) -> None:
    assert ago(NOW - span, NOW) == expected
    assert ago(NOW + span, NOW) == (expected if expected == "now" else f"in {expected}")
