"""Break lines between words, for a text that a person reads in the terminal."""

from __future__ import annotations

import re
import shutil

import click
from rich.cells import cell_len, chop_cells

__all__ = ["wrap_words"]

_WIDEST = 100
"""Cells of a line at most: longer ones are hard to read."""

_NARROWEST = 20
"""Cells of a line at least, whatever the terminal says of itself."""

_MOST_HANGING = 16
"""Cells that the lines below the first are put in at most."""

_HEAD = re.compile(r"\S+(?: \S+)*  +|[-+] ?| +")
"""What the lines below are put in under: a name with its value behind two spaces, a sign of a difference, spaces."""

_PIECE = re.compile(r"\s*\S+|\s+$")
"""A word, with the spaces before it."""


def wrap_words(text: str, width: int = 0) -> str:
    """Return a text that is safe to show with its lines broken between words; a longer word is divided.

    ``width`` is in cells; 0 takes the terminal's, but at most a line that reads well. The lines of a long value stand
    below each other.
    """
    room = max(_NARROWEST, width or min(_WIDEST, shutil.get_terminal_size().columns))
    return "\n".join(wrapped for line in text.split("\n") for wrapped in _wrapped(line, room))


def _wrapped(line: str, width: int) -> list[str]:
    plain = click.unstyle(line)
    if cell_len(plain) <= width:
        return [line]
    head = _HEAD.match(plain)
    hanging = " " * (0 if head is None or head.end() > _MOST_HANGING else head.end())
    lines, used = [""], 0
    for piece in _PIECE.findall(line):
        cells = cell_len(click.unstyle(piece))
        if used + cells <= width:
            lines[-1] += piece
            used += cells
            continue
        first, *more = chop_cells(piece.lstrip(), width - len(hanging)) or [""]
        if used > len(hanging):
            lines.append(hanging)
        lines[-1] += first
        lines += [hanging + part for part in more]
        used = cell_len(click.unstyle(lines[-1]))
    return lines
