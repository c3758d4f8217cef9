"""Finding and reading memories: the search box, the list and the preview."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from memento_tui.errors import MementoError
from memento_tui.records import Memory
from memento_tui.records.when import utc_now
from memento_tui.search.language import Query, parse
from memento_tui.store.filters import AllOf
from memento_tui.store.reads import Glance, visible
from memento_tui.tui.commands import bindings
from memento_tui.tui.rows import memory_line
from memento_tui.tui.sections.editing import EditingSection
from memento_tui.tui.sources import FilterSource, HitSource
from memento_tui.tui.widgets.preview import Preview
from memento_tui.tui.widgets.record_list import RecordList
from memento_tui.workspace.searching import SearchAnswer

__all__ = ["MemoryBrowser", "SearchBox"]

_FIRST_ROWS = 100
_MOST_HITS = 200

_SETTLE_SECONDS = 0.15
"""How long a query must stand before it is asked by meaning: typing costs the engine nothing."""

_WARMING_SECONDS = 1.0
"""How often meaning is asked for again while the engine is getting ready."""

_NEAR = 10
"""Journal entries that the keyword index takes in within a frame. Where it is further behind, typing goes on."""

_MEANING = {"asked": "meaning ...", "ready": "by meaning too", "warming": "meaning: warming up", "off": "words only"}

_WELCOME = """Nothing is remembered here yet.

