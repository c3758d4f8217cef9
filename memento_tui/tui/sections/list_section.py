"""A section with a list, a box that filters it, and a pane that shows or edits the row under the cursor."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from time import monotonic
from typing import Any, ClassVar, Generic, TypeVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from memento_tui.api.drafts import UnsavedTextFile
from memento_tui.errors import MementoError
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import cells, literal
from memento_tui.tui.screens.dialogs import Confirm
from memento_tui.tui.section import Section
from memento_tui.tui.widgets.paged_rows import PAGE_SIZE, Row, RowSource
from memento_tui.tui.widgets.record_list import Line, RecordList
from memento_tui.tui.widgets.text_draft import EditorLeft, EditorSaved, TextDraft

__all__ = ["EditingSection", "ListSection"]


class FilterBox(Input):
    """One line; every letter filters at once. ``to_list`` goes to the list that it filters."""

    SCOPE: ClassVar[KeyScope] = "search"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("search")]

    def __init__(self, hint: str, to_list: Callable[[], None], *, id: str) -> None:  # noqa: A002 - every widget's name for it
        super().__init__(placeholder=hint, id=id, classes="filter")
        self._to_list = to_list

    def action_leave(self) -> None:
        """Clear the box; if it is clear already, go to the list."""
        if self.value:
            self.value = ""
        else:
            self._to_list()

    def action_to_list(self) -> None:
        """Go to the list."""
        # At once: a key typed right behind this one belongs to the list already.
        self._to_list()


RowT = TypeVar("RowT", bound=Row)

_IGNORE_KEYS_SECONDS = 0.5
"""How long deeds are refused after another row came under the cursor by itself."""

_ACTIONS_PER_PROGRESS = 50
"""Deeds of a bulk between two words of progress: often enough to be seen, seldom enough to cost nothing."""

_MOST_ROWS_NAMED = 5
"""How many of the rows that a question is about it names."""


class ListSection(Section, Generic[RowT]):
    """What the lists of the app share: reading, filtering, marks, deeds on many rows, and following the journal.

    A subclass says where rows come from (`make_source`), what one looks like (`draw`), what stands beside the list for
    the row under the cursor (`show`), what the line above says (`head`), and what an empty list says (`nothing`).
    """

    FILTER_HINT: ClassVar[str] = "filter"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list")]

    def __init__(self) -> None:
        super().__init__(id=self.SCOPE)
        self.filter = ""
        """What the filter box holds."""
        self.new_above = 0
        """How many rows have arrived above what is being read."""
        self._known_total = 0
        self._ignore_keys_until = 0.0
        self._reached: tuple[str, int] | None = None
        """The id and the version of the row under the cursor, as it was told last."""
        self._acted = False
        self._bulk: asyncio.Task[None] | None = None
        """What is being done to chosen rows."""
        self._is_stopping = False

    # What a section says of itself

    def make_source(self) -> RowSource[RowT]:
        """Return where the rows come from, given the present `filter`. It is read on threads."""
        raise NotImplementedError

    def row_lines(self, row: RowT, width: int) -> Sequence[Line]:
        """Return the lines of one row; the list makes their text safe."""
        raise NotImplementedError

    def show(self, row: RowT | None) -> None:
        """Show what belongs to the row under the cursor; ``None`` where there is none."""
        raise NotImplementedError

    def head_text(self) -> Content:
        """Return what stands at the right above the list."""
        return Content(self.counted())

    def empty_text(self) -> str:
        """Return what an empty list says: what would be here, and what to do next."""
        raise NotImplementedError

    def id_to_copy(self, row: RowT) -> str:
        """Return the id that is copied of a row."""
        return row.id

    def describe_rows(self, ids: Sequence[str]) -> Sequence[str]:
        """Return a line for each of some rows, for a question about them; the text need not be safe."""
        return ids

    def compose_side(self) -> ComposeResult:
        """Make what stands beside the list; by default one text that scrolls (`set_side_text` fills it)."""
        with VerticalScroll(classes="side-scroll", can_focus=False):
            yield Static(classes="side-text")

    # Layout

    def compose(self) -> ComposeResult:
        """Lay out the section."""
        with Horizontal(classes="bar"):
            yield FilterBox(self.FILTER_HINT, self.focus_content, id=f"{self.SCOPE}-filter")
            yield Static(classes="head", id=f"{self.SCOPE}-head")
        with Container(classes="panes"):
            with Vertical(classes="rows"):
                yield RecordList(self.row_lines, id=f"{self.SCOPE}-list")
                yield Static(classes="nothing")
            with Container(classes="side"):
                yield from self.compose_side()

    @property
    def rows(self) -> RecordList[RowT]:
        """The list."""
        return cast("RecordList[RowT]", self.query_one(f"#{self.SCOPE}-list", RecordList))

    @property
    def filter_box(self) -> FilterBox:
        """The box that filters."""
        return self.query_one(FilterBox)

    def set_side_text(self, text: Content, *, same: bool = False) -> None:
        """Fill the default side; ``same`` keeps the place in it, because it is about the same row."""
        self.query_one(".side-text", Static).update(text)
        if not same:
            self.query_one(".side-scroll").scroll_home(animate=False)

    def on_mount(self) -> None:
        """Read the first rows."""
        self.read()

    def focus_content(self) -> None:
        """Go to the list, or to the editor if one is open."""
        editors = self.query("Editor")
        target: Widget = editors.first().query_one("#editor-content") if editors else self.rows
        self.screen.set_focus(target)

    # Reading

    def read(self, *, select: str | None = None) -> None:
        """Show the answer to another filter, from its beginning."""
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
        self.update_head()

    def reload(self) -> None:
        """Read again, keeping the reader's place."""
        if self.rows.total == 0:
            self.read()
        else:
            self.rows.refresh_rows(self.make_source())

    def show_query(self, query: str) -> None:
        """Put the query into the filter box."""
        self.filter_box.value = query

    @on(Input.Changed, "FilterBox")
    def _filter_typed(self, event: Input.Changed) -> None:
        event.stop()
        self.filter = event.value
        self.filter_changed()

    def filter_changed(self) -> None:
        """Show what the new filter selects."""
        self.read()

    @on(RecordList.Refreshed)
    def _rows_refreshed(self, event: RecordList.Refreshed) -> None:
        if event.record_list is not self.rows:
            return
        self._known_total = self.rows.total
        self.new_above = self.new_above + event.moved if self.rows.first_visible else 0
        self.update_head()

    @on(RecordList.Highlighted)
    def _row_reached(self, event: RecordList.Highlighted[RowT]) -> None:
        if event.record_list is not self.rows:
            return
        row = event.row
        reached = None if row is None else (row.id, getattr(row, "version", 0))
        by_itself = None not in (reached, self._reached) and reached != self._reached
        if by_itself and not self._acted and not self.memento.key_was_pressed_since(self._ignore_keys_until):
            self._ignore_keys_until = monotonic() + _IGNORE_KEYS_SECONDS
        self._acted = False
        self._reached = reached
        if self.rows.cursor == 0 and self.new_above:
            self.new_above = 0
            self.update_head()
        self.show(row)
        self.memento.focus_changed()

    @on(RecordList.MarksChanged)
    def _rows_marked(self, event: RecordList.MarksChanged) -> None:
        if event.record_list is self.rows:
            self.marks_changed()
            self.update_head()

    def marks_changed(self) -> None:
        """Take note of what was marked."""

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
        return "  ".join(words)

    def update_head(self) -> None:
        """Write the line above the list, and what an empty list says."""
        self.query_one(".head", Static).update(self.head_text())
        empty = self.rows.total == 0
        # The list stays, a line high: a widget that is hidden loses the focus, and the next key would go elsewhere.
        self.query_one(".rows").set_class(empty, "-empty")
        if empty:
            self.query_one(".nothing", Static).update(Content(self.empty_text()))

    # Deeds

    def check_can_act(self) -> bool:
        """Tell whether a key may do something to the row here; if not, say why.

        Just after the row under the cursor became another or changed by itself, the key was meant for what was there.
        """
        if self._is_running_actions:
            self.memento.show_status("The last action is still running; Escape stops it.", problem=True)
            return False
        if self.rows.current is None and not self.rows.marks:
            self.memento.show_status("Nothing is selected.", problem=True)
            return False
        if monotonic() < self._ignore_keys_until and not self.rows.marks:
            self.memento.show_status(
                "This has just come up or changed; the key was ignored. Press it again.", problem=True
            )
            return False
        return True

    def acted(self) -> None:
        """Note that the person moves the list on: what comes under the cursor next does not come by itself."""
        self._acted = True

    def chosen(self) -> list[str]:
        """Return the ids that a command is for: the marked ones, else the one under the cursor."""
        if self.rows.marks:
            return sorted(self.rows.marks)
        return [self.rows.current.id] if self.rows.current else []

    async def for_each(self, doing: str, done: str, act: Callable[[str], Any]) -> None:
        """Do something to every chosen row, each on its own, and tell how many it worked for.

        ``doing`` and ``done`` are the deed in words, such as "Delete" and "Deleted". Must run in a worker.
        """
        if not self.check_can_act():
            return
        ids = self.chosen()
        if len(ids) > 1 and not await self._is_sure(doing, ids):
            return
        # Another key may end this worker. What was begun is carried out all the same, and told of.
        self._is_stopping = False
        self._bulk = asyncio.create_task(self._carry_out(doing, done, act, ids))
        await asyncio.shield(self._bulk)

    @property
    def _is_running_actions(self) -> bool:
        return self._bulk is not None and not self._bulk.done()

    async def _carry_out(self, doing: str, done: str, act: Callable[[str], Any], ids: Sequence[str]) -> None:
        worked, problems = 0, []
        with self.memento.workspace.store.together() if len(ids) > 1 else nullcontext():
            for index, row_id in enumerate(ids):
                try:
                    act(row_id)
                    worked += 1
                except MementoError as error:
                    problems.append(str(error))
                if (index + 1) % _ACTIONS_PER_PROGRESS == 0:
                    self.memento.show_status(f"{doing}: {index + 1:,} of {len(ids):,} ...   Escape stops.")
                    await asyncio.sleep(0)
                if self._is_stopping:
                    break
        self.rows.clear_marks()
        told = f"{done} {worked:,}." if len(ids) > 1 else f"{done}."
        told = f"Stopped. {told}" if self._is_stopping else told
        if problems and len(ids) == 1:
            self.memento.show_status(problems[0], problem=True)
        elif problems:
            self.memento.show_status(
                f"{told if worked else ''} {len(problems):,} failed: {problems[0]}".strip(), problem=True
            )
        else:
            self.memento.show_status(f"{told} z undoes.")
        self.acted()
        self.memento.refresh_after_write()

    async def _is_sure(self, doing: str, ids: Sequence[str]) -> bool:
        lines = [literal(cells(line, 60).rstrip()) for line in self.describe_rows(ids[:_MOST_ROWS_NAMED])]
        if len(ids) > len(lines):
            lines.append(Content(f"and {len(ids) - len(lines):,} more"))
        question = Content(f"{doing} {len(ids):,} marked?")
        sure: bool = await self.app.push_screen_wait(Confirm(question, Content("\n").join(lines)))
        return sure

    def action_filter(self) -> None:
        """Go to the filter box."""
        # At once: a key typed right behind this one belongs to the box already.
        self.screen.set_focus(self.filter_box)

    def action_copy(self) -> None:
        """Copy the id of the row."""
        if self.rows.current:
            copied = self.id_to_copy(self.rows.current)
            self.app.copy_to_clipboard(copied)
            self.memento.show_status(f"Copied {copied}.")

    def action_unmark(self) -> None:
        """Unmark all."""
        self.rows.clear_marks()

    def action_scroll_side(self, lines: int) -> None:
        """Scroll what stands beside the list."""
        self.query(".side-scroll").first().scroll_relative(y=lines, animate=False)

    def action_clear(self) -> None:
        """Leave what is transient: the marks first, then the filter."""
        if self._is_running_actions:
            self._is_stopping = True
        elif self.rows.marks:
            self.rows.clear_marks()
        elif self.filter:
            self.filter_box.value = ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's
        """Leave the slash to a text that is being typed."""
        return action != "filter" or not (isinstance(self.screen.focused, Input) or self.query("Editor"))


