"""The memories: a search box, the list, and the preview or the editor of one."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Sequence
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from memento_tui.errors import Conflict, InvalidInput, MementoError
from memento_tui.records import Memory
from memento_tui.records.when import utc_now
from memento_tui.search.language import Query, parse
from memento_tui.store.reads import Glance, visible
from memento_tui.tui.commands import bindings
from memento_tui.tui.display import cells, literal
from memento_tui.tui.rows import memory_line
from memento_tui.tui.screens.ask import AskLine, Confirm
from memento_tui.tui.sections.section import Section
from memento_tui.tui.sources import FilterSource, HitSource
from memento_tui.tui.widgets.draft import Draft, EditorLeft, EditorSaved
from memento_tui.tui.widgets.preview import Preview
from memento_tui.tui.widgets.record_list import RecordList
from memento_tui.workspace import drafts
from memento_tui.workspace.searching import Hit, SearchAnswer

__all__ = ["MemoriesSection", "SearchBox"]

_FIRST_ROWS = 100
_MOST_HITS = 100
_SETTLE_SECONDS = 0.15
"""How long a query must stand before it is asked by meaning: typing costs the engine nothing."""


class SearchBox(Input):
    """The search box."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("search")]

    def __init__(self) -> None:
        super().__init__(placeholder='search: words "phrase" -not tag:x kind:decision is:pinned', id="search")

    def action_leave(self) -> None:
        """Clear the search; if it is clear already, go to the list."""
        if self.value:
            self.value = ""
        else:
            self.action_to_list()

    def action_to_list(self) -> None:
        """Go to the list."""
        self.screen.set_focus(self.screen.query_one("#memory-list"))


