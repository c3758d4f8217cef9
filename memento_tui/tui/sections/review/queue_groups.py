"""How the queue is listed: all of it, what a filter finds, in an order, or in groups that can be folded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from memento_tui.api.inbox import Inbox, InboxItem, InboxListing, InboxOrder
from memento_tui.tui.row_sources import ListSource
from memento_tui.tui.sections.review.groups import GROUPINGS, Grouping, InboxGroup, QueueRow, group_key, grouped_rows
from memento_tui.tui.widgets.paged_rows import RowSource
from memento_tui.tui.widgets.record_list import RecordList

__all__ = ["QueueGroups"]


class QueueGroups:
    """By what the queue is gathered, and which groups are folded; finds groups and items in the list that shows it."""

    def __init__(self, rows: RecordList[QueueRow]) -> None:
        self._rows = rows
        self.by: Grouping = ""
        """The property that items of one group have in common; empty where there are no groups."""
        self._folded: set[str] = set()
        """The ids of the groups that are folded."""

    def next(self) -> None:
        """Gather by the next of the ways, after the last of which there are no groups."""
        self.by = GROUPINGS[(GROUPINGS.index(self.by) + 1) % len(GROUPINGS)]
        self._folded.clear()

    def fold(self, group: InboxGroup, *, fold: bool) -> None:
        """Fold a group, or unfold it."""
        (self._folded.add if fold else self._folded.discard)(group.id)

    def source(self, inbox: Inbox, kind: str, words: Sequence[str], order: str) -> RowSource[QueueRow]:
        """Return the items of the queue, or those of a kind that hold some words, in an order; or all these in groups.

        Pages are read as they are shown, but groups, whose rows say what is in them, are read whole.
        """
        if not self.by and not kind and not words and order == "risk":
            return inbox.view()
        listing = inbox.listing(kind, words, cast("InboxOrder", order))
        if not self.by:
            return listing
        by, folded = self.by, frozenset(self._folded)
        return ListSource(lambda: grouped_rows(listing.page(0, listing.total()), by, folded))

    def number_found(self) -> int:
        """Return how many items the list holds, folded ones too, without the rows of groups."""
        if not self.by:
            return self._rows.total
        return sum(len(row.items) for row in self._listed() if isinstance(row, InboxGroup))

    def here(self) -> InboxGroup | None:
        """Return the group that the cursor is on, or in, as it is shown."""
        row = self._rows.current
        if row is None or isinstance(row, InboxGroup) or not self.by:
            return row if isinstance(row, InboxGroup) else None
        key = group_key(row, self.by)
        return next((found for found in self._listed() if isinstance(found, InboxGroup) and found.key == key), None)

    def items(self) -> Sequence[InboxItem]:
        """Return all items of the list: each as it is shown, and what is not in memory as it was listed."""
        return [row for row in self._listed() if isinstance(row, InboxItem)]

    def _listed(self) -> Sequence[QueueRow]:
        source = self._rows.source
        if source is None:
            return ()
        names = source.ids(0, self._rows.total)
        rows = {row.id: row for row in self._rows.at_hand(names)}
        missing = [name for name in names if name not in rows]
        if isinstance(source, InboxListing):
            rows.update(source.as_listed(missing))
        elif missing:
            rows.update({row.id: row for row in source.page(0, self._rows.total) if row.id not in rows})
        return [rows[name] for name in names if name in rows]
