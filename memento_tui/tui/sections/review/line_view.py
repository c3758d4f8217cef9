"""The lines and sentences of a proposed change, to take or leave, and below them the text that would then hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

import msgspec
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memento_tui.api.review import ContradictionWithSides, proposed_record
from memento_tui.model import Crystal, Memory
from memento_tui.text.diff import ChangeLine, change_lines, is_in_text, text_of_chosen
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import cells, literal
from memento_tui.tui.sections.review.evidence import FocusedItem
from memento_tui.tui.views.view import FixedRows, View, ViewList
from memento_tui.tui.widgets.record_list import Line, RecordList

__all__ = ["LineView", "texts_of_change"]

_CONTEXT_LINES = 3
"""Lines of both texts that are listed around each change."""

_MAX_NOTE_CHARACTERS = 1_000
"""Characters of the line under the cursor that are shown in full below the list."""

_MOST_PREVIEW_LINES = 1_000
"""Lines of the text that would hold that are shown."""

_TAKEN, _LEFT = "[x] ", "[ ] "
_STYLES = {"-": "error", "+": "good", " ": "muted"}


class _LineRow(msgspec.Struct, frozen=True):
    """One row: a line with its index among all lines; ``None`` for lines that are left out."""

    index: int
    line: ChangeLine | None

    @property
    def id(self) -> str:
        """The identity within the list."""
        return str(self.index)


def texts_of_change(focused: FocusedItem) -> tuple[str, str] | None:
    """Return a text before and after a proposal's change; ``None`` where it changes no text."""
    item = focused.item
    if isinstance(item, ContradictionWithSides):
        return None
    if isinstance(item.target, Crystal):
        present = focused.identity
        return None if present is None or present.id == item.target.id else (present.content, item.target.content)
    after = proposed_record(item) if item.proposal.action == "edit" else None
    if isinstance(item.target, Memory) and isinstance(after, Memory) and after.content != item.target.content:
        return item.target.content, after.content
    return None


