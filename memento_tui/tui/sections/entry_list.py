"""The base of the sections of working items and of skips: short lists, conflicts with other writers, forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from textual import work
from textual.app import ComposeResult
from textual.content import Content

from memento_tui.api.drafts import UnsavedText, UnsavedTextFile
from memento_tui.api.types import Revision
from memento_tui.errors import Conflict, InvalidField, InvalidInput, MementoError
from memento_tui.model import Proposal, Skip, WorkingItem
from memento_tui.tui.display import cells, shown
from memento_tui.tui.edit_conflict import other_writer_name
from memento_tui.tui.row_sources import ListSource
from memento_tui.tui.screens.dialogs import AskLine
from memento_tui.tui.section import in_worker
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.sections.record_spec import RecordRepository, RecordSpec
from memento_tui.tui.selection import Selection
from memento_tui.tui.views.record_story import RecordStory, StoryScroll

__all__ = ["EntryListSection", "EntryWriter"]

EntryT = TypeVar("EntryT", Skip, WorkingItem)


class EntryListSection(ListSection[EntryT], Generic[EntryT]):
    """A list whose records are all read at once.

    Every action is for the version that the person saw: where another writer was faster, nothing is overwritten and
    the person is told.
    """

    SPEC: ClassVar[RecordSpec[Any]]
    """The fields of the records."""
    ORDER_KEYS: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    """The sort keys of the records, for each of `ORDERS` but the first, which is that of `select`."""

    def __init__(self) -> None:
        super().__init__()
        self.source: ListSource[EntryT] = ListSource(tuple)
        """The records that are listed now."""
        self._lock = Lock()
        self._entries: Sequence[EntryT] = ()
        self._read_at: tuple[int, str] | None = None
        """The position in the journal up to which the records were read."""
        self.with_past = False
        """Whether past records are listed too: work that is done, skips that have ended."""
        self._shown_id: str | None = None
        """The record that is shown beside the list."""

        self.told: StoryScroll[EntryT] = StoryScroll(self.side_text, self.make_story())
        """The text of a record, and facts about it below."""
        self.side_scroll = self.told

    def make_story(self) -> RecordStory[EntryT]:
        """Return the widget with the facts about a record below its text, where there is room."""
        raise NotImplementedError

    def compose_side(self) -> ComposeResult:
        """Make the content of the side pane."""
        yield self.told

    @property
    def _repository(self) -> RecordRepository[EntryT]:
        repository: RecordRepository[EntryT] = self.SPEC.repository(self.memento.workspace)
        return repository

    def make_selection(self) -> Selection[EntryT]:
        """Return the selection."""
        return Selection(lambda: self.rows, fetch=self._fetch)

    def _fetch(self, ids: Sequence[str]) -> Mapping[str, EntryT]:
        return {row_id: row for row_id in ids if (row := self.source.get(row_id)) is not None}

    def details(self, row: EntryT) -> Content:
        """Return a record in full, for the side pane."""
        raise NotImplementedError

    def select(self, entries: Sequence[EntryT]) -> Sequence[EntryT]:
        """Return the records that are to be listed, in their order. Called on threads."""
        raise NotImplementedError

    def show(self, row: EntryT | None) -> None:
        """Show the record in full."""
        same = row is not None and row.id == self._shown_id
        self._shown_id = None if row is None else row.id
        self.set_side_text(Content("") if row is None else self.details(row), same=same)
        self.told.tell(row)

    # Reading

    def make_source(self) -> ListSource[EntryT]:
        """Return the records that are to be listed now."""
        order = self.ORDER_KEYS.get(self.order)
        self.source = ListSource(
            lambda: (
                self.select(self._all_entries())
                if order is None
                else sorted(self.select(self._all_entries()), key=order)
            )
        )
        return self.source

    def _all_entries(self) -> Sequence[EntryT]:
        """Return all records, read again only where something was written: a filter that is typed costs no read."""
        with self._lock:
            mark = self.memento.workspace.activity.position()
            if mark != self._read_at:
                self._entries, self._read_at = self.SPEC.read_all(self.memento.workspace), mark
            return self._entries

    def focus_content(self) -> None:
        """Take the focus, and read again: hits, and the end of records, have no journal entries."""
        super().focus_content()
        self._read_at = None
        self.reload()

    def reload(self, select: str | None = None) -> None:
        """Read again, keeping the position; the cursor goes to the row ``select`` if that is given."""
        if self.rows.total == 0:
            self.read(select=select)
        else:
            self.rows.refresh_rows(self.make_source(), select=select)

    def show_query(self, query: str) -> None:
        """Show the records that a query of this section selects, past ones too if it selects no others."""
        super().show_query(query)
        self.filter = query
        self.filter_changed()
        if self.rows.total == 0 and query and not self.with_past:
            self.with_past = True
            self.read()

    def toggle_past(self) -> None:
        """List past records too, or not; the cursor stays on its row."""
        self.with_past = not self.with_past
        row = self.rows.current
        self.read(select=row.id if row else None)

    def describe_rows(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the titles of some records."""
        return [row_id if (row := self.seen(row_id)) is None else self.SPEC.title_of(row) for row_id in ids]

    def history_of(self, row: EntryT) -> Sequence[Revision[EntryT]]:
        """Return the versions of a record, newest first."""
        return self._repository.history(row.id)

    # Actions

    def seen(self, row_id: str) -> EntryT | None:
        """Return a record as the person saw it last, or as this section wrote it since."""
        row: EntryT | None = self.selection.seen(row_id)
        return row

    def current_seen(self) -> EntryT | None:
        """Return the record under the cursor if something may be done to it; if not, say why in the status line."""
        row = self.rows.current
        if not self.actions.check_can_act():
            return None
        if row is None:
            self.memento.show_status("There is nothing under the cursor to do that to.", problem=True)
            return None
        return self.seen(row.id)

    def update(self, row_id: str, base_version: int | None, changes: Mapping[str, Any]) -> EntryT | None:
        """Change some fields of a record, made from a version of it; return it, or ``None`` where that is proposed."""
        return self.note_written(self.SPEC.update(self.memento.workspace, row_id, base_version or 0, changes))

    def note_written(self, written: EntryT | Proposal | None) -> EntryT | None:
        """Count a record that was just written as seen, and return it; return ``None`` for a proposal."""
        if written is None or isinstance(written, Proposal):
            return None
        self.selection.note_written(written)
        return written

    @contextmanager
    def around_action(self) -> Iterator[None]:
        """Report that another writer was faster without speaking of versions."""
        try:
            yield
        except Conflict as conflict:
            message = "It was changed meanwhile, and is shown as it is now."
            raise InvalidInput(message, "Do it again if it still fits.") from conflict

    def describe_conflict(self, seen: EntryT, conflict: Conflict) -> tuple[EntryT, InvalidInput]:
        """Return a record as it is after another writer was faster, and the error to show to the person.

        Raises the conflict where the record is gone.
        """
        current = self._repository.find(seen.id)
        if current is None:
            raise conflict
        writer = other_writer_name(self.history_of(seen)[0].entry)
        changes = self.SPEC.describe_changes(seen, current)
        message = f"{writer} changed it meanwhile{f': {changes}' if changes else ', and back again'}."
        return current, InvalidInput(message, "Save again to put yours over it.")

    # Questions and forms

    def heading(self, word: str, row: EntryT) -> Content:
        """Return the title of a question about a record."""
        return Content(f"{word}: {cells(self.SPEC.title_of(row), 50).rstrip()}")

    async def ask(
        self, question: str, value: str, accept: Callable[[str], str], *, hint: str = "", proposed: bool = False
    ) -> None:
        """Ask for a line until ``accept`` takes it; a refused one stays in the line. Must run in a worker.

        ``accept`` returns a sentence for the status line, or raises a `MementoError` that says why not. What is typed
        takes the place of a value that is only ``proposed``.
        """
        while True:
            answer = await self.app.push_screen_wait(AskLine(question, value, hint=hint, proposed=proposed))
            if answer is None:
                return
            try:
                sentence = accept(answer)
            except MementoError as error:
                proposed, value, hint = False, answer, shown(f"{self.SPEC.format_error(error)} Escape leaves.")
                continue
            self.memento.refresh_after_write()
            self.memento.show_status(sentence)
            return

    def _unsaved(self, row: EntryT | None) -> UnsavedTextFile:
        """Return the file that keeps the text that is typed over a record, or over a new one."""
        paths = self.memento.workspace.paths
        return UnsavedTextFile(paths, self.SPEC.kind, row.id if row else "", row.version if row else 0)

    def reopen_unsaved(self, kept: UnsavedText) -> None:
        """Open the form that was open when its process ended."""
        typed = msgspec.json.decode(kept.content, type=dict[str, str])
        if kept.record_id:
            current = self._repository.get(kept.record_id)
            # The record that it was typed over: saving it over a newer version is a conflict, which is reported.
            base = self._repository.version_of(kept.record_id, kept.base_version)
            asking = partial(self._ask_edit, base or current, typed)
        else:
            asking = partial(self._ask_new, typed)
        in_worker(self, asking, "change", exclusive=True)

    @work(exclusive=True, group="change")
    async def action_new(self) -> None:
        """Add a record."""
        await self._ask_new()

    @work(exclusive=True, group="change")
    async def action_edit(self) -> None:
        """Edit the record under the cursor."""
        row = self.current_seen()
        if row is not None:
            await self._ask_edit(row)

    def new_texts(self) -> Mapping[str, str]:
        """Return the texts that the form of a new record begins with here, by field."""
        return {}

    def go_to_new(self, row: EntryT) -> None:
        """Put the cursor on a record that was just made."""
        self.reload(row.id)

    async def _ask_new(self, typed: Mapping[str, str] | None = None) -> None:
        """Let the person make a record in a form that begins with the texts ``typed``; must run in a worker."""
        made: list[EntryT] = []

        def save(texts: Mapping[str, str]) -> None:
            try:
                values = self.SPEC.parse({name: text for name, text in texts.items() if text.strip()})
                written = self.note_written(self.SPEC.create(self.memento.workspace, values))
            except InvalidField as error:
                raise InvalidInput(self.SPEC.format_error(error)) from error
            made.extend([written] if written else [])

        title, fields = Content(f"A new {self.SPEC.noun}"), self.SPEC.new_form_fields(self.new_texts())
        from memento_tui.tui.screens.form import FormScreen  # noqa: PLC0415 - its text areas are slow to load

        form = FormScreen(title, fields, save, unsaved=self._unsaved(None), typed=typed)
        if await self.app.push_screen_wait(form) and made:
            self.guard.moved_by_person()
            self.go_to_new(made[0])
            self.memento.refresh_after_write()
            self.memento.show_status("Added. z undoes.")

    async def _ask_edit(self, seen: EntryT, typed: Mapping[str, str] | None = None) -> None:
        """Let the person change a record in a form; only the fields that changed are saved. Must run in a worker."""
        fields, writer = self.SPEC.form_fields(seen), EntryWriter(self, seen)
        before = {field.name: field.value.strip() for field in fields}

        def save(texts: Mapping[str, str]) -> None:
            changed = {name: text for name, text in texts.items() if text.strip() != before[name]}
            try:
                changes = self.SPEC.parse(changed)
                if changes:
                    writer.write(lambda base: self.update(base.id, base.version, changes))
            except InvalidField as error:
                raise InvalidInput(self.SPEC.format_error(error)) from error

        from memento_tui.tui.screens.form import FormScreen  # noqa: PLC0415 - its text areas are slow to load

        form = FormScreen(self.heading("Edit", seen), fields, save, unsaved=self._unsaved(seen), typed=typed)
        if await self.app.push_screen_wait(form):
            if writer.has_written:
                self.memento.refresh_after_write()
            self.memento.show_status("Saved. z undoes." if writer.has_written else "Nothing was changed.")


class EntryWriter(Generic[EntryT]):
    """Writes over a record as the person saw it; after a conflict was shown, over the record as it is now."""

    def __init__(self, section: EntryListSection[EntryT], seen: EntryT) -> None:
        self._section: EntryListSection[EntryT] = section
        self.base: EntryT = seen
        """The record that the next write is made from."""
        self.has_written = False

    def write(self, act: Callable[[EntryT], EntryT | None]) -> EntryT:
        """Call ``act`` with the base; return the record that it wrote, or the base where it returns none.

        Raises `InvalidInput` with what another writer changed meanwhile; the next call writes over that.
        """
        try:
            written = act(self.base)
        except Conflict as conflict:
            self.base, problem = self._section.describe_conflict(self.base, conflict)
            raise problem from conflict
        self.has_written = True
        return written or self.base
