"""Break lines between words, for a text that a person reads in the terminal."""

from __future__ import annotations

import re
import shutil

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from memento_tui.cli.output import QUOTE_BAR

__all__ = ["wrap_words"]

_WIDEST = 100
"""Cells of a line at most: longer ones are hard to read."""

_NARROWEST = 20
"""Cells of a line at least, whatever the terminal says of itself."""

_MOST_HANGING = 16
"""Cells that the lines below the first are put in at most."""

_HEAD = re.compile(r"\| |\S+(?: \S+)*  +|[-+] ?| +")
"""The head of a line, by which its further rows are indented: a bar, a name and two spaces, a sign, or spaces."""


def wrap_words(text: str, width: int = 0) -> str:
    """Return a text that is safe to show with its lines broken between words; a longer word is divided.

    ``width`` is in cells; 0 takes the terminal's, but at most a line that reads well. The lines of a long value stand
    below each other. Bold and colours begin anew in each line.
    """
    room = max(_NARROWEST, width or min(_WIDEST, shutil.get_terminal_size().columns))
    console = Console(color_system="truecolor", no_color=False)
    lines = Text.from_ansi(text).split("\n", allow_blank=True)
    with console.capture() as shown:
        for number, row in enumerate(row for line in lines for row in _rows(line, room, console)):
            console.print("\n" if number else "", row, sep="", end="", soft_wrap=True)
    return shown.get()


def _rows(line: Text, width: int, console: Console) -> list[Text]:
    if line.cell_len <= width:
        return [line]
    name, value = _divided(line)
    first, *others = value.wrap(console, width - name.cell_len)
    hanging = name if name.plain == QUOTE_BAR else Text(" " * name.cell_len)
    rows = [name + first, *(hanging + _without_spaces_before(row) for row in others if row.plain.strip())]
    for row in rows:
        row.rstrip()
    return rows


def _divided(line: Text) -> tuple[Text, Text]:
    """Return what the rows below the first are put in under, which may be nothing, and the rest of the line."""
    head = _HEAD.match(line.plain)
    if head is None or cell_len(head.group()) > _MOST_HANGING:
        return Text(), line
    name, value = line.divide([head.end()])
    return name, value


def _without_spaces_before(row: Text) -> Text:
    """Return a row without the spaces that stood before it in its line, where a word filled the row above."""
    return row[len(row.plain) - len(row.plain.lstrip()) :]
