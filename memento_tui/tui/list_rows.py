"""What a row of the work and of the skips looks like. Glyphs are ASCII: every terminal agrees on their width."""

from __future__ import annotations

from datetime import datetime, timedelta

from memento_tui import clock
from memento_tui.records import Skip, WorkingItem
from memento_tui.tui.display import ago, cells, has_hidden
from memento_tui.tui.widgets.record_list import Line
from memento_tui.workspace.list_query import STATUS_WORDS

__all__ = ["CATEGORY_SHORT", "SOON", "end_in_words", "item_card", "item_line", "skip_line"]

CATEGORY_SHORT = {
    "active_work": "doing",
    "standing_decision": "standing",
    "waiting_for": "waiting",
    "session_note": "note",
}
"""Names of the categories for the narrow column."""

SOON = timedelta(days=3)
"""A skip that ends within this time is marked."""

_CATEGORY_WIDTH, _PRIORITY_WIDTH, _AGE_WIDTH, _HITS_WIDTH, _END_WIDTH, _WHO_WIDTH = 8, 4, 6, 6, 13, 10
_NARROW, _WIDE = 48, 84
_NEXT = "-> "


def item_line(item: WorkingItem, width: int, *, named: bool = True) -> list[Line]:
    """Return the row of a working item: priority, category (if ``named``), title, next action or status, age."""
    category = cells(CATEGORY_SHORT[item.category], _CATEGORY_WIDTH) + " " if named and width >= _NARROW else ""
    left = width - _PRIORITY_WIDTH - 2 - len(category) - _AGE_WIDTH
    title_width = left if width < _NARROW else left * 11 // 20
    resting = item.status != "active"
    pieces = [
        _priority(item),
        _flag(item.title + item.next_action + item.content),
        (category, "muted"),
        (cells(item.title, title_width), "muted" if resting else ""),
    ]
    if title_width < left:
        pieces += [(" ", ""), (cells(_then(item), left - title_width - 1), "muted")]
    return [[*pieces, (f"{ago(item.updated_at, clock.now()):>{_AGE_WIDTH}}", "muted")]]


def item_card(item: WorkingItem, width: int) -> list[Line]:
    """Return a working item as two lines of a column: priority and title, then the next action or status."""
    age = f"{ago(item.updated_at, clock.now()):>{_AGE_WIDTH}}"
    left = width - _PRIORITY_WIDTH - 2
    first = [
        _priority(item),
        _flag(item.title + item.next_action + item.content),
        (cells(item.title, left), "muted" if item.status != "active" else ""),
    ]
    then = [(" " * (_PRIORITY_WIDTH + 2), ""), (cells(_then(item), left - _AGE_WIDTH), "muted"), (age, "muted")]
    return [first, then]


def skip_line(skip: Skip, width: int) -> list[Line]:
    """Return the row of a skip: until when, what, why, how often it hit, who made it."""
    now = clock.now()
    end, style = end_in_words(skip.expires_at, now)
    who = " " + cells(skip.created_by, _WHO_WIDTH) if width >= _WIDE else ""
    left = width - _END_WIDTH - 2 - _HITS_WIDTH - (_WHO_WIDTH + 1 if who else 0)
    item_width = left if width < _NARROW else left // 2
    pieces = [
        (cells(end, _END_WIDTH), style),
        _flag(skip.item + skip.reason),
        (cells(skip.item, item_width), "muted" if skip.expires_at <= now else ""),
    ]
    if item_width < left:
        pieces += [(" ", ""), (cells(skip.reason, left - item_width - 1), "muted")]
    hits = f"{skip.hits}x" if skip.hits else "-"
    return [[*pieces, (f"{hits:>{_HITS_WIDTH}}", "muted"), (who, "muted")]]


def end_in_words(end: datetime, now: datetime) -> tuple[str, str]:
    """Return how far off the end of a skip is, with a glyph where that matters, and the name of its style."""
    if end <= now:
        return f"x over {ago(end, now)}", "muted"
    if end - now < SOON:
        return f"< soon {ago(end, now)}", "warning"
    return f"  {ago(end, now)}", ""


def _priority(item: WorkingItem) -> tuple[str, str]:
    number = item.priority
    text = str(number) if abs(number) < 1000 else f"{number // 1000}k"  # noqa: PLR2004 - four cells
    return cells(text.rjust(_PRIORITY_WIDTH), _PRIORITY_WIDTH), "strong" if number > 0 else "muted"


def _flag(text: str) -> tuple[str, str]:
    return ("! " if has_hidden(text) else "  "), "warning"


def _then(item: WorkingItem) -> str:
    """Return what is next for an item, behind its status where that is not the usual one."""
    following = _NEXT + item.next_action if item.next_action else ""
    if item.status == "active":
        return following
    return f"[{STATUS_WORDS[item.status]}] {following}".rstrip()
