"""The list of the review: its marks on the row of a group are marks on the items of that group."""

from __future__ import annotations

from memento_tui.tui.sections.review.groups import GROUP_PREFIX, InboxGroup, QueueRow
from memento_tui.tui.widgets.record_list import RecordList

__all__ = ["QueueList"]


class QueueList(RecordList[QueueRow], inherit_bindings=False):
    """A list of items and of their groups."""

    BINDINGS = RecordList.BINDINGS
    DEFAULT_CSS = ""

    @property
    def marks(self) -> frozenset[str]:
        """The marked items; rows of groups that a range holds are none."""
        return frozenset(name for name in super().marks if not name.startswith(GROUP_PREFIX))

    def action_mark(self) -> None:
        """Mark or unmark the item, or all items of the group, and go on."""
        group = self.current
        if self.is_ranging or not isinstance(group, InboxGroup):
            super().action_mark()
            return
        names = {item.id for item in group.items}
        if names <= self.marks:
            self.unmark(names)
        else:
            self.mark(names)
        self.cursor += 1
