"""A list of any number of rows, with a header, a cursor and marks: it paints at once and reads only visible rows."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import ClassVar, Generic, TypeAlias, TypeVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.cache import FIFOCache
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import shown
from memento_tui.tui.section import in_thread
from memento_tui.tui.widgets.paged_rows import PagedRows, Row, RowSource, ids_between

__all__ = ["GUTTER_WIDTH", "ColumnHeader", "Line", "RecordList"]


class RowMarks:
    """Marks by id, which stay when the query changes, and a range of rows that is being marked."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.begun: tuple[str, int] | None = None
        """The id and the index of the first row of the range; ``None`` where there is no range."""

    def toggle(self, row_id: str) -> None:
        """Mark a row, or unmark it."""
        self.ids ^= {row_id}

    def span(self, cursor: int) -> range:
        """Return the indexes of the range up to the cursor, both ends included."""
        if self.begun is None:
            return range(0)
        start = self.begun[1]
        return range(min(start, cursor), max(start, cursor) + 1)

    def glyph(self, row_id: str | None, index: int, cursor: int) -> str:
        """Return the sign beside a row: ``*`` for marked, ``+`` for in the range, else a space."""
        if row_id in self.ids:
            return "*"
        return "+" if index in self.span(cursor) else " "


_MAX_COUNT_DIGITS = 7
"""Digits of a count: more rows than any list has."""

_MAX_STRIPS = 256
"""Drawn lines that are kept: more than a screen has, so that scrolling by a row draws one."""

GUTTER_WIDTH = 3
"""Cells at the left of every row: the cursor's ``>``, a mark's ``*`` or ``+``, a space."""

Line: TypeAlias = Sequence[tuple[str, str]]
"""One line of a row: pieces of text, each with the name of its style: empty, or the last word of a component class."""

RowT = TypeVar("RowT", bound=Row)


