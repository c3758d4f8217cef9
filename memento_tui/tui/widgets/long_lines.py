"""A text area that draws and edits a line of hundreds of thousands of characters as fast as a short one.

Textual's text area divides the whole line for each of its rows that it draws, which takes a second a key in the longest
memory. Here each row is cut out of the line by itself, and a line without tabs is wrapped anew in one pass.
"""

from __future__ import annotations

import operator
import re
from typing import ClassVar

from rich.cells import cell_len, get_character_cell_size
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.document._document import Document, EditResult, Location
from textual.document._document_navigator import DocumentNavigator
from textual.document._wrapped_document import WrappedDocument
from textual.expand_tabs import expand_text_tabs_from_widths
from textual.strip import Strip
from textual.widgets import TextArea

__all__ = ["LongLineTextArea", "wrap_positions"]

_LONG = 2_000
"""Characters from which on a line is long: shorter ones are drawn and wrapped by Textual."""

_CHUNK = re.compile(r"\S+\s*|\s+")
"""A word with the spaces behind it, which stay with it."""

_LINE_END = re.compile(r"\r\n|\n|\r")

_DROPPED = dict.fromkeys((0x07, 0x08, 0x0B, 0x0C, 0x0D), "\0")
"""Characters that Rich would drop, which moves the cursor off its character; in their place one as wide, not shown."""


def wrap_positions(line: str, width: int) -> list[int]:
    """Return where a line without tabs is broken into rows of at most ``width`` cells, as Textual breaks it."""
    is_plain = line.isascii() and line.isprintable()
    positions: list[int] = []
    start = used = 0
    for chunk in _CHUNK.findall(line):
        size = len(chunk) if is_plain else cell_len(chunk)
        if used + size <= width:
            used += size
        elif size > width:
            positions += [start] if start else []
            folds = _fold_positions(chunk, width)
            positions += [start + fold for fold in folds]
            last = chunk[folds[-1] :] if folds else chunk
            used = len(last) if is_plain else cell_len(last)
        elif used:
            positions.append(start)
            used = size
        start += len(chunk)
    return positions


def _fold_positions(word: str, width: int) -> list[int]:
    """Return where a word that is wider than a row is broken, character by character."""
    folds: list[int] = []
    used = 0
    for position, character in enumerate(word):
        cells = get_character_cell_size(character)
        if used + cells > width:
            folds.append(position)
            used = 0
        used += cells
    return folds


