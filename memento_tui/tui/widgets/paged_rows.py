"""A scrolling view of any number of rows: it reads what is visible, and keeps the reader's place by identity."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Generic, TypeVar

from textual import work
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView

from memento_tui.errors import MementoError
from memento_tui.tui.widgets.row_pages import PAGE_SIZE, Row, RowPages, RowSource
from memento_tui.tui.widgets.row_place import Place, read_place

__all__ = ["PagedRows"]

_MOST_FOLLOWING = 100
"""Rows below the cursor's of which the first that is left takes its place where it is gone."""

RowT = TypeVar("RowT", bound=Row)
MessageRowT = TypeVar("MessageRowT", bound=Row)


class PagedRows(ScrollView, Generic[RowT]):
    """The rows, the cursor and the reading; a subclass says what rows look like and what keys do.

    One read at a time runs on a thread, and each is chosen when the one before it has ended: what the reader has
    scrolled past by then is never read.
    """

    cursor: reactive[int] = reactive(0, repaint=False)
    """The index of the row that the cursor is on; 0 where there is no row."""

    row_height: reactive[int] = reactive(1, repaint=False)
    """Lines that each row takes."""

    class ListMessage(Message, namespace="record_list"):
        """What every message of a list has."""

        def __init__(self, record_list: PagedRows[Any]) -> None:
            super().__init__()
            self.record_list = record_list

        @property
        def control(self) -> PagedRows[Any]:
            """The list that sent it."""
            return self.record_list

    class Highlighted(ListMessage, Generic[MessageRowT], namespace="record_list"):
        """The cursor is on another row, or the row that it is on has changed. A flood of these arrives as its last.

        ``row`` is ``None`` where the list has become empty.
        """

        def __init__(self, record_list: PagedRows[Any], row: MessageRowT | None, index: int) -> None:
            super().__init__(record_list)
            self.row = row
            self.index = index

        def can_replace(self, message: Message) -> bool:
            """Give way to a newer one of the same list."""
            return isinstance(message, PagedRows.Highlighted) and message.record_list is self.record_list

    class Refreshed(ListMessage, namespace="record_list"):
        """`refresh_rows` is done. ``moved`` is by how many rows that which the reader looks at has moved down."""

        def __init__(self, record_list: PagedRows[Any], moved: int) -> None:
            super().__init__(record_list)
            self.moved = moved

    class LoadFailed(ListMessage, namespace="record_list"):
        """Rows could not be read; they are asked for again when the reader moves or the list is refreshed."""

        def __init__(self, record_list: PagedRows[Any], error: MementoError) -> None:
            super().__init__(record_list)
            self.error = error

    def __init__(self, *, row_height: int, id: str | None, classes: str | None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._source: RowSource[RowT] | None = None
        self._pages: RowPages[RowT] = RowPages()
        self._total = 0
        self._current: RowT | None = None
        """The row that the cursor is on, once it was read; it stays known when its page is forgotten."""
        self._announced: RowT | None = None
        self._query = 0
        """Counts calls of `set_rows`: what was read for an earlier one is dropped."""
        self._due_refresh: tuple[RowSource[RowT], str | None] | None = None
        self._is_reading = False
        self._laid_out_height = 0
        self.set_reactive(PagedRows.row_height, row_height)

    @property
    def total(self) -> int:
        """How many rows there are."""
        return self._total

    @property
    def current(self) -> RowT | None:
        """The row that the cursor is on, or ``None`` where there is none or it is still being read."""
        return self._current

    def at_hand(self, ids: Collection[str]) -> Sequence[RowT]:
        """Return those of the rows of these ids that were read, as they are shown."""
        return self._pages.found(ids)

    @property
    def first_visible(self) -> int:
        """The index of the row at the top, which is how many rows are above."""
        return self.scroll_offset.y // self.row_height

    def set_rows(self, rows: Sequence[RowT], total: int, source: RowSource[RowT], *, select: str | None = None) -> None:
        """Show the answer to another query, at once: ``rows`` are its first, at least a screenful.

        The cursor goes to ``select`` if that is among ``rows``, else to the first row.
        """
        self._query += 1
        self._source = source
        self._due_refresh = None
        self._pages.clear()
        for start in range(0, len(rows), PAGE_SIZE):
            page = rows[start : start + PAGE_SIZE]
            self._pages.put(start // PAGE_SIZE, page, whole=len(page) == min(PAGE_SIZE, total - start))
        cursor = next((index for index, row in enumerate(rows) if row.id == select), 0)
        self._arrange(total, cursor, 0)
        self._show_cursor()

    def refresh_rows(self, source: RowSource[RowT] | None = None, *, select: str | None = None) -> None:
        """Read the same query again, because something was written; the reader stays with the same rows.

        Nothing changes on the screen until all that will be visible was read; then `Refreshed` is posted. Calls made
        in the meantime count as one. ``select`` is the id of a row to go to.
        """
        wanted = source or self._source
        if wanted is not None:
            earlier = self._due_refresh
            self._due_refresh = (wanted, select or (earlier and earlier[1]))
            self._read_soon()

    def on_mount(self) -> None:
        """Tell of a row that was set before."""
        self._announce()

    def on_resize(self) -> None:
        """Keep the cursor visible if it was, and read what has become visible."""
        if not self._laid_out_height or self._place(self._laid_out_height).cursor_is_visible:
            self._show_cursor()
        self._laid_out_height = self.size.height
        self._read_soon()

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor on a row."""
        return max(0, min(cursor, self._total - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Show the cursor, and tell."""
        self.refresh_lines(old * self.row_height, self.row_height)
        self.refresh_lines(new * self.row_height, self.row_height)
        self._current = None
        self._show_cursor()
        self._announce()

    def watch_row_height(self, old: int, new: int) -> None:
        """Keep the row at the top where it is."""
        top = self.scroll_offset.y // old
        self.virtual_size = Size(0, self._total * new)
        self._scroll_to_line(top * new)
        self._show_cursor()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Read what has become visible."""
        super().watch_scroll_y(old_value, new_value)
        if self._missing_page() is not None:
            self._read_soon()

    def _watched_ids(self) -> tuple[str, ...]:
        """Return the ids of rows whose indexes a subclass wants to know after a refresh."""
        return ()

    def _watched_moved(self, indexes: Mapping[str, int]) -> None:
        """Take the indexes of those of the watched rows that are still there."""

    def _scroll_to_line(self, line: int) -> None:
        self.scroll_to(y=line, animate=False, force=True)

    def _show_cursor(self) -> None:
        if self.size.height:
            self._scroll_to_line(self._place(self.size.height).line_showing(self.cursor))

    def _place(self, height: int) -> Place:
        top = self._pages.row(self.first_visible)
        return Place(
            cursor=self.cursor,
            cursor_id=self._current.id if self._current else None,
            top_line=self.scroll_offset.y,
            top_id=top.id if top else None,
            height=height,
            row_height=self.row_height,
            watched_ids=self._watched_ids(),
        )

    def _following_ids(self) -> tuple[str, ...]:
        """Return the rows below the cursor's, as far as they are at hand and may all be decided about at once."""
        rows = (self._pages.row(index) for index in range(self.cursor + 1, self.cursor + 1 + _MOST_FOLLOWING))
        return tuple(row.id for row in takewhile(lambda row: row is not None, rows) if row is not None)

    def _arrange(self, total: int, cursor: int, top_line: int) -> None:
        """Take a number of rows, and go to a place among them."""
        self._total = total
        self.virtual_size = Size(0, total * self.row_height)
        # The place is right as it is; what a moving cursor does by itself would scroll.
        self.set_reactive(PagedRows.cursor, self.validate_cursor(cursor))
        self._scroll_to_line(top_line)
        self._current = None
        self.refresh()
        self._announce()
        self._read_soon()

    def _announce(self) -> None:
        """Post the row that the cursor is on as soon as it is known, unless that was done."""
        row = self._pages.row(self.cursor)
        if row is not None:
            self._current = row
        elif self._total:
            return
        if self.is_mounted and row != self._announced:
            self._announced = row
            self.post_message(self.Highlighted(self, row, self.cursor))

    def _read_soon(self) -> None:
        if not self._is_reading and self.is_mounted:
            self._is_reading = True
            self._read()

    @work(group="rows")
    async def _read(self) -> None:
        try:
            while (read := self._next_read()) is not None:
                await read
        except MementoError as error:
            self.post_message(self.LoadFailed(self, error))
        finally:
            self._is_reading = False
        # What was asked for while the failing read ran may be another source.
        if self._due_refresh is not None:
            self._read_soon()

    def _next_read(self) -> Coroutine[None, None, None] | None:
        """Return what is to be read next, ``None`` where all is at hand."""
        if self._source is None:
            return None
        if self._due_refresh is not None:
            due, self._due_refresh = self._due_refresh, None
            return self._read_again(*due)
        missing = self._missing_page()
        return None if missing is None else self._read_page(self._source, missing)

    def _missing_page(self) -> int | None:
        """Return a page that is not at hand: a visible one, else the cursor's, else one that the reader may come to."""
        if not self._total:
            return None
        last = min(self._total - 1, (self.scroll_offset.y + self.size.height) // self.row_height)
        visible = range(self.first_visible // PAGE_SIZE, last // PAGE_SIZE + 1)
        unseen = () if self._current else (self.cursor // PAGE_SIZE,)
        beside = (visible.stop, visible.start - 1)
        there = range((self._total - 1) // PAGE_SIZE + 1)
        wanted = (*visible, *unseen, *beside)
        return next((page for page in wanted if page in there and page not in self._pages), None)

    async def _read_page(self, source: RowSource[RowT], number: int) -> None:
        query = self._query
        rows = await asyncio.to_thread(source.page, number * PAGE_SIZE, PAGE_SIZE)
        if query == self._query:
            self._pages.put(number, rows)
            self.refresh()
            self._announce()

    async def _read_again(self, source: RowSource[RowT], select: str | None) -> None:
        query = self._query
        while True:
            place = self._place(self.size.height)
            around = replace(place, following_ids=self._following_ids())
            reading = await asyncio.to_thread(read_place, source, around, select)
            if query != self._query:
                return
            if place == self._place(self.size.height):
                break
            # The reader has moved on: what was read is for a place that was left.
        self._source = source
        self._pages.clear()
        for number, rows in reading.pages.items():
            self._pages.put(number, rows)
        self._arrange(reading.total, reading.cursor, reading.top_line)
        self._watched_moved(reading.watched)
        self.post_message(self.Refreshed(self, reading.moved))
