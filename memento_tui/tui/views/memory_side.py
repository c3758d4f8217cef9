"""The pane beside the list of memories: the preview of a memory, or an open view."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from memento_tui.model import Memory
from memento_tui.search.query_language import Query
from memento_tui.tui.memory_text import memory_body, memory_facts, memory_title
from memento_tui.tui.views.record_story import MemoryStory
from memento_tui.tui.widgets.frames import Frame, ScrollFrame

__all__ = ["MemorySide", "Preview", "SideSubject"]

_MAX_TEXT_CELLS = 99
"""Cells of the widest line of a text, as its widget's style sets them."""


class Preview(ScrollFrame, can_focus=False):
    """A preview of a memory as Markdown, or as plain text on request; its story, which is the present's, if wanted."""

    def __init__(self, *, has_story: bool = True) -> None:
        super().__init__(id="preview", classes="side-scroll")
        self._title = Static(id="preview-title")
        self._facts = Static(id="preview-facts")
        self._body = Static(id="preview-body")
        self._story = MemoryStory() if has_story else None
        self._memory: Memory | None = None
        self._query: Query | None = None
        self._whole_id: str | None = None
        """The memory whose whole text was asked for."""
        self._drawn_width = 0
        """The cells that the Markdown was drawn for; 0 where none is shown."""
        self.as_markdown = True
        """Whether Markdown is drawn; `toggle_markdown` changes it."""

    def compose(self) -> ComposeResult:
        """Create the empty texts."""
        yield self._title
        yield self._facts
        yield self._body
        if self._story is not None:
            yield self._story

    @property
    def memory_id(self) -> str | None:
        """The id of the memory that is shown."""
        return None if self._memory is None else self._memory.id

    @property
    def memory(self) -> Memory | None:
        """The memory as it is shown."""
        return self._memory

    @property
    def marked_query(self) -> Query | None:
        """The query whose words are marked."""
        return self._query

    def show(self, memory: Memory | None, query: Query | None = None) -> None:
        """Show a memory; the scroll position is kept while the memory stays the same."""
        same = memory is not None and self._memory is not None and memory.id == self._memory.id
        # Time passes, and links and sessions change no memory: the row and the story are drawn again too.
        self._facts.update(Content("") if memory is None else memory_facts(memory))
        if same and memory == self._memory and query == self._query:
            if self._story is not None:
                self._story.read_again()
            return
        self._memory, self._query = memory, query
        self._whole_id = self._whole_id if same else None
        self._title.update(Content("") if memory is None else memory_title(memory))
        # The first line of the text serves as a headline elsewhere; here it would stand twice.
        self._title.display = memory is not None and bool(memory.title.strip())
        self._show_body()
        if not same:
            self.scroll_home(animate=False)
        self.call_after_refresh(self._show_story)

    def on_resize(self) -> None:
        """Draw the tables of the text as wide as it is now, and tell more of the memory where there is room."""
        if self._drawn_width not in (0, self._body_width):
            self._show_body()
        self.call_after_refresh(self._show_story)

    @property
    def _body_width(self) -> int:
        return max(min(self.text_width, _MAX_TEXT_CELLS), 1)

    def _show_story(self) -> None:
        if self._story is None:
            return
        memory = self._memory
        taken = sum(part.outer_size.height for part in (self._title, self._facts, self._body)) + 1
        self._story.show(memory, width=self.text_width, height=self.size.height - taken)

    def _show_body(self) -> None:
        memory = self._memory
        if memory is None:
            self._body.update(Content(""))
            return
        self._drawn_width = self._body_width if self.as_markdown else 0
        whole = self._whole_id == memory.id
        self._body.update(memory_body(memory, self._query, whole=whole, markdown_width=self._drawn_width))

    def show_whole(self) -> None:
        """Draw all of the text, however long it is, until another memory is shown."""
        self._whole_id = self.memory_id
        self._show_body()

    def toggle_markdown(self) -> str:
        """Switch between Markdown and plain text; return the message about it."""
        self.as_markdown = not self.as_markdown
        self._show_body()
        return "Markdown." if self.as_markdown else "Plain text, as it is written."


if TYPE_CHECKING:
    from memento_tui.tui.views.view import View
    from memento_tui.tui.views.why import SearchRank


_VIEW_CLASSES = {
    "history": "HistoryView",
    "timeline": "TimelineView",
    "links": "LinksView",
    "why": "WhyView",
    "tree": "TreeView",
}
"""The class of each view by its name, which is its module too; a view is imported when it is first opened."""


class SideSubject(NamedTuple):
    """The memory under the cursor, the query of the list, and the rank of the memory in a search."""

    memory: Memory | None
    query: Query
    rank: SearchRank | None


class MemorySide(Frame):
    """The pane that shows a memory in the preview and in the open view."""

    DEFAULT_CSS = """
    MemorySide { height: 1fr; }
    MemorySide.-viewing > Preview { display: none; }
    """

    def __init__(self, shown: SideSubject) -> None:
        super().__init__()
        self._shown = shown
        self.preview = Preview()
        self.view: View | None = None
        """The open view."""

    def compose(self) -> ComposeResult:
        """Begin with the preview."""
        yield self.preview

    def show(self, shown: SideSubject) -> None:
        """Show a memory."""
        before, self._shown = self._shown, shown
        self.preview.show(shown.memory, shown.query if shown.query.words else None)
        view = self.view
        # The tree is about the query, which it may have written itself.
        if view is not None and (view.SCOPE != "tree" or before.query != shown.query) and not view.has_focus_within:
            self._fill(view)

    def _fill(self, view: View) -> None:
        from memento_tui.tui.views.tree import TreeView  # noqa: PLC0415 - a view is open, so they are wanted
        from memento_tui.tui.views.why import WhyView  # noqa: PLC0415

        memory, query, rank = self._shown
        if isinstance(view, TreeView):
            view.show(query.source)
        elif memory is None:
            return
        elif isinstance(view, WhyView):
            view.show(memory, rank)
        else:
            view.show(memory)

    async def open(self, name: str) -> None:
        """Open a view over the preview, and focus it."""
        if self.view is not None:
            await self.view.remove()
        view: View = getattr(import_module(f"memento_tui.tui.views.{name}"), _VIEW_CLASSES[name])()
        self.view = view
        self.add_class("-viewing")
        await self.mount(view)
        self._fill(view)
        view.focus_content()

    def reload(self) -> None:
        """Read the content of the open view again."""
        if self.view is not None:
            self.view.reload()

    def close(self) -> None:
        """Go back to the preview."""
        self.remove_class("-viewing")
        if self.view is not None:
            self.view.remove()
            self.view = None