class LineView(View):
    """Lists the lines of one change; ``approve`` gets the item and the text with the taken lines, and closes it."""

    SCOPE: ClassVar[KeyScope] = "lines"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("lines")]

    DEFAULT_CSS = """
    LineView > ViewList { height: auto; max-height: 50%; min-height: 3; }
    LineView > .view-result { height: 1fr; padding: 0 1; border-top: solid $panel; scrollbar-size-vertical: 1; }
    """

    def __init__(self, approve: Callable[[FocusedItem, str | None], object]) -> None:
        super().__init__("lines")
        self._approve = approve
        self.focused: FocusedItem | None = None
        """The item whose lines are shown; ``None`` while the view is closed."""
        self._texts = ("", "")
        self._lines: list[ChangeLine] = []
        self._listed: Sequence[_LineRow] = ()
        self._taken: set[int] = set()
        self.rows: ViewList[_LineRow] = ViewList(self._row_lines)
        self._scroll = VerticalScroll(classes="view-result", can_focus=False)
        self.result = Static()
        """The text that approving would leave, with its new parts marked."""
        self.display = False

    def compose(self) -> ComposeResult:
        """Show the heading, the lines, the line under the cursor in full, and the text that would hold."""
        yield self.head
        yield self.rows
        yield self.note
        with self._scroll:
            yield self.result

    def show(self, about: FocusedItem) -> None:
        """Show the lines of a change, all of them taken."""
        texts = texts_of_change(about)
        if texts is None:
            return
        self.focused, self._texts = about, texts
        self._lines = change_lines(*texts)
        self._taken = self._changed()
        self._listed = rows = _rows_around_changes(self._lines)
        first = next((row.id for row in rows if row.line is not None and row.line.part >= 0), None)
        self.rows.set_rows(rows, len(rows), FixedRows(rows), select=first)
        self.display = True
        self._scroll.scroll_home(animate=False)
        self._draw()

    def close(self) -> None:
        """Hide the view, and forget the choice of lines."""
        self.focused = None
        self.display = False

    def reload(self) -> None:
        """Keep the choice of lines; a change that was written meanwhile is a conflict when it is approved."""

    def _changed(self) -> set[int]:
        return {index for index, line in enumerate(self._lines) if line.part >= 0}

    def _draw(self) -> None:
        """Show how many lines are taken, which, and the text that they make."""
        taken, all_lines = len(self._taken), len(self._changed())
        words = f"{taken:,} of {all_lines:,} changes taken. a approves the text below, Esc goes back."
        self.set_heading(Content(words))
        self.rows.refresh()
        self.result.update(Content("\n").join(self._result_lines()))

    def _result_lines(self) -> Iterator[Content]:
        """Yield the lines of the text that would hold, as far as they are listed above."""
        yield Content.styled("IT WOULD THEN SAY", "bold $text-accent")
        written = Content("")
        for row in self._listed[:_MOST_PREVIEW_LINES]:
            line = row.line
            if line is not None and not is_in_text(line, is_taken=row.index in self._taken):
                continue
            if (line is None or line.begins_line) and written:
                yield written
                written = Content("")
            if line is None:
                yield Content.styled("...", "dim")
            else:
                style = "$text-success" if line.sign == "+" else ""
                written += Content(" " if written else "") + literal(line.text or " ", style)
        yield written
        if len(self._listed) > _MOST_PREVIEW_LINES:
            yield Content.styled("and more, which J does not reach", "dim")

    def _row_lines(self, row: _LineRow, width: int) -> Sequence[Line]:
        line = row.line
        if line is None:
            return [[("    ...", "muted")]]
        box = "    " if line.part < 0 else _TAKEN if row.index in self._taken else _LEFT
        left = line.part >= 0 and row.index not in self._taken
        return [
            [(box, "mark"), (f"{line.sign} {cells(line.text, width - 6)}", "muted" if left else _STYLES[line.sign])]
        ]

    @on(RecordList.Highlighted)
    def _show_whole_line(self, event: RecordList.Highlighted[_LineRow]) -> None:
        event.stop()
        line = None if event.row is None else event.row.line
        self.set_note(None if line is None else literal(line.text[:_MAX_NOTE_CHARACTERS] or " "))

    # Actions

    def _toggle(self, chosen: set[int]) -> None:
        """Take lines, or leave them where all are taken."""
        self._taken = self._taken - chosen if chosen <= self._taken else self._taken | chosen
        self._draw()

    def _changed_here(self) -> _LineRow | None:
        """Return the row under the cursor where it is a changed line."""
        row = self.rows.current
        return row if row is not None and row.line is not None and row.line.part >= 0 else None

    def _indexes(self, belongs: Callable[[ChangeLine], bool]) -> set[int]:
        return {index for index, line in enumerate(self._lines) if belongs(line)}

    def action_take(self) -> None:
        """Take the line under the cursor with the one that it replaces, or leave both, and go on behind them."""
        row = self._changed_here()
        if row is None or row.line is None:
            self.rows.cursor += 1
            return
        pair = row.line.pair
        chosen = self._indexes(lambda line: line.pair == pair)
        self._toggle(chosen)
        self.rows.cursor += 1 + max(chosen) - row.index

    def action_take_single(self) -> None:
        """Take, or leave, the line under the cursor alone, whatever becomes of the other of its pair."""
        row = self._changed_here()
        if row is not None:
            self._toggle({row.index})

    def action_take_part(self) -> None:
        """Take, or leave, all lines that change together with the one under the cursor."""
        row = self._changed_here()
        if row is not None and row.line is not None:
            part = row.line.part
            self._toggle(self._indexes(lambda line: line.part == part))

    def action_scroll(self, lines: int) -> None:
        """Scroll the text that would hold."""
        self._scroll.scroll_relative(y=lines, animate=False)

    def action_take_all(self) -> None:
        """Take all lines, or none."""
        self._toggle(self._changed())

    def action_approve(self) -> None:
        """Approve the change with the lines that are taken."""
        if self.focused is None:
            return
        before, after = self._texts
        text = text_of_chosen(self._lines, self._taken)
        if text == before:
            self.memento.show_status("No line is taken; take some, or leave with Esc and reject it by x.", problem=True)
            return
        self._approve(self.focused, None if text == after else text)


def _rows_around_changes(lines: Sequence[ChangeLine]) -> list[_LineRow]:
    """Return the rows of the changed lines and of some around them; a row without a line stands for the others."""
    near: set[int] = set()
    for index, line in enumerate(lines):
        if line.part >= 0:
            near.update(range(index - _CONTEXT_LINES, index + _CONTEXT_LINES + 1))
    rows: list[_LineRow] = []
    for index, line in enumerate(lines):
        if index in near:
            rows.append(_LineRow(index, line))
        elif not rows or rows[-1].line is not None:
            rows.append(_LineRow(index, None))
    return rows
