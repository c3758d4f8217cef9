"""The section of memories: a search box, the list, and the preview, a view or the editor of one memory."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from memento_tui.api.drafts import UnsavedText, UnsavedTextFile, editor_command
from memento_tui.api.query_completion import Suggestions
from memento_tui.api.types import MemoryOrder, MemorySummary
from memento_tui.errors import MementoError, NotAllowed
from memento_tui.model import Memory
from memento_tui.model.filters import AnyOf, with_default_statuses
from memento_tui.search.query_language import written_field
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import literal, set_border_title, shown
from memento_tui.tui.edit_conflict import CurrentText, other_writer_name, save_with_conflicts
from memento_tui.tui.external_editor import edit_in_external_editor, run_in_terminal
from memento_tui.tui.memory_columns import MEMORY_BELOW, MEMORY_COLUMNS, memory_line
from memento_tui.tui.screens.dialogs import AskLine, ChoiceScreen, DialogChoice
from memento_tui.tui.section import in_thread
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.sections.memory_actions import MemoryActions
from memento_tui.tui.sections.memory_search import RESULT_LINES, MemorySearch
from memento_tui.tui.selection import SeenVersion, Selection
from memento_tui.tui.views.memory_side import MemorySide, Preview, SideSubject
from memento_tui.tui.views.view import FilterChanged, MemoryChosen, ViewClosed
from memento_tui.tui.widgets.paged_rows import RowSource
from memento_tui.tui.widgets.record_list import Line
from memento_tui.tui.widgets.text_draft import TextDraft

__all__ = ["MemoriesSection"]

_NEEDS_ONE_MEMORY = {
    "memories.edit",
    "memories.cited",
    "memories.fields",
    "memories.history",
    "memories.links",
    "memories.why",
}
_NEEDS_UNDELETED = {f"memories.{name}" for name in ("edit", "fields", "tags", "verify", "pin", "delete")}
_NEEDS_MEMORY = _NEEDS_ONE_MEMORY | _NEEDS_UNDELETED
"""Commands that need a memory under the cursor; that need one that is not deleted; both kinds together."""

Versioned = MemorySummary | Memory | SeenVersion
"""Records whose version the person saw."""


if TYPE_CHECKING:
    from memento_tui.tui.sections.memory_form import FieldsOfSearch


_FILE_LETTERS = "abcdefghi"

_BROWSER = (sys.executable, "-m", "webbrowser")
"""The command that opens an address in the person's browser, also in one that runs in the terminal."""
"""The letters that choose one of the files that a memory cites."""

_AGES_SECONDS = 30.0
"""Seconds after which ages are drawn again: the smallest that is shown is a minute."""


