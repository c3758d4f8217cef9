"""A scrolling view of any number of rows: reads the visible pages, and keeps the reader's position by identity."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, takewhile
from typing import Any, Generic, Protocol, TypeVar

from textual import work
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView

from memento_tui.errors import MementoError
from memento_tui.tui.section import in_thread

__all__ = [
    "PAGE_SIZE",
    "PagedRows",
    "ReadingPosition",
    "Row",
    "RowSource",
    "RowsAtPosition",
    "ids_between",
    "read_rows_at_position",
]

PAGE_SIZE = 100
"""Rows that are read at once."""

_MOST_PAGES = 50


class Row(Protocol):
    """One row: anything with an id that stays when its position changes."""

    @property
    def id(self) -> str:
        """The id, unique within a list."""


PageRowT = TypeVar("PageRowT", bound=Row)
SourceRowT_co = TypeVar("SourceRowT_co", bound=Row, covariant=True)


class RowSource(Protocol[SourceRowT_co]):
    """The result of one query, in one order.

    A list makes one call at a time, from changing threads that are not the app's. Failures are raised as
    `MementoError`.
    """

    def total(self) -> int:
        """Return the number of rows."""

    def page(self, start: int, count: int) -> Sequence[SourceRowT_co]:
        """Return ``count`` rows from index ``start``, fewer at the end."""

    def locate(self, row_id: str) -> int | None:
        """Return the index of a row, or ``None`` where the query does not find it."""

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of ``count`` rows from index ``start``, however many these are."""


