"""The screen of the past: the memories as they were after one entry of the journal. Nothing can be changed in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, ClassVar

import msgspec
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from memento_tui import clock
from memento_tui.api.types import MemorySummary
from memento_tui.errors import MementoError
from memento_tui.model import Memory
from memento_tui.model.filters import with_default_statuses
from memento_tui.moments import format_moment
from memento_tui.search.query_language import Query
from memento_tui.text.quantities import count_of
from memento_tui.tui.commands import KeyMap, KeyScope, bindings, commands_in_scopes, key_names
from memento_tui.tui.display import literal, set_border_title
from memento_tui.tui.memory_columns import memory_line
from memento_tui.tui.row_sources import summary_of
from memento_tui.tui.screens.dialogs import AskLine, Dialog
from memento_tui.tui.section import app_of, in_thread
from memento_tui.tui.views.memory_side import Preview
from memento_tui.tui.views.view import FixedRows, ViewList
from memento_tui.tui.widgets.frames import VerticalFrame
from memento_tui.tui.widgets.paged_rows import PAGE_SIZE, RowSource

__all__ = ["PastScreen", "ask_for_moment"]

if TYPE_CHECKING:
    from textual.app import App

    from memento_tui.api import Workspace
    from memento_tui.api.past import Past

_HINT = "A date, a time, 3 days ago, or entry 512. Enter goes there, Escape stays"
_MOST_HITS = 500
_WIDE_COLUMNS = 100


async def ask_for_moment(app: App[None], proposed: str) -> None:
    """Ask which moment the person wants to see, and show it."""
    given = await app.push_screen_wait(AskLine("See the memory as it was", proposed, hint=_HINT, proposed=True))
    if given:
        app.push_screen(PastScreen(given))


class _Shown(msgspec.Struct, frozen=True):
    """The rows that a moment and a query select, read on a thread."""

    source: RowSource[MemorySummary]
    first: Sequence[MemorySummary]
    total: int
    query: Query
    problems: Sequence[str]


class PastScreen(Dialog[None]):
    """The memories as they were, with a search box and the preview of the one under the cursor."""

    SCOPE: ClassVar[KeyScope] = "past"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("past")]

    DEFAULT_CSS = """
    PastScreen { align: left top; background: $background; }
    PastScreen > Vertical { height: 100%; }
    PastScreen #past-head { height: 1; padding: 0 1; background: $panel; }
    PastScreen #past-head { color: $text-warning; text-style: bold reverse; }
    PastScreen #past-head, PastScreen #past-keys { text-wrap: nowrap; text-overflow: ellipsis; }
    PastScreen Input, PastScreen Input:focus { border: none; height: 1; padding: 0 1; background: $surface; }
    PastScreen #past-note { height: auto; max-height: 3; padding: 0 1; color: $text-muted; }
    PastScreen #past-panes { height: 1fr; layout: vertical; }
    PastScreen #past-rows, PastScreen #preview { height: 1fr; }
    PastScreen #preview { border-top: solid $panel; border-title-color: $text-muted; }
    PastScreen.-wide #past-panes { layout: horizontal; }
    PastScreen.-wide #past-rows, PastScreen.-wide #preview {
        width: 1fr; border: round $foreground 25%; border-title-color: $text-muted;
    }
    PastScreen.-wide #preview { margin-left: 1; padding: 0 0 0 1; }
    PastScreen #past-keys { height: 1; padding: 0 1; background: $footer-background; color: $footer-foreground; }
    """

    def __init__(self, moment: str) -> None:
        super().__init__()
        self._moment = moment
        self.past: Past | None = None
        """The moment that is shown; ``None`` until it is read, or where it could not be."""
        self.head = Static(id="past-head")
        self.filter_box = Input(placeholder='search: words "phrase" -not tag:x kind:decision')
        self.note = Static(id="past-note")
        self.rows: ViewList[MemorySummary] = ViewList(memory_line)
        """The memories of that moment."""
        self.preview = Preview(has_story=False)
        self._query: Query | None = None
        self._at: datetime | None = None
        """The moment that was asked for, from which a day is stepped; an entry's own where one was."""

    def compose(self) -> ComposeResult:
        """Lay out the moment, the search, the list and the preview."""
        rows = VerticalFrame(id="past-rows")
        set_border_title(rows, "Memories of then")
        set_border_title(self.preview, "Text")
        with Vertical():
            yield self.head
            yield self.filter_box
            yield self.note
            with Horizontal(id="past-panes"):
                with rows:
                    yield self.rows
                yield self.preview
            yield Static(_key_line(app_of(self).keys), id="past-keys")

    @property
    def workspace(self) -> Workspace:
        """The workspace that the app is on."""
        return app_of(self).workspace

    def on_mount(self) -> None:
        """Go to the moment that was asked for."""
        self.focus_part(self.rows)
        self._go(self._moment)

    def on_resize(self) -> None:
        """Put the preview beside the list where there is room."""
        self.set_class(self.size.width >= _WIDE_COLUMNS, "-wide")

    def on_unmount(self) -> None:
        """Let go of the records of the past."""
        if self.past is not None:
            self.past.close()

    @work(exclusive=True, group="past")
    async def _go(self, moment: str, at: datetime | None = None) -> None:
        """Read another moment and show it; where it cannot be read, the present one stays.

        ``at`` is the moment where it is one of the clock.
        """
        self.note.update(Content("Going back ..."))
        try:
            past, newest = await in_thread(self, self._read, moment)
        except MementoError as error:
            self.note.update(literal(str(error), "$text-error"))
            return
        self._at = at or past.moment
        before, self.past = self.past, past
        if before is not None:
            before.close()
        self.head.update(
            Content(
                f"The past, read-only: {past.moment:%Y-%m-%d %H:%M}Z, after entry {past.entry.seq:,} of {newest:,}"
                f", {count_of(past.count, 'memory', 'memories')}"
            )
        )
        await self._show(past)

    def _read(self, moment: str) -> tuple[Past, int]:
        return self.workspace.at(moment), self.workspace.activity.head()

    async def _show(self, past: Past) -> None:
        """Show the memories of the past that the search box selects."""
        try:
            shown = await in_thread(self, _select, past, self.filter_box.value)
        except MementoError as error:
            self.note.update(literal(str(error), "$text-error"))
            return
        self._query = shown.query
        held = self.rows.current.id if self.rows.current is not None else None
        self.rows.set_rows(shown.first, shown.total, shown.source, select=held)
        found = f"{shown.total:,} found. " if self.filter_box.value.strip() else ""
        said = " ".join(shown.problems) or (found if shown.total else "No memories then, or none that is searched for.")
        self.note.update(literal(" ".join(filter(None, [said, past.remark]))))
        self._preview()

    @on(ViewList.Highlighted)
    @on(ViewList.Refreshed)
    def _keep(self, event: ViewList.ListMessage) -> None:
        event.stop()
        self._preview()

    @work(exclusive=True, group="preview")
    async def _preview(self) -> None:
        row, past = self.rows.current, self.past
        if row is None or past is None:
            self.preview.show(None)
            return
        try:
            memory: Memory | None = await in_thread(self, past.get, row.id)
        except MementoError as error:
            self.note.update(literal(str(error), "$text-error"))
            return
        if past is self.past:
            self.preview.show(memory, self._query)

    @on(Input.Changed)
    @work(exclusive=True, group="past")
    async def _search(self, event: Input.Changed) -> None:
        event.stop()
        if self.past is not None:
            await self._show(self.past)

    @on(Input.Submitted)
    def _to_list(self, event: Input.Submitted) -> None:
        event.stop()
        self.focus_part(self.rows)

    def action_search(self) -> None:
        """Go to the search box."""
        self.focus_part(self.filter_box)

    def action_leave(self) -> None:
        """Leave the search box, then clear it, then go back to the present."""
        if self.filter_box.has_focus:
            self.focus_part(self.rows)
        elif self.filter_box.value:
            self.filter_box.value = ""
        else:
            self.dismiss(None)

    def action_step(self, entries: int) -> None:
        """Go to an earlier or later entry of the journal."""
        if self.past is not None:
            self._go(f"entry {max(1, self.past.entry.seq + entries)}")

    def action_day(self, days: int) -> None:
        """Go to the same hour of another day."""
        if self._at is not None:
            at = min(self._at + timedelta(days=days), clock.now())
            self._go(format_moment(at), at)

    def action_scroll(self, lines: int) -> None:
        """Scroll the text of the memory under the cursor."""
        self.preview.scroll_relative(y=lines, animate=False)

    @work(exclusive=True, group="ask")
    async def action_moment(self) -> None:
        """Ask for another moment."""
        proposed = "" if self.past is None else f"entry {self.past.entry.seq}"
        given = await self.app.push_screen_wait(
            AskLine("See the memory as it was", proposed, hint=_HINT, proposed=True)
        )
        if given:
            self._go(given)


def _key_line(keys: KeyMap) -> Content:
    """Return the keys of this screen as a line, the way back first: a narrow screen cuts its end."""
    commands = [command for command in commands_in_scopes(["past"]) if command.label]
    parts = [
        Content.styled(key_names(keys.of(command).split(",")[0]), "bold $footer-key-foreground")
        + literal(f" {command.label}")
        for command in sorted(commands, key=lambda command: command.id != "past.leave")
    ]
    return Content("  ").join(parts)


def _select(past: Past, source: str) -> _Shown:
    """Return the rows that a query selects in the past, by its words where it has some. For a thread."""
    query = past.parse_query(source)
    if query.words or query.excluded or query.error:
        answer = past.search(source, limit=_MOST_HITS)
        rows = [summary_of(hit.memory) for hit in answer.hits]
        return _Shown(FixedRows(rows), rows[:PAGE_SIZE], len(rows), query, answer.problems)
    view = past.view(with_default_statuses(query.filter))
    return _Shown(view, view.page(0, PAGE_SIZE), view.total(), query, query.problems)