class RecordList(PagedRows[RowT], Generic[RowT], can_focus=True, inherit_bindings=False):
    """A virtual list, which its owner fills by `set_rows` and `refresh_rows`.

    ``draw(row, width)`` returns the lines of a row, each of at most ``width`` cells; longer ones are cut. It is called
    for every row at every paint, so it must be quick. Its text need not be safe to show; the list makes it so.
    """

    ALLOW_SELECT = False

    SCOPE: ClassVar[KeyScope] = "rows"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("rows")]

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "record-list--cursor",
        "record-list--mark",
        "record-list--agent",
        "record-list--muted",
        "record-list--strong",
        "record-list--match",
        "record-list--good",
        "record-list--warning",
        "record-list--error",
        "record-list--placeholder",
    }

    DEFAULT_CSS = """
    RecordList {
        overflow-x: hidden;
        color: $foreground;
        & > .record-list--cursor {
            color: $block-cursor-blurred-foreground;
            background: $block-cursor-blurred-background;
            text-style: $block-cursor-blurred-text-style;
        }
        &:focus > .record-list--cursor {
            color: $block-cursor-foreground;
            background: $block-cursor-background;
            text-style: $block-cursor-text-style;
        }
        & > .record-list--mark { color: $text-accent; text-style: bold; }
        & > .record-list--muted { color: $text-muted; }
        & > .record-list--strong { text-style: bold; }
        & > .record-list--match { color: $text-accent; text-style: bold underline; }
        & > .record-list--good { color: $text-success; }
        & > .record-list--warning { color: $text-warning; }
        & > .record-list--error { color: $text-error; }
        & > .record-list--placeholder { color: $text-muted; text-style: dim; }
    }
    """

    class MarksChanged(PagedRows.ListMessage):
        """Rows were marked or unmarked, or a range was begun or left; `marks` and `is_ranging` have changed."""

    def __init__(
        self,
        draw: Callable[[RowT, int], Sequence[Line]],
        *,
        row_height: int = 1,
        id: str | None = None,  # noqa: A002 - every widget's name for it
        classes: str | None = None,
    ) -> None:
        super().__init__(row_height=row_height, id=id, classes=classes)
        self._draw = draw
        self._row_style = Style.null()
        """The list's own style, read once per paint."""
        self._drawn: tuple[RowT, int, Sequence[Line]] | None = None
        """The row that was drawn last in this paint, the width, and its lines."""
        self._letter_styles: dict[str, Style] = {}
        self._strips: FIFOCache[tuple[object, ...], Strip] = FIFOCache(_MAX_STRIPS)
        self._marks = RowMarks()
        self._due_range: tuple[str, str] | None = None
        self.takes_counts = False
        """Whether digits before a key that moves or marks say how often, as in ``5j``, ``12G`` and ``3 Space``."""
        self._typed_count = ""
        self._count = 0
        """The count typed before the key that is being carried out; 0 for none."""

    @property
    def typed_count(self) -> str:
        """The digits that were typed for the next key."""
        return self._typed_count

    @property
    def count_of_key(self) -> int:
        """The count that was typed before the key that is being carried out; 0 for none."""
        return self._count

    def forget_count(self) -> None:
        """Take note that the key was carried out: its count is for nothing that comes later."""
        self._count = 0

    def on_key(self, event: events.Key) -> None:
        """Keep digits for the next key, where counts are taken."""
        digit = event.character if self.takes_counts and (event.character or "").isdecimal() else None
        if digit is not None and (self._typed_count or digit != "0"):
            self._typed_count = (self._typed_count + digit)[:_MAX_COUNT_DIGITS]
            event.stop()
            event.prevent_default()
            self._marks_changed()
            return
        self._count = int(self._typed_count or 0)
        if self._typed_count:
            self._typed_count = ""
            self._marks_changed()

    @property
    def marks(self) -> frozenset[str]:
        """The ids of the marked rows, those of an open range too, and those that the present query does not select."""
        rows = self._pages.rows(self._marks.span(self.cursor)) if self._marks.begun is not None else None
        return frozenset(self._marks.ids).union(row.id for row in rows or ())

    @property
    def is_ranging(self) -> bool:
        """Whether a range of rows is being marked, from where it was begun to the cursor."""
        return self._marks.begun is not None

    def end_range(self) -> bool:
        """Mark the range that is open, if one is; return whether all of it could be marked at once."""
        if self._marks.begun is not None:
            self.action_range()
        return self._due_range is None

    def mark(self, row_ids: Iterable[str]) -> None:
        """Mark rows, visible or not."""
        self._marks.ids.update(row_ids)
        self._marks_changed()

    def unmark(self, row_ids: Iterable[str]) -> None:
        """Unmark rows, visible or not."""
        self._marks.ids.difference_update(row_ids)
        self._marks_changed()

    def clear_marks(self) -> None:
        """Unmark every row, and leave the range."""
        self._marks.ids.clear()
        self._marks.begun = None
        self._marks_changed()

    def set_rows(self, rows: Sequence[RowT], total: int, source: RowSource[RowT], *, select: str | None = None) -> None:
        """Show the result of another query at once: ``rows`` are its first, at least a screenful.

        The cursor goes to ``select`` if that is among ``rows``, else to the first row. Marks stay; a range is left.
        """
        self._marks.begun = self._due_range = None
        super().set_rows(rows, total, source, select=select)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return visible lines."""
        self._row_style = self.rich_style
        self._drawn = None
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Return one visible line."""
        width = self.scrollable_content_region.width
        index, part = divmod(self.scroll_offset.y + y, self.row_height)
        style = self._row_style
        if index >= self._total:
            return Strip.blank(width, style)
        row = self._pages.row(index)
        if row is None:
            lines: Sequence[Line] = [[("...", "placeholder")]]
        else:
            lines = self._lines_of(row, max(width - GUTTER_WIDTH, 0))
        # The cursor's own colours come last: they are legible together, however a piece is styled.
        over = self.get_component_rich_style("record-list--cursor") if index == self.cursor else Style.null()
        if part and part >= len(lines):  # rows stand apart there
            over = Style.null()
        pieces = tuple(lines[part]) if part < len(lines) else ()
        return self._strip(((self._gutter(row, index, part), "mark"), *pieces), width, style, over)

    def _lines_of(self, row: RowT, width: int) -> Sequence[Line]:
        """Return the lines of a row, which is drawn once for all of them."""
        if self._drawn is None or self._drawn[0] is not row or self._drawn[1] != width:
            self._drawn = (row, width, self._draw(row, width))
        return self._drawn[2]

    def _strip(self, pieces: tuple[tuple[str, str], ...], width: int, style: Style, over: Style) -> Strip:
        """Return a line of pieces. The same ones are drawn once: most lines of a list that scrolls stay as they are."""
        key = (pieces, width, style, over)
        strip = self._strips.get(key)
        if strip is None:
            segments = [Segment(shown(text), style + self._letters(name) + over) for text, name in pieces]
            strip = self._strips[key] = Strip(segments).adjust_cell_length(width, style + over)
        return strip

    def _gutter(self, row: RowT | None, index: int, part: int) -> str:
        if part:
            return " " * GUTTER_WIDTH
        pointer = ">" if index == self.cursor else " "
        return f"{pointer}{self._marks.glyph(row.id if row else None, index, self.cursor)} "

    def _letters(self, name: str) -> Style:
        """Return the text style of a component class: colour and attributes without the background."""
        known = self._letter_styles.get(name)
        if known is None:
            style = self.get_component_rich_style(f"record-list--{name}") if name else Style.null()
            known = self._letter_styles[name] = style.without_color + Style(color=style.color)
        return known

    def notify_style_update(self) -> None:
        """Repaint in the new styles."""
        super().notify_style_update()
        self._letter_styles.clear()
        self._strips.clear()
        self.refresh()

    def action_move(self, rows: int) -> None:
        """Move the cursor by rows, as often as was typed."""
        self.cursor += rows * max(self._count, 1)

    def action_page(self, pages: float) -> None:
        """Move the cursor by a part of the visible height; it stays on its line of the screen."""
        pages *= max(self._count, 1)
        rows = int(pages * max(self.size.height // self.row_height, 1)) or (1 if pages > 0 else -1)
        self.scroll_to(y=self.scroll_y + rows * self.row_height, animate=False, force=True)
        self.cursor += rows

    def action_first(self) -> None:
        """Move the cursor to the first row, or to the one whose number was typed."""
        self.cursor = self._count - 1 if self._count else 0

    def action_last(self) -> None:
        """Move the cursor to the last row, or to the one whose number was typed."""
        self.cursor = (self._count or self._total) - 1

    def action_mark(self) -> None:
        """Mark or unmark the cursor's row, or mark as many rows as the count says, and go on; end an open range."""
        if self._marks.begun is not None:
            self.action_range()
        elif self._current is not None and self._count > 1:
            self._marks.begun = (self._current.id, self.cursor)
            self.cursor += self._count - 1
            self.action_range()
            if not self.is_ranging:
                self.cursor += 1
        elif self._current is not None:
            self._marks.toggle(self._current.id)
            self._marks_changed()
            self.cursor += 1

    def action_range(self) -> None:
        """Begin a range at the cursor, or mark the range that was begun."""
        if self._current is None:
            return
        if self._marks.begun is None:
            self._marks.begun = (self._current.id, self.cursor)
            self._marks_changed()
            return
        (begun_id, _), rows = self._marks.begun, self._pages.rows(self._marks.span(self.cursor))
        self._marks.begun = None
        if rows is None:
            self._due_range = (begun_id, self._current.id)
            self._read_soon()
        self.mark(row.id for row in rows or ())

    def action_leave_range(self) -> None:
        """Leave the range without marking it."""
        if self._marks.begun is None:
            raise SkipAction
        self._marks.begun = None
        self._marks_changed()

    def watch_cursor(self, old: int, new: int) -> None:
        """Show the range that ends at the cursor."""
        super().watch_cursor(old, new)
        if self.is_ranging:
            self._marks_changed()

    def index_at(self, event: events.MouseEvent) -> int | None:
        """Return the index of the row under the mouse, ``None`` where there is none."""
        offset = event.get_content_offset(self)
        index = (self.scroll_offset.y + offset.y) // self.row_height if offset is not None else self._total
        return index if index < self._total else None

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the row; a double click does the same as Enter."""
        index = self.index_at(event)
        if index is None:
            return
        if event.chain == 2 and index == self.cursor:  # noqa: PLR2004 - a double click
            self.app.simulate_key("enter")
        self.cursor = index

    def _marks_changed(self) -> None:
        self.refresh()
        self.post_message(self.MarksChanged(self))

    def _watched_ids(self) -> tuple[str, ...]:
        return (self._marks.begun[0],) if self._marks.begun else ()

    def _watched_moved(self, indexes: Mapping[str, int]) -> None:
        if self._marks.begun is not None:
            row_id, _ = self._marks.begun
            self._marks.begun = (row_id, indexes[row_id]) if row_id in indexes else None

    def _next_read(self) -> Coroutine[None, None, None] | None:
        if self._due_range is not None and self._source is not None:
            due, self._due_range = self._due_range, None
            return self._mark_between(self._source, *due)
        return super()._next_read()

    async def _mark_between(self, source: RowSource[RowT], one: str, other: str) -> None:
        self.mark(await in_thread(self, ids_between, source, one, other))


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
