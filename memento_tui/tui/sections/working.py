"""The section of working items: active work, standing decisions and the rest, as a list or as a board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from textual import events, on, work
from textual.binding import BindingType
from textual.content import Content

from memento_tui.api.lists import CATEGORY_WORDS, STATUS_WORDS, ItemQuery, parse_item_query
from memento_tui.model import WorkingItem
from memento_tui.model.lists import ITEM_CATEGORIES
from memento_tui.tui.columns import Columns
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.screens.dialogs import ChoiceScreen, DialogChoice
from memento_tui.tui.section import WIDE_CELLS
from memento_tui.tui.sections.entry_list import EntryListSection, EntryWriter
from memento_tui.tui.sections.entry_story import ItemStory
from memento_tui.tui.sections.entry_text import ITEM_BELOW, ITEM_COLUMNS, item_card, item_details, item_line
from memento_tui.tui.sections.record_spec import ITEM_SPEC
from memento_tui.tui.widgets.column_board import ColumnBoard
from memento_tui.tui.widgets.paged_rows import RowSource
from memento_tui.tui.widgets.record_list import Line, RecordList

__all__ = ["WorkingSection"]


_FINISHED_STATUSES = ("completed", "archived")
_CATEGORY_KEYS = {"active_work": "a", "standing_decision": "s", "waiting_for": "w", "session_note": "n"}


class WorkingSection(EntryListSection[WorkingItem]):
    """See and steer the agents' work."""

    SCOPE: ClassVar[KeyScope] = "working"
    SPEC = ITEM_SPEC
    RECENT_ACTIVITY_OF: ClassVar[tuple[str, ...]] = ("item",)
    FILTER_HINT: ClassVar[str] = "filter: words category:waiting status:paused tag:x"
    ORDERS: ClassVar[Mapping[str, str]] = {
        "priority": "Highest priority",
        "changed": "Last changed",
        "created": "Newest",
        "category": "By category, active work",
    }
    ORDER_KEYS: ClassVar[Mapping[str, Callable[[WorkingItem], Any]]] = {
        "changed": lambda item: -item.updated_at.timestamp(),
        "created": lambda item: -item.created_at.timestamp(),
        "category": lambda item: ITEM_CATEGORIES.index(item.category),
    }
    COLUMNS = ITEM_COLUMNS
    BELOW = ITEM_BELOW
    NO_COLUMNS: ClassVar[str] = "The board has no columns to choose; b shows the list."
    SIDE_TITLE: ClassVar[str] = "Item"
    NEEDS_ROW: ClassVar[frozenset[str]] = frozenset(
        f"working.{name}" for name in ("edit", "next", "raise", "lower", "category", "done", "delete")
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("working")]

    DEFAULT_CSS = """
    WorkingSection.-wide .side { max-width: 40%; }
    WorkingSection.-board .side { max-height: 32%; }
    WorkingSection.-board #working-list { display: none; }
    WorkingSection.-board .rows.-empty ColumnBoard { height: auto; }
    WorkingSection.-board .rows.-empty BoardColumn { display: none; }
    WorkingSection.-board .rows.-empty .column { height: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._query: ItemQuery = parse_item_query("")
        self.on_board = False
        """Whether the board is shown, and not the flat list."""
        self._followed = ""
        """The id of the item with which the cursor goes to another column, until it is there."""
        self._open_count = 0
        self.board = ColumnBoard[WorkingItem](
            {name: word.capitalize() for name, word in CATEGORY_WORDS.items()},
            item_card,
            partial(item_line, names=[name for name in ITEM_COLUMNS.first if name != "category"]),
            active=ITEM_CATEGORIES[0],
            id="board",
        )
        """The board; it is mounted when it is first shown."""

    # What is shown

    @property
    def rows(self) -> RecordList[WorkingItem]:
        """The list, or the column of the board that the cursor is in."""
        return self.board.column if self.on_board else super().rows

    def make_story(self) -> ItemStory:
        """Return the widget with the facts about an item below its text."""
        return ItemStory()

    def select(self, entries: Sequence[WorkingItem]) -> Sequence[WorkingItem]:
        """Return the items that the filter selects: open ones by priority, then those that are finished."""
        self._open_count = sum(1 for item in entries if item.status not in _FINISHED_STATUSES)
        finished = self.with_past or bool(self._query.statuses)
        matching = [i for i in entries if (finished or i.status not in _FINISHED_STATUSES) and self._query.matches(i)]
        return sorted(matching, key=lambda item: item.status in _FINISHED_STATUSES)

    def row_lines(self, row: WorkingItem, width: int) -> Sequence[Line]:
        """Return the row of an item."""
        return item_line(row, width, self.columns.names_of(ITEM_COLUMNS))

    def column_set(self) -> Columns[Any] | None:
        """Return the columns of the list; ``None`` on the board."""
        return None if self.on_board else ITEM_COLUMNS

    def details(self, row: WorkingItem) -> Content:
        """Return the item in full."""
        return item_details(row, self.history_of(row))

    def head_text(self) -> Content:
        """Return how many items there are, and whether finished ones are among them."""
        total = self.board.total if self.on_board else self.rows.total
        words = self.counted().replace(f"{self.rows.total:,}", f"{total:,}", 1)
        self.memento.show_counts(working=self._open_count)
        return Content(words + ("  done ones too (f)" if self.with_past else ""))

    def empty_text(self) -> str:
        """Return a hint for a filter that finds nothing, or for an empty list."""
        if self.filter:
            return "Nothing found.\n\nFewer words find more; f shows what is done too. Escape clears the filter."
        return (
            "Nothing is being worked on.\n\n"
            "n        add an item\n"
            "f        show what is done\n"
            "q        leave, then:\n"
            '         memento item add "Move to /v3" --next "write the migration"\n\n'
            "What an agent works on or waits for appears here as it tells."
        )

    # Reading

    def filter_fields(self) -> Mapping[str, Iterable[tuple[str, str]]]:
        """Return the categories, the statuses, and the tags that items have."""
        tags = Counter(tag for item in self._all_entries() for tag in item.tags)
        return {
            "category": [(word, "") for word in CATEGORY_WORDS.values()],
            "status": [(word, "") for word in STATUS_WORDS.values()],
            "tag": [(tag, f"{count:,}") for tag, count in tags.most_common()],
        }

    def filter_changed(self) -> None:
        """Show the items that the new filter selects."""
        self._query = parse_item_query(self.filter)
        self.read()
        for problem in self._query.problems[:1]:
            self.memento.show_status(problem, problem=True)

    def read(self, *, select: str | None = None) -> None:
        """Show the items of another filter from the first."""
        if self.on_board:
            self.make_source()
            self.board.set_sources(self._column_source, select=select)
            self.update_head()
        else:
            super().read(select=select)

    def reload(self, select: str | None = None) -> None:
        """Read again, keeping the position; the cursor goes to the row ``select`` if that is given."""
        if self.on_board:
            self.make_source()
            self.board.refresh_sources(self._column_source, select=select)
            self.update_head()
        else:
            super().reload(select)

    def _column_source(self, category: str) -> RowSource[WorkingItem]:
        return self.source.part(lambda item: item.category == category)

    def update_head(self) -> None:
        """Write the line above the list, and the text of an empty one."""
        super().update_head()
        if self.on_board:
            self.rows_pane.set_class(self.board.total == 0, "-empty")
            if self.board.total == 0:
                self.nothing.update(Content(self.empty_text()))

    def _follow(self, item_id: str, category: str) -> None:
        """Go with an item to the column that the person moved it to."""
        self._followed = item_id
        self.reload(item_id)
        self.board.go_to(category)

    def _reach(self, row: WorkingItem | None) -> None:
        if row is not None and row.id == self._followed:
            # The column was reached before it was read again, with the cursor on another of its rows.
            self._followed = ""
            self.guard.moved_by_person()
        super()._reach(row)

    @on(RecordList.Refreshed)
    def _column_refreshed(self) -> None:
        if self.on_board:
            self.update_head()

    @on(RecordList.MarksChanged)
    def _marks_shared(self, event: RecordList.MarksChanged) -> None:
        """Let the marks of one column be those of all, and of the list."""
        if event.record_list is not self.rows:
            return
        for each in self._lists:
            if each is not self.rows and each.marks != self.rows.marks:
                each.clear_marks()
                each.mark(self.rows.marks)

    @property
    def _lists(self) -> list[RecordList[WorkingItem]]:
        return [self.list, *self.board.columns.values()]

    def has_room_below(self) -> bool:
        """Return whether something may stand below the list; the board takes all of the pane."""
        return not self.on_board and super().has_room_below()

    # The board

    async def action_board(self) -> None:
        """Show the board, or the list again; the cursor stays on its item."""
        row = self.rows.current
        if not self.board.is_attached:
            if row is not None:
                self.board.begin_at(row.category)
            await self.rows_pane.mount(self.board, before=self.nothing)
        self.on_board = not self.on_board
        self.board.display = self.on_board
        self.set_class(self.on_board, "-board")
        self._arrange()
        self.read(select=row.id if row else None)
        self.call_after_refresh(self._fit)  # the pane has another height now
        if self.on_board and row is not None:
            self.board.go_to(row.category)
        else:
            super().focus_content()
            self.show(self.rows.current)  # in an empty column of the board nothing was shown
        marks = next((each.marks for each in self._lists if each.marks), frozenset())
        if self.rows.marks != marks:
            self.rows.mark(marks)

    @on(ColumnBoard.ColumnChanged)
    def _column_changed(self) -> None:
        # Only the person goes to another column; the row there is the one that the next key is for.
        row = self.rows.current
        if row is not None and row.id == self._followed:
            self._followed = ""
        self.guard.moved_by_person()
        self.guard.row_reached(row)
        self.show(row)
        self.update_head()

    @on(events.Resize)
    def _resized(self, event: events.Resize) -> None:
        # The side stands beside the list where there is room, but always below the board.
        event.prevent_default()
        self._arrange()

    def _arrange(self) -> None:
        self.set_class(self.size.width >= WIDE_CELLS and not self.on_board, "-wide")

    # Changing in place

    def action_priority(self, step: int) -> None:
        """Raise or lower the priority of the selected items; the cursor stays on its item."""
        if self.rows.marks:
            self._prioritise_marked(step)
            return
        item = self.current_seen()
        if item is None:
            return

        def change() -> str:
            with self.around_action():
                return f"Priority {self._prioritised(item, step).priority}. z undoes."

        self.run_write(change)

    def _prioritised(self, item: WorkingItem, step: int) -> WorkingItem:
        return self.update(item.id, item.version, {"priority": item.priority + step}) or item

    @work(exclusive=True, group="change")
    async def _prioritise_marked(self, step: int) -> None:
        doing, done = ("Raise", "Raised") if step > 0 else ("Lower", "Lowered")

        def act(item_id: str, _seen: int | None) -> None:
            item = self.seen(item_id) or self.memento.workspace.items.get(item_id)
            self._prioritised(item, step)

        await self.actions.run_on_chosen(doing, done, act)

    @work(exclusive=True, group="change")
    async def action_next_action(self) -> None:
        """Ask for the next action of the item under the cursor."""
        seen = self.current_seen()
        if seen is None:
            return
        writer = EntryWriter(self, seen)

        def accept(text: str) -> str:
            if text.strip() == writer.base.next_action:
                return "The next action is as it was."
            writer.write(lambda base: self.update(base.id, base.version, {"next_action": text.strip()}))
            return "The next action is changed. z undoes."

        question = f"Next action - {str(self.heading('of', seen)).removeprefix('of: ')}"
        await self.ask(question, seen.next_action, accept, hint="Empty for none. Enter saves, Escape leaves")

    @work(exclusive=True, group="change")
    async def action_category(self) -> None:
        """Ask for another category for the selected items."""
        chosen = self.actions.choose()
        if not chosen:
            return
        ids = list(chosen)
        item = self.seen(ids[0])
        several = len(ids) > 1 or item is None
        question = (
            Content(f"Move {len(ids):,} marked to") if several or item is None else self.heading("Category", item)
        )
        choices = [DialogChoice(name, _CATEGORY_KEYS[name], CATEGORY_WORDS[name]) for name in ITEM_CATEGORIES]
        present = "" if several or item is None else item.category
        category = await self.app.push_screen_wait(ChoiceScreen(question, choices, present))
        if category is None:
            return
        word = CATEGORY_WORDS[category]
        if all(row is not None and row.category == category for row in map(self.seen, ids)):
            self.memento.show_status(f"{'They are' if several else 'It is'} under {word} already.")
            return
        await self.actions.run_on(
            chosen,
            f"Move to {word}",
            f"Moved to {word}:" if several else f"Moved to {word}",
            lambda item_id, seen: self.update(item_id, seen, {"category": category}),
        )
        if not several and self.on_board:
            self._follow(ids[0], category)

    @on(ColumnBoard.Dropped)
    def _card_dropped(self, event: ColumnBoard.Dropped) -> None:
        """Move an item to the category of the column that it was dragged to, from the version that was taken."""
        event.stop()
        item, category = event.row, event.name

        def move() -> str:
            with self.around_action():
                self.update(item.id, item.version, {"category": category})
            return f"Moved to {CATEGORY_WORDS[category]}. z undoes."

        self.guard.moved_by_person()
        if self.run_write(move):
            self._follow(item.id, category)

    @work(exclusive=True, group="change")
    async def action_done(self) -> None:
        """Mark the selected items as done; open them again where all are finished."""
        chosen = self.actions.choose()
        if not chosen:
            return
        items = [self.seen(item_id) for item_id in chosen]
        open_again = all(item is not None and item.status in _FINISHED_STATUSES for item in items)
        doing, done, status = ("Open again", "Open again", "active") if open_again else ("Finish", "Done", "completed")
        await self.actions.run_on(
            chosen,
            doing,
            done,
            lambda item_id, seen: self.update(item_id, seen, {"status": status}),
        )

    @work(exclusive=True, group="change")
    async def action_delete(self) -> None:
        """Delete the selected items."""
        items = self.memento.workspace.items
        await self.actions.run_on_chosen(
            "Delete", "Deleted", lambda item_id, seen: items.remove(item_id, base_version=seen)
        )

    def action_finished(self) -> None:
        """List finished items too, or not."""
        self.toggle_past()
        self.memento.show_status("What is done is shown too." if self.with_past else "Only what is open is shown.")

    # Forms

    def new_texts(self) -> Mapping[str, str]:
        """Return the category that the cursor is in on the board."""
        return {"category": CATEGORY_WORDS[self.board.active]} if self.on_board else {}

    def go_to_new(self, row: WorkingItem) -> None:
        """Put the cursor on an item that was just made."""
        super().go_to_new(row)
        if self.on_board:
            self.board.go_to(row.category)
