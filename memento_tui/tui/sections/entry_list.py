"""The base of the sections of working items and of skips: whole lists, actions on what was seen, questions, forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, ClassVar, Generic, TypeVar

import msgspec
from textual.content import Content

from memento_tui.api.drafts import UnsavedText, UnsavedTextFile
from memento_tui.errors import Conflict, InvalidField, InvalidInput, MementoError
from memento_tui.model import Proposal, Skip, WorkingItem
from memento_tui.storage.store import Revision
from memento_tui.tui.display import cells, shown
from memento_tui.tui.row_sources import IndexedListSource
from memento_tui.tui.screens.dialogs import AskLine
from memento_tui.tui.screens.form import Field, FormScreen
from memento_tui.tui.sections.entry_text import format_error, format_value
from memento_tui.tui.sections.list_section import ListSection

__all__ = ["EntryListSection"]

EntryT = TypeVar("EntryT", Skip, WorkingItem)


class EntryListSection(ListSection[EntryT], Generic[EntryT]):
    """A list that is read as a whole.

    Every deed is done to the version that the person saw: where another writer was faster, nothing is overwritten and
    the person is told.
    """

    RECORD: ClassVar[str]
    """What the store calls the records."""
    LABELS: ClassVar[Mapping[str, str]]
    """What the fields of a record are called."""

    def __init__(self) -> None:
        super().__init__()
        self.source: IndexedListSource[EntryT] = IndexedListSource(tuple)
        """What is listed now."""
        self._lock = Lock()
        self._entries: Sequence[EntryT] = ()
        self._read_at: str | None = None
        """What marks the journal entry up to which the records were read."""
        self._marked: dict[str, EntryT] = {}
        """The marked rows as they were when they were marked."""
        self._written: dict[str, EntryT] = {}
        """What this section wrote itself, which the list may not show yet."""
        self.with_past = False
        """Whether what is past is listed too: work that is done, skips that are over."""
        self._shown_id: str | None = None
        """What stands beside the list."""

    def read_all(self) -> Sequence[EntryT]:
        """Return all records of the kind. Called on threads."""
        raise NotImplementedError

    def in_full(self, row: EntryT) -> Content:
        """Return what stands beside the list for a row."""
        raise NotImplementedError

    def show(self, row: EntryT | None) -> None:
        """Show the row in full."""
        same = row is not None and row.id == self._shown_id
        self._shown_id = None if row is None else row.id
        self.set_side_text(Content("") if row is None else self.in_full(row), same=same)

    def select(self, entries: Sequence[EntryT]) -> Sequence[EntryT]:
        """Return those that are to be listed, in their order. Called on threads."""
        raise NotImplementedError

    def title_of(self, row: EntryT) -> str:
        """Return what a row is called; it need not be safe to show."""
        raise NotImplementedError

    # Reading

    def make_source(self) -> IndexedListSource[EntryT]:
        """Return what is to be listed now."""
        self.source = IndexedListSource(lambda: self.select(self._all_entries()))
        return self.source

    def _all_entries(self) -> Sequence[EntryT]:
        """Return all records, read again only where something was written: a filter that is typed costs no read."""
        with self._lock:
            store = self.memento.workspace.store
            mark = store.mark(store.head())
            if mark != self._read_at:
                self._entries, self._read_at = self.read_all(), mark
            return self._entries

    def focus_content(self) -> None:
        """Take the focus, and read again what no journal entry tells of: hits, and what has ended meanwhile."""
        super().focus_content()
        self._read_at = None
        self.reload()

    def show_query(self, query: str) -> None:
        """Show what a query of this section selects, among what is past too if it is only there."""
        super().show_query(query)
        self.filter = query
        self.filter_changed()
        if self.rows.total == 0 and query and not self.with_past:
            self.with_past = True
            self.read()

    def toggle_past(self) -> None:
        """List what is past too, or not; the cursor stays with its row."""
        self.with_past = not self.with_past
        row = self.rows.current
        self.read(select=row.id if row else None)

    def marks_changed(self) -> None:
        """Keep each marked row as it is now: what is done later is done to that."""
        for row_id in self.rows.marks - self._marked.keys():
            row = self.source.get(row_id)
            if row is not None:
                self._marked[row_id] = row
        self._marked = {row_id: row for row_id, row in self._marked.items() if row_id in self.rows.marks}

    def describe_rows(self, ids: Sequence[str]) -> Sequence[str]:
        """Return what some rows are called."""
        return [row_id if (row := self.seen(row_id)) is None else self.title_of(row) for row_id in ids]

    def history_of(self, row: EntryT) -> list[Revision[Any]]:
        """Return the versions of a record, newest first."""
        found: list[Revision[Any]] = self.memento.workspace.store.history(self.RECORD, row.id)
        return found

    # Deeds

    def seen(self, row_id: str) -> EntryT | None:
        """Return a record as the person saw it last, or as this section wrote it since."""
        current = self.rows.current
        row = self._marked.get(row_id) or (current if current is not None and current.id == row_id else None)
        row = row or self.source.get(row_id)
        written = self._written.get(row_id)
        return written if row is not None and written is not None and written.version > row.version else row

    def current_seen(self) -> EntryT | None:
        """Return the record under the cursor if something may be done to it; if not, say why."""
        row = self.rows.current
        if not self.check_can_act():
            return None
        if row is None:
            self.memento.show_status("There is nothing under the cursor to do that to.", problem=True)
            return None
        return self.seen(row.id)

    def note(self, written: EntryT | Proposal | None) -> EntryT | None:
        """Remember what was just written, and return it."""
        if written is None or isinstance(written, Proposal):
            return None
        self._written[written.id] = written
        return written

    @contextmanager
    def conflict_in_plain_words(self) -> Iterator[None]:
        """Tell that another writer was faster as a person would, who knows of no versions."""
        try:
            yield
        except Conflict as conflict:
            told = "It was changed meanwhile, and is shown as it is now."
            raise InvalidInput(told, "Do it again if it still fits.") from conflict

    async def each(self, doing: str, done: str, act: Callable[[str, int | None], Any]) -> None:
        """Do something to each chosen row as it was seen, and tell of each where one failed. Must run in a worker.

        ``act`` is given an id and the version that was seen.
        """
        names: dict[str, str] = {}
        problems: dict[str, str] = {}

        def tried(row_id: str) -> None:
            row = self.seen(row_id)
            names[row_id], problems[row_id] = (row_id if row is None else self.title_of(row)), ""
            try:
                with self.conflict_in_plain_words():
                    act(row_id, None if row is None else row.version)
            except MementoError as error:
                problems[row_id] = str(error)
                raise

        await self.for_each(doing, done, tried)
        failed = [(names[row_id], problem) for row_id, problem in problems.items() if problem]
        if failed and len(names) > 1:
            from memento_tui.tui.screens.write_problems import OutcomesScreen  # noqa: PLC0415 - seldom needed

            told = Content(f"{len(names) - len(failed):,} of {len(names):,} done; these are as they were")
            await self.app.push_screen_wait(OutcomesScreen(told, failed))

    async def ask(self, question: str, value: str, take: Callable[[str], str], *, hint: str = "") -> None:
        """Ask for a line until ``take`` accepts it; what it refuses stays in the line. Must run in a worker.

        ``take`` returns what to say, or raises a `MementoError` that says why not.
        """
        while True:
            asked = await self.app.push_screen_wait(AskLine(question, value, hint=hint))
            if asked is None:
                return
            try:
                said = take(asked)
            except MementoError as error:
                value, hint = asked, shown(f"{self.in_words(error)} Escape leaves.")
                continue
            self.memento.refresh_after_write()
            self.memento.show_status(said)
            return

    def in_words(self, error: MementoError) -> str:
        """Return an error in the words that the section uses for its fields."""
        return format_error(error, self.LABELS)

    def describe_overwrite_conflict(self, seen: EntryT, conflict: Conflict) -> tuple[EntryT, InvalidInput]:
        """Return a record as it stands after another writer was faster, and what to tell the person.

        Raises the conflict where the record is gone.
        """
        standing = self.memento.workspace.store.find(self.RECORD, seen.id)
        if standing is None:
            raise conflict
        entry = self.memento.workspace.store.history(self.RECORD, seen.id)[0].entry
        who = entry.agent or ("You, elsewhere," if entry.actor == "person" else entry.actor)
        changed = [
            f'{label} is now "{format_value(getattr(standing, name))}"'
            for name, label in self.LABELS.items()
            if getattr(standing, name) != getattr(seen, name)
        ]
        what = f": {'; '.join(changed)}" if changed else ", and back again"
        told = f"{who} changed it meanwhile{what}."
        return standing, InvalidInput(told, "Save again to put yours over it.")

    def fields_of(self, row: EntryT) -> Sequence[Field]:
        """Return the fields of a form with what a record says."""
        raise NotImplementedError

    def value_of(self, name: str, text: str) -> Any:  # noqa: ANN401 - the field's own type
        """Return the value of a field of its text in a form. Raises `InvalidInput`."""
        raise NotImplementedError

    async def ask_new(self, typed: Mapping[str, str] | None = None) -> None:
        """Let a person make a record in a form that begins with what was ``typed``. Must run in a worker."""
        raise NotImplementedError

    def unsaved(self, row: EntryT | None) -> UnsavedTextFile:
        """Return where what is typed over a record, or over a new one, is kept."""
        paths = self.memento.workspace.paths
        return UnsavedTextFile(paths, self.RECORD, row.id if row else "", row.version if row else 0)

    def reopen_unsaved(self, kept: UnsavedText) -> None:
        """Open the form that was open when its process ended."""
        typed = msgspec.json.decode(kept.content, type=dict[str, str])
        if kept.record_id:
            store = self.memento.workspace.store
            standing: EntryT = store.get(self.RECORD, kept.record_id)
            # What it was typed over: saving it over a newer version is a conflict, which is told.
            base: EntryT | None = store.image(self.RECORD, kept.record_id, kept.base_version)
            asking = self.ask_edit(base or standing, typed)
        else:
            asking = self.ask_new(typed)
        self.run_worker(asking, exclusive=True, group="change")

    async def ask_edit(self, seen: EntryT, typed: Mapping[str, str] | None = None) -> None:
        """Let a person change a record in a form; only the fields that they changed are saved. Must run in a worker."""
        fields, plain = self.fields_of(seen), self.value_of
        base, wrote = seen, False
        began = {field.name: field.value.strip() for field in fields}

        def save(texts: Mapping[str, str]) -> None:
            nonlocal base, wrote
            try:
                changes = {name: plain(name, text) for name, text in texts.items() if text.strip() != began[name]}
                if changes:
                    self.note(self.update(seen.id, base.version, changes))
                    wrote = True
            except Conflict as conflict:
                base, told = self.describe_overwrite_conflict(base, conflict)
                raise told from conflict
            except InvalidField as error:
                raise InvalidInput(self.in_words(error)) from error

        form = FormScreen(self.heading("Edit", seen), fields, save, unsaved=self.unsaved(seen), typed=typed)
        if await self.app.push_screen_wait(form):
            if wrote:
                self.memento.refresh_after_write()
            self.memento.show_status("Saved. z undoes." if wrote else "Nothing was changed.")

    def update(self, row_id: str, base_version: int, changes: Mapping[str, Any]) -> EntryT | Proposal:
        """Change some fields of a record, made from a version of it."""
        raise NotImplementedError

    def heading(self, word: str, row: EntryT) -> Content:
        """Return the title of a question about a row."""
        return Content(f"{word}: {cells(self.title_of(row), 50).rstrip()}")
