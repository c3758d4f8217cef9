from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from memento_tui.tui.widgets.paged_rows import (
    PAGE_SIZE,
    ReadingPosition,
    RowsAtPosition,
    ids_between,
    read_rows_at_position,
)


@dataclass(frozen=True)
class FakeRow:
    id: str


class FakeSource:
    def __init__(self, ids: Sequence[str]) -> None:
        self.all_ids = list(ids)

    def total(self) -> int:
        return len(self.all_ids)

    def page(self, start: int, count: int) -> Sequence[FakeRow]:
        return [FakeRow(row_id) for row_id in self.all_ids[start : start + count]]

    def locate(self, row_id: str) -> int | None:
        return self.all_ids.index(row_id) if row_id in self.all_ids else None

    def ids(self, start: int, count: int) -> Sequence[str]:
        return self.all_ids[start : start + count]


@dataclass(frozen=True)
class Change:
    """Rows as a reader saw them, the place that the reader had among them, and the rows as they are now."""

    before: list[str]
    place: ReadingPosition
    after: list[str]

    def read(self, select: str | None = None) -> RowsAtPosition[FakeRow]:
        return read_rows_at_position(FakeSource(self.after), self.place, select)


@st.composite
def changes(draw: st.DrawFn) -> Change:
    rows = [f"r{number}" for number in range(draw(st.integers(1, 250)))]
    gone = draw(st.sets(st.sampled_from(rows), max_size=8))
    after = [row for row in rows if row not in gone]
    for number in range(draw(st.integers(0, 8))):
        after.insert(draw(st.integers(0, len(after))), f"n{number}")
    row_height, height = draw(st.integers(1, 2)), draw(st.integers(2, 60))
    top_line = draw(st.integers(0, max(0, len(rows) * row_height - height)))
    cursor = draw(st.integers(0, len(rows) - 1))
    place = ReadingPosition(cursor, rows[cursor], top_line, rows[top_line // row_height], height, row_height)
    return Change(rows, place, after)


@given(changes())
def test_the_cursor_stays_with_its_row(change: Change) -> None:
    reading = change.read()
    if change.place.cursor_id in change.after:
        assert change.after[reading.cursor] == change.place.cursor_id
    else:
        assert reading.cursor == max(0, min(change.place.cursor, len(change.after) - 1))


@given(changes())
def test_a_visible_row_stays_on_its_line_unless_the_list_ends(change: Change) -> None:
    place, reading = change.place, change.read()
    last_top = max(0, len(change.after) * place.row_height - place.height)
    assert 0 <= reading.top_line <= last_top
    held, was = place.top_id, place.top_line // place.row_height
    if place.cursor_is_visible:
        held, was = place.cursor_id, place.cursor
    if held in change.after and 0 < reading.top_line < last_top:
        line = change.after.index(held) * place.row_height - reading.top_line
        assert line == was * place.row_height - place.top_line


@given(changes())
def test_all_that_is_visible_is_read(change: Change) -> None:
    place, reading = change.place, change.read()
    read = {row.id: number * PAGE_SIZE + at for number, page in reading.pages.items() for at, row in enumerate(page)}
    first = reading.top_line // place.row_height
    last = (reading.top_line + place.height - 1) // place.row_height
    for index, row_id in enumerate(change.after):
        if first <= index <= last or index == reading.cursor:
            assert read[row_id] == index


@given(changes(), st.data())
def test_a_row_that_is_asked_for_is_shown(change: Change, data: st.DataObject) -> None:
    if not change.after:
        return
    chosen = data.draw(st.sampled_from(change.after))
    reading, row_height = change.read(chosen), change.place.row_height
    assert change.after[reading.cursor] == chosen
    assert reading.top_line <= reading.cursor * row_height
    assert (reading.cursor + 1) * row_height <= reading.top_line + change.place.height


@given(st.integers(1, 5))
def test_a_row_that_comes_back_among_the_visible_ones_hides_none_of_those_above_it(index: int) -> None:
    rows = "abcdefgh"
    place = ReadingPosition(index, rows[index + 1], top_line=0, top_id="a", height=6, row_height=1)
    reading = read_rows_at_position(FakeSource(rows), place, rows[index])
    assert (reading.cursor, reading.top_line, reading.moved) == (index, 0, 0)


@given(changes(), st.data())
def test_a_range_holds_its_ends_and_all_between_in_either_direction(change: Change, data: st.DataObject) -> None:
    one, other = data.draw(st.sampled_from(change.before)), data.draw(st.sampled_from(change.before))
    found = ids_between(FakeSource(change.after), one, other)
    if one in change.after and other in change.after:
        first, last = sorted([change.after.index(one), change.after.index(other)])
        assert list(found) == change.after[first : last + 1]
    else:
        assert not found


@given(changes())
def test_the_cursor_passes_over_no_row_that_is_left(change: Change) -> None:
    below = change.before[change.place.cursor :]
    place = replace(change.place, following_ids=tuple(below[1:]))
    left = [row for row in below if row in change.after]
    reading = read_rows_at_position(FakeSource(change.after), place, None)
    if left:
        assert change.after[reading.cursor] == left[0]
    else:
        assert reading.cursor <= max(len(change.after) - 1, 0)
