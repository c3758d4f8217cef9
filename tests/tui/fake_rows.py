"""A source of any number of rows that takes no memory, and a list on a screen of its own."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.pilot import Pilot

from memento_tui.errors import DataDirectoryError
from memento_tui.tui.widgets.record_list import Line, RecordList
from tests.tui.settling import hold_back


@dataclass(frozen=True)
class FakeRow:
    id: str
    title: str


class FakeRows:
    """Rows ``r0``, ``r1``... Above them are those that arrived later, the newest first: ``n1``, ``n0``."""

    def __init__(self, count: int, *, arrived: int = 0, gone: Sequence[int] = (), title: str = "title of") -> None:
        self.count = count
        self.arrived = arrived
        self.gone = sorted(gone)
        """Those of the first kind that are there no more."""
        self.title = title
        self.pages_read: list[int] = []
        """The index at which each page that was read starts."""
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.is_broken = False

    def id_at(self, index: int) -> str:
        if index < self.arrived:
            return f"n{self.arrived - 1 - index}"
        number = index - self.arrived
        for gone in self.gone:
            number += gone <= number
        return f"r{number}"

    def row(self, index: int) -> FakeRow:
        row_id = self.id_at(index)
        return FakeRow(row_id, f"{self.title} {row_id}")

    def first_page(self) -> list[FakeRow]:
        return [self.row(index) for index in range(min(100, self.total()))]

    def total(self) -> int:
        hold_back(self.may_answer)
        return self.count + self.arrived - len(self.gone)

    def page(self, start: int, count: int) -> Sequence[FakeRow]:
        hold_back(self.may_answer)
        if self.is_broken:
            raise DataDirectoryError("The disk is gone.")
        self.pages_read.append(start)
        return [self.row(index) for index in range(start, min(start + count, self.total()))]

    def locate(self, row_id: str) -> int | None:
        number = int(row_id[1:])
        if row_id.startswith("n"):
            return self.arrived - 1 - number if number < self.arrived else None
        if number in self.gone or number >= self.count:
            return None
        return number + self.arrived - sum(gone < number for gone in self.gone)

    def ids(self, start: int, count: int) -> Sequence[str]:
        return [self.id_at(index) for index in range(start, start + count)]


def draw_title(row: FakeRow, width: int) -> Sequence[Line]:  # noqa: ARG001 - a list hands it to whoever wants it
    return [[(row.title, "")], [("second line", "muted")]]


class FakeListApp(App[None]):
    """A list that fills the screen, and every message that it posted."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [("escape", "note_escape", "Note"), ("enter", "note_enter", "Note")]
    CSS = "RecordList { height: 1fr; }"

    def __init__(self, source: FakeRows, *, row_height: int = 1) -> None:
        super().__init__()
        self.source = source
        self.rows: RecordList[FakeRow] = RecordList(draw_title, row_height=row_height)
        self.received: list[Message] = []
        self.escapes = 0
        """How often Escape was left to the app."""
        self.entered: list[str] = []
        """The row under the cursor at each Enter."""

    def action_note_escape(self) -> None:
        self.escapes += 1

    def action_note_enter(self) -> None:
        self.entered += [self.rows.current.id] if self.rows.current else []

    def compose(self) -> ComposeResult:
        yield self.rows

    def on_mount(self) -> None:
        self.rows.set_rows(self.source.first_page(), self.source.total(), self.source)
        self.rows.focus()

    def on_record_list_highlighted(self, message: RecordList.Highlighted[FakeRow]) -> None:
        self.received.append(message)

    def on_record_list_marks_changed(self, message: RecordList.MarksChanged) -> None:
        self.received.append(message)

    def on_record_list_refreshed(self, message: RecordList.Refreshed) -> None:
        self.received.append(message)

    def on_record_list_load_failed(self, message: RecordList.LoadFailed) -> None:
        self.received.append(message)

    def lines(self) -> list[str]:
        """Return what the list shows, without the space at the ends of lines."""
        return [strip.text.rstrip() for strip in self.rows.render_lines(self.rows.size.region)]

    def cursor_line(self) -> int:
        """Return on which line of the screen the cursor is."""
        return next(number for number, line in enumerate(self.lines()) if line.startswith(">"))

    def highlighted(self) -> list[str | None]:
        """Return the ids of the rows that were announced."""
        rows = [message.row for message in self.received if isinstance(message, RecordList.Highlighted)]
        return [None if row is None else row.id for row in rows]

    def last(self, kind: type[Message]) -> Message:
        return [message for message in self.received if isinstance(message, kind)][-1]


async def settle(pilot: Pilot[None]) -> None:
    """Wait until everything that was asked for was read and painted."""
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()
