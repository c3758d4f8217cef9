"""A section with a list, a box that filters it, and a pane that shows or edits the row under the cursor."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input, Static

from memento_tui.api.query_completion import Suggestions, complete_filter
from memento_tui.app_sections import SECTIONS
from memento_tui.tui.columns import ONE_ORDER, Columns, ListColumns, TextBelow, lines_for
from memento_tui.tui.commands import bindings
from memento_tui.tui.display import cells, set_border_title, shown
from memento_tui.tui.row_actions import RowActions
from memento_tui.tui.screens.dialogs import ChoiceScreen, DialogChoice
from memento_tui.tui.section import ChosenRows, Section
from memento_tui.tui.sections.lately import Lately
from memento_tui.tui.selection import Selection, StaleGuard
from memento_tui.tui.side_pane import PaneRoom, SidePane
from memento_tui.tui.widgets.completion import FilterBox
from memento_tui.tui.widgets.frames import HorizontalFrame, ScrollFrame, VerticalFrame
from memento_tui.tui.widgets.paged_rows import PAGE_SIZE, Row, RowSource
from memento_tui.tui.widgets.record_list import Line, RecordList

__all__ = ["ListSection"]


RowT = TypeVar("RowT", bound=Row)

_EMPTY_MARGIN = 4
"""Lines that the text of an empty list has around it."""

_WHOLE_FILTER = re.compile(r'(?:^|\s)-?\w+:(?:[^\s"]*"[^"]*"|\S*[^\s:,"])$')
"""A filter with its value at the end of a query: what is typed behind it is no more of the value."""

_COPIED_BY = (("text", "y"), ("title", "t"), ("link", "l"), ("id", "i"))
"""The parts of a row that can be copied, each with the letter that chooses it."""

_MAX_COPIED_SHOWN = 200
"""Characters of a copied text from which the status line is made."""


class ListSection(Section, Generic[RowT]):
    """The base of sections with a list: reading, filtering, marks, actions on many rows, and following the journal.

    A subclass returns the source of the rows (`make_source`), the lines of one (`row_lines`), the text above the list
    (`head_text`) and that of an empty list (`empty_text`), and shows beside the list the row under the cursor (`show`).
    """

    FILTER_HINT: ClassVar[str] = "filter"
    NEEDS_SHOWN_ROW: ClassVar[bool] = False
    """Whether a key acts only on a row that was on the screen when it was typed, because it decides for others."""
    NEEDS_ROW: ClassVar[frozenset[str]] = frozenset()
    """The ids of the commands that act on a row; the key bar leaves them out of an empty list."""
    ORDERS: ClassVar[Mapping[str, str]] = {}
    """The orders of the list by name, in words that say what comes first; the first is in force until one is chosen."""
    SIDE_TITLE: ClassVar[str] = "Text"
    """The title of the pane beside the list, on its frame."""
    COLUMNS: ClassVar[Columns[Any] | None] = None
    """The columns of a row; ``None`` where there are none to choose."""
    BELOW: ClassVar[TextBelow[Any] | None] = None
    """The text below the columns of a row where a short list has room for it; ``None`` where rows have one line."""
    SHOWS_RECENT_ACTIVITY: ClassVar[bool] = True
    """Whether the lines that a short list leaves free on a tall screen show recent activity."""
    RECENT_ACTIVITY_OF: ClassVar[tuple[str, ...]] = ()
    """The kinds of records of which they tell; all where none is named."""
    NO_COLUMNS: ClassVar[str] = "This list has no columns to choose."
    """The answer to a person who wants to choose columns where `column_set` returns none."""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list"), *bindings("columns")]

    def __init__(self) -> None:
        super().__init__(id=self.SCOPE)
        self.filter = ""
        """The text in the filter box."""
        self.new_above = 0
        """How many rows have arrived above the row at the top of the screen."""
        self._known_total = 0
        self._lines_of_row = 1
        self._fitted_to = 0
        """The lines of the pane that the rows were last given their lines for; 0 where they are to get them anew."""
        self.filter_box = FilterBox(
            self.FILTER_HINT, self.focus_content, scope=self.SCOPE, complete=self.complete_filter
        )
        """The box that filters."""
        self.head = Static(classes="head", id=f"{self.SCOPE}-head")
        self.list: RecordList[RowT] = self.make_list()
        self.list.fit = self.lines_of_row
        self.nothing = Static(classes="nothing")
        """The text of an empty list."""
        self.lately = Lately(*self.RECENT_ACTIVITY_OF)
        """The recent activity, in the lines that a short list leaves free."""
        self.columns = ListColumns(self)
        """The columns of the list."""
        self.rows_pane = VerticalFrame(classes="rows")
        self.side_text = Static(classes="side-text")
        self.side_scroll = ScrollFrame(classes="side-scroll", can_focus=False)
        """The scrolling part of the side pane."""
        self.selection: Selection[Any] = self.make_selection()
        self.guard = StaleGuard(self._key_was_pressed_since)
        self.actions = RowActions(self)
        """The actions on the chosen rows."""
        self.side_pane = SidePane(self.compose_side, self._editing_changed)
        self.room = PaneRoom(self, self.rows_pane, self.side_pane)
        """How the list and the side pane share the section."""

    def _key_was_pressed_since(self, moment: float) -> bool:
        return self.memento.typed.key_was_pressed_since(moment)

    @cached_property
    def order(self) -> str:
        """The order of the list, which is kept over restarts; empty where there is only one."""
        kept = self.memento.workspace.settings.get(f"app.order.{self.SCOPE}") or ""
        return kept if kept in self.ORDERS else next(iter(self.ORDERS), "")

    @property
    def is_in_first_order(self) -> bool:
        """Whether the list stands in the order that it has until another is chosen."""
        return self.order == next(iter(self.ORDERS), "")

    @property
    def is_in_chosen_order(self) -> bool:
        """Whether the rows stand in the order that was chosen, and not in one that their filter makes."""
        return True

    def can_sort(self) -> bool:
        """Return whether the rows can be put in another order now; if not, say why in the status line."""
        return True

    # For subclasses

    def list_title(self) -> str:
        """Return the title of the list, for its frame."""
        return next(tab.title for tab in SECTIONS if tab.name == self.SCOPE)

    def column_set(self) -> Columns[Any] | None:
        """Return the columns of the list that is shown."""
        return self.COLUMNS

    @property
    def has_columns(self) -> bool:
        """Whether the list that is shown has columns to choose."""
        return self.column_set() is not None

    def row_indent(self) -> int:
        """Return the cells that stand in front of every row."""
        return 0

    def make_selection(self) -> Selection[Any]:
        """Return the selection of rows that commands are for."""
        return Selection(lambda: self.rows)

    def make_list(self) -> RecordList[RowT]:
        """Return the list, which is made once."""
        return RecordList(self.draw_row, id=f"{self.SCOPE}-list")

    def make_source(self) -> RowSource[RowT]:
        """Return the source of the rows that the present `filter` selects. It is read on threads."""
        raise NotImplementedError

    def row_lines(self, row: RowT, width: int) -> Sequence[Line]:
        """Return the lines of one row; the list makes their text safe."""
        raise NotImplementedError

    def draw_row(self, row: RowT, width: int) -> Sequence[Line]:
        """Return the lines of one row, with the text below its columns where rows have room for it."""
        lines, columns = self.row_lines(row, width), self.column_set()
        if not self.has_text_below or self.BELOW is None or columns is None or len(lines) > 1:
            return lines
        indent = self.row_indent()
        below = self.BELOW.lines(row, columns, self.columns.names, width - indent, self.list.row_height)
        return [*lines, *([(" " * indent, ""), *line] for line in below)]

    def show(self, row: RowT | None) -> None:
        """Show beside the list the row under the cursor; ``None`` where there is none."""
        raise NotImplementedError

    def head_text(self) -> Content:
        """Return the text at the right above the list."""
        return Content(self.counted())

    def empty_text(self) -> str:
        """Return the text of an empty list: the records that it would hold, and the next step."""
        raise NotImplementedError

    def id_to_copy(self, row: RowT) -> str:
        """Return the id that is copied for a row."""
        return row.id

    def texts_to_copy(self, row: RowT) -> Mapping[str, str]:
        """Return the parts of a row that can be copied: its text, title, link and id, as far as it has them."""
        return {"id": self.id_to_copy(row)}

    def texts_for_commands(self, row: RowT) -> Mapping[str, str]:
        """Return the texts of a row that are passed to the person's own commands."""
        return self.texts_to_copy(row)

    def ids_for_commands(self) -> Sequence[str]:
        """Return the ids of the chosen rows, for a command of the person's own."""
        return self.selection.ids()

    def chosen(self) -> ChosenRows | None:
        """Return the rows that a command acts on: the one under the cursor, as it is, and the marked ones."""
        row = self.rows.current
        return ChosenRows("" if row is None else row.id, getattr(row, "version", 0), frozenset(self.rows.marks))

    def is_available(self, command: str) -> bool:
        """Return whether a command has a row to act on, where it needs one."""
        return command not in self.NEEDS_ROW or self.rows.current is not None or bool(self.rows.marks)

    def describe_rows(self, ids: Sequence[str]) -> Sequence[str]:
        """Return a line for each of some rows, for a question about them; the text need not be safe."""
        return ids

    def obstacle(self) -> str:
        """Return in a sentence why no key may act here at present, for a section to add to; empty where one may."""
        if self.actions.is_running:
            return "The last action is still running; Escape stops it."
        return "" if self.rows.current is not None or self.rows.marks else "Nothing is selected."

    def around_action(self) -> AbstractContextManager[None]:
        """Return a context in which each row is acted on; a section may put errors into its own words there."""
        return nullcontext()

    def compose_side(self) -> ComposeResult:
        """Make the content of the side pane; by default one text that scrolls (`set_side_text` fills it)."""
        with self.side_scroll:
            yield self.side_text

    def complete_filter(self, line: str, cursor: int) -> Suggestions:
        """Return completions at the cursor of the filter. Called on threads."""
        return complete_filter(line, cursor, self.filter_fields())

    def filter_fields(self) -> Mapping[str, Iterable[tuple[str, str]]]:
        """Return the fields that the filter knows, with values and a note for each. Called on threads."""
        return {}

    # Layout

    def compose(self) -> ComposeResult:
        """Lay out the section."""
        set_border_title(self.rows_pane, self.list_title())
        set_border_title(self.side_pane, self.SIDE_TITLE)
        yield self.filter_box.suggestions
        with HorizontalFrame(classes="bar"):
            yield self.filter_box
            yield self.head
        with self.room.panes:
            with self.rows_pane:
                if self.column_set() is not None:
                    yield self.columns.header
                yield self.list
                yield self.nothing
                yield self.lately
            yield self.room.divider
            yield self.side_pane

    @property
    def rows(self) -> RecordList[RowT]:
        """The list that the cursor is in."""
        return self.list

    def on_resize(self) -> None:
        """Put the side pane where there is room for it."""
        super().on_resize()
        self.room.share()
        self.call_after_refresh(self._fit)

    @property
    def count_of_key(self) -> int:
        """The count that was typed before the key that is being carried out."""
        return self.rows.count_of_key

    def forget_count(self) -> None:
        """Take note that the key was carried out: its count is for nothing that comes later."""
        self.rows.forget_count()

    @property
    def has_text_below(self) -> bool:
        """Whether rows have several lines now, because the list is short and the screen is tall."""
        return self.BELOW is not None and self.list.row_height > 1

    @property
    def columns_shown_below(self) -> Collection[str]:
        """The columns that are left out now, because the text below each row says the same whole."""
        return self.BELOW.instead_of if self.BELOW is not None and self.has_text_below else ()

    def _fit(self) -> None:
        """Fit the rows to the lines of the pane, then the recent activity to the lines that they leave."""
        self.list.fit_rows()
        self._fit_lately()

    def _fit_lately(self) -> None:
        """Fit the recent activity to the lines that the list leaves free."""
        if self.SHOWS_RECENT_ACTIVITY:
            listed = self.list.total * self.list.row_height or self.empty_text().count("\n") + _EMPTY_MARGIN
            self.lately.fit(self._lines_of_pane() - listed if self.has_room_below() else 0)

    def has_room_below(self) -> bool:
        """Return whether other rows may stand below the list; below a filter's results they would look like results."""
        return not self.filter

    def _lines_of_pane(self) -> int:
        """Return the lines that the list has where nothing stands below it."""
        return self.rows_pane.size.height - (self.column_set() is not None)

    def lines_of_row(self) -> int:
        """Return the lines that each row is to have: others where the list begins anew or the pane has another size.

        While something is written or a filter is typed they stay: rows that are being read never grow by themselves.
        """
        pane = self._lines_of_pane()
        if self.BELOW is not None and pane != self._fitted_to:
            fitting = lines_for(self.list.total, pane)
            self._lines_of_row = min(self._lines_of_row, fitting) if self.filter else fitting
            self._fitted_to = pane
        return self._lines_of_row

    def action_zoom(self) -> None:
        """Show the list alone, then the pane alone, then both."""
        self.memento.show_status(self.room.zoom())

    def show_side(self) -> None:
        """Bring the pane into view where the list has all the room, because something opens in it."""
        self.room.show_side()

    def set_side_text(self, text: Content, *, same: bool = False) -> None:
        """Fill the default side; ``same`` keeps the scroll position, because the text is about the same row."""
        self.side_text.update(text)
        if not same:
            self.side_scroll.scroll_home(animate=False)

    def on_mount(self) -> None:
        """Read the first rows. Textual calls this beside the method of a subclass, which so must not call it."""
        self.list.takes_counts = self.memento.workspace.config.app.counts
        self.watch(self.list, "row_height", self._fit_lately, init=False)
        self.read()

    def focus_content(self) -> None:
        """Go to the list, or to the editor if one is open."""
        if self.side_pane.is_editing:
            self.side_pane.focus_editor()
        else:
            self.focus_part(self.rows)

    @property
    def is_working(self) -> bool:
        """Whether an action on many rows is under way."""
        return self.actions.is_running

    def _editing_changed(self, is_editing: bool) -> None:  # noqa: FBT001 - the only argument
        self.show_side()
        self.set_class(is_editing, "-editing")
        if not is_editing:
            self.focus_part(self.rows)

    # Reading

    def read(self, *, select: str | None = None) -> None:
        """Show the rows of another filter from the first, with the cursor on the row ``select`` if it is among them."""
        source = self.make_source()
        rows = source.page(0, PAGE_SIZE)
        self.new_above = 0
        if len(rows) < PAGE_SIZE:
            self._known_total = len(rows)
            self.rows.set_rows(rows, len(rows), source, select=select)
        else:
            # Counting takes as long as there are rows; the first page does not wait for it.
            self.rows.set_rows(rows, max(self._known_total, len(rows)), source, select=select)
            self.rows.refresh_rows(source, select=select)
        if not self.filter:
            self._fitted_to = 0
            self.list.fit_rows()
            self.lately.read()
        self.update_head()

    def reload(self) -> None:
        """Read again, keeping the position in the list."""
        if self.rows.total == 0:
            self.read()
        else:
            self.rows.refresh_rows(self.make_source())

    def show_query(self, query: str) -> None:
        """Put the query into the filter box."""
        self.filter_box.value = query

    def step_filter(self, filters: Sequence[str], present: str) -> None:
        """Put the filter behind the ``present`` one into the box; behind the last one, none."""
        steps = ["", *filters]
        here = steps.index(present) if present in steps else 0
        self.filter_box.value = steps[(here + 1) % len(steps)]

    @on(Input.Changed, "FilterBox")
    def _filter_typed(self, event: Input.Changed) -> None:
        event.stop()
        self.filter = event.value
        self.filter_changed()

    def filter_changed(self) -> None:
        """Show the rows that the new filter selects."""
        self.read()

    @on(RecordList.Refreshed)
    def _rows_refreshed(self, event: RecordList.Refreshed) -> None:
        if event.record_list is not self.rows:
            return
        self._known_total = self.rows.total
        self.lately.read()
        self.new_above = self.new_above + event.moved if self.rows.first_visible else 0
        self.update_head()

    @on(RecordList.Highlighted)
    def _row_reached(self, event: RecordList.Highlighted[RowT]) -> None:
        if event.record_list is self.rows:
            self._reach(event.row)

    def go_on(self) -> None:
        """Show the next row, in the same frame as the list without the one under the cursor, which is known to be gone.

        Where the next one is yet to be read, it is shown then.
        """
        following = self.rows.remove_current()
        if following is not None:
            self._reach(following)

    def _reach(self, row: RowT | None) -> None:
        self.guard.row_reached(row)
        if self.rows.cursor == 0 and self.new_above:
            self.new_above = 0
            self.update_head()
        self.show(row)
        self.actions.row_reached()
        self.call_after_refresh(self.actions.row_shown)
        self.memento.focus_changed()

    def note_decided(self, names: Iterable[str] = ()) -> None:  # noqa: ARG002 - for a section that counts them
        """Let keys that were typed until now act on no row: they were meant for the one that was just decided.

        ``names`` are the ids of the rows that were decided.
        """
        self.actions.row_shown()

    @on(RecordList.MarksChanged)
    def _rows_marked(self, event: RecordList.MarksChanged) -> None:
        if event.record_list is self.rows:
            self.selection.update_marks()
            self.memento.focus_changed()
            self.update_head()

    @on(RecordList.LoadFailed)
    def _rows_failed(self, event: RecordList.LoadFailed) -> None:
        self.memento.show_status(str(event.error), problem=True)

    def counted(self) -> str:
        """Return in words how many rows there are, how many came above, and how many are marked."""
        words = [f"{self.rows.total:,}"]
        if self.new_above > 0:
            words.append(f"{self.new_above:,} new above (g)")
        if self.rows.marks:
            words.append(f"{len(self.rows.marks):,} marked")
        if not self.is_in_first_order:
            words.append(f"{self.ORDERS[self.order].lower()} first")
        if self.rows.typed_count:
            words.append(self.count_words())
        return "  ".join(words)

    def count_words(self) -> str:
        """Return the count that was typed for the next key, and where digits do not lead; empty where there is none."""
        count = self.rows.typed_count
        leads = f"  ({count}] goes to section {count})" if count and int(count) <= len(SECTIONS) else ""
        return f"{count} x ...{leads}" if count else ""

    def update_head(self) -> None:
        """Write the lines above the list, and the text of an empty list."""
        self.head.update(self.head_text())
        self.columns.header.refresh()
        self._fit_lately()
        empty = self.rows.total == 0
        # The list stays, a line high: a widget that is hidden loses the focus, and the next key would go elsewhere.
        self.rows_pane.set_class(empty, "-empty")
        if empty:
            self.nothing.update(Content(self.empty_text()))

    # Actions

    def action_filter(self) -> None:
        """Go to the filter box."""
        # At once: a key typed right behind this one belongs to the box already. A query that was not typed here, such
        # as a saved one, goes on at its end, and behind a whole filter with a word of its own.
        if _WHOLE_FILTER.search(self.filter_box.value):
            self.filter_box.value += " "
        self.filter_box.cursor_position = len(self.filter_box.value)
        self.focus_part(self.filter_box)

    def action_sort(self) -> None:
        """Show the rows in the next order, with the cursor on the first."""
        orders = list(self.ORDERS)
        if not orders:
            self.memento.show_status(ONE_ORDER, problem=True)
        elif self.can_sort():
            self.sort_by(orders[(orders.index(self.order) + 1) % len(orders)])

    @work(exclusive=True, group="columns")
    async def action_columns(self) -> None:
        """Let the person choose the columns, and their order."""
        await self.columns.choose()

    def sort_by(self, order: str) -> None:
        """Show the rows in one of the orders, with the cursor on the first, and keep it."""
        self.order = order
        self.guard.moved_by_person()
        self.read()
        self.memento.show_status(f"{self.ORDERS[self.order]} first.")
        if not self.memento.workspace.is_read_only:
            self.memento.workspace.settings.set(f"app.order.{self.SCOPE}", self.order)

    @work(exclusive=True, group="copy")
    async def action_copy(self) -> None:
        """Ask which part of the row to copy, and copy it."""
        row = self.rows.current
        if row is None:
            return
        texts = self.texts_to_copy(row)
        choices = [DialogChoice(name, letter, name) for name, letter in _COPIED_BY if texts.get(name)]
        name: str | None = "id"
        if len(choices) > 1:
            name = await self.app.push_screen_wait(ChoiceScreen(Content("Copy"), choices))
        if name is not None:
            # What is pasted into a terminal acts there: it is as safe as what is shown.
            text = shown(texts[name], multiline=True)
            self.app.copy_to_clipboard(text)
            self.memento.show_status(f"Copied its {name}: {cells(text[:_MAX_COPIED_SHOWN], 50).rstrip()}")

    def action_unmark(self) -> None:
        """Unmark all rows."""
        self.rows.clear_marks()

    def action_scroll_side(self, lines: int) -> None:
        """Scroll the side pane."""
        self.side_scroll.scroll_relative(y=lines, animate=False)

    def action_clear(self) -> None:
        """Stop the action that is under way; else remove the marks, else the filter."""
        if self.actions.is_running:
            self.actions.stop()
        elif self.rows.marks:
            self.rows.clear_marks()
        elif self.filter:
            self.filter_box.value = ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's
        """Leave the slash to a text that is being typed."""
        return action != "filter" or not (isinstance(self.screen.focused, Input) or self.side_pane.is_editing)
