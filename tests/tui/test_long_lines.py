"""A line of hundreds of thousands of characters in the editor: drawn as Textual draws it, and row by row."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.containers import Lines
from rich.text import Text
from textual._wrap import compute_wrap_offsets
from textual.app import App, ComposeResult
from textual.document._wrapped_document import WrappedDocument
from textual.pilot import Pilot
from textual.widgets import TextArea

from memento_tui.tui.widgets.long_lines import LongLineTextArea, wrap_positions

WORDS = "The gate (and only the gate) writes \N{CJK UNIFIED IDEOGRAPH-4E2D}\N{CJK UNIFIED IDEOGRAPH-6587} once. "
LONG = WORDS * 60 + "x" * 500
TABBED = WORDS * 40 + "a\tb " * 60 + "\t\t" + WORDS * 10 + "\tend"
LAST = (3, len(TABBED) + 5)


class _Editor(App[None]):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.area = LongLineTextArea(text, soft_wrap=True)

    def compose(self) -> ComposeResult:
        yield self.area


@pytest.fixture
async def pilot() -> AsyncIterator[Pilot[None]]:
    app = _Editor(f"before\n{LONG}\nafter\twith a tab\n\tand {TABBED}")
    async with app.run_test(size=(60, 20)) as pilot:
        app.area.focus()
        await pilot.pause()
        yield pilot


def _area(pilot: Pilot[None]) -> LongLineTextArea:
    assert isinstance(pilot.app, _Editor)
    return pilot.app.area


def _assert_drawn_like_textual(area: TextArea) -> None:
    for y in range(area.size.height):
        ours, textual = area._render_line(y), TextArea._render_line(area, y)
        assert [*ours.simplify()] == [*textual.simplify()], y


def _assert_wrapped_like_textual(area: TextArea) -> None:
    fresh = WrappedDocument(area.document, area.wrap_width, area.indent_width)
    for name in ("_wrap_offsets", "_offset_to_line_info", "_line_index_to_offsets", "_tab_width_cache"):
        assert getattr(area.wrapped_document, name) == getattr(fresh, name), name
    for index in range(area.document.line_count):
        assert area.wrapped_document.get_sections(index) == fresh.get_sections(index)


@pytest.mark.parametrize(
    ("keys", "cursor"),
    [
        (("down",), (1, 0)),
        (("ctrl+end",), LAST),
        (("down", *["right"] * 9), (1, 9)),
        (("down", *["down"] * 30), (1, 1379)),
        (("down", "a", "space", "b"), (1, 3)),
        (("down", *["right"] * 9, "shift+down", "shift+down", "shift+left"), (1, 107)),
        (("ctrl+end", *["up"] * 3, "q", "backspace", "delete", "delete"), (3, 2357)),
        (("ctrl+end", *["up"] * 16, "q", "tab", "backspace"), (3, 1720)),
        (("down", "end", "enter", "z"), (2, 1)),
        (("down", *["down"] * 12, "enter", "z", "backspace", "backspace"), (1, 569)),
        (("down", "end", "(", ")", "left"), (1, 49)),
        (("ctrl+end", "ctrl+home", "shift+down", "shift+down"), (1, 49)),
        (("ctrl+shift+end",), LAST),
        (("ctrl+end", "ctrl+shift+home"), (0, 0)),
    ],
)
async def test_it_is_drawn_and_wrapped_like_any_line_whatever_is_typed(
    pilot: Pilot[None], keys: tuple[str, ...], cursor: tuple[int, int]
) -> None:
    await pilot.press(*keys)
    await pilot.pause()
    assert _area(pilot).cursor_location == cursor
    _assert_wrapped_like_textual(_area(pilot))
    _assert_drawn_like_textual(_area(pilot))


async def test_it_is_drawn_like_any_line_after_another_size_and_another_text(pilot: Pilot[None]) -> None:
    await pilot.resize_terminal(33, 12)
    await pilot.pause()
    _assert_drawn_like_textual(_area(pilot))
    _area(pilot).load_text(LONG)
    await pilot.pause()
    _assert_drawn_like_textual(_area(pilot))


async def test_a_key_divides_no_line_into_all_its_rows(pilot: Pilot[None], monkeypatch: pytest.MonkeyPatch) -> None:
    area = _area(pilot)
    await pilot.press("down", "down")
    divided: list[int] = []
    divide = Text.divide

    def count(line: Text, at: Iterable[int]) -> Lines:
        divided.append(len(line))
        return divide(line, at)

    monkeypatch.setattr(Text, "divide", count)
    await pilot.press("a", "left", "down", "b")
    await pilot.pause()
    assert [length for length in divided if length > len(LONG) / 2] == []
    assert area.document[1].count("\N{CJK UNIFIED IDEOGRAPH-4E2D}") == 60


PIECES = "ab \N{CJK UNIFIED IDEOGRAPH-4E2D}\u0301\u00a0\u200b\u200d\ufe0f\x1b\x0c\N{BROWN HEART}"
HEART = "\u2764\ufe0f"
FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"


@example(["a", " ", "\x1b"], 2)
@example(["a", FAMILY, FAMILY, " ", "a"], 5)
@example([HEART, HEART, " ", "a"], 4)
@given(st.lists(st.sampled_from([*PIECES, HEART, FAMILY]), max_size=60), st.integers(2, 12))
def test_lines_are_broken_where_textual_breaks_them(pieces: list[str], width: int) -> None:
    line = "".join(pieces)
    assert wrap_positions(line, width) == compute_wrap_offsets(line, width, 4)


@pytest.mark.parametrize("text", ["", "\n", "a\r\nb\r\n", "a\rb", "a\r\nb\nc\rd", "a\u2028b\x0cc\x85d\x1ce\n"])
async def test_a_text_is_given_back_to_the_letter_until_it_is_changed_and_again_after_an_undo(text: str) -> None:
    app = _Editor(text)
    async with app.run_test(size=(60, 20)) as pilot:
        assert app.area.text == text
        app.area.focus()
        await pilot.press("ctrl+end", "q")
        assert app.area.text.endswith("q")
        await pilot.press("ctrl+z")
        assert app.area.text == text


async def test_a_line_that_is_not_changed_keeps_its_line_end() -> None:
    app = _Editor("one\ntwo\r\nthree\nfour\n")
    async with app.run_test(size=(60, 20)) as pilot:
        app.area.focus()
        await pilot.press("ctrl+home", "q")
        assert app.area.text == "qone\ntwo\r\nthree\nfour\n"
        await pilot.press("enter", "r")
        assert app.area.text == "q\nrone\ntwo\r\nthree\nfour\n"
        app.area.insert("x\r\ny\n", (3, 0))
        assert app.area.text == "q\nrone\ntwo\r\nx\r\ny\nthree\nfour\n"
        app.area.delete((2, 1), (4, 0))
        assert app.area.text == "q\nrone\nty\nthree\nfour\n"
        await pilot.press("ctrl+z")
        assert app.area.text == "q\nrone\ntwo\r\nx\r\ny\nthree\nfour\n"
        app.area.delete((0, 0), (7, 0))
        assert app.area.text == ""


async def test_what_no_line_end_is_stays_in_its_line_where_another_is_changed_or_pasted() -> None:
    app = _Editor("one\u2028two\x0cthree\x85four\nfive\n")
    async with app.run_test(size=(60, 20)):
        app.area.insert("x\u2028y\r\nz", (1, 4))
        assert app.area.text == "one\u2028two\x0cthree\x85four\nfivex\u2028y\nz\n"
        app.area.delete((1, 4), (2, 1))
        assert app.area.text == "one\u2028two\x0cthree\x85four\nfive\n"


@pytest.mark.usefixtures("draws_every_frame")
async def test_the_cursor_stands_on_its_character_behind_one_that_is_not_shown() -> None:
    app = _Editor("a\x0cbc")
    async with app.run_test(size=(60, 20)) as pilot:
        app.area.focus()
        await pilot.press("right", "right", "right")
        await pilot.pause()
        drawn = app.area._theme.cursor_style
        assert drawn is not None
        at = [text for text, style, _ in app.area._render_line(0) if style and style.bgcolor == drawn.bgcolor]
        assert at == ["c"]
