"""A line of hundreds of thousands of characters in the editor: drawn as Textual draws it, and row by row."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

import pytest
from hypothesis import given
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


class _Editor(App[None]):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.area = LongLineTextArea(text, soft_wrap=True)

    def compose(self) -> ComposeResult:
        yield self.area


@pytest.fixture
async def pilot() -> AsyncIterator[Pilot[None]]:
    app = _Editor(f"before\n{LONG}\nafter\twith a tab")
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
    "keys",
    [
        ("down",),
        ("ctrl+end",),
        ("down", *["right"] * 9),
        ("down", *["down"] * 30),
        ("down", "a", "space", "b"),
        ("down", *["right"] * 9, "shift+down", "shift+down", "shift+left"),
        ("ctrl+end", "up", "up", "up", "q", "backspace", "delete", "delete"),
        ("down", "end", "enter", "z"),
        ("down", *["down"] * 12, "enter", "z", "backspace", "backspace"),
        ("down", "end", "(", ")", "left"),
        ("ctrl+home", "shift+pagedown"),
    ],
)
async def test_it_is_drawn_and_wrapped_like_any_line_whatever_is_typed(
    pilot: Pilot[None], keys: tuple[str, ...]
) -> None:
    await pilot.press(*keys)
    await pilot.pause()
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


@given(st.text(st.sampled_from("ab \N{CJK UNIFIED IDEOGRAPH-4E2D}\u0301\u00a0"), max_size=60), st.integers(2, 12))
def test_lines_are_broken_where_textual_breaks_them(line: str, width: int) -> None:
    assert wrap_positions(line, width) == compute_wrap_offsets(line, width, 4)
