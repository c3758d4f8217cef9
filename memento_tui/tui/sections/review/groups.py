"""The rows of the queue: all or filtered, in an order, and in groups that can be folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from typing import Literal, TypeAlias, cast, get_args

import msgspec
from textual.content import Content

from memento_tui.api.inbox import KIND_NAMES, Inbox, InboxItem, InboxListing, InboxOrder
from memento_tui.model.review import RISKY_KINDS
from memento_tui.tui.display import literal
from memento_tui.tui.inbox_columns import kind_word
from memento_tui.tui.row_sources import ListSource
from memento_tui.tui.widgets.paged_rows import RowSource
from memento_tui.tui.widgets.record_list import RecordList

__all__ = [
    "GROUP_PREFIX",
    "Grouping",
    "InboxGroup",
    "QueueGroups",
    "QueueList",
    "QueueRow",
    "approvable",
    "group_key",
    "group_texts",
]

Grouping = Literal["", "kind", "agent", "session", "source"]
"""The property that items of one group have in common; empty where there are no groups."""

_GROUPINGS: tuple[Grouping, ...] = get_args(Grouping)

GROUP_PREFIX = "group:"
"""The prefix of the id of a group's row."""

_UNKNOWN: dict[Grouping, str] = {
    "agent": "memento",
    "session": "of no session",
    "source": "of no source",
}
"""The names of the groups of items that have none."""


class InboxGroup(msgspec.Struct, frozen=True):
    """One group of the queue, as its row shows it."""

    by: Grouping
    key: str
    items: tuple[InboxItem, ...]
    is_folded: bool

    @property
    def id(self) -> str:
        """The identity of its row."""
        return f"{GROUP_PREFIX}{self.by}:{self.key}"

    @property
    def version(self) -> int:
        """Nothing is decided about the row itself."""
        return 0

    @property
    def headline(self) -> str:
        """The name of the group."""
        return self.key

    @property
    def kinds(self) -> str:
        """How many items of each kind it has, in words; empty where its name says it."""
        if self.by == "kind":
            return ""
        counts = Counter(item.kind for item in self.items)
        return ", ".join(f"{count:,} {kind_word(kind)}" for kind, count in counts.items())


QueueRow: TypeAlias = InboxItem | InboxGroup
"""One row of the queue."""


def group_key(item: InboxItem, by: Grouping) -> str:
    """Return the name of the group that an item is of."""
    row = item.row
    names: dict[Grouping, str] = {
        "": "",
        "kind": kind_word(item.kind),
        "agent": row.who,
        "session": f"{row.who}, session {row.session}" if row.session else "",
        "source": row.source,
    }
    return names[by] or _UNKNOWN[by]


def _grouped_rows(items: Sequence[InboxItem], by: Grouping, folded: Container[str]) -> list[QueueRow]:
    """Return the rows of all groups, those with the riskiest items first; a folded group is its own row alone."""
    groups: dict[str, list[InboxItem]] = {}
    for item in items:
        groups.setdefault(group_key(item, by), []).append(item)
    rows: list[QueueRow] = []
    for key, members in groups.items():
        group = InboxGroup(by, key, tuple(members), is_folded=f"{GROUP_PREFIX}{by}:{key}" in folded)
        rows.append(group)
        rows += () if group.is_folded else members
    return rows


_MOST_HEADLINES = 200
"""Items that the text of a group lists."""


def group_texts(group: InboxGroup) -> tuple[Content, Content]:
    """Return the heading of a group's text, and the list of its items."""
    heading = [
        literal(f"{len(group.items):,} that {'waits' if len(group.items) == 1 else 'wait'}: {group.key}", "bold"),
        Content.styled("A approves all of it, X rejects it, Space marks it, Enter opens or folds it.", "dim"),
    ]
    if left := approvable(group.items, group.by, "")[1]:
        heading.append(Content.styled(f"! {left}", "bold $text-warning"))
    lines = [
        literal(f"{kind_word(item.kind):<14}", "dim") + literal(item.headline) for item in group.items[:_MOST_HEADLINES]
    ]
    more = len(group.items) - len(lines)
    lines += [Content.styled(f"and {more:,} more", "dim")] if more else []
    return Content("\n").join(heading), Content("\n").join(lines)


def approvable(items: Sequence[InboxItem], by: Grouping, kind: str) -> tuple[list[InboxItem], str]:
    """Return those items that one key may approve together, and a sentence about those that it leaves.

    Contradictions need an answer each, and an identity is read by itself. What is risky is approved together only where
    it was grouped as such: by a grouping ``by`` kind, or by a filter on its ``kind``. So is what changes a memory that
    a person has verified.
    """
    named = by == "kind" or bool(kind)
    left: dict[str, list[InboxItem]] = {}
    chosen = []
    for item in items:
        if item.kind in ("contradiction", "identity"):
            left.setdefault(item.kind, []).append(item)
        elif item.kind in RISKY_KINDS and not named:
            left.setdefault("risky", []).append(item)
        elif item.row.changes_verified and not named:
            left.setdefault("verified", []).append(item)
        else:
            chosen.append(item)
    return chosen, " ".join(_WHY_LEFT[why].format(_number(why, len(found))) for why, found in left.items())


_WHY_LEFT = {
    "risky": "{} left out: read each, or group by kind.",
    "verified": "{} left out: read each, or group by kind.",
    "contradiction": "{} left out: each needs its own answer.",
    "identity": "{} left out: every session begins with it, so read each.",
}
"""Why items are not approved together."""

_LEFT_NAMES = {
    "risky": ("risky", "risky"),
    "verified": ("change of what you verified", "changes of what you verified"),
    "contradiction": KIND_NAMES["contradiction"],
    "identity": ("of the identity", "of the identity"),
}


def _number(why: str, count: int) -> str:
    return f"{count:,} {_LEFT_NAMES[why][count != 1]}"


class QueueList(RecordList[QueueRow], inherit_bindings=False):
    """The list of the review queue's items and groups; to mark a group is to mark each of its items."""

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


class QueueGroups:
    """The grouping of the queue and its folded groups; finds groups and items in the list that shows them."""

    def __init__(self, rows: RecordList[QueueRow]) -> None:
        self._rows = rows
        self.by: Grouping = ""
        """The property that items of one group have in common; empty where there are no groups."""
        self._folded: set[str] = set()
        """The ids of the groups that are folded."""

    def next(self) -> None:
        """Switch to the next grouping; the last is followed by no grouping."""
        self.by = _GROUPINGS[(_GROUPINGS.index(self.by) + 1) % len(_GROUPINGS)]
        self._folded.clear()

    def fold(self, group: InboxGroup, *, fold: bool) -> None:
        """Fold a group, or unfold it."""
        (self._folded.add if fold else self._folded.discard)(group.id)

    def source(self, inbox: Inbox, kind: str, words: Sequence[str], order: str) -> RowSource[QueueRow]:
        """Return the rows of the queue in an order, filtered by kind and words, and grouped where a grouping is set.

        Pages are read as they are shown, but groups, whose rows say what is in them, are read whole.
        """
        if not self.by and not kind and not words and order == "risk":
            return inbox.view()
        listing = inbox.listing(kind, words, cast("InboxOrder", order))
        if not self.by:
            return listing
        by, folded = self.by, frozenset(self._folded)
        return ListSource(lambda: _grouped_rows(listing.page(0, listing.total()), by, folded))

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
        """Return all items of the list: those in memory as they are shown, the others as they were listed."""
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
