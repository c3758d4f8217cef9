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
from memento_tui.tui.screens.dialogs import Dialog

__all__ = ["HelpScreen"]

_KEYS_WIDTH = 22


class HelpScreen(Dialog[None]):
    """The keys, place by place, and the fields of the query language."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close"),
        Binding("down", "scroll(1)", show=False),
        Binding("up", "scroll(-1)", show=False),
    ]

    def __init__(self, places: Sequence[KeyScope], keys: KeyMap) -> None:
        super().__init__()
        self._places = places
        self._keys = keys

    def compose(self) -> ComposeResult:
        """Show a box to filter with, and the keys."""
        with Vertical(classes="dialog wide-dialog"):
            yield Static(Content("Keys"), classes="dialog-title")
            yield Input(placeholder="type to filter, Escape closes")
            with VerticalScroll(classes="dialog-body"):
                yield Static(self._text(""), id="keys")

    def on_input_changed(self, event: Input.Changed) -> None:
        """Show what matches."""
        self.query_one("#keys", Static).update(self._text(event.value))

    def action_scroll(self, lines: int) -> None:
        """Scroll the keys while the filter keeps the focus."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def _text(self, wanted: str) -> Content:
        parts: list[Content] = []
        for place in self._places:
            rows = [(key_names(self._keys.of(c)), c.help) for c in commands_in_scopes([place])]
            parts += _section(KEY_SCOPES[place], rows, wanted)
        parts += _section("What the search understands", [(f"{name}:", text) for name, text in FIELDS.items()], wanted)
        parts += _section("Glyphs", [("", GLYPH_LEGEND)], wanted)
        return Content("\n").join(parts) if parts else Content("No key or field matches.")


def _section(title: str, rows: Sequence[tuple[str, str]], wanted: str) -> list[Content]:
    kept = [row for row in rows if wanted.lower() in f"{row[0]} {row[1]}".lower()]
    if not kept:
        return []
    lines = [Content.styled(f"  {left:<{_KEYS_WIDTH}}", "bold") + Content(right) for left, right in kept]
    return [literal(title, "$text-accent bold"), *lines, Content("")]