class _ExactText(Document):
    """A text whose lines end at line feeds and carriage returns alone; a line that is not changed keeps its line end.

    Textual's own takes form feeds, U+2028 and their like for line ends, and writes every line end in the same way.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._lines = _LINE_END.split(text)
        is_mixed = self._newline.join(self._lines) != text
        self._ends: list[str] | None = [*_LINE_END.findall(text), ""] if is_mixed else None
        """The line end of each line, the last without one; ``None`` where all are the same."""

    @property
    def text(self) -> str:
        """The text."""
        if self._ends is None:
            return self._newline.join(self._lines)
        return "".join(map(operator.add, self._lines, self._ends))

    def get_text_range(self, start: Location, end: Location) -> str:
        """Return the text between two locations, with its line ends, from which an undo restores it."""
        top, bottom = sorted((start, end))
        if self._ends is None or top[0] == bottom[0]:
            return super().get_text_range(start, end)
        within = map(operator.add, self._lines[top[0] : bottom[0]], self._ends[top[0] : bottom[0]])
        last = self._lines[bottom[0]][: bottom[1]] if bottom[0] < len(self._lines) else ""
        return "".join([*within, last])[top[1] :]

    def replace_range(self, start: Location, end: Location, text: str) -> EditResult:
        """Replace the text between two locations; return where the new text ends, and the old text."""
        top, bottom = sorted((start, end))
        replaced = self.get_text_range(top, bottom)
        before = self._lines[top[0]][: top[1]] if top[0] < len(self._lines) else ""
        behind = self._lines[bottom[0]][bottom[1] :] if bottom[0] < len(self._lines) else ""
        lines = _LINE_END.split(text)
        if self._ends is not None:
            put = _LINE_END.findall(text)
            if put == [text]:  # a line end that is typed is like those around it
                put = [self._end_around(top[0])]
            if top[0] >= len(self._lines):
                self._ends[-1] = self._end_around(top[0])
            self._ends[top[0] : bottom[0] + 1] = [*put, *(self._ends[bottom[0] : bottom[0] + 1] or [""])]
        lines[0] = before + lines[0]
        end_location = (top[0] + len(lines) - 1, len(lines[-1]))
        lines[-1] += behind
        self._lines[top[0] : bottom[0] + 1] = lines
        return EditResult(end_location, replaced)

    def _end_around(self, index: int) -> str:
        ends = self._ends or []
        return next(filter(None, (*ends[index : index + 1], *reversed(ends[:index]))), self._newline)


class _RowsOfLines(WrappedDocument):
    """A text broken into rows, which are cut out of their lines one by one."""

    def get_sections(self, line_index: int) -> list[str]:
        """Return the rows of a line."""
        line, offsets = self.document[line_index], self._wrap_offsets[line_index]
        return [line[start:end] for start, end in zip([0, *offsets], [*offsets, len(line)], strict=True)]

    def wrap_range(self, start: Location, old_end: Location, new_end: Location) -> None:
        """Wrap the lines anew in which something was changed."""
        index = start[0]
        line = self.document[index]
        if not start[0] == old_end[0] == new_end[0] or not self._width or "\t" in line or len(line) < _LONG:
            super().wrap_range(start, old_end, new_end)
            return
        top, before = self._line_index_to_offsets[index][0], len(self._line_index_to_offsets[index])
        self._wrap_offsets[index] = wrap_positions(line, self._width)
        self._tab_width_cache[index] = [0]
        rows = len(self._wrap_offsets[index]) + 1
        self._offset_to_line_info[top : top + before] = [(index, row) for row in range(rows)]
        self._line_index_to_offsets[index] = list(range(top, top + rows))
        if rows != before:
            for below in range(index + 1, len(self._line_index_to_offsets)):
                moved = [offset + rows - before for offset in self._line_index_to_offsets[below]]
                self._line_index_to_offsets[below] = moved


class LongLineTextArea(TextArea):
    """A text area, without line numbers and languages, in which the time of a key depends on the visible text alone."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+home", "text_start", show=False),
        Binding("ctrl+end", "text_end", show=False),
        Binding("ctrl+shift+home", "text_start(True)", show=False),
        Binding("ctrl+shift+end", "text_end(True)", show=False),
    ]

    def action_text_start(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - from a key's action
        """Go to the start of the text; with ``select`` select the text on the way."""
        self.move_cursor(self.document.start, select=select)

    def action_text_end(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - from a key's action
        """Go to the end of the text; with ``select`` select the text on the way."""
        self.move_cursor(self.document.end, select=select)

    def _set_document(self, text: str, language: str | None) -> None:
        super()._set_document(text, language)
        self.document = _ExactText(text)
        self.wrapped_document = _RowsOfLines(self.document, tab_width=self.indent_width)
        self.navigator = DocumentNavigator(self.wrapped_document)
        self._rewrap_and_refresh_virtual_size()

    def get_line(self, line_index: int) -> Text:
        """Return a line with a character for each of its own."""
        return Text(self.document.get_line(line_index).translate(_DROPPED), end="", no_wrap=True)

    def _render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        rows = self.wrapped_document._offset_to_line_info  # noqa: SLF001 - nothing public names the line of a row
        line_index, row = rows[at] if at < len(rows) else (0, 0)
        line = self.document[line_index]
        if at >= len(rows) or len(line) < _LONG or not self.wrapped_document.get_offsets(line_index):
            return super()._render_line(y)
        return self._row(line, line_index, row)

    def _row(self, line: str, line_index: int, row: int) -> Strip:
        """Return one row of a line with the cursor, the selection and the brackets that belong together."""
        offsets = self.wrapped_document.get_offsets(line_index)
        start = offsets[row - 1] if row else 0
        end = offsets[row] if row < len(offsets) else len(line) + 1  # a cell more for the cursor at the end
        text = Text(line[start:end].ljust(end - start).translate(_DROPPED), end="", no_wrap=True)
        theme, width = self._theme, self.scrollable_content_region.width
        has_cursor_line = self.selection.end[0] == line_index and self.highlight_cursor_line
        line_style = theme.cursor_line_style if has_cursor_line else theme.base_style
        if has_cursor_line and line_style is not None and self._has_cursor:
            text.stylize(line_style)
        for style, first, last in self._styles_in(line, line_index):
            if style is not None and first < end and last > start:
                text.stylize(style, max(first - start, 0), last - start)
        if "\t" in text.plain:
            widths = self.wrapped_document.get_tab_widths(line_index)
            text = expand_text_tabs_from_widths(text, widths[line.count("\t", 0, start) :])
        strip = Strip(text.render(self.app.console), cell_length=text.cell_len).extend_cell_length(width, line_style)
        return strip.apply_style(theme.base_style if theme.base_style is not None else self.rich_style)

    def _styles_in(self, line: str, line_index: int) -> list[tuple[Style | None, int, int]]:
        """Return the styles within a line, each with where it begins and ends; a later one lies over the others."""
        theme, (begin, cursor) = self._theme, self.selection
        found: list[tuple[Style | None, int, int]] = []
        top, bottom = sorted((begin, cursor))
        if top != bottom and top[0] <= line_index <= bottom[0]:
            first = top[1] if top[0] == line_index else 0
            found.append((theme.selection_style, first, bottom[1] if bottom[0] == line_index else len(line)))
        is_bracket = self._matching_bracket_location is not None and top == bottom and self._has_cursor
        if is_bracket:
            found.append((theme.bracket_matching_style, *_cell(cursor, line_index)))
        if self._draw_cursor:
            found.append((theme.cursor_style, *_cell(cursor, line_index)))
        if is_bracket and self._matching_bracket_location is not None:
            found.append((theme.bracket_matching_style, *_cell(self._matching_bracket_location, line_index)))
        return found


def _cell(at: Location, line_index: int) -> tuple[int, int]:
    """Return where the character at a location begins and ends in a line; nothing where it is in another line."""
    return (at[1], at[1] + 1) if at[0] == line_index else (0, 0)