class MemoriesSection(ListSection[MemorySummary]):
    """Browse, search, read and change memories."""

    SCOPE: ClassVar[KeyScope] = "memories"
    FILTER_HINT: ClassVar[str] = 'search: words "phrase" -not tag:x kind:decision is:pinned'
    ORDERS: ClassVar[Mapping[str, str]] = {
        "changed": "Last changed",
        "created": "Newest",
        "certainty": "Most certain",
        "used": "Most used",
        "last_used": "Last used",
    }
    COLUMNS = MEMORY_COLUMNS
    BELOW = MEMORY_BELOW
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("memories")]

    def __init__(self) -> None:
        super().__init__()
        self.search = MemorySearch(self)
        """The search that the filter box holds."""
        self.side = MemorySide(SideSubject(None, self.search.query, None))
        """The views beside the list."""
        self.side_scroll = self.side.preview
        self._chosen_in_view: str | None = None
        """The memory that the person went to in the view that is open."""
        self._actions = MemoryActions(self)
        self._new_fields: FieldsOfSearch | None = None
        """The fields that a new memory takes from the search; ``None`` where an earlier text is edited."""

    def make_selection(self) -> Selection[Versioned]:
        """Return the selection; a memory that the preview shows is seen at the version that stands there."""
        return Selection(lambda: self.rows, fetch=self._fetch_versions, also_shown=lambda: [self.preview.memory])

    def _fetch_versions(self, ids: Sequence[str]) -> Mapping[str, Versioned]:
        versions = self.memento.workspace.versions(ids)
        return {memory_id: SeenVersion(memory_id, version) for memory_id, version in versions.items()}

    def memory_of(self, row: MemorySummary | None) -> Memory | None:
        """Return the whole memory of a row."""
        return None if row is None else self.memento.workspace.find(row.id)

    def listed_ids(self) -> Sequence[str]:
        """Return the ids of all memories that the present search finds, in the order of the list."""
        return list(self.search.hits) if self.search.query.words else self.make_source().ids(0, self.rows.total)

    def describe_rows(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the headlines of some memories."""
        return [row.headline for row in self.memento.workspace.summaries(ids)]

    def complete_filter(self, line: str, cursor: int) -> Suggestions:
        """Return completions at the cursor of a query."""
        return self.search.complete(line, cursor)

    @property
    def _is_searching(self) -> bool:
        """Whether the person is in the search box, where the last part may go on."""
        return self.is_attached and self.screen.focused is self.filter_box

    def texts_to_copy(self, row: MemorySummary) -> Mapping[str, str]:
        """Return the text, the title, the link in other notes and the id of a memory."""
        memory = self.memory_of(row)
        texts = {} if memory is None else {"text": memory.content, "title": memory.headline}
        return {**texts, "link": f"[[{row.title.strip() or row.id}]]", "id": row.id}

    def compose_side(self) -> ComposeResult:
        """Show the preview beside the list."""
        yield self.side

    @property
    def preview(self) -> Preview:
        """The preview."""
        return self.side.preview

    def row_lines(self, row: MemorySummary, width: int) -> Sequence[Line]:
        """Return the row of a memory; of a result its evidence too."""
        lines = memory_line(row, width, self.columns.names)
        evidence = self.search.evidence(row.id, width)
        return lines if evidence is None else [*lines, evidence]

    def lines_of_row(self) -> int:
        """Return the lines of a row: two for a result, the second with the evidence; else as many as have room."""
        return RESULT_LINES if self.search.query.words else super().lines_of_row()

    # Searching

    def make_source(self) -> RowSource[MemorySummary]:
        """Return the memories that the query's filters select, most recently changed first; none for a wrong query."""
        if self.search.error:
            return self.memento.workspace.view(AnyOf(()))
        order = None if self.is_in_first_order else cast("MemoryOrder", self.order)
        return self.memento.workspace.view(with_default_statuses(self.search.query.filter), order)

    @property
    def is_in_first_order(self) -> bool:
        """Whether the list stands in the order of changes, or, where words are searched for, in that of scores."""
        return bool(self.search.query.words) or super().is_in_first_order

    @property
    def is_in_chosen_order(self) -> bool:
        """Whether no words are searched for: results stand in the order of their scores."""
        return not self.search.query.words

    def can_sort(self) -> bool:
        """Return whether the list can be put in another order: results stand in that of their scores."""
        if self.search.query.words:
            message = "Results stand in the order of their scores; w says how one was made."
            self.memento.show_status(message, problem=True)
        return not self.search.query.words

    def filter_changed(self) -> None:
        """Search with the query that the box holds now."""
        self.new_above = 0
        self.search.change(self.filter, typing=self._is_searching)

    def focus_content(self) -> None:
        """Go to the list, or to the editor if one is open; show the first problem of the query."""
        super().focus_content()
        self.search.leave_box(self.filter, typing=self._is_searching)

    def reload(self) -> None:
        """Read again, keeping the position in the list."""
        self.search.reload()
        if not self.search.query.words:
            super().reload()
        self.show(self.rows.current)
        self.side.reload()

    def head_text(self) -> Content:
        """Return how many memories the query finds, and how it searched."""
        words = self.search.head_words(self.counted(), self.rows.total)
        if not self.search.query.source:
            self.memento.show_counts(memories=self.rows.total)
        return Content(words)

    def empty_text(self) -> str:
        """Return a hint for a query that finds nothing, or for an empty list."""
        if self.search.error:
            return f"{self.search.error}\n\nEscape in the search box clears it."
        if self.filter:
            return "Nothing found.\n\nFewer words find more; Escape in the search box clears it."
        return (
            "Nothing is remembered here yet.\n\n"
            "n        write the first memory\n"
            "ctrl+o   look for what you have elsewhere, and import it\n"
            "         or let an agent write: memento mcp"
        )

    # Showing

    def show(self, row: MemorySummary | None) -> None:
        """Show the memory in the preview, and in the view that is open over it."""
        self.search.note_cursor(self.rows.cursor)
        rank = None if row is None else self.search.rank(row.id)
        self.side.show(SideSubject(self.memory_of(row), self.search.query, rank))

    def on_mount(self) -> None:
        """Read the first rows, and keep the ages true."""
        self.set_interval(_AGES_SECONDS, self.draw_ages)

    def draw_ages(self) -> None:
        """Draw the ages of the rows and of the preview again, both at one moment."""
        self.rows.refresh()
        self.preview.show(self.preview.memory, self.preview.marked_query)

    def action_markdown(self) -> None:
        """Draw the preview as Markdown, or as plain text."""
        self.memento.show_status(self.preview.toggle_markdown())

    def action_weak(self) -> None:
        """List the weak results of the search too, or the good ones alone."""
        self.search.toggle_weak()

    def action_whole(self) -> None:
        """Draw all of a long text in the preview."""
        if self.rows.current is not None:
            self.preview.show_whole()

    # Views over the preview

    async def action_view(self, name: str) -> None:
        """Open a view over the preview."""
        if self.side_pane.is_editing:
            self.memento.show_status("Save or leave the text that you are editing first.", problem=True)
        elif self.rows.current is None and name != "tree":
            self.memento.show_status("There is no memory here to look at.", problem=True)
        else:
            self._chosen_in_view = None
            self.show_side()
            self.show(self.rows.current)
            self.add_class("-viewing")
            set_border_title(self.side_pane, name.capitalize())
            await self.side.open(name)

    @on(ViewClosed)
    def _view_closed(self, event: ViewClosed) -> None:
        event.stop()
        self.side.close()
        set_border_title(self.side_pane, self.SIDE_TITLE)
        self.remove_class("-viewing")
        self.focus_part(self.rows)
        if self._chosen_in_view is not None:
            self.go_to(self._chosen_in_view)

    def action_clear(self) -> None:
        """Remove the marks; else close the view that is open beside the list; else clear the search."""
        if self.side.view is not None and not self.is_working and not self.rows.marks:
            self.side.view.post_message(ViewClosed())
        else:
            super().action_clear()

    @on(MemoryChosen)
    def _memory_chosen(self, event: MemoryChosen) -> None:
        event.stop()
        self._chosen_in_view = event.memory_id
        if self.side.view is not None and self.side.view.SCOPE == "timeline":
            self.side.view.post_message(ViewClosed())

    @on(FilterChanged)
    def _filter_chosen(self, event: FilterChanged) -> None:
        event.stop()
        self.filter_box.value = event.query

    @work(exclusive=True, group="go to")
    async def go_to(self, memory_id: str) -> None:
        """Put the cursor on a memory; where the present query does not find it, replace the query."""
        if self.search.query.words:
            is_listed = memory_id in self.search.hits
        else:
            is_listed = await in_thread(self, self.make_source().locate, memory_id) is not None
        if is_listed:
            self.rows.refresh_rows(select=memory_id)
        else:
            self.filter_box.value = written_field("id", memory_id)

    @work(exclusive=True, group="searches")
    async def action_searches(self) -> None:
        """Let the person choose a saved search."""
        from memento_tui.tui.screens.saved_searches import SearchesScreen  # noqa: PLC0415 - seldom needed

        chosen = await self.app.push_screen_wait(SearchesScreen())
        if chosen is not None:
            self.filter_box.value = chosen

    @work(exclusive=True, group="searches")
    async def action_save_search(self) -> None:
        """Keep the present search under a name."""
        if not self.filter.strip():
            self.memento.show_status("There is no search to save; / begins one.", problem=True)
            return
        name = await self.app.push_screen_wait(AskLine("Save this search as", hint="Enter saves, Escape leaves"))
        if name:
            self.run_write(
                lambda: f"Saved as {self.memento.workspace.saved_searches.save(name, self.filter).name}. s lists them."
            )

    # Editing

    def action_new(self) -> None:
        """Write a new memory."""
        from memento_tui.tui.sections.memory_form import fields_of_search  # noqa: PLC0415 - only to write

        unsaved = UnsavedTextFile(self.memento.workspace.paths, "memory", "", 0)
        self._new_fields = fields_of_search(self.search.query.filter)
        self.side_pane.open(self._new_fields.heading, TextDraft(tags=self._new_fields.tags), unsaved, self._save_new)

    def action_edit(self) -> None:
        """Edit the memory under the cursor in place."""
        memory = self._editable()
        if memory is not None:
            self._open_editor(memory)

    def is_available(self, command: str) -> bool:
        """Return whether a command can act on the memory under the cursor, the marked ones, or in the open view."""
        view = self.side.view
        if view and command.startswith(f"{view.SCOPE}."):
            return view.is_available(command)
        if command not in _NEEDS_MEMORY:
            return True
        row = self.rows.current
        if row is None:
            return bool(self.rows.marks) and command not in _NEEDS_ONE_MEMORY
        return row.status != "deleted" or command not in _NEEDS_UNDELETED or bool(self.rows.marks)

    def obstacle(self) -> str:
        """Return why keys cannot act on the list now, such as while a view has the focus; empty where they can."""
        view = self.side.view
        if view is not None and view.has_focus_within:
            return "That key is for the list; Escape goes back to it."
        return super().obstacle()

    def _editable(self) -> Memory | None:
        if not self.actions.check_can_act():
            return None
        memory = self.memory_of(self.rows.current)
        if memory is not None and memory.status == "deleted":
            message = "This memory is deleted. r restores it; then it can be edited."
            self.memento.show_status(message, problem=True)
            return None
        return memory

    def _open_editor(self, memory: Memory, heading: str = "Editing", now: TextDraft | None = None) -> None:
        unsaved = UnsavedTextFile(self.memento.workspace.paths, "memory", memory.id, memory.version)

        async def save(_before: TextDraft, draft: TextDraft) -> bool:
            return await self._save(memory, draft)

        self.side_pane.open(heading, _memory_draft(memory), unsaved, save, now=now)

    def reopen_unsaved(self, kept: UnsavedText) -> None:
        """Open the editor on a text that was left behind."""
        workspace, now = self.memento.workspace, TextDraft(kept.title, kept.tags, kept.content)
        if not kept.record_id:
            unsaved = UnsavedTextFile(workspace.paths, "memory", "", 0)
            self._new_fields = None
            self.side_pane.open("Not saved yet", TextDraft(), unsaved, self._save_new, now=now)
            return
        memory = workspace.get(kept.record_id)
        if memory.status == "deleted":
            raise NotAllowed(
                "The memory that this text belongs to is deleted.", "Restore it first: is:deleted, then r."
            )
        # The text's own base: if somebody changed the memory since, saving leads to the choice between both texts.
        base = workspace.version_of(memory.id, kept.base_version)
        self._open_editor(base or memory, "Not saved yet", now)
        self.go_to(memory.id)

    async def _save_new(self, _before: TextDraft, draft: TextDraft) -> bool:
        try:
            fields = {} if self._new_fields is None else self._new_fields.fields
            made = self.memento.workspace.remember(draft.content, title=draft.title, tags=draft.tags, **fields)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return False
        self.memento.show_status("Remembered. z undoes." if made.version == 1 else "That was remembered already.")
        # What the present search does not find would be out of sight at once.
        self.go_to(made.id)
        return True

    async def _save(self, memory: Memory, draft: TextDraft) -> bool:
        """Store a memory that was changed; return whether nothing is left to do with the text."""
        workspace = self.memento.workspace

        def write(base: Memory) -> None:
            changes = _memory_draft(base).changes_to(draft)
            workspace.update(base.id, base_version=base.version, **changes)

        def read_current() -> tuple[Memory, CurrentText]:
            current = workspace.get(memory.id)
            writer = other_writer_name(workspace.history(memory.id)[0].entry)
            return current, CurrentText(_memory_draft(current), writer)

        try:
            outcome = await save_with_conflicts(self.app, memory, draft, write=write, read_current=read_current)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return False
        if outcome == "edit":
            if not self.side_pane.is_editing:
                self._open_editor(workspace.get(memory.id), "Your text, not saved yet", draft)
            return False
        self.memento.show_status("Saved. z undoes." if outcome == "saved" else "Theirs stays; yours was not saved.")
        return True

    @work(exclusive=True, group="change")
    async def action_edit_outside(self) -> None:
        """Edit the text of the memory in the person's own editor; it is kept in a file until it is stored."""
        memory = self._editable()
        if memory is None:
            return
        try:
            kept, text = edit_in_external_editor(self.app, self.memento.workspace.paths, memory.id, memory.content)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        if text == memory.content:
            kept.discard()
            self.memento.show_status("Nothing was changed.")
        elif await self._save(memory, TextDraft(memory.title, memory.tags, text)):
            kept.discard()
            self.memento.refresh_after_write()
        else:
            self.memento.show_status(f"Not saved. Your text is in {kept.path}.", problem=True)

    @work(exclusive=True, group="change")
    async def action_cited(self) -> None:
        """Open a file that the memory cites, or the page that it is from; which one, where there are several.

        Whoever wrote the memory chose the address, so a page is always asked about.
        """
        memory = self.memory_of(self.rows.current)
        if memory is None:
            return
        from memento_tui.api.code_check import cited_files, repository_of  # noqa: PLC0415 - seldom needed

        root = repository_of(Path.cwd())
        files = await in_thread(self, cited_files, self.memento.workspace, memory, root)
        places = {str(file): shown(str(file.relative_to(root))) for file in files}
        if memory.source.url.startswith(("https://", "http://")):
            places[memory.source.url] = shown(memory.source.url)
        if not places:
            self.memento.show_status(f"It cites no file that is in {root}, and is from no page.", problem=True)
            return
        letters = zip(places.items(), _FILE_LETTERS, strict=False)
        choices = [DialogChoice(place, letter, words) for (place, words), letter in letters]
        chosen: str | None = choices[0].value
        if len(choices) > 1 or not files:
            chosen = await self.app.push_screen_wait(ChoiceScreen(Content("Open which one?"), choices))
        if chosen is not None:
            opener = _BROWSER if chosen == memory.source.url else editor_command()
            run_in_terminal(self.app, [*opener, chosen])

    # Actions on the selected memories

    @work(exclusive=True, group="change")
    async def action_delete(self) -> None:
        """Delete the selected memories."""
        await self._actions.delete()

    @work(exclusive=True, group="change")
    async def action_restore(self) -> None:
        """Bring the selected memories back."""
        await self._actions.restore()

    @work(exclusive=True, group="change")
    async def action_verify(self) -> None:
        """Mark the selected memories as verified."""
        await self._actions.verify()

    @work(exclusive=True, group="change")
    async def action_pin(self) -> None:
        """Pin the selected memories, or unpin them."""
        await self._actions.pin()

    @work(exclusive=True, group="change")
    async def action_fields(self) -> None:
        """Change the fields of the memory under the cursor in a form."""
        memory = self._editable()
        if memory is None:
            return
        from memento_tui.tui.screens.form import FormScreen  # noqa: PLC0415 - seldom needed
        from memento_tui.tui.sections.memory_form import changed_fields, form_fields  # noqa: PLC0415 - with the form

        workspace = self.memento.workspace

        def save(values: Mapping[str, str]) -> None:
            if changes := changed_fields(memory, values):
                workspace.update(memory.id, base_version=memory.version, **changes)

        form = FormScreen(Content.assemble("Fields of ", literal(memory.headline, "bold")), form_fields(memory), save)
        if await self.app.push_screen_wait(form):
            self.guard.moved_by_person()
            self.memento.refresh_after_write()
            self.memento.show_status("Changed. z undoes.")

    @work(exclusive=True, group="change")
    async def action_tags(self) -> None:
        """Change the tags of the selected memories."""
        await self._actions.retag()


def _memory_draft(memory: Memory) -> TextDraft:
    return TextDraft(memory.title, memory.tags, memory.content)
