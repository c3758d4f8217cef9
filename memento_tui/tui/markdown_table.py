"""Draw a Markdown table with its columns aligned: as it is, with cells that go on below, or as a list of its rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile, zip_longest

from textual.content import Content

__all__ = ["draw_table", "table_lines"]

_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")

_GAP = "  "
_LEAST_CELLS = 6
"""Cells that a column has at least; where there are fewer, a table is drawn as a list."""


def table_lines(lines: Sequence[str], at: int) -> int:
    """Return how many lines the table has that begins at a line; 0 where none does."""
    if at + 1 >= len(lines) or "|" not in lines[at] or "|" not in lines[at + 1]:
        return 0
    if not _DELIMITERS.fullmatch(lines[at + 1].strip()) or len(_cells(lines[at])) != len(_cells(lines[at + 1])):
        return 0
    rows = takewhile(lambda n: "|" in lines[n], range(at + 2, len(lines)))
    return 2 + sum(1 for _ in rows)


def draw_table(lines: Sequence[str], width: int, draw: Callable[[str, str], Content]) -> Iterator[Content]:
    """Yield the lines of a table, none wider than ``width`` cells; ``draw`` draws the text of a cell in a style.

    No cell is left out, and none is cut.
    """
    alignments = [_alignment(mark) for mark in _cells(lines[1])]
    rows = [[draw(cell, "") for cell in _cells(line)] for line in lines[2:]]
    head = [draw(cell, "bold") for cell in _cells(lines[0])]
    columns = max(map(len, [head, *rows]))
    room = width - len(_GAP) * (columns - 1)
    if room < columns * _LEAST_CELLS:
        yield from _list(head, rows)
        return
    wanted = [max(cell.cell_length for cell in column) for column in zip_longest(head, *rows, fillvalue=Content(""))]
    widths = _shared_out(wanted, room)
    alignments += ["left"] * (columns - len(alignments))
    yield from _row(head, widths, alignments)
    yield Content.styled(_GAP.join("\N{BOX DRAWINGS LIGHT HORIZONTAL}" * cells for cells in widths), "dim")
    for row in rows:
        yield from _row(row, widths, alignments)


def _cells(line: str) -> list[str]:
    """Return the cells of a line; a sign before a pipe keeps it within a cell."""
    inner = line.strip().removeprefix("|")
    parts = [part.replace("\\|", "|").strip() for part in _UNESCAPED_PIPE.split(inner)]
    return parts[:-1] if len(parts) > 1 and not parts[-1] else parts


def _alignment(mark: str) -> str:
    if mark.endswith(":"):
        return "center" if mark.startswith(":") else "right"
    return "left"


def _shared_out(wanted: Sequence[int], room: int) -> list[int]:
    """Return the widths of columns: narrow ones have what they want, and wide ones share the rest alike."""
    widths = [0] * len(wanted)
    for left, column in enumerate(sorted(range(len(wanted)), key=wanted.__getitem__)):
        widths[column] = min(max(wanted[column], 1), room // (len(wanted) - left))
        room -= widths[column]
    return widths


def _row(row: Sequence[Content], widths: Sequence[int], alignments: Sequence[str]) -> Iterator[Content]:
    """Yield the lines of a row; a cell that is wider than its column goes on below."""
    columns = [
        [cell] if cell.cell_length <= cells else cell.wrap(cells) for cell, cells in zip(row, widths, strict=False)
    ]
    for parts in zip_longest(*columns, fillvalue=Content("")):
        drawn = [_padded(*place) for place in zip(parts, widths, alignments, strict=False)]
        yield Content(_GAP).join(drawn).rstrip()


def _padded(part: Content, cells: int, alignment: str) -> Content:
    part = part.rstrip()
    left = cells - part.cell_length
    before = {"left": 0, "center": left // 2, "right": left}[alignment]
    return part.pad_left(before).pad_right(left - before)


def _list(head: Sequence[Content], rows: Sequence[Sequence[Content]]) -> Iterator[Content]:
    """Yield each row as lines of a name and a value, and without rows the names."""
    for row in rows or [[]]:
        for name, value in zip_longest(head, row, fillvalue=Content("")):
            yield name + ": " + value if name and value else name + value
        yield Content("")
