"""The section of the review: the queue, and beside it the item in focus with its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Input

from memento_tui.api.inbox import KIND_NAMES, InboxItem, inbox_name
from memento_tui.api.review import ContradictionWithSides
from memento_tui.errors import MementoError
from memento_tui.model.review import INBOX_KINDS
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.inbox_columns import (
    WAITING_BELOW,
    WAITING_COLUMNS,
    counts_by_kind,
    group_line,
    kind_word,
    progress,
    waiting_line,
)
from memento_tui.tui.screens.dialogs import AskLine, accepted_risk
from memento_tui.tui.section import in_thread
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.sections.review.decisions import (
    CANNOT_APPROVE_CONTRADICTION,
    BulkDecisions,
    DecisionRunner,
    can_decide,
)
from memento_tui.tui.sections.review.evidence import FocusedItem, read_focused_item
from memento_tui.tui.sections.review.evidence_pane import EvidencePane
from memento_tui.tui.sections.review.groups import (
    InboxGroup,
    QueueGroups,
    QueueList,
    QueueRow,
    group_texts,
)
from memento_tui.tui.sections.review.line_view import LineView, texts_of_change
from memento_tui.tui.sections.review.proposal_editing import ProposalEditing
from memento_tui.tui.selection import Selection
from memento_tui.tui.views.view import ViewClosed
from memento_tui.tui.widgets.paged_rows import PAGE_SIZE, RowSource
from memento_tui.tui.widgets.record_list import Line, RecordList

if TYPE_CHECKING:
    from memento_tui.api.drafts import UnsavedText
    from memento_tui.api.inbox import DecisionVerb
    from memento_tui.api.types import Entry

__all__ = ["ReviewSection"]

_GROUP_INDENT = 2
"""Cells that the items of a group stand behind its name."""

_SHARE_OF_HEAD, _PADDING_OF_HEAD = 0.7, 2
"""The part of the width that the line beside the filter has at most, as in the style sheet, and the cells around it."""

_GROUP_COMMANDS = {"review.approve_group", "review.reject_group"}
_FOLD_COMMANDS = {"review.fold": False, "review.unfold": True}
"""Commands for all of a group or a filter; those that fold or unfold, with whether the group is folded before."""


class ReviewSection(ListSection[QueueRow]):
    """Decide on proposals and contradictions. The filter box holds words of the items to show, or their kind."""

    SCOPE: ClassVar[KeyScope] = "review"
    NEEDS_SHOWN_ROW: ClassVar[bool] = True
    FILTER_HINT: ClassVar[str] = "words, or a kind"
    ORDERS: ClassVar[Mapping[str, str]] = {
        "risk": "Riskiest",
        "oldest": "Longest waiting",
        "newest": "Newest",
        "agent": "By agent, the riskiest",
    }
    COLUMNS = WAITING_COLUMNS
    BELOW = WAITING_BELOW
    SIDE_TITLE: ClassVar[str] = "Card"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("review")]

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[str, int] = {}
        self._decided: set[str] = set()
        """The items that were decided here and do not wait again."""
        self.groups = QueueGroups(self.list)
        self.evidence = EvidencePane()
        self.side_scroll = self.evidence
        self.decisions = DecisionRunner(self)
        self._many = BulkDecisions(self)
        self._editing = ProposalEditing(self, self.decisions.decide)
        self.lines = LineView(self._approve_lines)
        """The lines of a change, over the evidence while they are chosen; mounted when they are first."""

    def make_list(self) -> RecordList[QueueRow]:
        """Return the list, whose groups can be marked."""
        return QueueList(self.draw_row, id=f"{self.SCOPE}-list")

    def make_selection(self) -> Selection[InboxItem]:
        """Return the selection; marked items that the list has not loaded are read."""
        return Selection(lambda: self.rows, fetch=self._fetch_items)

    def _fetch_items(self, ids: Sequence[str]) -> Mapping[str, InboxItem]:
        return {row.id: row for row in self.memento.workspace.inbox.rows(ids)}

    @property
    def focused(self) -> FocusedItem | None:
        """The item in focus, as it is shown."""
        return self.evidence.focused

    def compose_side(self) -> ComposeResult:
        """Show the evidence beside the list."""
        yield self.evidence

    def on_mount(self) -> None:
        """Read the queue; the evidence gets more room than the list."""
        self.room.usual = ((2, 3), (1, 2))

    def update_head(self) -> None:
        """Write the line above the list; the text of an empty queue has the whole width."""
        super().update_head()
        self.memento.focus_changed()
        self.side_pane.display = self.room.divider.display = self.rows.total > 0 or self.side_pane.is_editing

    # The queue

    @property
    def kind(self) -> str:
        """The kind that the first word of the filter names; empty where it names none."""
        word = next(iter(self.filter.lower().split()), "")
        return next((kind for kind in INBOX_KINDS if word in (kind, kind_word(kind))), "")

    @property
    def words(self) -> Sequence[str]:
        """The words that an item must hold, without the one that names a kind."""
        words = [word for word in self.filter.replace('"', " ").split() if word]
        return words[1:] if self.kind else words

    def make_source(self) -> RowSource[QueueRow]:
        """Return the items of the queue, or those of the chosen kind that hold the words of the filter; in groups."""
        return self.groups.source(self.memento.workspace.inbox, self.kind, self.words, self.order)

    def filter_fields(self) -> Mapping[str, Iterable[tuple[str, str]]]:
        """Return the kinds that wait, which stand alone."""
        return {"": [(kind_word(kind), f"{count:,}") for kind, count in self._counts.items()]}

    def row_lines(self, row: QueueRow, width: int) -> Sequence[Line]:
        """Return the row of one item of the queue, or of a group."""
        if isinstance(row, InboxGroup):
            return group_line(row.key, row.kinds, len(row.items), width, is_folded=row.is_folded)
        indent = self.row_indent()
        return [[(" " * indent, ""), *waiting_line(row, width - indent, self.columns.names)]]

    def draw_row(self, row: QueueRow, width: int) -> Sequence[Line]:
        """Return the lines of an item; of a group its one."""
        return self.row_lines(row, width) if isinstance(row, InboxGroup) else super().draw_row(row, width)

    def row_indent(self) -> int:
        """Return the cells that an item stands behind the name of its group."""
        return _GROUP_INDENT if self.groups.by else 0

    def head_text(self) -> Content:
        """Return how many of each kind wait, and how many are marked; while a count is typed, that."""
        if self.rows.typed_count:
            return Content(self.count_words())
        if not self._counts:
            return Content("" if self.rows.total else "nothing waits")
        total = sum(self._counts.values())
        marks = len(self.rows.marks)
        marked = Content.styled(f"{marks:,} marked  ", "bold $text-accent") if marks else Content("")
        decided = progress(len(self._decided), total) if self._decided else Content("")
        above = Content(f"{self.new_above:,} new above (g)  ") if self.new_above > 0 else Content("")
        found = Content(f"{self.groups.number_found():,} found, ") if self.words else Content("")
        order = "" if self.is_in_first_order else f"{self.ORDERS[self.order].lower()} first  "
        before = decided + marked + above + Content(order) + found
        room = int(self.size.width * _SHARE_OF_HEAD) - _PADDING_OF_HEAD - before.cell_length
        return before + counts_by_kind(self._counts, self.kind, room)

    def empty_text(self) -> str:
        """Return the text of an empty queue."""
        if self.words:
            kinds = ", ".join(kind_word(kind) for kind in INBOX_KINDS)
            return f"Nothing that waits holds these words. Escape shows all.\n\nA kind narrows too: {kinds}."
        if self.kind and self._counts:
            return "None of this kind waits any more.\n\nEscape shows all that waits, f goes to the next kind."
        return (
            "All decided.\n\nWhat an agent proposes appears here, and what contradicts itself.\n"
            "2 goes to the memories, z undoes a decision."
        )

    def describe_rows(self, ids: Sequence[str]) -> Sequence[str]:
        """Return a line for each of some items of the queue."""
        return [f"{KIND_NAMES[row.kind][0]}: {row.headline}" for row in self.memento.workspace.inbox.rows(ids)]

    def id_to_copy(self, row: QueueRow) -> str:
        """Return the id of the record that an item is about, or the name of a group."""
        return row.key if isinstance(row, InboxGroup) else row.row.record_id

    def texts_to_copy(self, row: QueueRow) -> Mapping[str, str]:
        """Return the text, the headline and the id of the record that an item is about."""
        focused = self.focused
        item = None if focused is None else focused.item
        text = "" if item is None or isinstance(item, ContradictionWithSides) else getattr(item.target, "content", "")
        return {"text": text, "title": row.headline, "id": self.id_to_copy(row)}

    def texts_for_commands(self, row: QueueRow) -> Mapping[str, str]:
        """Return the texts of an item; a group, whose name an agent may have chosen, has no id."""
        return {"title": row.headline} if isinstance(row, InboxGroup) else self.texts_to_copy(row)

    def ids_for_commands(self) -> Sequence[str]:
        """Return the ids of the marked items, or of the one in focus, or of all in the group under the cursor."""
        row = self.rows.current
        if isinstance(row, InboxGroup) and not self.rows.marks:
            return [item.id for item in row.items]
        return self.selection.ids()

    def read(self, *, select: str | None = None) -> None:
        """Show the queue from its beginning; it is counted behind the frame."""
        super().read(select=select)
        self.call_after_refresh(self._count)

    def reload(self) -> None:
        """Read again, keeping the position; the item in focus is drawn again if it changed."""
        super().reload()
        self._count()
        row, focus = self.rows.current, self.focused
        if self.guard.is_moved_by_person or focus is None or not isinstance(row, InboxItem) or focus.name != row.id:
            return
        if self._read_focus(row) != focus and not self.side_pane.is_editing:
            self.guard.content_changed()
            self.show(row)

    @work(exclusive=True, group="count")
    async def _count(self) -> None:
        """Count the items of each kind, on a thread: the time grows with the queue."""
        inbox = self.memento.workspace.inbox
        try:
            self._counts = await in_thread(self, inbox.counts)
            waiting = await in_thread(self, inbox.rows, sorted(self._decided)) if self._decided else ()
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        self._decided.difference_update([row.id for row in waiting])
        self.memento.show_counts(review=sum(self._counts.values()))
        self.update_head()

    def show_query(self, query: str) -> None:
        """Show a kind of item, or go to one item by its id or that of the memory that it is about."""
        if not query or query in INBOX_KINDS:
            self.filter_box.value = query
            return
        try:
            name = self.memento.workspace.inbox.find(query)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        with self.filter_box.prevent(Input.Changed):
            self.filter_box.value = self.filter = ""
        self.guard.moved_by_person()
        self.read(select=name)
        self.rows.refresh_rows(self.make_source(), select=name)

    def action_kind(self) -> None:
        """Show the next kind of which there are items, then all again."""
        if self._counts:
            self.step_filter([*self._counts], self.kind)
        else:
            self.memento.show_status("Nothing waits, so there is no kind to show.", problem=True)

    # Groups

    def action_group(self) -> None:
        """Group the items by kind, then by agent, session and source, then not."""
        self.groups.next()
        current = self.rows.current
        self._read_groups(current.id if current is not None else None)
        words = "In no groups."
        if self.groups.by:
            words = f"In groups by {self.groups.by}: A approves a whole group, X rejects it."
        self.memento.show_status(words)

    def action_fold(self, fold: bool) -> None:  # noqa: FBT001 - how a key's action is written
        """Fold the group under the cursor, or that of the item there; or unfold it."""
        group = self.groups.here()
        if group is None:
            self.memento.show_status("There are no groups here; F groups what waits.", problem=True)
            return
        self.groups.fold(group, fold=fold)
        self._read_groups(group.id)

    def _read_groups(self, select: str | None) -> None:
        self.guard.moved_by_person()
        source = self.make_source()
        place = None if select is None else source.locate(select)
        if place is None or place < PAGE_SIZE:
            self.read(select=select)
        else:
            self.rows.refresh_rows(source, select=select)

    @work(group="decide")
    async def action_decide_group(self, verb: str) -> None:
        """Approve or reject all of a group, or all that the filter finds, after a question with their number."""
        await self._many.decide_group(cast("DecisionVerb", verb))

    # What is in focus

    def _read_focus(self, row: QueueRow) -> FocusedItem | None:
        if isinstance(row, InboxGroup):
            return None
        try:
            return read_focused_item(self.memento.workspace, row.kind, row.id)
        except MementoError:
            return None

    def show(self, row: QueueRow | None) -> None:
        """Show one item of the queue with its evidence, or the items of a group."""
        # While the keys go to the lines they stay: one of them is never to decide the item that has come up behind.
        if self.lines.focused is not None and not self.lines.has_focus_within and not self._is_current_in_lines(row):
            self._lines_closed()
        self.evidence.show(None if row is None else self._read_focus(row))
        if isinstance(row, InboxGroup):
            self.evidence.show_text(*group_texts(row))
        self.memento.focus_changed()

    def on_resize(self) -> None:
        """Draw the evidence, and the line above the list, for the width that there is."""
        super().on_resize()
        self.head.update(self.head_text())
        self.call_after_refresh(self.evidence.redraw_if_resized)

    # The lines of a change

    async def action_lines(self) -> None:
        """Let the person take or leave single lines of the change in focus."""
        if not self._many.check_unmarked("c is for a single change"):
            return
        focused = self._focused_to_decide()
        if focused is None:
            return
        if texts_of_change(focused) is None:
            self.memento.show_status("This changes no text, so it has no lines to choose from.", problem=True)
            return
        self.show_side()
        if not self.lines.is_attached:
            await self.side_pane.mount(self.lines)
        self.lines.show(focused)
        self.evidence.display = False
        self.lines.focus_content()

    @work(group="decide")
    async def _approve_lines(self, focused: FocusedItem, text: str | None) -> None:
        despite = await accepted_risk(self, focused.name)
        if despite is None:
            return
        if not self._is_current_in_lines(self.rows.current):
            self.guard.content_changed()  # another item comes up from behind the lines
        changes = {} if text is None else {"content": text}
        self.decisions.try_to_decide(focused, "approve", despite=despite, **changes)
        self._lines_closed()

    @on(ViewClosed)
    def _view_closed(self, event: ViewClosed) -> None:
        event.stop()
        self._lines_closed()

    def _is_current_in_lines(self, row: QueueRow | None) -> bool:
        return row is not None and self.lines.focused is not None and row.id == self.lines.focused.name

    def _lines_closed(self) -> None:
        had_focus = self.lines.has_focus_within
        self.lines.close()
        self.evidence.display = True
        if had_focus:
            self.focus_part(self.rows)

    def action_split(self) -> None:
        """Show differences side by side, or one below the other."""
        self.evidence.toggle_split()
        self.memento.show_status("Side by side." if self.evidence.is_split else "One below the other.")

    # Deciding

    def note_decided(self, names: Iterable[str] = ()) -> None:
        """Count items as decided; keys that were typed until now act on no other."""
        super().note_decided()
        self._decided.update(names)

    def note_undone(self, entries: Sequence[Entry]) -> None:
        """Bring the card of an undone decision back under the cursor."""
        workspace = self.memento.workspace
        changes = [change for entry in entries for change in workspace.activity.changes(entry.seq)]
        names = [
            inbox_name(change.record, change.record_id)
            for change in changes
            if change.record in ("proposal", "contradiction")
        ]
        back = workspace.inbox.rows(names)
        if back:
            self.guard.moved_by_person()
            self.rows.refresh_rows(self.make_source(), select=back[0].id)

    def is_available(self, command: str) -> bool:
        """Return whether a command can act on the row under the cursor or the marked ones."""
        marked, row = bool(self.rows.marks), self.rows.current
        if command in _FOLD_COMMANDS:
            return isinstance(row, InboxGroup) and row.is_folded == _FOLD_COMMANDS[command] and self.rows.has_focus
        if command in _GROUP_COMMANDS:
            return not marked and (isinstance(row, InboxGroup) or bool(row and (self.groups.by or self.filter.strip())))
        if command == "review.group":
            return row is not None
        return can_decide(command, self.focused, marked=marked)

    def obstacle(self) -> str:
        """Return in a sentence why no key may decide at present; empty where one may."""
        if self.decisions.is_running:
            return "The last decision is still being carried out."
        if self.rows.total == 0 and not self.rows.marks:
            return "Nothing that waits is shown; Escape shows all." if self.filter else "Nothing waits for a decision."
        return super().obstacle()

    def _focused_to_decide(self) -> FocusedItem | None:
        if not self.actions.check_can_act():
            return None
        if isinstance(self.rows.current, InboxGroup):
            self.memento.show_status(
                "This is a group: A approves all of it, X rejects it, Enter opens it.", problem=True
            )
        elif self.focused is None:
            self.memento.show_status("This is gone by now; the list is being read again.", problem=True)
            self.memento.refresh_after_write()
        return self.focused

    @work(group="decide")
    async def action_approve(self) -> None:
        """Approve the item in focus, or the marked ones."""
        if self.rows.marks:
            await self.decisions.decide_marked("approve")
            return
        focused = self._focused_to_decide()
        if focused is None:
            return
        if focused.record_kind == "contradiction":
            self.memento.show_status(CANNOT_APPROVE_CONTRADICTION, problem=True)
        elif (despite := await accepted_risk(self, focused.name)) is not None:
            self.decisions.try_to_decide(focused, "approve", despite=despite)

    @work(group="decide")
    async def action_reject(self) -> None:
        """Ask why, and reject the item in focus or the marked ones; a contradiction is called none."""
        marked = len(self.rows.marks)
        focused = None if marked else self._focused_to_decide()
        if focused is None and not (marked and self.actions.check_can_act()):
            return
        if focused is not None and focused.record_kind == "contradiction":
            self.decisions.try_to_decide(focused, "not_a_contradiction")
            return
        question = "Why reject it?" if focused is not None else f"Why reject {marked:,} marked?"
        enter = "Enter rejects" if focused is not None else "Enter goes on"
        hint = f"The agent can read it. {enter}, Escape leaves"
        reason = await self.app.push_screen_wait(AskLine(question, hint=hint))
        if reason is None:
            return
        if focused is not None:
            self.decisions.try_to_decide(focused, "reject", reason=reason)
        else:
            await self.decisions.decide_marked("reject", reason)

    @work(group="decide")
    async def action_later(self) -> None:
        """Put the item in focus, or the marked ones, off for a week."""
        if self.rows.marks:
            await self.decisions.decide_marked("later")
        elif (focused := self._focused_to_decide()) is not None:
            self.decisions.try_to_decide(focused, "later")

    @work(group="decide")
    async def action_resolve(self, resolution: str) -> None:
        """Settle the contradiction in focus, or the marked ones where no words of the person's own are needed."""
        verb = cast("DecisionVerb", resolution)
        if self.rows.marks:
            if verb in ("both_valid", "merged"):
                message = "That takes words for each contradiction: settle them one by one; u unmarks."
                self.memento.show_status(message, problem=True)
            else:
                await self.decisions.decide_marked(verb)
            return
        focused = self._focused_to_decide()
        if focused is None:
            return
        if focused.contradiction is None:
            message = "This is no contradiction: a approves it, x rejects it."
            self.memento.show_status(message, problem=True)
        elif verb == "both_valid":
            self._editing.ask_contexts(focused)
        elif verb == "merged":
            self._editing.edit_merged_text(focused)
        else:
            self.decisions.try_to_decide(focused, verb)

    def action_edit(self) -> None:
        """Edit the proposal in focus; saving approves it. On a group: fold it, or unfold it."""
        group = self.rows.current
        if isinstance(group, InboxGroup) and not self.side_pane.is_editing:
            self.action_fold(not group.is_folded)
        elif self.side_pane.is_editing:
            self.focus_content()
        elif self._many.check_unmarked("e is for a single item") and (focused := self._focused_to_decide()) is not None:
            self._editing.edit(focused)

    def reopen_unsaved(self, kept: UnsavedText) -> None:
        """Open the editor on a text that was left behind."""
        self._editing.reopen(kept)

    @work(group="decide")
    async def action_edit_outside(self) -> None:
        """Open the marked items, or else the listed ones, in the person's editor, and decide as the text then asks."""
        await self._many.edit_outside()
