"""What stands beside the list of memories: the preview of one, or a view that was opened over it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from textual.app import ComposeResult
from textual.containers import Container

from memento_tui.records import Memory
from memento_tui.search.language import Query
from memento_tui.tui.widgets.preview import Preview

if TYPE_CHECKING:
    from memento_tui.tui.views.view import View
    from memento_tui.tui.views.why import Rank

__all__ = ["MemorySide", "Shown"]

_CLASSES = {
    "history": "HistoryView",
    "timeline": "TimelineView",
    "links": "LinksView",
    "why": "WhyView",
    "tree": "TreeView",
}
"""The views by name, which is their module too; each is imported when it is first opened."""


class Shown(NamedTuple):
    """The memory under the cursor, what the list was asked for, and where the memory came in a search."""

    memory: Memory | None
    query: Query
    rank: Rank | None


class MemorySide(Container):
    """Shows a memory in the preview and in the view that is open."""

    DEFAULT_CSS = """
    MemorySide { height: 1fr; }
    MemorySide.-viewing > Preview { display: none; }
    """

    def __init__(self, shown: Shown) -> None:
        super().__init__()
        self._shown = shown

    def compose(self) -> ComposeResult:
        """Begin with the preview."""
        yield Preview()

    @property
    def preview(self) -> Preview:
        """The preview."""
        return self.query_one(Preview)

    @property
    def view(self) -> View | None:
        """The view that is open."""
        from memento_tui.tui.views.view import View  # noqa: PLC0415 - the first frame does without views

        return next(iter(self.query(View)), None) if self.has_class("-viewing") else None

    def show(self, shown: Shown) -> None:
        """Show a memory."""
        before, self._shown = self._shown, shown
        self.preview.show(shown.memory, shown.query if shown.query.words else None)
        view = self.view
        # The tree is about the query, which it may have made itself.
        if view is not None and (view.PLACE != "tree" or before.query != shown.query) and not view.has_focus_within:
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
        """Open a view over the preview, and go there."""
        await self.query("View").remove()
        made: View = getattr(import_module(f"memento_tui.tui.views.{name}"), _CLASSES[name])()
        self.add_class("-viewing")
        await self.mount(made)
        self._fill(made)
        made.enter()

    def follow(self) -> None:
        """Read again what the view shows."""
        view = self.view
        if view is not None:
            view.follow()

    def close(self) -> None:
        """Go back to the preview."""
        self.remove_class("-viewing")
        self.query("View").remove()
