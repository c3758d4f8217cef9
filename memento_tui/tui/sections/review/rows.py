"""The rows of the review: the sign of each kind, and the line of one item that waits."""

from __future__ import annotations

from rich.cells import cell_len

from memento_tui import clock
from memento_tui.api.inbox import InboxItem
from memento_tui.tui.display import ago, cells, has_hidden
from memento_tui.tui.widgets.record_list import Line

__all__ = ["group_line", "kind_word", "label_of", "waiting_line"]

KIND_LABELS = {
    "orders": ("! orders", "error"),
    "secret": ("! secret", "error"),
    "quarantined": ("! quarantined", "error"),
    "burst": ("! burst", "warning"),
    "contradiction": ("? contradiction", "warning"),
    "suggestion": ("? answer", "warning"),
    "identity": ("@ identity", "strong"),
    "expiring": ("> extend", "muted"),
    "skip": ("+ skip", "good"),
    "item": ("+ work", "good"),
    "learned": ("+ learned", "good"),
    "consolidation": ("= consolidation", "warning"),
    "code": ("~ code", "warning"),
    "merge": ("= merge", "warning"),
    "trust": ("^ promote", "muted"),
    "new": ("+ new", "good"),
    "change": ("~ change", "warning"),
    "deletion": ("- delete", "error"),
}
"""The sign and word of each kind, and the colour by which it is known: red is a risk."""

_ACTION_SIGNS = {"edit": "~", "delete": "-"}
_SIGN_WIDTH, _AGE_WIDTH, _WHO_WIDTH = 15, 5, 12
_NARROW = 60
_FOLD_WIDTH = 2


def kind_word(kind: str) -> str:
    """Return the word that rows of a kind begin with, without its sign."""
    return KIND_LABELS[kind][0][2:]


def label_of(row: InboxItem) -> tuple[str, str]:
    """Return the sign and word of one item, and their style."""
    word, style = KIND_LABELS[row.kind]
    if row.kind in ("skip", "item", "code"):
        word = f"{_ACTION_SIGNS.get(row.row.action, '+')}{word[1:]}"
    return word, style


def group_line(name: str, kinds: str, count: int, width: int, *, is_folded: bool) -> list[Line]:
    """Return the row of a group: whether it is folded, its name, how many items it has, and of which kinds."""
    number = f"{count:>6,}"
    rest = min(cell_len(kinds), width // 2) if width >= _NARROW else 0
    left = width - _FOLD_WIDTH - len(number) - (rest + 2 if rest else 0)
    fold = "\N{BLACK RIGHT-POINTING SMALL TRIANGLE} " if is_folded else "\N{BLACK DOWN-POINTING SMALL TRIANGLE} "
    pieces = [(fold, "strong"), (cells(name, left), "strong")]
    pieces += [("  ", ""), (cells(kinds, rest), "muted")] if rest else []
    return [[*pieces, (number, "strong")]]


def waiting_line(row: InboxItem, width: int) -> list[Line]:
    """Return the row of one item of the queue: its kind, headline, proposer and age."""
    word, style = label_of(row)
    who = cells(row.row.who, _WHO_WIDTH) if width >= _NARROW else ""
    age = f"{ago(row.row.since, clock.now()):>{_AGE_WIDTH}}"
    left = width - _SIGN_WIDTH - 1 - _AGE_WIDTH - (len(who) + 1 if who else 0)
    head = row.headline
    flag = "!" if row.row.state == "needs_review" or has_hidden(row.row.text) else " "
    pieces = [(f"{word:<{_SIGN_WIDTH}}", style), (flag, "warning"), (cells(head, left), "")]
    if who:
        pieces += [(" ", ""), (who, "muted")]
    return [[*pieces, (age, "muted")]]