class MemoriesSection(Section):
    """Browse, search, read and change memories."""

    PLACE = "memories"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("memories"),
        Binding("J", "scroll_preview(3)", show=False),
        Binding("K", "scroll_preview(-3)", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="memories")
        self._query: Query = parse("")
        self._new_above = 0
        self._semantic = ""
        self._found = 0

    def compose(self) -> ComposeResult:
        """Lay out the section."""
        with Horizontal(id="search-bar"):
            yield SearchBox()
            yield Static(id="found")
        with Container(id="panes"):
            with Vertical(classes="rows"):
                yield RecordList(memory_line, id="memory-list")
                yield Static(classes="nothing")
            with Container(id="side"):
                yield Preview()

    @property
    def rows(self) -> RecordList[Glance]:
        """The list."""
        found: RecordList[Glance] = self.query_one("#memory-list", RecordList)
        return found

    @property
    def preview(self) -> Preview:
        """The preview."""
        return self.query_one(Preview)

    def on_mount(self) -> None:
        """Show everything, the last changed first."""
        self._show_filtered(first=True)

    def enter(self) -> None:
        """Go to the list, or to the editor if one is open."""
        editors = self.query("Editor")
        self.screen.set_focus(editors.first().query_one("#editor-content") if editors else self.rows)

    # Searching

    @on(Input.Changed, "#search")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._query = parse(event.value, typing=True)
        self._new_above = 0
        if self._query.words:
            self._show_found(self._ask("keyword"), first=True)
            self._ask_by_meaning(event.value)
        else:
            self.workers.cancel_group(self, "meaning")
            self._semantic = ""
            self._show_filtered(first=True)
        for problem in self._query.problems[:1]:
            self.memento.say(problem, problem=True)

    def _ask(self, mode: Any) -> SearchAnswer:  # noqa: ANN401 - the search's own modes
        searching = self.memento.workspace.searching
        return searching.search(self._query.source, mode=mode, limit=_MOST_HITS, now=utc_now(), typing=True)

    @work(group="meaning", exclusive=True)
    async def _ask_by_meaning(self, source: str) -> None:
        await asyncio.sleep(_SETTLE_SECONDS)
        answer = await asyncio.to_thread(self._ask, "hybrid")
        if self._query.source != source:
            return
        self._semantic = answer.semantic
        self._show_found(answer, first=False)
        if answer.semantic == "warming":
            self.set_timer(1.0, lambda: self._ask_again(source))

    def _ask_again(self, source: str) -> None:
        if self._query.source == source:
            self._ask_by_meaning(source)

    def _show_found(self, answer: SearchAnswer, *, first: bool) -> None:
        hits: Sequence[Hit] = answer.results
        source = HitSource(hits)
        self._found = answer.total
        if answer.notice:
            self.memento.say(answer.notice)
        current = self.rows.current
        if first:
            self.rows.set_rows(source.rows, len(source.rows), source)
        elif self.rows.first_visible == 0:
            # What the better answer puts above is seen, and the cursor stays on its memory.
            self.rows.set_rows(source.rows, len(source.rows), source, select=current.id if current else None)
        else:
            self.rows.refresh_rows(source)
        self._tell_found()

    def _show_filtered(self, *, first: bool) -> None:
        store, tree = self.memento.workspace.store, visible(self._query.filter)
        source = FilterSource(store, tree)
        if not first:
            self.rows.refresh_rows(source)
            return
        rows = source.page(0, _FIRST_ROWS)
        if len(rows) < _FIRST_ROWS:
            self._found = len(rows)
            self.rows.set_rows(rows, len(rows), source)
        else:
            # Counting takes as long as there are rows; the first page does not wait for it.
            self.rows.set_rows(rows, max(self._found, len(rows)), source)
            self.rows.refresh_rows(source)
        self._tell_found()

    @on(RecordList.Refreshed)
    def _refreshed(self, event: RecordList.Refreshed) -> None:
        if not self._query.words:
            self._found = self.rows.total
        self._new_above = self._new_above + event.moved if self.rows.first_visible else 0
        self._tell_found()

    def _tell_found(self) -> None:
        total, words = self.rows.total, []
        if self._query.words and self._found > total:
            words.append(f"best {total:,} of {self._found:,}")
        else:
            words.append(f"{total:,}")
        if self._new_above > 0:
            words.append(f"{self._new_above} new above (g)")
        if self.rows.marks:
            words.append(f"{len(self.rows.marks):,} marked")
        if self._semantic:
            words.append(
                {"ready": "by meaning too", "warming": "meaning: warming up", "off": "words only"}[self._semantic]
            )
        self.query_one("#found", Static).update(Content("  ".join(words)))
        self._tell_empty()
        if not self._query.source:
            self.memento.count(memories=total)

    def _tell_empty(self) -> None:
        empty = self.rows.total == 0
        # The list stays, a line high: a widget that is hidden loses the focus, and the next key would go elsewhere.
        self.query_one(".rows").set_class(empty, "-empty")
        if not empty:
            return
        if self._query.source:
            text = "Nothing found.\n\nFewer words find more; Escape in the search box clears it."
        else:
            text = (
                "Nothing is remembered here yet.\n\n"
                "n        write the first memory\n"
                "q        leave, then: memento import vault ~/notes\n"
                "         or let an agent write: memento mcp"
            )
        self.query_one(".nothing", Static).update(Content(text))

    # Following

    def follow(self) -> None:
        """Read again, keeping the reader's place."""
        if self._query.words:
            self._show_found(self._ask("keyword" if self._semantic != "ready" else "hybrid"), first=False)
        elif self.rows.total == 0:
            self._show_filtered(first=True)
        else:
            self._show_filtered(first=False)
        self._show_current()

    @on(RecordList.Highlighted)
    def _moved(self, _: RecordList.Highlighted[Glance]) -> None:
        if self.rows.cursor == 0 and self._new_above:
            self._new_above = 0
            self._tell_found()
        self._show_current()

    @on(RecordList.MarksChanged)
    def _marked(self) -> None:
        self._tell_found()

    @on(RecordList.LoadFailed)
    def _failed(self, event: RecordList.LoadFailed) -> None:
        self.memento.say(str(event.error), problem=True)

    def _show_current(self) -> None:
        memory = self._current()
        self.preview.show(memory, self._query if self._query.words else None)

    def _current(self) -> Memory | None:
        row = self.rows.current
        found: Memory | None = None if row is None else self.memento.workspace.store.find("memory", row.id)
        return found

    def action_scroll_preview(self, lines: int) -> None:
        """Scroll the preview."""
        self.preview.scroll_relative(y=lines, animate=False)

    # Changing

    def _chosen(self) -> list[str]:
        """Return the ids that a command is for: the marked ones, else the one under the cursor."""
        if self.rows.marks:
            return sorted(self.rows.marks)
        return [self.rows.current.id] if self.rows.current else []

    async def _for_each(self, doing: str, done: str, act: Any) -> None:  # noqa: ANN401 - a method that takes an id
        """Do something to every chosen memory, each on its own, and tell how many it worked for."""
        ids = self._chosen()
        if not ids:
            self.memento.say("There is no memory here.", problem=True)
            return
        if len(ids) > 1:
            question = Content(f"{doing} {len(ids):,} marked memories?")
            if not await self.app.push_screen_wait(Confirm(question, self._sample(ids))):
                return
        worked, problems = 0, []
        for index, memory_id in enumerate(ids):
            try:
                act(memory_id)
                worked += 1
            except MementoError as error:
                problems.append(str(error))
            if index % 50 == 49:  # noqa: PLR2004 - often enough to be seen, seldom enough to cost nothing
                self.memento.say(f"{doing}: {index + 1:,} of {len(ids):,} ...")
                await asyncio.sleep(0)
        self.rows.clear_marks()
        told = f"{done} {worked:,}." if len(ids) > 1 else f"{done}."
        self.memento.say(
            f"{told} z undoes." + (f" {len(problems)} failed: {problems[0]}" if problems else ""),
            problem=bool(problems),
        )
        self.memento.wrote()

    def _sample(self, ids: Sequence[str]) -> Content:
        rows = self.memento.workspace.store.glances_by_id(ids[:5])
        lines = [literal(cells(row.headline, 60).rstrip()) for row in rows]
        if len(ids) > len(rows):
            lines.append(Content(f"and {len(ids) - len(rows):,} more"))
        return Content("\n").join(lines)

    @work(exclusive=True, group="change")
    async def action_delete(self) -> None:
        """Delete what is chosen; each can be restored."""
        await self._for_each("Delete", "Deleted", self.memento.workspace.forget)

    @work(exclusive=True, group="change")
    async def action_restore(self) -> None:
        """Bring back what is chosen."""
        row = self.rows.current
        if not self.rows.marks and row is not None and row.status not in ("deleted", "rejected", "archived"):
            self.memento.say("This memory is not deleted. is:deleted in the search finds those that are.", problem=True)
            return
        await self._for_each("Restore", "Restored", self.memento.workspace.restore)

    @work(exclusive=True, group="change")
    async def action_verify(self) -> None:
        """Mark what is chosen as verified by the person; approve it if it was waiting."""
        workspace = self.memento.workspace

        def verify(memory_id: str) -> None:
            if workspace.get(memory_id).status == "pending":
                workspace.review.approve(memory_id)
            else:
                workspace.verify(memory_id)

        await self._for_each("Verify", "Verified", verify)

    @work(exclusive=True, group="change")
    async def action_pin(self) -> None:
        """Pin what is chosen, or unpin it if all of it is pinned."""
        rows = self.memento.workspace.store.glances_by_id(self._chosen())
        pin = not all(row.pinned for row in rows)
        workspace = self.memento.workspace
        await self._for_each(
            "Pin" if pin else "Unpin", "Pinned" if pin else "Unpinned", lambda i: workspace.update(i, pinned=pin)
        )

    @work(exclusive=True, group="change")
    async def action_tags(self) -> None:
        """Change the tags of what is chosen: of one all, of several those named with + and -."""
        rows = self.memento.workspace.store.glances_by_id(self._chosen())
        if not rows:
            return
        workspace = self.memento.workspace
        if len(rows) == 1:
            asked = await self.app.push_screen_wait(AskLine("Tags, with commas between", ", ".join(rows[0].tags)))
            if asked is not None:
                tags = _tags_of(asked)
                self.do(lambda: _say_tags(workspace.update(rows[0].id, tags=tags).memory))
            return
        asked = await self.app.push_screen_wait(
            AskLine(f"Tags of {len(rows):,} memories", hint="+api -old: adds and removes. Enter goes on, Escape leaves")
        )
        if not asked:
            return
        added = [word[1:] for word in asked.split() if word.startswith("+")]
        removed = {word[1:].casefold() for word in asked.split() if word.startswith("-")}

        def retag(memory_id: str) -> None:
            tags = [tag for tag in workspace.get(memory_id).tags if tag.casefold() not in removed]
            workspace.update(memory_id, tags=[*tags, *added])

        await self._for_each("Change the tags of", "Changed the tags of", retag)

    def action_copy(self) -> None:
        """Copy the id of the memory."""
        if self.rows.current:
            self.app.copy_to_clipboard(self.rows.current.id)
            self.memento.say(f"Copied {self.rows.current.id}.")

    def action_markdown(self) -> None:
        """Draw the preview as Markdown, or as plain text."""
        self.memento.say(self.preview.toggle_markdown())

    def action_unmark(self) -> None:
        """Unmark all."""
        self.rows.clear_marks()

    def action_clear(self) -> None:
        """Leave what is transient: the marks first, then the search."""
        if self.rows.marks:
            self.rows.clear_marks()
        elif self._query.source:
            self.query_one(SearchBox).value = ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002 - Textual's
        """Leave the slash to a text that is being typed."""
        return action != "search" or not (isinstance(self.screen.focused, Input) or self.query("Editor"))

    def action_search(self) -> None:
        """Go to the search box."""
        # At once: a key typed right behind this one belongs to the box already.
        self.screen.set_focus(self.query_one(SearchBox))

    # Editing

    @on(RecordList.Opened)
    def _opened(self) -> None:
        self.action_edit()

    def action_new(self) -> None:
        """Write a new memory."""
        self._edit(None, "A new memory", Draft())

    def action_edit(self) -> None:
        """Edit the memory under the cursor in place."""
        memory = self._current()
        if memory is None:
            self.memento.say("There is no memory to edit here. n writes a new one.", problem=True)
        elif memory.status == "deleted":
            self.memento.say("This memory is deleted. r restores it; then it can be edited.", problem=True)
        else:
            self._edit(memory, "Editing", Draft(memory.title, memory.tags, memory.content))

    def _edit(self, memory: Memory | None, heading: str, draft: Draft) -> None:
        if self.query("Editor"):
            self.memento.say("An editor is open already. Save it or leave it first.", problem=True)
            self.enter()
            return
        from memento_tui.tui.widgets.editor import Editor  # noqa: PLC0415 - text areas are slow to load

        self._edited = memory
        self.preview.display = False
        self.add_class("-editing")
        self.query_one("#side").mount(Editor(heading, draft))

    def _close_editor(self) -> None:
        self.query("Editor").remove()
        self.remove_class("-editing")
        self.preview.display = True
        self.screen.set_focus(self.rows)

    @on(EditorLeft)
    def _left(self) -> None:
        self._close_editor()

    @on(EditorSaved)
    @work
    async def _saved(self, event: EditorSaved) -> None:
        await self._save(self._edited, event.before, event.draft)

    async def _save(self, memory: Memory | None, before: Draft, draft: Draft) -> bool:
        """Store a draft; return whether nothing is left to do with it."""
        workspace = self.memento.workspace
        try:
            if memory is None:
                made = workspace.remember(draft.content, title=draft.title, tags=draft.tags)
                self.memento.say("Remembered. z undoes." if made.version == 1 else "That was remembered already.")
                self.rows.refresh_rows(select=made.id)
            else:
                workspace.update(memory.id, base_version=memory.version, **before.changes_to(draft))
                self.memento.say("Saved. z undoes.")
        except Conflict as conflict:
            return await self._settle(conflict, before, draft)
        except MementoError as error:
            self.memento.say(str(error), problem=True)
            return False
        self._close_editor()
        self.memento.wrote()
        return True

    async def _settle(self, conflict: Conflict, before: Draft, draft: Draft) -> bool:
        from memento_tui.tui.screens.conflict import ConflictScreen  # noqa: PLC0415 - seldom needed

        memory = self._edited
        if memory is None or conflict.current is None:
            self.memento.say(str(conflict), problem=True)
            return False
        theirs: Memory = self.memento.workspace.get(memory.id)
        writer = self.memento.workspace.history(memory.id)[0].entry
        who = writer.agent or writer.actor
        screen = ConflictScreen(
            _joined(theirs.title, theirs.tags, theirs.content),
            _joined(draft.title, draft.tags, draft.content),
            f"The {who}" if who == writer.actor else who,
        )
        choice = await self.app.push_screen_wait(screen)
        if choice == "mine":
            self._edited = theirs
            return await self._save(theirs, before, draft)
        if choice == "theirs":
            self._close_editor()
            self.memento.say("Theirs stays; yours was not saved.")
            self.memento.wrote()
            return True
        if not self.query("Editor"):
            self._edit(theirs, "Your text, not saved yet", draft)
        return False

    @work(exclusive=True, group="change")
    async def action_edit_outside(self) -> None:
        """Edit the text of the memory in the person's own editor; it is kept in a file until it is stored."""
        memory = self._current()
        if memory is None or memory.status == "deleted":
            self.memento.say("There is no memory to edit here.", problem=True)
            return
        try:
            kept, text = self._edited_outside(memory)
        except (MementoError, SuspendNotSupported) as error:
            self.memento.say(str(error), problem=True)
            return
        if text == memory.content:
            kept.discard()
            self.memento.say("Nothing was changed.")
            return
        self._edited = memory
        before = Draft(memory.title, memory.tags, memory.content)
        if await self._save(memory, before, Draft(memory.title, memory.tags, text)):
            kept.discard()
        else:
            self.memento.say(f"Not saved. Your text is in {kept.path}.", problem=True)

    def _edited_outside(self, memory: Memory) -> tuple[drafts.Draft, str]:
        editor = drafts.editor_command()
        kept = drafts.Draft(self.memento.workspace.paths, memory.id, memory.content)
        with self.app.suspend():
            ended = subprocess.run([*editor, str(kept.path)], check=False)  # noqa: S603 - the person's own editor
        text = kept.read(memory.content)
        if ended.returncode and text != memory.content:
            raise InvalidInput(f"{editor[0]} ended with status {ended.returncode}.", f"Your text is in {kept.path}.")
        return kept, text


def _joined(title: str, tags: Sequence[str], content: str) -> str:
    return f"title: {title}\ntags: {', '.join(tags)}\n\n{content}"


def _tags_of(text: str) -> list[str]:
    return [tag.strip().lstrip("#") for tag in text.split(",") if tag.strip(" #")]


def _say_tags(memory: Memory) -> str:
    return f"Tags: {', '.join(memory.tags) or 'none'}. z undoes."
