"""The memories: a search box, the list with what can be done to chosen ones, and the preview or editor of one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from memento_tui import clock
from memento_tui.api.drafts import UnsavedText, UnsavedTextFile
from memento_tui.api.search import SearchAnswer, SearchHit
from memento_tui.errors import Conflict, MementoError, NotAllowed
from memento_tui.model import Memory
from memento_tui.model.filters import with_default_statuses
from memento_tui.search.query_language import Query, parse
from memento_tui.storage.memory_queries import MemorySummary
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import shown
from memento_tui.tui.external_editor import edit_in_external_editor
from memento_tui.tui.memory_text import memory_line
from memento_tui.tui.row_sources import FilterSource, HitSource
from memento_tui.tui.screens.dialogs import AskLine
from memento_tui.tui.section import in_thread
from memento_tui.tui.sections.list_section import EditingSection
from memento_tui.tui.views.memory_side import MemorySide, Preview, SideSubject
from memento_tui.tui.views.view import FilterChanged, MemoryChosen, ViewClosed
from memento_tui.tui.widgets.paged_rows import RowSource
from memento_tui.tui.widgets.record_list import Line
from memento_tui.tui.widgets.text_draft import TextDraft

__all__ = ["MemoriesSection"]

_NEEDS_ONE_MEMORY = {"memories.edit", "memories.history", "memories.links", "memories.why"}
_NEEDS_UNDELETED = {"memories.edit", "memories.tags", "memories.verify", "memories.pin", "memories.delete"}
_NEEDS_MEMORY = _NEEDS_ONE_MEMORY | _NEEDS_UNDELETED
"""Commands that need a memory under the cursor; one that is not deleted; either."""


class MemoryActions(EditingSection[MemorySummary]):
    """A list of memories with the deeds that need no editor. Each is one journal entry a memory, and can be undone.

    A deed is done to what the person saw: a memory that an agent has changed since is left as it is.
    """

    def __init__(self) -> None:
        super().__init__()
        self._marked: dict[str, int] = {}
        """The version of each marked memory as it was when it was marked."""

    def marks_changed(self) -> None:
        """Keep for each mark the version that was there to be seen: what changes afterwards is left alone."""
        marks = self.rows.marks
        fresh = sorted(marks - self._marked.keys())
        versions = self.memento.workspace.store.versions("memory", fresh) if fresh else {}
        versions |= {row.id: row.version for row in self.rows.at_hand(fresh)} | self._versions_on_screen()
        self._marked = {name: version for name, version in {**versions, **self._marked}.items() if name in marks}

    def _versions_on_screen(self) -> dict[str, int]:
        """Return the version of the memory under the cursor as it is shown: in the preview, else in its row."""
        shown = (self.rows.current, self.query_one(Preview).memory)
        return {one.id: one.version for one in shown if one is not None}

    def seen(self, memory_id: str) -> int | None:
        """Return the version of a chosen memory that the person saw; ``None`` where it is not known."""
        return self._marked.get(memory_id) or self._versions_on_screen().get(memory_id)

    def memory_of(self, row: MemorySummary | None) -> Memory | None:
        """Return the whole memory of a row."""
        found: Memory | None = None if row is None else self.memento.workspace.store.find("memory", row.id)
        return found

    def is_available(self, command: str) -> bool:
        """Tell whether a command can act on the memory under the cursor, or on the marked ones."""
        if command not in _NEEDS_MEMORY:
            return True
        row = self.rows.current
        if row is None:
            return bool(self.rows.marks) and command not in _NEEDS_ONE_MEMORY
        return row.status != "deleted" or command not in _NEEDS_UNDELETED or bool(self.rows.marks)

    def describe_rows(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the headlines of some memories."""
        return [row.headline for row in self.memento.workspace.store.summaries_by_id(ids)]

    @work(exclusive=True, group="change")
    async def action_delete(self) -> None:
        """Delete what is chosen; each can be restored."""
        workspace = self.memento.workspace
        await self.for_each("Delete", "Deleted", lambda name: workspace.forget(name, base_version=self.seen(name)))

    @work(exclusive=True, group="change")
    async def action_restore(self) -> None:
        """Bring back what is chosen."""
        row = self.rows.current
        if not self.rows.marks and row is not None and row.status not in ("deleted", "rejected", "archived"):
            self.memento.show_status(
                "This memory is not deleted. is:deleted in the search finds those that are.", problem=True
            )
            return
        await self.for_each("Restore", "Restored", self.memento.workspace.restore)

    @work(exclusive=True, group="change")
    async def action_verify(self) -> None:
        """Mark what is chosen as verified by the person; approve it if it was waiting."""
        await self.for_each("Verify", "Verified", self._verify)

    def _verify(self, memory_id: str) -> None:
        workspace, seen = self.memento.workspace, self.seen(memory_id)
        if workspace.get(memory_id).status != "pending":
            workspace.verify(memory_id, base_version=seen)
            return
        waiting = workspace.review.open_about(memory_id)
        if seen not in (None, waiting.target.version):
            raise Conflict(f"The memory {memory_id} changed while you looked at it.", "Look at it again, then decide.")
        # Whoever rewrites what waits makes another version of the proposal too.
        workspace.review.approve(waiting.proposal.id, seen=waiting.proposal.version)

    @work(exclusive=True, group="change")
    async def action_pin(self) -> None:
        """Pin what is chosen, or unpin it if all of it is pinned."""
        workspace = self.memento.workspace
        pin = not all(row.pinned for row in workspace.store.summaries_by_id(self.chosen()))
        doing, done = ("Pin", "Pinned") if pin else ("Unpin", "Unpinned")
        await self.for_each(doing, done, lambda name: workspace.update(name, base_version=self.seen(name), pinned=pin))

    @work(exclusive=True, group="change")
    async def action_tags(self) -> None:
        """Change the tags of what is chosen: of one all, of several those named with + and -."""
        if not self.check_can_act():
            return
        rows = self.memento.workspace.store.summaries_by_id(self.chosen())
        workspace = self.memento.workspace
        if len(rows) == 1:
            asked = await self.app.push_screen_wait(AskLine("Tags, with commas between", ", ".join(rows[0].tags)))
            if asked is not None:
                tags = [tag.strip().lstrip("#") for tag in asked.split(",") if tag.strip(" #")]
                self.run_write(
                    lambda: _tags_sentence(workspace.update(rows[0].id, base_version=rows[0].version, tags=tags).memory)
                )
            return
        asked = await self.app.push_screen_wait(
            AskLine(f"Tags of {len(rows):,} memories", hint="+api -old: adds and removes. Enter goes on, Escape leaves")
        )
        if not asked:
            return
        added = [word[1:] for word in asked.split() if word.startswith("+")]
        removed = {word[1:].casefold() for word in asked.split() if word.startswith("-")}

        def retag(memory_id: str) -> None:
            memory = workspace.get(memory_id)
            tags = [tag for tag in memory.tags if tag.casefold() not in removed]
            workspace.update(memory_id, base_version=memory.version, tags=[*tags, *added])

        await self.for_each("Change the tags of", "Changed the tags of", retag)


