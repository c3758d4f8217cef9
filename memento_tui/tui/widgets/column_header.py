"""The header of a list: the names of its columns, above them; a click on one sorts by it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.widget import Widget

from memento_tui.tui.widgets.record_list import GUTTER_WIDTH

__all__ = ["ColumnHeader"]


class ColumnHeader(Widget):
    """One line with the columns of a list, ``rows``; there is none where the screen is narrow.

    ``pieces(width)`` returns the columns that a row of a width has, each with its cells of text, and what stands
    between without a name; ``is_sorted(name)`` tells by which the list is sorted, ``sort(name)`` is called by a click.
    """

    DEFAULT_CSS = "ColumnHeader { height: 1; color: $text-muted; text-wrap: nowrap; }"

    def __init__(
        self,
        rows: Widget,
        pieces: Callable[[int], Iterable[tuple[str, str]]],
        is_sorted: Callable[[str], bool],
        sort: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._rows = rows
        self._pieces = pieces
        self._is_sorted = is_sorted
        self._sort = sort

    @property
    def row_width(self) -> int:
        """The cells of a row of the list, without those in front of every list's rows."""
        return max(self._rows.scrollable_content_region.width - GUTTER_WIDTH, 0)

    def _drawn(self) -> Sequence[tuple[str, str]]:
        return [("", " " * GUTTER_WIDTH), *self._pieces(self.row_width)]

    def render(self) -> Content:
        """Return the names of the columns that the rows have room for; the one that they are sorted by stands out."""
        return Content("").join(
            _emphasised(words) if name and self._is_sorted(name) else Content(words) for name, words in self._drawn()
        )

    def on_click(self, event: events.Click) -> None:
        """Sort by the column that was clicked."""
        offset = event.get_content_offset(self)
        left = -1 if offset is None else offset.x
        for name, words in self._drawn():
            if 0 <= left < cell_len(words) and name:
                self._sort(name)
            left -= cell_len(words)


def _emphasised(words: str) -> Content:
    """Return the name of a column that stands out, and not the room around it."""
    name = words.strip()
    before, _, after = words.partition(name) if name else (words, "", "")
    return Content.assemble(before, (name, "bold underline"), after)
