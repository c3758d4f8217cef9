"""The rows that a command is for, as the person saw them; and keys that were meant for a row that is gone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from memento_tui.tui.selection import SeenVersion, Selection
from memento_tui.tui.stale_guard import StaleGuard
from memento_tui.tui.widgets.record_list import RecordList


@dataclass
class FakeRows:
    """A list with some rows loaded, a cursor and marks."""

    loaded: dict[str, SeenVersion] = field(default_factory=dict)
    marks: frozenset[str] = frozenset()
    current: SeenVersion | None = None

    def at_hand(self, ids: Collection[str]) -> Sequence[SeenVersion]:
        return [row for name, row in self.loaded.items() if name in ids]


@pytest.fixture
def rows() -> FakeRows:
    loaded = {name: SeenVersion(name, 1) for name in "abc"}
    return FakeRows(loaded, current=loaded["a"])


def _selection(rows: FakeRows, **options: Any) -> Selection[SeenVersion]:  # noqa: ANN401 - as Selection takes them
    return Selection(lambda: cast("RecordList[Any]", rows), **options)


def test_a_command_is_for_the_marked_rows_or_else_for_the_one_under_the_cursor(rows: FakeRows) -> None:
    selection = _selection(rows)
    assert selection.ids() == ["a"]
    rows.marks = frozenset("cb")
    assert selection.ids() == ["b", "c"]


def test_a_marked_row_stays_as_it_was_when_it_was_marked(rows: FakeRows) -> None:
    selection = _selection(rows)
    rows.marks = frozenset("b")
    selection.update_marks()
    rows.loaded["b"] = SeenVersion("b", 2)
    selection.update_marks()
    assert selection.seen_version("b") == 1
    rows.marks = frozenset()
    selection.update_marks()
    assert selection.seen_version("b") == 2


def test_marked_rows_that_are_not_loaded_are_read_and_what_stands_beside_the_list_counts_as_seen(
    rows: FakeRows,
) -> None:
    beside = SeenVersion("b", 7)
    selection = _selection(
        rows, fetch=lambda ids: {name: SeenVersion(name, 5) for name in ids}, also_shown=lambda: [beside]
    )
    rows.marks = frozenset("bz")
    selection.update_marks()
    assert (selection.seen_version("z"), selection.seen_version("b"), selection.seen_version("y")) == (5, 7, None)


def test_what_the_app_wrote_itself_counts_as_seen_until_the_list_shows_it_or_something_newer(rows: FakeRows) -> None:
    selection = _selection(rows)
    selection.note_written(SeenVersion("a", 2))
    assert selection.seen_version("a") == 2
    rows.current = SeenVersion("a", 3)
    assert selection.seen_version("a") == 3


class Guarded:
    """A guard with a clock that stands still, and a person who presses no key."""

    def __init__(self) -> None:
        self.now = 100.0
        self.pressed = False
        self.guard = StaleGuard(lambda _moment: self.pressed, now=lambda: self.now)


@pytest.fixture
def guarded() -> Guarded:
    made = Guarded()
    made.guard.row_reached(SeenVersion("a", 1))
    return made


@pytest.mark.parametrize("row", [SeenVersion("b", 1), SeenVersion("a", 2)])
def test_keys_are_blocked_for_half_a_second_after_another_row_or_version_came_by_itself(
    guarded: Guarded, row: SeenVersion
) -> None:
    guarded.guard.row_reached(row)
    assert guarded.guard.is_blocking
    guarded.now += 0.5
    assert not guarded.guard.is_blocking


def test_keys_are_not_blocked_where_the_person_moved_or_the_row_is_the_same_or_the_first(guarded: Guarded) -> None:
    guarded.guard.row_reached(SeenVersion("a", 1))
    guarded.pressed = True
    guarded.guard.row_reached(SeenVersion("b", 1))
    guarded.pressed = False
    guarded.guard.moved_by_person()
    guarded.guard.row_reached(SeenVersion("c", 1))
    guarded.guard.row_reached(None)
    guarded.guard.row_reached(SeenVersion("d", 1))
    assert not guarded.guard.is_blocking
    guarded.guard.content_changed()
    assert guarded.guard.is_blocking
