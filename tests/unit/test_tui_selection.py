"""The rows that a command is for, as the person saw them; and keys that were meant for a row that is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, cast

import pytest
from textual import events

from memento_tui.tui import input_order
from memento_tui.tui.input_order import InputOrder, TypedInput
from memento_tui.tui.selection import SeenVersion, Selection, StaleGuard
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


def test_marked_rows_come_in_the_order_of_the_list_and_those_that_it_has_not_loaded_last(rows: FakeRows) -> None:
    rows.loaded = {name: SeenVersion(name, 1) for name in "cab"}
    rows.marks = frozenset("abcyx")
    assert _selection(rows).ids() == ["c", "a", "b", "x", "y"]


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


def test_keys_are_for_marks_whatever_came_under_the_cursor_and_a_held_one_for_these_alone(guarded: Guarded) -> None:
    guard, marked = guarded.guard, frozenset("ab")
    guard.content_changed()
    assert guard.refusal(marked, inf, was_shown=False, is_marked=True) == ""
    assert "held" in guard.refusal(frozenset("a"), 0.1)


LATER = 1.0
"""Seconds after which the same key is no repetition of a held one."""


def test_a_key_acts_again_on_the_same_row_however_fast(guarded: Guarded) -> None:
    assert [guarded.guard.refusal(frozenset("a"), gap) for gap in (inf, 0.1, 0.03)] == ["", "", ""]


@pytest.mark.parametrize("delay", [0.25, 0.5, 0.66])
def test_a_held_key_acts_on_one_row_and_never_on_the_next_however_long_it_is_held(
    guarded: Guarded, delay: float
) -> None:
    assert guarded.guard.refusal(frozenset("a"), inf) == ""
    refusals = [guarded.guard.refusal(frozenset("b"), gap) for gap in (delay, 0.03, 0.11, *[0.03] * 300)]
    assert all("held" in refusal and refusal.endswith("Press it again.") for refusal in refusals)


def test_a_key_that_rested_or_another_key_acts_on_the_next_row(guarded: Guarded) -> None:
    guard = guarded.guard
    assert guard.refusal(frozenset("a"), inf) == ""
    assert guard.refusal(frozenset("b"), LATER) == ""
    assert guard.refusal(frozenset("c"), inf) == ""
    assert "held" in guard.refusal(frozenset("d"), 0.5)
    assert guard.refusal(frozenset("d"), 0.4) == ""  # pressed again, once the reason was read


def test_a_key_that_was_held_when_its_row_changed_does_not_act_once_the_row_has_rested(guarded: Guarded) -> None:
    guarded.guard.content_changed()
    assert "come up or changed" in guarded.guard.refusal(frozenset("a"), inf)
    guarded.now += 0.5
    assert "held" in guarded.guard.refusal(frozenset("a"), 0.03)
    assert guarded.guard.refusal(frozenset("a"), LATER) == ""


def test_a_key_for_a_row_that_was_not_on_the_screen_is_refused(guarded: Guarded) -> None:
    assert "not on the screen yet" in guarded.guard.refusal(frozenset("a"), inf, was_shown=False)
    assert guarded.guard.refusal(frozenset("a"), LATER) == ""


def test_the_seconds_between_two_keys_count_for_the_same_key_alone() -> None:
    typed, seen = TypedInput(), []
    for key, at in (("a", 1.0), ("a", 1.5), ("j", 1.75), ("a", 2.0), ("a", 2.125)):
        event = events.Key(key, key)
        event.time = at
        typed.note(event)
        seen.append(typed.seconds_since_same_key)
    assert seen == [inf, 0.5, inf, inf, 0.125]
    assert typed.was_typed_since(2.0)
    assert not typed.was_typed_since(2.125)


def typed_key(key: str, at: float) -> events.Key:
    event = events.Key(key, key)
    event.time = at
    return event


async def refusals_of(times: Sequence[float], monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return for the same key, typed at some times, each for a row of its own, whether it is refused."""
    typed, guard = TypedInput(), StaleGuard(lambda _moment: True)
    refused: list[bool] = []

    async def deliver(event: events.Event) -> None:
        assert isinstance(event, events.Key)
        again = typed.may_be_held(event) and not await order.is_repeated(event)
        typed.note(event, is_pressed_again=again)
        typed.note_is_for_rows()
        refused.append(bool(guard.refusal(frozenset((str(event.time),)), typed.seconds_since_same_key)))

    order = InputOrder(deliver, lambda: None, tuple, lambda: False)
    now = times[0]
    left = [typed_key("a", at) for at in times]

    async def pass_time(seconds: float) -> None:
        nonlocal now
        now += seconds or 0.001
        while left and left[0].time <= now:
            order.put(left.pop(0))
        await sleep(0)

    sleep = asyncio.sleep
    monkeypatch.setattr(input_order, "monotonic", lambda: now)
    monkeypatch.setattr("memento_tui.tui.input_order.asyncio.sleep", pass_time)
    while len(refused) < len(times):
        await pass_time(0.01)
    return refused


@pytest.mark.parametrize("gap", [0.2, 0.25, 0.33, 0.5, 0.66, 1.0])
async def test_a_person_who_decides_with_one_hand_is_never_refused(gap: float, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await refusals_of([1.0 + gap * n for n in range(8)], monkeypatch) == [False] * 8


@pytest.mark.parametrize("delay", [0.25, 0.5, 0.66])
@pytest.mark.parametrize("gap", [0.025, 0.04, 0.1])
async def test_a_key_that_is_held_decides_one_row(delay: float, gap: float, monkeypatch: pytest.MonkeyPatch) -> None:
    times = [1.0, *(1.0 + delay + gap * n for n in range(20))]
    assert await refusals_of(times, monkeypatch) == [False] + [True] * 20


def test_a_click_is_no_repetition_of_anything() -> None:
    typed = TypedInput()
    for _ in range(2):
        click = events.MouseDown(None, 0, 0, 0, 0, 1, shift=False, meta=False, ctrl=False)
        typed.note(click)
        assert typed.seconds_since_same_key == inf
