"""Show the keys of the scope that has the focus, and of the app; typing filters them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from memento_tui.search.query_language import FIELDS
from memento_tui.tui.commands import KEY_SCOPES, KeyMap, KeyScope, commands_in_scopes, key_names
from memento_tui.tui.display import literal
from memento_tui.tui.memory_text import GLYPH_LEGEND
from memento_tui.tui.own import OwnEntries
from memento_tui.tui.screens.dialogs import Dialog

__all__ = ["HelpScreen"]

_KEYS_WIDTH = 22
"""Cells in which the keys stand where there is room, else a third; longer ones push their words to the right."""

_NARROWEST = 12
"""Cells of the words at least; where there are fewer beside the keys, they stand below."""

_INDENT = 4
"""Cells in front of words that stand below their keys."""


class HelpScreen(Dialog[None]):
    """A dialog that lists the keys, scope by scope, and the fields of the query language."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close"),
        Binding("down", "scroll(1)", show=False),
        Binding("up", "scroll(-1)", show=False),
    ]

    # The room of the words is known before they fill it.
    DEFAULT_CSS = "HelpScreen VerticalScroll { scrollbar-gutter: stable; }"

    def __init__(self, scopes: Sequence[KeyScope], keys: KeyMap, own: OwnEntries) -> None:
        super().__init__()
        self._own = own
        self._scopes = scopes
        self._keys = keys
        self._filter = Input(placeholder="type to filter, Escape closes")
        self._shown = Static(id="keys")
        self._scroll = VerticalScroll(classes="dialog-body")

    def compose(self) -> ComposeResult:
        """Show a filter box and the keys."""
        with Vertical(classes="dialog wide-dialog"):
            yield Static(Content("Keys"), classes="dialog-title")
            yield self._filter
            with self._scroll:
                yield self._shown

    def on_input_changed(self) -> None:
        """Show the rows that match."""
        self._show()

    def on_resize(self) -> None:
        """Break the lines anew, once the parts have their new sizes."""
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        width = self._scroll.scrollable_content_region.width
        if width:
            self._shown.update(self._text(self._filter.value, width))

    def action_scroll(self, lines: int) -> None:
        """Scroll the keys while the filter keeps the focus."""
        self._scroll.scroll_relative(y=lines, animate=False)

    def _text(self, filter_text: str, width: int) -> Content:
        parts: list[Content] = []
        for scope in self._scopes:
            rows = [(key_names(self._keys.of(c)), c.help) for c in commands_in_scopes([scope])]
            parts += _section(KEY_SCOPES[scope], rows, filter_text, width)
        own_keys = self._own.keys()
        own = [(key_names(own_keys.get(name, "")) or f":{name}", text) for name, text in self._own.help().items()]
        parts += _section("Your own", own, filter_text, width)
        fields = [(f"{name}:", text) for name, text in FIELDS.items()]
        parts += _section("Fields of the search", fields, filter_text, width)
        parts += _section("What the marks of a row mean", [("", GLYPH_LEGEND)], filter_text, width)
        return Content("\n").join(parts) if parts else Content("No key or field matches.")


def _section(title: str, rows: Sequence[tuple[str, str]], filter_text: str, width: int) -> list[Content]:
    kept = [row for row in rows if filter_text.lower() in f"{title} {row[0]} {row[1]}".lower()]
    if not kept:
        return []
    lines = [line for left, right in kept for line in _row(left, right, width)]
    return [literal(title, "$text-accent bold"), *lines, Content("")]


def _row(keys: str, words: str, width: int) -> list[Content]:
    """Return the lines of some keys with their description beside them."""
    column = min(_KEYS_WIDTH, width // 3)
    head = literal(f"  {keys:<{column}}"[: width - 1] + " " * (column < _KEYS_WIDTH), "bold")
    room = width - head.cell_length
    if room < _NARROWEST:
        return [head, *(line.pad_left(_INDENT) for line in literal(words).wrap(max(width - _INDENT, _NARROWEST)))]
    first, *others = literal(words).wrap(room)
    return [head + first, *(line.pad_left(head.cell_length) for line in others)]
