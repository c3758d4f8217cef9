"""Where a reader is in a list, and where the same reader is after its rows changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from memento_tui.tui.widgets.row_pages import PAGE_SIZE, Row, RowSource

__all__ = ["Place", "Reading", "ids_between", "read_place"]

RowT = TypeVar("RowT", bound=Row)


@dataclass(frozen=True)
class Place:
    """Where a reader is in a list. Lines count from the list's first; a row has ``row_height`` of them."""

    cursor: int
    cursor_id: str | None
    top_line: int
    top_id: str | None
    """The row that the first visible line belongs to."""
    height: int
    """Visible lines."""
    row_height: int
    following_ids: tuple[str, ...] = ()
    """The rows below the cursor's, as far as they are at hand: the first that is still there takes its place."""
    watched_ids: tuple[str, ...] = ()
    """Other rows whose indexes are wanted."""

    @property
    def cursor_is_visible(self) -> bool:
        """Whether the first line of the cursor's row can be seen."""
        return self.top_line <= self.cursor * self.row_height < self.top_line + self.height

    def line_showing(self, row: int) -> int:
        """Return the top line nearest to the present one at which all of a row is visible."""
        start = row * self.row_height
        return min(max(self.top_line, start + self.row_height - self.height), start)


@dataclass(frozen=True)
class Reading(Generic[RowT]):
    """What a list holds after its rows changed, arranged so that the reader stays with the same rows."""

    total: int
    cursor: int
    top_line: int
    moved: int
    """By how many rows that which the reader looks at has moved down, because rows arrived above it."""
    watched: dict[str, int]
    """The indexes of the watched rows that are still there."""
    pages: dict[int, Sequence[RowT]]
    """All that is visible, and the page that the cursor is on."""


def read_place(source: RowSource[RowT], place: Place, select: str | None) -> Reading[RowT]:
    """Read what is now at ``place``. The cursor goes to the row ``select`` if there is such a row.

    The reader is held by the cursor's row where it was visible, else by the row at the top. Where that row is gone,
    what follows it takes its position, however many of the rows around it went with it.
    """
    total = source.total()
    last = max(total - 1, 0)
    cursor = place.cursor if place.cursor_id is None else _locate_first(source, (place.cursor_id, *place.following_ids))
    held, was = cursor, place.cursor
    if not place.cursor_is_visible:
        was = place.top_line // place.row_height
        held = was if place.top_id is None else source.locate(place.top_id)
    moved = 0 if held is None else held - was
    top_line = place.top_line + moved * place.row_height
    cursor = min(place.cursor if cursor is None else cursor, last)
    chosen = None if select is None else source.locate(select)
    if chosen is not None:
        cursor = chosen
        top_line = replace(place, top_line=top_line).line_showing(chosen)
    top_line = max(0, min(top_line, total * place.row_height - place.height))
    first_page = top_line // place.row_height // PAGE_SIZE
    last_page = min((top_line + place.height) // place.row_height, last) // PAGE_SIZE
    wanted = {cursor // PAGE_SIZE, *range(first_page, last_page + 1)}
    return Reading(
        total=total,
        cursor=cursor,
        top_line=top_line,
        moved=moved,
        watched={row: index for row in place.watched_ids if (index := source.locate(row)) is not None},
        pages={number: source.page(number * PAGE_SIZE, PAGE_SIZE) for number in wanted},
    )


def _locate_first(source: RowSource[RowT], row_ids: Sequence[str]) -> int | None:
    """Return where the first of some rows that is still there stands."""
    return next((index for row_id in row_ids if (index := source.locate(row_id)) is not None), None)


def ids_between(source: RowSource[RowT], one: str, other: str) -> Sequence[str]:
    """Return the ids of two rows and of all between them; none where one of the two is gone."""
    ends = [source.locate(one), source.locate(other)]
    found = sorted(end for end in ends if end is not None)
    if len(found) < len(ends):
        return ()
    return source.ids(found[0], found[1] - found[0] + 1)
