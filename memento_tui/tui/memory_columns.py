"""The columns of the list of memories: which there are, how wide each is, and a row or the header drawn with some."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len

from memento_tui import clock
from memento_tui.api.types import MemorySummary
from memento_tui.tui.display import ago, cells, has_hidden
from memento_tui.tui.memory_text import KIND_WORDS, trust_glyph
from memento_tui.tui.widgets.record_list import Line

__all__ = [
    "COLUMNS",
    "DEFAULT_COLUMNS",
    "TITLE",
    "WIDE_ROW",
    "Column",
    "chosen_columns",
    "header_pieces",
    "memory_line",
]

WIDE_ROW = 90
"""Cells from which on the row of a memory has a column of tags."""

_NARROW = 60
"""Cells below which a row has no room for a word beside its title and its age."""

_LEAST_TITLE = 24
"""Cells that the title keeps; columns that would take them are left out, the last ones first."""

_MARKS_WIDTH = 3
"""Cells of the marks of trust and of a pin, and of the space behind them."""


class Column(NamedTuple):
    """One column: its header, its cells in a row of some width, and its text in a row at a moment."""

    label: str
    about: str
    """What it shows, in the dialog that chooses the columns."""
    width: Callable[[int], int]
    text: Callable[[MemorySummary, datetime], str]
    is_number: bool = False
    """Whether it stands at the right of its cells."""
    order: str = ""
    """The order of the list that a click on the header takes; empty where there is none."""
    least: int = 0
    """Cells of a row from which on it is shown."""


def _fixed(width: int) -> Callable[[int], int]:
    return lambda _row: width


def _ends(row: MemorySummary, now: datetime) -> str:
    return (
        ""
        if row.expires_at is None
        else "ended"
        if row.expires_at <= now
        else ago(row.expires_at, now).removeprefix("in ")
    )


TITLE = "title"
COLUMNS: Mapping[str, Column] = {
    "kind": Column("kind", "its kind", _fixed(8), lambda row, _: KIND_WORDS.get(row.kind, row.kind), least=_NARROW),
    TITLE: Column("title", "its title, or its first line; always shown", _fixed(0), lambda row, _: row.headline),
    "tags": Column(
        "tags",
        "its tags",
        lambda row: min(28, row // 4),
        lambda row, _: " ".join(f"#{tag}" for tag in row.tags),
        least=WIDE_ROW,
    ),
    "namespace": Column("namespace", "where it belongs", lambda row: min(20, row // 5), lambda row, _: row.namespace),
    "certainty": Column(
        "sure", "its certainty, 1 to 5", _fixed(4), lambda row, _: f"{row.certainty}", is_number=True, order="certainty"
    ),
    "used": Column(
        "used",
        "how often agents used it",
        _fixed(5),
        lambda row, _: f"{row.used_count:,}",
        is_number=True,
        order="used",
    ),
    "agent": Column("agent", "who wrote it, where that was an agent", _fixed(12), lambda row, _: row.agent),
    "source": Column("source", "user, derived or external", _fixed(8), lambda row, _: row.source_type),
    "ends": Column("ends", "when it expires", _fixed(6), _ends, is_number=True),
    "created": Column(
        "made",
        "how long ago it was written",
        _fixed(5),
        lambda row, now: ago(row.created_at, now),
        is_number=True,
        order="created",
    ),
    "changed": Column(
        "age",
        "how long ago it was changed",
        _fixed(5),
        lambda row, now: ago(row.updated_at, now),
        is_number=True,
        order="changed",
    ),
}
"""Every column, by its name."""

DEFAULT_COLUMNS = ("kind", TITLE, "tags", "changed")


def chosen_columns(kept: str | None) -> tuple[str, ...]:
    """Return the names of the columns that were kept in a setting; the first ones where there are none that are known.

    The title is among them, whatever was kept.
    """
    names = tuple(dict.fromkeys(name for name in (kept or "").split() if name in COLUMNS))
    return names if TITLE in names else DEFAULT_COLUMNS


def _laid_out(names: Sequence[str], width: int) -> list[tuple[str, int]]:
    """Return the columns that a row has room for, in their order, each with its cells; the title has what is left."""
    shown = {name: COLUMNS[name].width(width) for name in names if width >= COLUMNS[name].least}
    left = width - _MARKS_WIDTH - sum(cells_of + 1 for name, cells_of in shown.items() if name != TITLE)
    for name in reversed(names):
        # The age stays where there is nothing else: a list without it says nothing of when.
        if left < _LEAST_TITLE and name in shown and name not in (TITLE, "changed"):
            left += shown.pop(name) + 1
    shown[TITLE] = max(left, 0)
    return [(name, shown[name]) for name in names if name in shown]


def memory_line(row: MemorySummary, width: int, names: Sequence[str] = DEFAULT_COLUMNS) -> list[Line]:
    """Return the row of a memory: its trust, whether it is pinned, and its columns."""
    now = clock.now()
    glyph, style = trust_glyph(row.status, row.stability)
    flag = "!" if has_hidden(row.title + row.head) else "^" if row.pinned else " "
    ended = row.expires_at is not None and row.expires_at <= now
    title_style = "muted" if ended or row.status in ("deleted", "rejected") else ""
    pieces = [(glyph, style), (flag, {"!": "warning", "^": "match"}.get(flag, ""))]
    for name, cells_of in _laid_out(names, width):
        text = _in_cells(COLUMNS[name], COLUMNS[name].text(row, now), cells_of)
        pieces += [(" ", ""), (text, title_style if name == TITLE else "muted")]
    return [pieces]


def header_pieces(names: Sequence[str], width: int) -> Iterator[tuple[str, str]]:
    """Yield the name of each column that a row has room for, empty for what stands between, with its cells of text."""
    yield "", " " * (_MARKS_WIDTH - 1)
    for name, cells_of in _laid_out(names, width):
        yield "", " "
        yield name, _in_cells(COLUMNS[name], COLUMNS[name].label, cells_of)


def _in_cells(column: Column, text: str, width: int) -> str:
    return cells(" " * (width - cell_len(text)) + text if column.is_number else text, width)
