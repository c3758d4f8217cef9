"""The rows of the review: the sign of each kind, the line of one item that waits, and how many of each kind wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from textual.content import Content

from memento_tui.api.inbox import InboxItem
from memento_tui.tui.columns import Columns, ListColumn, TextBelow, age_since, fixed, share
from memento_tui.tui.display import cells, has_hidden
from memento_tui.tui.widgets.record_list import Line

__all__ = [
    "WAITING_BELOW",
    "WAITING_COLUMNS",
    "counts_by_kind",
    "group_line",
    "kind_word",
    "label_of",
    "progress",
    "style_of_sign",
    "waiting_line",
]

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
    "promotion": ("^ promote", "muted"),
    "new": ("+ new", "good"),
    "change": ("~ change", "warning"),
    "deletion": ("- delete", "error"),
}
"""The sign and word of each kind, and the colour by which it is known: red is a risk."""

_ACTION_SIGNS = {"edit": "~", "delete": "-"}
_SIGN_WIDTH, _WHO_WIDTH = 15, 12
_NARROW = 60
_FOLD_WIDTH = 2


def kind_word(kind: str) -> str:
    """Return the word that rows of a kind begin with, without its sign."""
    return KIND_LABELS[kind][0][2:]


def _sign_of_kind(kind: str) -> tuple[str, str]:
    """Return the sign of a kind, and its style in a text."""
    word, style = KIND_LABELS[kind]
    return word[0], style_of_sign(style)


_TEXT_STYLES = {"error": "$text-error", "warning": "$text-warning", "good": "$text-success", "muted": "$quiet"}


def style_of_sign(style: str) -> str:
    """Return the style in a text that corresponds to a style in a row."""
    return _TEXT_STYLES.get(style, "bold")


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


WAITING_COLUMNS = Columns[InboxItem](
    name="review",
    all={
        "kind": ListColumn(
            "kind",
            "what kind of item it is, the riskiest first",
            fixed(_SIGN_WIDTH),
            lambda row, _: label_of(row)[0],
            lambda row, _: label_of(row)[1],
            orders=("risk",),
            sign=lambda row: label_of(row)[0][0],
        ),
        "what": ListColumn(
            "what waits", "what it is about; always shown", fixed(0), lambda row, _: row.headline, lambda *_: ""
        ),
        "agent": ListColumn(
            "who", "who proposed it", fixed(_WHO_WIDTH), lambda row, _: row.row.who, orders=("agent",), least=_NARROW
        ),
        "session": ListColumn(
            "session", "the session that it was proposed in", fixed(8), lambda row, _: row.row.session
        ),
        "source": ListColumn("source", "where it is from", share(0.25, 30), lambda row, _: row.row.source),
        "action": ListColumn("action", "what a decision would do", fixed(7), lambda row, _: row.row.action),
        "age": age_since("how long it waits", lambda row: row.row.since, "oldest", "newest"),
    },
    first=("kind", "what", "agent", "age"),
    main="what",
    staying="kind",
    marks=2,
    least_main=14,  # how long it waits is worth more than the end of a headline, which stands beside the list
)


def _texts(row: InboxItem) -> list[str]:
    """Return the texts of an item below its headline: both sides of a contradiction, else its text."""
    if row.kind == "contradiction":
        return row.row.said.split("\n", 1)
    return [row.row.said]


WAITING_BELOW = TextBelow[InboxItem](lambda row, _: [(text, "muted") for text in _texts(row)])


def waiting_line(row: InboxItem, width: int, names: Sequence[str]) -> Line:
    """Return the row of one item of the queue: whether it needs another look, and its columns."""
    flag = "!" if row.row.state == "needs_review" or has_hidden(row.row.text) else " "
    return WAITING_COLUMNS.line(row, width, names, [(flag, "warning")])


_PROGRESS_CELLS = 8
"""Cells of the bar that shows how many are decided."""

_CHOSEN = "bold $text-accent underline"


def progress(decided: int, left: int) -> Content:
    """Return a bar of the decided share of the queue, with the numbers."""
    filled = round(_PROGRESS_CELLS * decided / (decided + left))
    bar = "\N{DARK SHADE}" * filled + "\N{LIGHT SHADE}" * (_PROGRESS_CELLS - filled)
    return Content.styled(f"{bar} {decided:,} of {decided + left:,}  ", "bold $text-success")


def counts_by_kind(counts: Mapping[str, int], chosen: str, room: int) -> Content:
    """Return how many wait and how many of each kind, in ``room`` cells; by their signs where words need more."""
    total = sum(counts.values())
    words = [
        Content.styled(f"{count:,} {kind_word(kind)}", _CHOSEN if kind == chosen else "")
        for kind, count in counts.items()
    ]
    waiting = Content(f"{total:,} {'waits' if total == 1 else 'wait'}")
    in_words = waiting + ": " + Content(", ").join(words)
    return in_words if in_words.cell_length <= room else waiting + "  " + _by_sign(counts, chosen)


def _by_sign(counts: Mapping[str, int], chosen: str) -> Content:
    """Return the number of each sign, in its colour; kinds that share a sign are counted together."""
    numbers: dict[str, int] = {}
    styles: dict[str, str] = {}
    for kind, count in counts.items():
        sign, style = _sign_of_kind(kind)
        numbers[sign] = numbers.get(sign, 0) + count
        if sign not in styles or kind == chosen:
            styles[sign] = f"{style} underline" if kind == chosen else style
    return Content(" ").join(Content.styled(f"{sign}{number:,}", styles[sign]) for sign, number in numbers.items())
