"""The dialog of the saved searches: go to one, rename it, remove it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import msgspec
from textual import work
from textual.binding import Binding, BindingType
from textual.content import Content

from memento_tui.api.search import SavedSearch
from memento_tui.errors import MementoError
from memento_tui.model.filters import with_default_statuses
from memento_tui.search.query_language import parse
from memento_tui.tui.display import cells, literal
from memento_tui.tui.screens.dialogs import AskLine, Confirm
from memento_tui.tui.screens.list_dialog import ListDialog
from memento_tui.tui.section import app_of, in_thread
from memento_tui.tui.widgets.record_list import Line

__all__ = ["SearchesScreen", "count_results"]

if TYPE_CHECKING:
    from memento_tui.api import Workspace


_COUNT_WIDTH = 11
_EMPTY_TEXT = "No search is saved yet.\n\nSearch for something in the memories, then press S."


class _SearchRow(msgspec.Struct, frozen=True):
    saved: SavedSearch
    count: int | None

    @property
    def id(self) -> str:
        return self.saved.id


class SearchesScreen(ListDialog[_SearchRow, str | None]):
    """A dialog that lists the saved searches with their counts, and returns the query of the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go", "Go there"),
        Binding("r", "rename", "Rename"),
        Binding("d,delete", "remove", "Remove"),
        Binding("escape", "dismiss(None)", "Leave"),
    ]

    def __init__(self) -> None:
        super().__init__("Saved searches")
        self._saved: Sequence[SavedSearch] = ()
        self._counts: dict[str, int] = {}

    def row_lines(self, row: _SearchRow, width: int) -> list[Line]:
        """Return the name of a search, its query, and how many it finds."""
        count = "..." if row.count is None else f"{row.count:,}"
        name = min(max(width // 3, 12), 40)
        return [
            [
                (cells(row.saved.name, name), "strong"),
                (" ", ""),
                (cells(row.saved.query, max(width - name - 1 - _COUNT_WIDTH, 0)), "muted"),
                (f"{count:>{_COUNT_WIDTH}}", ""),
            ]
        ]

    @property
    def workspace(self) -> Workspace:
        """The workspace that the app is on."""
        return app_of(self).workspace

    def on_mount(self) -> None:
        """Read the list."""
        self._read()

    def _read(self, *, select: str | None = None) -> None:
        try:
            self._saved = self.workspace.saved_searches.list()
        except MementoError as error:
            self.say(str(error), "$text-error")
            return
        self.say("" if self._saved else _EMPTY_TEXT, "")
        self._arrange(select=select)
        self._count()

    def _arrange(self, *, select: str | None = None) -> None:
        rows = [_SearchRow(saved, self._counts.get(saved.query)) for saved in self._saved]
        self.list_rows(rows, select=select)

    @work(exclusive=True, group="count")
    async def _count(self) -> None:
        """Count the results of each search, one after the other, and show each number as soon as it is known."""
        for saved in self._saved:
            if saved.query not in self._counts:
                try:
                    self._counts[saved.query] = await in_thread(self, count_results, self.workspace, saved.query)
                except MementoError as error:
                    self.say(str(error), "$text-error")
                    return
                self._arrange()

    def action_go(self) -> None:
        """Return the query of the search under the cursor."""
        if self.rows.current is not None:
            self.dismiss(self.rows.current.saved.query)

    @work(exclusive=True, group="change")
    async def action_rename(self) -> None:
        """Rename the search under the cursor."""
        row = self.rows.current
        if row is None:
            return
        name = await self.app.push_screen_wait(AskLine("Another name for this search", row.saved.name))
        if not name:
            return
        try:
            renamed = self.workspace.saved_searches.rename(row.saved.name, name)
        except MementoError as error:
            self.say(str(error), "$text-error")
        else:
            self._read(select=renamed.id)

    @work(exclusive=True, group="change")
    async def action_remove(self) -> None:
        """Remove the search under the cursor; the memories that it finds stay."""
        row = self.rows.current
        if row is None:
            return
        question = Content("Remove the saved search ") + literal(row.saved.name, "bold") + Content("?")
        if not await self.app.push_screen_wait(Confirm(question, Content("The memories that it finds stay."))):
            return
        try:
            self.workspace.saved_searches.remove(row.saved.name)
        except MementoError as error:
            self.say(str(error), "$text-error")
        else:
            self._read()


def count_results(workspace: Workspace, query: str) -> int:
    """Return how many memories a query finds: by its filters, or by its words; none with a part that is wrong."""
    parsed = parse(query)
    if parsed.error:
        return 0
    if parsed.words or parsed.excluded:
        return workspace.search(query, mode="keyword", limit=1).total
    return workspace.count(with_default_statuses(parsed.filter))
