"""The tree of facets: namespaces, kinds, tags, tiers, trust and sources, each narrowing the list."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from memento_tui.errors import MementoError
from memento_tui.store.facets import FACETS, Facet
from memento_tui.tui.commands import Place, bindings
from memento_tui.tui.display import cells
from memento_tui.tui.views.branches import Branch, branches
from memento_tui.tui.views.narrowing import Narrowing, can_be_written
from memento_tui.tui.views.view import HeldRows, Left, Narrowed, View, ViewList
from memento_tui.tui.widgets.record_list import Line

__all__ = ["Narrowed", "TreeView"]

_QUICK_SECONDS = 0.1
"""Counts that take longer are made when the tree is opened, and not with every write."""

_COUNT_WIDTH = 10


class TreeView(View):
    """The facets with their counts; Enter narrows the list to one, or no longer."""

    PLACE: ClassVar[Place] = "tree"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tree")]

    def __init__(self) -> None:
        super().__init__(id="tree")
        self._narrowing = Narrowing()
        self._counts: dict[Facet, list[tuple[str, int]]] = {}
        self._folded: set[str] = set()
        self._is_shown = False
        self._is_counting = False
        self._counting_took = 0.0

    def compose(self) -> ComposeResult:
        """Show the line at the top and the tree."""
        yield Static(classes="view-head")
        yield Static(classes="view-note")
        yield ViewList(self._draw)

    @property
    def rows(self) -> ViewList[Branch]:
        """The branches."""
        return self.query_one(ViewList)

    def show(self, query: str) -> None:
        """Show the tree with what a query has chosen already."""
        if not self._is_shown or query != self._narrowing.query:
            self._narrowing = Narrowing(query)
            self._arrange()
        if not self._is_shown:
            self._is_shown = True
            self._count()

    def follow(self) -> None:
        """Count again where that is quick."""
        if not self._is_counting and self._counting_took < _QUICK_SECONDS:
            self._count()

    @work(exclusive=True, group="count")
    async def _count(self) -> None:
        """Count one facet after the other, and show each as soon as it is known."""
        begun = monotonic()
        self._is_counting = True
        try:
            for facet in FACETS:
                self._counts[facet] = await asyncio.to_thread(self.workspace.store.facets.counts, facet)
                self._arrange()
        except MementoError as error:
            self.memento.say(str(error), problem=True)
        finally:
            self._is_counting = False
            self._counting_took = monotonic() - begun
        self._arrange()

    def _arrange(self, *, select: str | None = None) -> None:
        rows = branches(self._counts, self._folded, self._narrowing.has)
        source = HeldRows(rows)
        if self.rows.total:
            self.rows.refresh_rows(source, select=select)
        else:
            self.rows.set_rows(rows, len(rows), source)
        self._tell()

    def _tell(self) -> None:
        if self._is_counting:
            told = "counting ..."
        elif self._narrowing.is_any:
            told = "* narrows the list; u shows all again"
        else:
            told = "Enter narrows the list; several narrow it together"
        self.tell_head(Content(told))
        self.memento.focus_changed()

    def _draw(self, row: Branch, width: int) -> list[Line]:
        fold = ("+ " if row.is_folded else "- ") if row.can_fold else "  "
        if not row.value:
            return [[(fold, "muted"), (row.name, "strong")]]
        is_chosen = self._narrowing.has(row.facet, row.value)
        count = "..." if row.count is None else f"{row.count:,}"
        indent = "  " * (row.depth - 1)
        left = max(width - 4 - len(indent) - _COUNT_WIDTH, 0)
        return [
            [
                ("* " if is_chosen else "  ", "mark"),
                (indent, ""),
                (fold, "muted"),
                (cells(row.name, left), "strong" if is_chosen else ""),
                (f"{count:>{_COUNT_WIDTH}}", "muted"),
            ]
        ]

    def can(self, command: str) -> bool:
        """Tell that there is nothing to clear where nothing narrows the list."""
        return command != "tree.clear" or self._narrowing.is_any

    def action_choose(self) -> None:
        """Narrow the list to what is under the cursor, or no longer; fold a title."""
        row = self.rows.current
        if row is None:
            self.memento.say("There is nothing here to narrow the list to.", problem=True)
        elif not row.value:
            self._fold(row, fold=not row.is_folded)
        elif not can_be_written(row.facet, row.value):
            self.memento.say("A search cannot name this one: it has a comma or a quotation mark in it.", problem=True)
        else:
            self._narrowing.toggle(row.facet, row.value)
            self._arrange()
            self.post_message(Narrowed(self._narrowing.query))

    def action_clear(self) -> None:
        """Narrow the list to nothing of the tree."""
        if not self._narrowing.is_any:
            self.memento.say("Nothing of the tree narrows the list.", problem=True)
            return
        self._narrowing.clear()
        self._arrange()
        self.post_message(Narrowed(self._narrowing.query))

    def action_fold(self, fold: bool) -> None:  # noqa: FBT001 - the table of commands says which
        """Fold what is under the cursor, or unfold it; go to what it is part of where it cannot be folded."""
        row = self.rows.current
        if row is None:
            return
        if row.can_fold and row.is_folded != fold:
            self._fold(row, fold=fold)
        elif fold:
            parent = row.value.rpartition("/")[0] if row.facet == "namespace" else ""
            self._arrange(select=f"{row.facet}:{parent}")
        else:
            self.memento.say("There is nothing to unfold here.", problem=True)

    def _fold(self, row: Branch, *, fold: bool) -> None:
        (self._folded.add if fold else self._folded.discard)(row.id)
        self._arrange()

    def action_leave(self) -> None:
        """Go back to the list."""
        self.post_message(Left())