def _tags_sentence(memory: Memory) -> str:
    return f"Tags: {', '.join(memory.tags) or 'none'}. z undoes."


if TYPE_CHECKING:
    from memento_tui.tui.views.why import SearchRank


_MOST_HITS = 100
_TYPING_PAUSE_SECONDS = 0.15
"""How long a query must stand before it is asked by meaning: typing costs the engine nothing."""

_SEMANTIC_STATE_TEXT = {"ready": "by meaning too", "warming": "meaning: warming up", "off": "words only"}


class MemoriesSection(MemoryActions):
    """Browse, search, read and change memories."""

    SCOPE: ClassVar[KeyScope] = "memories"
    FILTER_HINT: ClassVar[str] = 'search: words "phrase" -not tag:x kind:decision is:pinned'
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("memories")]

    def __init__(self) -> None:
        super().__init__()
        self.query_asked: Query = parse("")
        self.hits: dict[str, SearchHit] = {}
        """What the present search found, by id; empty while the list is only filtered."""
        self._semantic = ""
        self._found = 0
        self._complaint = ""
        self._edited: Memory | None = None
        self._walked_to: str | None = None

    def compose_side(self) -> ComposeResult:
        """Show the preview beside the list."""
        yield MemorySide(SideSubject(None, self.query_asked, None))

    @property
    def side(self) -> MemorySide:
        """What stands beside the list."""
        return self.query_one(MemorySide)

    @property
    def preview(self) -> Preview:
        """The preview."""
        return self.side.preview

    def row_lines(self, row: MemorySummary, width: int) -> Sequence[Line]:
        """Return the row of a memory."""
        return memory_line(row, width)

    # Searching

    def make_source(self) -> RowSource[MemorySummary]:
        """Return what the query's filters select, the last changed first."""
        return FilterSource(self.memento.workspace.store, with_default_statuses(self.query_asked.filter))

    def filter_changed(self) -> None:
        """Ask by words at once, and by meaning when the person stops typing."""
        self.query_asked = parse(self.filter, typing=True)
        self.new_above = 0
        if self.query_asked.words:
            self._show_found(self._ask("keyword"), first=True)
            self._ask_by_meaning(self.filter)
        else:
            self.workers.cancel_group(self, "meaning")
            self._semantic, self.hits = "", {}
            self.read()
            self.show(self.rows.current)
        # A quotation mark that is not closed is being typed; it is told of when the person goes on to the list.
        closed = parse(f'{self.filter} "', typing=True).problems
        self._complain([problem for problem in self.query_asked.problems if problem in closed])

    def _complain(self, problems: Sequence[str]) -> None:
        """Tell the first thing that is wrong with the query; what was told before and is mended is told no longer."""
        complaint = next(iter(problems), "")
        if complaint or self._complaint:
            self.memento.show_status(complaint, problem=True)
        self._complaint = complaint

    def focus_content(self) -> None:
        """Go to the list, or to the editor if one is open; tell what is wrong with the query."""
        super().focus_content()
        self._complain(self.query_asked.problems)

    def _ask(self, mode: Any) -> SearchAnswer:  # noqa: ANN401 - the search's own modes
        searching = self.memento.workspace.searching
        return searching.search(self.query_asked.source, mode=mode, limit=_MOST_HITS, now=clock.now(), typing=True)

    @work(group="meaning", exclusive=True)
    async def _ask_by_meaning(self, source: str) -> None:
        await asyncio.sleep(_TYPING_PAUSE_SECONDS)
        answer = await in_thread(self, self._ask, "hybrid")
        if self.query_asked.source != source:
            return
        self._semantic = answer.semantic
        self._show_found(answer, first=False)
        if answer.semantic == "warming":
            self.set_timer(1.0, lambda: self._ask_again(source))

    @work(group="anew", exclusive=True)
    async def _ask_anew(self, source: str) -> None:
        mode = "hybrid" if self._semantic == "ready" else "keyword"
        answer = await in_thread(self, self._ask, mode)
        # Meanwhile another query may have been typed, or the answer by meaning may have come.
        if self.query_asked.source == source and (mode == "hybrid" or self._semantic != "ready"):
            self._show_found(answer, first=False)

    def _ask_again(self, source: str) -> None:
        if self.query_asked.source == source:
            self._ask_by_meaning(source)

    def _show_found(self, answer: SearchAnswer, *, first: bool) -> None:
        source = HitSource(answer.results)
        self.hits = {hit.id: hit for hit in answer.results}
        self._found = answer.total
        if answer.notice:
            self.memento.show_status(answer.notice)
        current = self.rows.current
        if first:
            self.rows.set_rows(source.rows, len(source.rows), source)
        elif self.rows.first_visible == 0:
            # What the better answer puts above is seen, and the cursor stays on its memory.
            self.rows.set_rows(source.rows, len(source.rows), source, select=current.id if current else None)
        else:
            self.rows.refresh_rows(source)
        self.show(self.rows.current)
        self.update_head()

    def reload(self) -> None:
        """Read again, keeping the reader's place."""
        if self.query_asked.words:
            self._ask_anew(self.filter)
        else:
            super().reload()
        self.show(self.rows.current)
        self.side.reload()

    def head_text(self) -> Content:
        """Return how many were found, and how."""
        words = self.counted()
        if self.query_asked.words and self._found > self.rows.total:
            words = words.replace(f"{self.rows.total:,}", f"best {self.rows.total:,} of {self._found:,}", 1)
        if self._semantic:
            words += f"  {_SEMANTIC_STATE_TEXT[self._semantic]}"
        if not self.query_asked.source:
            self.memento.show_counts(memories=self.rows.total)
        return Content(words)

    def empty_text(self) -> str:
        """Return what to do where nothing is found, or nothing is there."""
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
        self.side.show(SideSubject(self.memory_of(row), self.query_asked, self._rank(row)))

    def _rank(self, row: MemorySummary | None) -> SearchRank | None:
        hit = None if row is None else self.hits.get(row.id)
        if hit is None:
            return None
        from memento_tui.tui.views.why import SearchRank  # noqa: PLC0415 - a search is on

        return SearchRank(hit, list(self.hits).index(hit.id) + 1, len(self.hits))

    def action_markdown(self) -> None:
        """Draw the preview as Markdown, or as plain text."""
        self.memento.show_status(self.preview.toggle_markdown())

    # Views over the preview

    async def action_view(self, name: str) -> None:
        """Open a view over the preview."""
        if self.query("Editor"):
            self.memento.show_status("Save or leave the text that you are editing first.", problem=True)
        elif self.rows.current is None and name != "tree":
            self.memento.show_status("There is no memory here to look at.", problem=True)
        else:
            self._walked_to = None
            self.show(self.rows.current)
            self.add_class("-viewing")
            await self.side.open(name)

    @on(ViewClosed)
    def _view_left(self, event: ViewClosed) -> None:
        event.stop()
        self.side.close()
        self.remove_class("-viewing")
        self.screen.set_focus(self.rows)
        if self._walked_to is not None:
            self.go_to(self._walked_to)

    @on(MemoryChosen)
    def _view_chose(self, event: MemoryChosen) -> None:
        event.stop()
        self._walked_to = event.memory_id
        if self.side.view is not None and self.side.view.SCOPE == "timeline":
            self.side.view.post_message(ViewClosed())

    @on(FilterChanged)
    def _tree_narrowed(self, event: FilterChanged) -> None:
        event.stop()
        self.filter_box.value = event.query

    @work(exclusive=True, group="go to")
    async def go_to(self, memory_id: str) -> None:
        """Put the cursor on a memory; where the present search does not find it, the search is left."""
        if self.query_asked.words:
            found = memory_id in self.hits
        else:
            found = await in_thread(self, self.make_source().locate, memory_id) is not None
        if found:
            self.rows.refresh_rows(select=memory_id)
        else:
            self.filter_box.value = f"id:{memory_id}"

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
        self._edited = None
        self.open_editor("A new memory", TextDraft(), UnsavedTextFile(self.memento.workspace.paths, "memory", "", 0))

    def action_edit(self) -> None:
        """Edit the memory under the cursor in place."""
        memory = self._editable()
        if memory is not None:
            self._edit(memory)

    def is_available(self, command: str) -> bool:
        """Tell whether a command can act on the memory under the cursor, the marked ones, or in the view over it."""
        view = self.side.view
        return (
            view.is_available(command)
            if view and command.startswith(f"{view.SCOPE}.")
            else super().is_available(command)
        )

    def check_can_act(self) -> bool:
        """Tell whether a key may do something to the memory in the list; not while a view over it has the focus."""
        view = self.side.view
        if view is not None and view.has_focus_within:
            self.memento.show_status("That key is for the list; Escape goes back to it.", problem=True)
            return False
        return super().check_can_act()

    def _editable(self) -> Memory | None:
        if not self.check_can_act():
            return None
        memory = self.memory_of(self.rows.current)
        if memory is not None and memory.status == "deleted":
            self.memento.show_status("This memory is deleted. r restores it; then it can be edited.", problem=True)
            return None
        return memory

    def _edit(self, memory: Memory, heading: str = "Editing", now: TextDraft | None = None) -> None:
        self._edited = memory
        unsaved = UnsavedTextFile(self.memento.workspace.paths, "memory", memory.id, memory.version)
        self.open_editor(heading, _memory_draft(memory), unsaved, now)

    def reopen_unsaved(self, kept: UnsavedText) -> None:
        """Open the editor on a text that was left behind."""
        workspace, now = self.memento.workspace, TextDraft(kept.title, kept.tags, kept.content)
        if not kept.record_id:
            self._edited = None
            self.open_editor("Not saved yet", TextDraft(), UnsavedTextFile(workspace.paths, "memory", "", 0), now)
            return
        memory = workspace.get(kept.record_id)
        if memory.status == "deleted":
            raise NotAllowed(
                "The memory that this text belongs to is deleted.", "Restore it first: is:deleted, then r."
            )
        # What the text was made from: if somebody changed the memory since, saving leads to the choice of three.
        base: Memory | None = workspace.store.image("memory", memory.id, kept.base_version)
        self._edit(base or memory, "Not saved yet", now)
        self.go_to(memory.id)

    async def store(self, before: TextDraft, draft: TextDraft) -> bool:
        """Store a memory that was written or changed."""
        workspace, memory = self.memento.workspace, self._edited
        try:
            if memory is None:
                made = workspace.remember(draft.content, title=draft.title, tags=draft.tags)
                self.memento.show_status(
                    "Remembered. z undoes." if made.version == 1 else "That was remembered already."
                )
                self.rows.refresh_rows(select=made.id)
            else:
                workspace.update(memory.id, base_version=memory.version, **before.changes_to(draft))
                self.memento.show_status("Saved. z undoes.")
        except Conflict as conflict:
            if memory is None or conflict.current is None:
                self.memento.show_status(str(conflict), problem=True)
                return False
            return await self._settle(memory, draft)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return False
        return True

    async def _settle(self, memory: Memory, draft: TextDraft) -> bool:
        """Let the person choose where another writer was faster."""
        theirs = self.memento.workspace.get(memory.id)
        writer = self.memento.workspace.history(memory.id)[0].entry
        who = "You, elsewhere," if writer.actor == "person" else shown(writer.agent) or "memento"
        choice = await self.choose(_memory_draft(theirs), draft, who)
        if choice == "mine":
            self._edited = theirs
            return await self.store(_memory_draft(theirs), draft)
        if choice == "theirs":
            self.memento.show_status("Theirs stays; yours was not saved.")
            return True
        if not self.query("Editor"):
            self._edit(theirs, "Your text, not saved yet", draft)
        return False

    @work(exclusive=True, group="change")
    async def action_edit_outside(self) -> None:
        """Edit the text of the memory in the person's own editor; it is kept in a file until it is stored."""
        memory = self._editable()
        if memory is None:
            return
        try:
            kept, text = edit_in_external_editor(self.memento, self.memento.workspace.paths, memory.id, memory.content)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        if text == memory.content:
            kept.discard()
            self.memento.show_status("Nothing was changed.")
            return
        self._edited = memory
        before = _memory_draft(memory)
        if await self.store(before, TextDraft(before.title, before.tags, text)):
            kept.discard()
            self.memento.refresh_after_write()
        else:
            self.memento.show_status(f"Not saved. Your text is in {kept.path}.", problem=True)


def _memory_draft(memory: Memory) -> TextDraft:
    return TextDraft(memory.title, memory.tags, memory.content)