class RowPages(Generic[PageRowT]):
    """The rows in memory, by pages. Only the pages that were used last are kept, so that memory stays bounded."""

    def __init__(self) -> None:
        self._pages: OrderedDict[int, Sequence[PageRowT]] = OrderedDict()
        self._beginnings: set[int] = set()
        """The pages of which only the first rows are in memory."""

    def __len__(self) -> int:
        """Return the number of pages in memory."""
        return len(self._pages)

    def __contains__(self, number: int) -> bool:
        """Return whether a whole page is in memory."""
        return number in self._pages and number not in self._beginnings

    def row(self, index: int) -> PageRowT | None:
        """Return the row at ``index``, or ``None`` where it is not in memory."""
        number, offset = divmod(index, PAGE_SIZE)
        page = self._pages.get(number)
        if page is None or offset >= len(page):
            return None
        self._pages.move_to_end(number)
        return page[offset]

    def rows(self, span: range) -> list[PageRowT] | None:
        """Return the rows at these indexes, or ``None`` where not all of them are in memory."""
        if any(
            number not in self._pages for number in range(span.start // PAGE_SIZE, (span.stop - 1) // PAGE_SIZE + 1)
        ):
            return None
        rows = [row for index in span if (row := self.row(index)) is not None]
        return rows if len(rows) == len(span) else None

    def found(self, ids: Collection[str]) -> Sequence[PageRowT]:
        """Return the rows with these ids that are in memory, in the order of the list."""
        searched = frozenset(ids)
        return [row for number in sorted(self._pages) for row in self._pages[number] if row.id in searched]

    def put(self, number: int, rows: Sequence[PageRowT], *, whole: bool = True) -> None:
        """Store the rows of a page; with ``whole`` false they are only its first."""
        self._pages[number] = rows
        (self._beginnings.discard if whole else self._beginnings.add)(number)
        self._pages.move_to_end(number)
        while len(self._pages) > _MOST_PAGES:
            oldest, _ = self._pages.popitem(last=False)
            self._beginnings.discard(oldest)

    def remove(self, index: int) -> None:
        """Remove the row at ``index``; those below it that are in memory without a gap move up."""
        first, offset = divmod(index, PAGE_SIZE)
        joined = [self._pages[number] for number in takewhile(lambda number: number in self._pages, count(first))]
        rows = [row for page in joined for row in page]
        del rows[offset]
        for number in [number for number in self._pages if number >= first]:
            del self._pages[number]
            self._beginnings.discard(number)
        for start in range(0, len(rows), PAGE_SIZE):
            page = rows[start : start + PAGE_SIZE]
            self.put(first + start // PAGE_SIZE, page, whole=len(page) == PAGE_SIZE)

    def clear(self) -> None:
        """Remove every page."""
        self._pages.clear()
        self._beginnings.clear()


PositionRowT = TypeVar("PositionRowT", bound=Row)


@dataclass(frozen=True)
class ReadingPosition:
    """The position of the cursor and the visible part of a list; lines count from 0, each row has ``row_height``."""

    cursor: int
    cursor_id: str | None
    top_line: int
    top_id: str | None
    """The id of the row at the first visible line."""
    height: int
    """The number of visible lines."""
    row_height: int
    following_ids: tuple[str, ...] = ()
    """The ids of the rows below the cursor's that are in memory: the first that still exists replaces a removed one."""
    watched_ids: tuple[str, ...] = ()
    """The ids of other rows whose indexes are to be returned."""

    @property
    def cursor_is_visible(self) -> bool:
        """Whether the first line of the cursor's row is visible."""
        return self.top_line <= self.cursor * self.row_height < self.top_line + self.height

    def line_showing(self, row: int) -> int:
        """Return the first visible line, nearest to the present one, at which a whole row is visible."""
        start = row * self.row_height
        return min(max(self.top_line, start + self.row_height - self.height), start)


@dataclass(frozen=True)
class RowsAtPosition(Generic[PositionRowT]):
    """The contents of a list after its rows changed, placed so that the same rows stay visible."""

    total: int
    cursor: int
    top_line: int
    moved: int
    """The number of rows by which the visible part has moved down, because rows arrived above it."""
    watched: dict[str, int]
    """The indexes of the watched rows that still exist."""
    pages: dict[int, Sequence[PositionRowT]]
    """The visible pages, and the page of the cursor."""


def read_rows_at_position(
    source: RowSource[PositionRowT], position: ReadingPosition, select: str | None
) -> RowsAtPosition[PositionRowT]:
    """Read the rows now at a position. The cursor goes to the row ``select`` if there is such a row.

    The cursor's row keeps its place on the screen if it was visible, else the row at the top does. Where that row is
    gone, the rows that follow it take its place, however many of the rows around it went with it.
    """
    total = source.total()
    last = max(total - 1, 0)
    cursor = (
        position.cursor
        if position.cursor_id is None
        else _locate_first(source, (position.cursor_id, *position.following_ids))
    )
    anchor, previous = cursor, position.cursor
    if not position.cursor_is_visible:
        previous = position.top_line // position.row_height
        anchor = previous if position.top_id is None else source.locate(position.top_id)
    moved = 0 if anchor is None else anchor - previous
    top_line = position.top_line + moved * position.row_height
    cursor = min(position.cursor if cursor is None else cursor, last)
    selected = None if select is None else source.locate(select)
    if selected is not None:
        arrived = selected != cursor and position.line_showing(selected) == position.top_line
        cursor = selected
        if arrived or selected * position.row_height <= top_line:
            # It arrived in the visible part itself, so that this need not move for it.
            top_line, moved = position.top_line, 0
        top_line = replace(position, top_line=top_line).line_showing(selected)
    top_line = max(0, min(top_line, total * position.row_height - position.height))
    first_page = top_line // position.row_height // PAGE_SIZE
    last_page = min((top_line + position.height) // position.row_height, last) // PAGE_SIZE
    numbers = {cursor // PAGE_SIZE, *range(first_page, last_page + 1)}
    return RowsAtPosition(
        total=total,
        cursor=cursor,
        top_line=top_line,
        moved=moved,
        watched={row: index for row in position.watched_ids if (index := source.locate(row)) is not None},
        pages={number: source.page(number * PAGE_SIZE, PAGE_SIZE) for number in numbers},
    )


def _locate_first(source: RowSource[PositionRowT], row_ids: Sequence[str]) -> int | None:
    """Return the index of the first of these rows that still exists."""
    return next((index for row_id in row_ids if (index := source.locate(row_id)) is not None), None)


def ids_between(source: RowSource[PositionRowT], one: str, other: str) -> Sequence[str]:
    """Return the ids of two rows and of all between them; none where either is gone."""
    indexes = sorted(index for index in (source.locate(one), source.locate(other)) if index is not None)
    if len(indexes) < 2:  # noqa: PLR2004 - both ends
        return ()
    return source.ids(indexes[0], indexes[1] - indexes[0] + 1)


_MAX_SUCCESSOR_ROWS = 100
"""Rows below the cursor's that may replace it when it is removed; as many may be removed at once."""

RowT = TypeVar("RowT", bound=Row)
MessageRowT = TypeVar("MessageRowT", bound=Row)


class PagedRows(ScrollView, Generic[RowT]):
    """A scrolling list of rows with a cursor, read page by page; a subclass draws the rows and handles the keys.

    One read at a time runs on a thread, and the next is chosen when it has ended: pages that were scrolled past by
    then are never read.
    """

    cursor: reactive[int] = reactive(0, repaint=False)
    """The index of the row that the cursor is on; 0 where there is no row."""

    row_height: reactive[int] = reactive(1, repaint=False)
    """Lines that each row takes."""

    class ListMessage(Message, namespace="record_list"):
        """The base of the messages of a list."""

        def __init__(self, record_list: PagedRows[Any]) -> None:
            super().__init__()
            self.record_list = record_list

        @property
        def control(self) -> PagedRows[Any]:
            """The list that sent it."""
            return self.record_list

    class Highlighted(ListMessage, Generic[MessageRowT], namespace="record_list"):
        """The cursor is on another row, or its row has changed. Of several in a row only the last arrives.

        ``row`` is ``None`` where the list has become empty.
        """

        def __init__(self, record_list: PagedRows[Any], row: MessageRowT | None, index: int) -> None:
            super().__init__(record_list)
            self.row = row
            self.index = index

        def can_replace(self, message: Message) -> bool:
            """Return whether this message replaces an older one of the same list."""
            return isinstance(message, PagedRows.Highlighted) and message.record_list is self.record_list

    class Refreshed(ListMessage, namespace="record_list"):
        """`refresh_rows` is done. ``moved`` is the number of rows by which the visible part has moved down."""

        def __init__(self, record_list: PagedRows[Any], moved: int) -> None:
            super().__init__(record_list)
            self.moved = moved

    class LoadFailed(ListMessage, namespace="record_list"):
        """Rows could not be read; they are read again when the list is scrolled or refreshed."""

        def __init__(self, record_list: PagedRows[Any], error: MementoError) -> None:
            super().__init__(record_list)
            self.error = error

    def __init__(self, *, row_height: int, id: str | None, classes: str | None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._source: RowSource[RowT] | None = None
        self._pages: RowPages[RowT] = RowPages()
        self._total = 0
        self._current: RowT | None = None
        """The cursor's row, once it was read; it is kept when its page is removed."""
        self._announced: RowT | None = None
        self._query = 0
        """The number of calls of `set_rows`: rows read for an earlier one are dropped."""
        self._due_refresh: tuple[RowSource[RowT], str | None] | None = None
        self._is_reading = False
        self._laid_out_height = 0
        self.set_reactive(PagedRows.row_height, row_height)
        self.fit: Callable[[], int] | None = None
        """Returns the lines that each row is to have; ``None`` where they stay as they are."""

    @property
    def total(self) -> int:
        """The number of rows."""
        return self._total

    @property
    def current(self) -> RowT | None:
        """The cursor's row; ``None`` where there is none or it is still being read."""
        return self._current

    @property
    def source(self) -> RowSource[RowT] | None:
        """The source of the rows that are shown; ``None`` before the first."""
        return self._source

    def at_hand(self, ids: Collection[str]) -> Sequence[RowT]:
        """Return the rows with these ids that are in memory, as they are shown and in the order of the list."""
        return self._pages.found(ids)

    @property
    def first_visible(self) -> int:
        """The index of the first visible row."""
        return self.scroll_offset.y // self.row_height

    def set_rows(self, rows: Sequence[RowT], total: int, source: RowSource[RowT], *, select: str | None = None) -> None:
        """Show the result of another query at once: ``rows`` are its first, at least a screenful.

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
        """Read the query again, because something was written; the same rows stay visible.

        Nothing changes on the screen until all visible rows were read; then `Refreshed` is posted. Calls made in the
        meantime count as one. ``select`` is the id of a row to go to.
        """
        new_source = source or self._source
        if new_source is not None:
            earlier = self._due_refresh
            self._due_refresh = (new_source, select or (earlier and earlier[1]))
            self._read_soon()

    def remove_current(self) -> RowT | None:
        """Leave out the cursor's row, which is known to be gone, and return the one below it, now under the cursor.

        That is not announced: who removes a row shows what comes up. ``None`` is returned where it is yet to be read,
        or where there is none; it is announced then. `refresh_rows` finds what else has changed.
        """
        if self._pages.row(self.cursor) is None:
            return None
        self._query += 1
        self._pages.remove(self.cursor)
        total = self._total - 1
        self._announced = self._pages.row(min(self.cursor, total - 1)) or self._announced
        self._arrange(total, self.cursor, self.scroll_offset.y)
        return self._current

    def on_mount(self) -> None:
        """Announce a row that was set before mounting."""
        self._announce()

    def fit_rows(self) -> None:
        """Give each row the lines that `fit` returns."""
        if self.fit is not None and self.size.height:
            self.row_height = self.fit()

    def on_resize(self) -> None:
        """Keep the cursor visible if it was, and read rows that have become visible."""
        self.fit_rows()
        if not self._laid_out_height or self._position(self._laid_out_height).cursor_is_visible:
            self._show_cursor()
        self._laid_out_height = self.size.height
        self._read_soon()

    def validate_cursor(self, cursor: int) -> int:
        """Return the nearest index of a row."""
        return max(0, min(cursor, self._total - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        """Show the cursor, and announce its row."""
        self.refresh_lines(old * self.row_height, self.row_height)
        self.refresh_lines(new * self.row_height, self.row_height)
        self._current = None
        self._show_cursor()
        self._announce()

    def watch_row_height(self, old: int, new: int) -> None:
        """Keep the same row at the top."""
        top = self.scroll_offset.y // old
        self.virtual_size = Size(0, self._total * new)
        self._scroll_to_line(top * new)
        self._show_cursor()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Read rows that have become visible."""
        super().watch_scroll_y(old_value, new_value)
        if self._missing_page() is not None:
            self._read_soon()

    def _watched_ids(self) -> tuple[str, ...]:
        """Return the ids of the rows whose indexes `_watched_moved` gets after a refresh."""
        return ()

    def _watched_moved(self, indexes: Mapping[str, int]) -> None:
        """Take the indexes of the watched rows that still exist."""

    def _scroll_to_line(self, line: int) -> None:
        self.scroll_to(y=line, animate=False, force=True)

    def _show_cursor(self) -> None:
        if self.size.height:
            self._scroll_to_line(self._position(self.size.height).line_showing(self.cursor))

    def _position(self, height: int) -> ReadingPosition:
        top = self._pages.row(self.first_visible)
        return ReadingPosition(
            cursor=self.cursor,
            cursor_id=self._current.id if self._current else None,
            top_line=self.scroll_offset.y,
            top_id=top.id if top else None,
            height=height,
            row_height=self.row_height,
            watched_ids=self._watched_ids(),
        )

    def _following_ids(self) -> tuple[str, ...]:
        """Return the ids of the rows below the cursor's that are in memory, at most `_MAX_SUCCESSOR_ROWS`."""
        rows = (self._pages.row(index) for index in range(self.cursor + 1, self.cursor + 1 + _MAX_SUCCESSOR_ROWS))
        return tuple(row.id for row in takewhile(lambda row: row is not None, rows) if row is not None)

    def _arrange(self, total: int, cursor: int, top_line: int) -> None:
        """Set the number of rows, the cursor and the first visible line."""
        self._total = total
        self.virtual_size = Size(0, total * self.row_height)
        # The position is right already; watching the cursor would scroll.
        self.set_reactive(PagedRows.cursor, self.validate_cursor(cursor))
        self._scroll_to_line(top_line)
        self._current = None
        self.refresh()
        self._announce()
        self._read_soon()

    def _announce(self) -> None:
        """Post the cursor's row as soon as it is known, unless it was posted already."""
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
        # A refresh that was requested during the failed read may have another source.
        if self._due_refresh is not None:
            self._read_soon()

    def _next_read(self) -> Coroutine[None, None, None] | None:
        """Return the next read, or ``None`` where everything needed is in memory."""
        if self._due_refresh is not None:
            due, self._due_refresh = self._due_refresh, None
            return self._read_again(*due)
        missing = self._missing_page()
        return None if missing is None or self._source is None else self._read_page(self._source, missing)

    def _missing_page(self) -> int | None:
        """Return a page that is not in memory: a visible one, else the cursor's, else the one below or above."""
        if not self._total:
            return None
        last = min(self._total - 1, (self.scroll_offset.y + self.size.height) // self.row_height)
        visible = range(self.first_visible // PAGE_SIZE, last // PAGE_SIZE + 1)
        unseen = () if self._current else (self.cursor // PAGE_SIZE,)
        beside = (visible.stop, visible.start - 1)
        existing = range((self._total - 1) // PAGE_SIZE + 1)
        candidates = (*visible, *unseen, *beside)
        return next((page for page in candidates if page in existing and page not in self._pages), None)

    async def _read_page(self, source: RowSource[RowT], number: int) -> None:
        query = self._query
        rows = await in_thread(self, source.page, number * PAGE_SIZE, PAGE_SIZE)
        if query == self._query:
            self._pages.put(number, rows)
            self.refresh()
            self._announce()

    async def _read_again(self, source: RowSource[RowT], select: str | None) -> None:
        query = self._query
        while True:
            position = self._position(self.size.height)
            around = replace(position, following_ids=self._following_ids())
            reading = await in_thread(self, read_rows_at_position, source, around, select)
            if query != self._query:
                return
            if position == self._position(self.size.height):
                break
            # The list was scrolled meanwhile: read again for the new position.
        self._source = source
        self._pages.clear()
        for number, rows in reading.pages.items():
            self._pages.put(number, rows)
        self._arrange(reading.total, reading.cursor, reading.top_line)
        self._watched_moved(reading.watched)
        self.post_message(self.Refreshed(self, reading.moved))
