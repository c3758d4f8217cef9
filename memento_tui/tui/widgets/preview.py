"""The preview of one memory: what it says, and how far it can be trusted."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memento_tui.records import Memory
from memento_tui.search.language import Query
from memento_tui.tui.display import shown
from memento_tui.tui.prose import memory_body, memory_facts, memory_title

__all__ = ["Preview"]

_MARKDOWN_BLOCKS = 150
"""Markdown costs a widget for each block; beyond this many lines that begin one, plain text is shown."""


class Preview(VerticalScroll, can_focus=False):
    """Shows a memory as plain text, or as Markdown where the person asked for it."""

    def __init__(self) -> None:
        super().__init__(id="preview", classes="side-scroll")
        self._memory: Memory | None = None
        self._query: Query | None = None
        self.as_markdown = False
        """Whether Markdown is drawn. `toggle_markdown` changes it."""

    def compose(self) -> ComposeResult:
        """Show nothing yet."""
        yield Static(id="preview-title")
        yield Static(id="preview-facts")
        yield Static(id="preview-body")

    @property
    def memory_id(self) -> str | None:
        """The id of the memory that is shown."""
        return None if self._memory is None else self._memory.id

    @property
    def memory(self) -> Memory | None:
        """The memory as it is shown."""
        return self._memory

    def show(self, memory: Memory | None, query: Query | None = None) -> None:
        """Show a memory; the place in the text is kept while it stays the same memory."""
        same = memory is not None and self._memory is not None and memory.id == self._memory.id
        if same and memory == self._memory and query == self._query:
            return
        self._memory, self._query = memory, query
        self.query_one("#preview-title", Static).update(Content("") if memory is None else memory_title(memory))
        self.query_one("#preview-facts", Static).update(Content("") if memory is None else memory_facts(memory))
        self._show_body()
        if not same:
            self.scroll_home(animate=False)

    def _show_body(self) -> None:
        body = self.query_one("#preview-body", Static)
        markdown = self.query("#preview-markdown")
        if self._memory is None:
            body.update("")
            markdown.remove()
        elif self.as_markdown and _blocks(self._memory.content) <= _MARKDOWN_BLOCKS:
            self._show_markdown(shown(self._memory.content, multiline=True))
        else:
            markdown.remove()
            body.display = True
            body.update(memory_body(self._memory, self._query))

    def _show_markdown(self, text: str) -> None:
        from textual.widgets import Markdown  # noqa: PLC0415 - a tenth of a second, for those who ask for it

        self.query_one("#preview-body").display = False
        found = self.query("#preview-markdown")
        if found:
            found.first(Markdown).update(text)
        else:
            self.mount(Markdown(text, id="preview-markdown", open_links=False))

    def toggle_markdown(self) -> str:
        """Draw Markdown, or plain text again; return a sentence that says what is shown now."""
        self.as_markdown = not self.as_markdown
        self._show_body()
        if not self.as_markdown:
            return "Plain text."
        if self._memory is not None and _blocks(self._memory.content) > _MARKDOWN_BLOCKS:
            return "This one has too many blocks to draw as Markdown; it stays plain."
        return "Markdown."


def _blocks(text: str) -> int:
    return sum(1 for line in text.splitlines() if line.strip())
