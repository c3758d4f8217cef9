"""Rows of several lines for a short list on a tall screen: below its columns each has the first words of its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from memento_tui import clock
from memento_tui.tui.columns import Columns
from memento_tui.tui.display import cells, shown
from memento_tui.tui.text_diff import wrap_runs
from memento_tui.tui.widgets.record_list import Line

__all__ = ["TextBelow", "lines_for", "rest_of"]

RowT = TypeVar("RowT")

_TALL_LINES = 30
"""Lines of a list from which on a short one leaves more room than rests the eye."""

_MOST_LINES = 4
"""Lines of a row at most: its columns, two of text, and a blank one."""

_LINES_WITH_BLANK = 3
"""Lines of a row from which on the last stays blank, so that rows stand apart."""

_LEAST_WIDTH = 20
"""Cells of text below which a line of it says nothing."""


def lines_for(total: int, height: int) -> int:
    """Return the lines that each of ``total`` rows has in a list of ``height`` lines: one, or so many that all fit."""
    if not total or height < _TALL_LINES:
        return 1
    return max(1, min(_MOST_LINES, height // total))


@dataclass(frozen=True)
class TextBelow(Generic[RowT]):
    """The text below the columns of a row that has several lines."""

    parts: Callable[[RowT, datetime], Sequence[tuple[str, str]]]
    """Returns the texts of a row, each with its style and from a line of its own; empty ones are passed over."""
    instead_of: tuple[str, ...] = ()
    """The columns that are left out meanwhile, because the text says the same whole."""

    def lines(self, row: RowT, columns: Columns[Any], names: Sequence[str], width: int, height: int) -> list[Line]:
        """Return the lines below the columns of a row of ``height`` lines, under its main column."""
        room = height - 1 if height < _LINES_WITH_BLANK else height - 2
        indent = columns.place_of_main(names, width)
        if width - indent < _LEAST_WIDTH:
            return []
        now = clock.now()
        above, across = columns.all[columns.main].text(row, now), columns.width_of_main(names, width)
        found: list[tuple[str, str]] = []
        for text, style in self.parts(row, now):
            left = _unseen(_one_line(text), _one_line(above), across)
            if left and len(found) < room:
                found += [(line, style) for line in _wrapped(left, width - indent, room - len(found))]
        return [[(" " * indent, ""), piece] for piece in found]


def rest_of(text: str, begun: str) -> str:
    """Return the rest of a text after ``begun``, from the start of a word; all of it where it begins otherwise."""
    if not text.startswith(begun):
        return text
    after = text[len(begun) :]
    return text[begun.rfind(" ") + 1 :] if _WORD_CHARACTER.match(after) else after.lstrip()


_WORD_CHARACTER = re.compile(r"\w")


def _one_line(text: str) -> str:
    return shown(" ".join(text.split()))


def _unseen(text: str, above: str, across: int) -> str:
    """Return the part of a text that the main column, with ``above`` in ``across`` cells, does not show."""
    if not text.startswith(above):
        return text
    if len(above) <= across and cells(above, across).rstrip() == above:
        return rest_of(text, above)
    # The row ends within a word, so the text goes on with that one.
    seen = len(cells(above, across)) - 1
    return text[above.rfind(" ", 0, seen) + 1 :]


def _wrapped(text: str, width: int, most: int) -> Iterator[str]:
    """Yield a text in at most so many lines; the last one shows where more was left out."""
    # More than fits is not looked at: a line of text has at least a character for two cells.
    lines = ["".join(piece for piece, _ in line) for line in wrap_runs([(text[: width * (most + 1)], False)], width)]
    yield from lines[: most - 1]
    if rest := "".join(lines[most - 1 :]):
        yield cells(rest, width)