EditedRowT = TypeVar("EditedRowT", bound=Row)


class EditingSection(ListSection[EditedRowT], Generic[EditedRowT]):
    """Opens an editor in place of what stands beside the list, and keeps what is typed until it is stored.

    A subclass opens it with `open_editor` and stores what comes of it in `store`.
    """

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        super().__init__()
        self._unsaved: UnsavedTextFile | None = None

    def open_editor(
        self, heading: str, before: TextDraft, unsaved: UnsavedTextFile, now: TextDraft | None = None
    ) -> None:
        """Edit a text. ``before`` is what is stored; ``now`` what the fields begin with where that differs."""
        if self.query("Editor"):
            self.memento.show_status("An editor is open already. Save it or leave it first.", problem=True)
            self.focus_content()
            return
        from memento_tui.tui.widgets.editor import Editor  # noqa: PLC0415 - text areas are slow to load

        self._unsaved = unsaved
        side = self.query_one(".side", Container)
        for child in side.children:
            child.add_class("-behind-editor")
        self.add_class("-editing")
        side.mount(Editor(heading, before, unsaved, now))

    def close_editor(self) -> None:
        """Remove the editor and go back to the list; what was typed is kept no longer."""
        if self._unsaved is not None:
            self._unsaved.discard()
        self._unsaved = None
        self.query("Editor").remove()
        self.remove_class("-editing")
        for child in self.query_one(".side", Container).children:
            child.remove_class("-behind-editor")
        self.screen.set_focus(self.rows)

    @on(EditorLeft)
    def _editor_left(self) -> None:
        self.close_editor()

    @on(EditorSaved)
    @work(exclusive=True, group="save")
    async def _editor_saved(self, event: EditorSaved) -> None:
        if await self.store(event.before, event.draft):
            self.close_editor()
            self.memento.refresh_after_write()

    async def store(self, before: TextDraft, draft: TextDraft) -> bool:
        """Store what was written, and say so; return whether the editor has done its work. Runs in a worker."""
        raise NotImplementedError

    async def choose(self, theirs: TextDraft, mine: TextDraft, who: str) -> str:
        """Ask what stays where another writer was faster: ``mine``, ``theirs``, or ``edit`` to go on editing."""
        from memento_tui.tui.screens.write_problems import ConflictScreen  # noqa: PLC0415 - seldom needed

        return await self.app.push_screen_wait(ConflictScreen(theirs.joined(), mine.joined(), who))
