"""What one row of the queue looks like. Glyphs are ASCII, so that every terminal agrees on their width."""

from __future__ import annotations

from memento_tui import clock
from memento_tui.tui.display import ago, cells, has_hidden
from memento_tui.tui.widgets.record_list import Line
from memento_tui.workspace.waiting import Waiting

__all__ = ["kind_word", "waiting_line"]

_SIGNS = {
    "secret": ("! secret", "error"),
    "contradiction": ("? clash", "warning"),
    "suggestion": ("? answer", "warning"),
    "identity": ("@ identity", "strong"),
    "expiring": ("> extend", "muted"),
    "skip": ("+ skip", "good"),
    "item": ("+ work", "good"),
    "learned": ("+ learned", "good"),
    "consolidation": ("= gather", "warning"),
    "merge": ("= merge", "warning"),
    "trust": ("^ promote", "muted"),
    "new": ("+ new", "good"),
    "change": ("~ change", "warning"),
    "deletion": ("- delete", "error"),
}
_CHANGED_LISTS = {"edit": "~", "delete": "-"}
_SIGN_WIDTH, _AGE_WIDTH, _WHO_WIDTH = 11, 5, 12
_NARROW = 60


def kind_word(kind: str) -> str:
    """Return the word that rows of a kind begin with, without its sign."""
    return _SIGNS[kind][0][2:]


def waiting_line(row: Waiting, width: int) -> list[Line]:
    """Return the row of one thing that waits: what it is, what it is about, who asks, since when."""
    word, style = _SIGNS[row.kind]
    if row.kind in ("skip", "item"):
        word = f"{_CHANGED_LISTS.get(row.row.action, '+')}{word[1:]}"
    who = cells(row.row.who, _WHO_WIDTH) if width >= _NARROW else ""
    age = f"{ago(row.row.since, clock.now()):>{_AGE_WIDTH}}"
    left = width - _SIGN_WIDTH - 1 - _AGE_WIDTH - (len(who) + 1 if who else 0)
    head = row.headline
    flag = "!" if row.row.state == "needs_review" or has_hidden(row.row.text) else " "
    pieces = [(f"{word:<{_SIGN_WIDTH}}", style), (flag, "warning"), (cells(head, left), "")]
    if who:
        pieces += [(" ", ""), (who, "muted")]
    return [[*pieces, (age, "muted")]]