n        write the first memory
q        leave, then let an agent write:  memento mcp
         or bring what you have:          memento import vault ~/notes"""


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
        self.screen.query_one("#memory-list").focus()


class MemoryBrowser(EditingSection):
    """The list of what a query finds, kept up to date."""

    PLACE = "memories"
    RECORD = "memory"
    SIDE = "#side"
    PREVIEW = "#preview"

    def __init__(self) -> None:
        super().__init__()
        self.search: Query = parse("")
        self._found: int | None = None
        """How many the query finds in all; ``None`` while they are being counted."""
        self._new_above = 0
        self._own = False
        """Whether the list is being read again because of the person's own act."""
        self._meaning = ""
        self._failure = ""
        self._told: str = ""
        self._is_searching = self._must_search_again = False

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
    def preview(self) -> Preview:
        """The preview."""
        return self.query_one(Preview)

    def on_mount(self) -> None:
        """Show everything, the last changed first."""
        self._show_filtered(first=True)
        self.watch(self.rows, "scroll_y", self._scrolled, init=False)

    # Searching

    @on(Input.Changed, "#search")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.search = parse(event.value, typing=True)
        self._new_above, self._meaning, self._failure = 0, "", ""
        self.workers.cancel_group(self, "meaning")
        if not self.search.words:
            self._show_filtered(first=True)
        elif self._index_is_near():
            self._show_words()
            self._ask_by_meaning(event.value)
        else:
            self._tell_found()
            self._ask_behind(event.value)
        self._tell(next(iter(self.search.problems), ""))

    def _tell(self, problem: str) -> None:
        """Tell what is wrong with the query, and nothing any more once that is mended."""
        if problem != self._told:
            self._told = problem
            self.memento.say(problem, problem=True)

    def _index_is_near(self) -> bool:
        keyword = self.memento.workspace.searching.keyword
        return 0 <= keyword.reflects and self.memento.workspace.store.head() - keyword.reflects <= _NEAR

    def _ask(self, mode: Literal["keyword", "hybrid"]) -> SearchAnswer:
        searching = self.memento.workspace.searching
        return searching.search(self.search.source, mode=mode, limit=_MOST_HITS, now=utc_now(), typing=True)

    def _show_words(self) -> None:
        try:
            self._show_answer(self._ask("keyword"), first=True)
        except MementoError as error:
            self._fail(error)

    def _fail(self, error: MementoError) -> None:
        self._failure = str(error)
        self.rows.set_rows([], 0, HitSource([]))
        self._found = 0
        self._tell_found()

    @work(group="meaning", exclusive=True)
    async def _ask_behind(self, source: str) -> None:
        """Search by words on a thread, because the index has much to take in first; then by meaning."""
        self._meaning = "indexing"
        self._tell_found()
        try:
            answer = await asyncio.to_thread(self._ask, "keyword")
        except MementoError as error:
            self._fail(error)
            return
        if self.search.source == source:
            self._meaning = ""
            self._show_answer(answer, first=True)
            self._ask_by_meaning(source)

    @work(group="meaning", exclusive=True)
    async def _ask_by_meaning(self, source: str) -> None:
        if not self.memento.workspace.config.engine.enabled:
            self._meaning = "off"
            self._tell_found()
            return
        self._meaning = "asked"
        self._tell_found()
        await asyncio.sleep(_SETTLE_SECONDS)
        while True:
            try:
                answer = await asyncio.to_thread(self._ask, "hybrid")
            except MementoError as error:
                self._tell(str(error))
                return
            self._meaning = answer.semantic
            self._show_answer(answer, first=False)
            if answer.semantic != "warming":
                return
            await asyncio.sleep(_WARMING_SECONDS)

    def _show_answer(self, answer: SearchAnswer, *, first: bool, select: str | None = None) -> None:
        source = HitSource(answer.results)
        self._found = answer.total
        if answer.notice:
            self._tell(answer.notice)
        stays = select or (self.rows.current.id if self.rows.current else "")
        place = source.locate(stays)
        if first:
            self.rows.set_rows(source.rows, len(source.rows), source, select=select)
        elif self.rows.first_visible == 0 and place is not None and place < self.rows.size.height:
            # What the better answer puts above is seen, and the cursor stays on its memory.
            self.rows.set_rows(source.rows, len(source.rows), source, select=stays)
        else:
            self.rows.refresh_rows(source, select=select)
        self._tell_found()
        self.show_current()

    def _show_filtered(self, *, first: bool, select: str | None = None) -> None:
        store, tree = self.memento.workspace.store, visible(self.search.filter)
        source = FilterSource(store, tree)
        if not first:
            self.rows.refresh_rows(source, select=select)
            return
        rows = source.page(0, _FIRST_ROWS)
        is_all = len(rows) < _FIRST_ROWS
        self._found = len(rows) if is_all else None
        self.rows.set_rows(rows, len(rows), source)
        if not is_all:
            # Counting takes as long as there are rows; the first page does not wait for it.
            self.rows.refresh_rows(source)
        self._tell_found()
        self.show_current()

    @on(RecordList.Refreshed)
    def _refreshed(self, event: RecordList.Refreshed) -> None:
        if not self.search.words:
            self._found = self.rows.total
        moved = 0 if self._own else event.moved
        self._new_above = max(0, self._new_above + moved) if self.rows.first_visible else 0
        self._own = False
        self.arrivals.settled()
        self._tell_found()

    def _scrolled(self) -> None:
        if self._new_above and not self.rows.first_visible:
            self._new_above = 0
            self._tell_found()

    def _tell_found(self) -> None:
        total, words = self.rows.total, []
        if self._found is None:
            words.append(f"{total:,}+")
        elif self.search.words and self._found > total:
            words.append(f"best {total:,} of {self._found:,}")
        else:
            words.append(f"{self._found:,}")
        if self._new_above:
            words.append(f"{self._new_above:,} new above (g)")
        if self.rows.marks:
            words.append(f"{len(self.rows.marks):,} marked")
        if self._meaning == "indexing":
            words = ["indexing what is new ..."]
        elif self._meaning:
            words.append(_MEANING[self._meaning])
        self.query_one("#found", Static).update(Content("  ".join(words)))
        self.show_empty("" if self.rows.total or self._meaning == "indexing" else self._why_empty())
        if not self.search.source and self._found is not None:
            self.memento.count(memories=self._found)

    def _why_empty(self) -> str:
        if self._failure:
            return f"The search cannot be used: {self._failure}\n\nFilters such as tag:api still work."
        if not self.search.source:
            return _WELCOME
        if self.search.words:
            return "Nothing found.\n\nFewer words find more. Escape clears the search."
        return "No memory is like that.\n\nEscape clears the filter."

    # Following

    def follow(self, *, own: bool, select: Mapping[str, str]) -> None:
        """Read again, keeping the reader's place."""
        wanted = select.get("memory")
        self._own = self._own or own
        if self.search.words:
            self._count_all()
            self._search_again(wanted)
        else:
            if self.search.source:
                self._count_all()
            self._show_filtered(first=self.rows.total == 0, select=wanted)
        self.show_current()

    @work(group="count", exclusive=True)
    async def _count_all(self) -> None:
        count = await asyncio.to_thread(self.memento.workspace.store.count, visible(AllOf()))
        self.memento.count(memories=count)

    @work(group="again")
    async def _search_again(self, select: str | None) -> None:
        """Ask the same query anew. What is written meanwhile is asked for once more at the end, not each time."""
        self._must_search_again = True
        if self._is_searching:
            return
        self._is_searching = True
        try:
            while self._must_search_again:
                self._must_search_again = False
                source = self.search.source
                answer = await asyncio.to_thread(self._ask, "hybrid" if self._meaning == "ready" else "keyword")
                if self.search.source == source:
                    self._show_answer(answer, first=self.rows.total == 0, select=select)
                    self.call_after_refresh(self.arrivals.settled)
        except MementoError as error:
            self._tell(str(error))
        finally:
            self._is_searching = False
            self._own = False

    @on(RecordList.Highlighted)
    def _moved(self, event: RecordList.Highlighted[Glance]) -> None:
        row = event.row
        self.arrivals.show(row.id if row else None, row.version if row else 0)
        if self.rows.cursor == 0 and self._new_above:
            self._new_above = 0
            self._tell_found()
        self.show_current()

    @on(RecordList.MarksChanged)
    def _marked(self) -> None:
        self._tell_found()

    @on(RecordList.LoadFailed)
    def _failed(self, event: RecordList.LoadFailed) -> None:
        self.memento.say(str(event.error), problem=True)

    def tick(self) -> None:
        """Draw the ages again."""
        super().tick()
        self.preview.tell_facts()

    def show_current(self) -> None:
        """Show the memory under the cursor in the preview."""
        self.preview.show(self.current(), self.search if self.search.words else None)

    def current(self) -> Memory | None:
        """Return the memory under the cursor as it stands now."""
        row = self.rows.current
        found: Memory | None = None if row is None else self.memento.workspace.store.find("memory", row.id)
        return found
