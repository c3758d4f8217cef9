"""The view of the versions of one memory, with the changes of each, any of which can be restored."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import ClassVar

import msgspec
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memento_tui import clock
from memento_tui.api.decision_fields import changes_between, value_text
from memento_tui.api.queries import restore_version
from memento_tui.api.types import Revision
from memento_tui.errors import MementoError
from memento_tui.model import Memory
from memento_tui.model.journal_actions import action_words, note_in_words
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import ago, cells, literal
from memento_tui.tui.section import in_thread
from memento_tui.tui.text_diff import text_difference
from memento_tui.tui.views.record_story import writer_name
from memento_tui.tui.views.view import FixedRows, View, ViewList
from memento_tui.tui.widgets.record_list import Line, RecordList

__all__ = ["HistoryView"]

_LONGEST = 20_000
"""Characters of a text that are compared at most; `memento history` shows all of it."""


class _Version(msgspec.Struct, frozen=True):
    """One row: a version, and the version before it."""

    revision: Revision[Memory]
    before: Revision[Memory] | None
    is_present: bool

    @property
    def id(self) -> str:
        return str(self.revision.version)


class HistoryView(View):
    """A view of the versions of a memory, newest first, and below them the change of the one under the cursor."""

    SCOPE: ClassVar[KeyScope] = "history"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("history")]

    DEFAULT_CSS = """
    HistoryView > ViewList { height: auto; max-height: 40%; min-height: 3; }
    HistoryView > .view-change { height: 1fr; padding: 0 1; border-top: solid $panel; scrollbar-size-vertical: 1; }
    """

    def __init__(self) -> None:
        super().__init__("history")
        self.rows: ViewList[_Version] = ViewList(_version_line)
        self._scroll = VerticalScroll(classes="view-change", can_focus=False)
        self._change = Static()
        self._memory: Memory | None = None
        self._revisions: Sequence[Revision[Memory]] = ()
        self._shown_change: tuple[str, int] | None = None
        """The memory and the version whose change is shown."""

    def compose(self) -> ComposeResult:
        """Show the versions above and a change below."""
        yield self.head
        yield self.note
        yield self.rows
        with self._scroll:
            yield self._change

    def show(self, memory: Memory) -> None:
        """Show the history of a memory; the position is kept while the memory stays the same."""
        if self._memory is None or self._memory.id != memory.id:
            self._shown_change = None
            self.set_heading(Content("reading the history ..."))
        self._read(memory)

    def reload(self) -> None:
        """Read the history again."""
        if self._memory is not None:
            self._read(self._memory)

    @work(exclusive=True, group="read")
    async def _read(self, memory: Memory) -> None:
        is_other = self._memory is None or self._memory.id != memory.id
        try:
            found = await in_thread(self, self.workspace.history, memory.id)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        self._memory, self._revisions = memory, found
        older: list[Revision[Memory] | None] = [*found[1:], None]
        rows = [
            _Version(revision, before, is_present=revision is found[0])
            for revision, before in zip(found, older, strict=True)
        ]
        source = FixedRows(rows)
        if is_other:
            self.rows.set_rows(source.page(0, 100), len(rows), source)
        else:
            self.rows.refresh_rows(source)
        # The list is as tall as its rows, up to a limit; a virtual list cannot know the height of its contents.
        self.rows.styles.height = len(rows)
        heading = f"{len(rows):,} version{'' if len(rows) == 1 else 's'} of "
        self.set_heading(Content(heading) + literal(memory.headline))

    @on(RecordList.Highlighted)
    def _moved(self, event: RecordList.Highlighted[_Version]) -> None:
        self._show_change(event.row)

    @on(RecordList.Refreshed)
    def _refreshed(self) -> None:
        self._show_change(self.rows.current)

    @work(exclusive=True, group="change")
    async def _show_change(self, row: _Version | None) -> None:
        if row is None or self._memory is None:
            return
        shown = (self._memory.id, row.revision.version)
        change = await in_thread(self, _change, row)
        self._change.update(change)
        if shown != self._shown_change:
            self._scroll.scroll_home(animate=False)
        self._shown_change = shown

    def action_scroll(self, lines: int) -> None:
        """Scroll the change."""
        self._scroll.scroll_relative(y=lines, animate=False)

    def is_available(self, command: str) -> bool:
        """Return whether a command is available: only an older version can be restored."""
        row = self.rows.current
        return command != "history.restore" or (row is not None and not row.is_present)

    def action_restore_version(self) -> None:
        """Restore the version under the cursor."""
        row, memory = self.rows.current, self._memory
        if row is None or memory is None:
            self.memento.show_status("There is no version here.", problem=True)
            return
        if row.is_present:
            self.memento.show_status("This is the present version. Choose an older one below it.", problem=True)
            return
        version = row.revision.version
        try:
            restored = restore_version(self.workspace, memory.id, version, base_version=self._revisions[0].version)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        if not restored.fields:
            self.memento.show_status(f"Nothing differs from version {version}.", problem=True)
            return
        self.memento.refresh_after_write()
        self.memento.show_status(f"Restored version {version}: {', '.join(restored.fields)}. z undoes.")


def _writer(revision: Revision[Memory]) -> str:
    entry = revision.entry
    return f"{writer_name(entry)} ({entry.channel})"


def _version_line(row: _Version, width: int) -> list[Line]:
    entry = row.revision.entry
    age = f"{ago(datetime.fromisoformat(entry.at), clock.now()):>7}"
    gone = "dropped" if row.revision.dropped else "purged"
    state = gone if row.revision.purged else "present" if row.is_present else ""
    head = f"v{row.revision.version:<4}"
    done = f"{action_words(entry.action).done:<11} {_writer(row.revision)}"
    words = cells(done, max(width - len(head) - len(age) - 9, 0))
    return [[(head, "strong"), (words, ""), (f" {state:<8}", "good" if row.is_present else "warning"), (age, "muted")]]


def _change(row: _Version) -> Content:
    """Return the change of a version: the fields in a line each, then the text."""
    return Content("\n").join(_parts(row))


def _parts(row: _Version) -> Iterator[Content]:
    revision, before = row.revision, None if row.before is None else row.before.record
    if revision.entry.note:
        yield literal(f"note: {note_in_words(revision.entry.note)}", "dim")
    if revision.dropped:
        yield Content.styled("The text of this version is no longer kept; a backup may hold it.", "$text-warning")
    elif revision.purged:
        yield Content.styled("The text of this version was purged. Nothing brings it back.", "$text-warning")
    elif revision.record is None:
        yield Content.styled("The memory was removed.", "$text-warning")
    elif before is None:
        gone = row.before is not None and row.before.purged
        yield Content.styled("The text before it is gone." if gone else "The first version.", "dim")
        yield literal(revision.record.content[:_LONGEST], multiline=True)
    else:
        yield from _text_change(before, revision.record)


def _text_change(before: Memory, after: Memory) -> Iterator[Content]:
    changes = changes_between(before, after)
    if not changes:
        yield Content.styled("No field of the memory has changed.", "dim")
    for field in changes:
        if field.name != "content":
            old, new = (value_text(value) or "none" for value in (field.before, field.after))
            yield literal(f"{field.name}: ", "bold") + literal(f"{old} -> {new}")
    if before.content != after.content:
        if len(changes) > 1:
            yield Content("")
        yield text_difference(before.content[:_LONGEST], after.content[:_LONGEST])
        if max(len(before.content), len(after.content)) > _LONGEST:
            yield Content.styled("... only the first 20,000 characters are compared.", "dim")
