"""Draw Markdown as text with styles: nothing that it says is hidden, neither the target of a link nor a comment."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile, zip_longest

from textual.content import Content

from memento_tui.tui.display import literal, shown

__all__ = ["draw_markdown"]

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*")
_BULLET = re.compile(r"([ \t]*)[-*+][ \t]+(\[[ xX]\][ \t]+)?(.*)")
_QUOTE = re.compile(r" {0,3}>[ ]?(.*)")
_RULE = re.compile(r" {0,3}(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*([\w+#-]*)[^`]*")
_INLINE = re.compile(
    r"(?P<code>`[^`\n]+`)"
    r"|\*\*(?P<strong>[^*\n]+)\*\*"
    r"|(?<![\w*])\*(?P<emphasis>[^*\s][^*\n]*)\*(?![\w*])"
    r"|\[(?P<label>[^\[\]\n]+)\]\((?P<target>[^()\s]+)\)"
)
"""The parts that stand out within a line: code, strong and emphasised words, and links."""

_BAR = "\N{BOX DRAWINGS LIGHT VERTICAL} "
_DOT = "\N{BULLET} "
_RULE_CELLS = 20
_TABLE_CELLS = 80
"""Cells that a table may take where nothing is said of them."""

_LANGUAGES = {
    **{name: name for name in ("python", "bash", "json", "yaml", "toml", "sql", "rust", "go", "c", "java", "html")},
    **{name: name for name in ("css", "diff", "ini", "javascript", "typescript", "dockerfile")},
    "py": "python",
    "sh": "bash",
    "shell": "bash",
    "js": "javascript",
    "ts": "typescript",
    "yml": "yaml",
}
"""The highlighted languages, by the name behind a fence."""

_MAX_HIGHLIGHTED_CHARACTERS = 4_000
"""Characters of one block of code that are highlighted, which takes some milliseconds; a longer one is plain."""


def draw_markdown(text: str, width: int = _TABLE_CELLS) -> Content:
    """Return a Markdown text, which need not be safe to show, with its marks drawn as styles.

    Lines stay lines, and a table is drawn within ``width`` cells. What this does not know, HTML among it, stays as it
    is written.
    """
    lines = shown(text, multiline=True).split("\n")
    return Content("\n").join(_drawn(lines, width))


def _drawn(lines: Sequence[str], width: int) -> Iterator[Content]:
    at = 0
    while at < len(lines):
        if length := _table_lines(lines, at):
            yield from _draw_table(lines[at : at + length], width, _inline)
            at += length
            continue
        fence = _FENCE.fullmatch(lines[at])
        if fence is None:
            yield _line(lines[at])
            at += 1
            continue
        end = next((n for n in range(at + 1, len(lines)) if lines[n].strip().startswith(fence[1])), len(lines))
        yield from _code(lines[at + 1 : end], fence[2].lower())
        at = end + 1


def _line(line: str) -> Content:
    if heading := _HEADING.fullmatch(line):
        return _inline(heading[2], "bold $text-accent" if len(heading[1]) == 1 else "bold")
    if _RULE.fullmatch(line):
        return Content.styled("\N{BOX DRAWINGS LIGHT HORIZONTAL}" * _RULE_CELLS, "dim")
    if bullet := _BULLET.fullmatch(line):
        box = bullet[2] or ""
        return literal(bullet[1]) + Content.styled(_DOT, "$text-accent") + literal(box) + _inline(bullet[3])
    if quote := _QUOTE.fullmatch(line):
        return Content.styled(_BAR, "dim") + _inline(quote[1], "italic dim")
    return _inline(line)


def _inline(line: str, style: str = "") -> Content:
    parts: list[Content] = []
    at = 0
    for found in _INLINE.finditer(line):
        parts.append(literal(line[at : found.start()], style))
        at = found.end()
        if found["code"]:
            parts.append(literal(found["code"][1:-1], "$text-primary"))
        elif found["label"]:
            parts += [literal(found["label"], f"underline {style}".strip()), literal(f" ({found['target']})", "dim")]
        elif found["strong"]:
            parts.append(literal(found["strong"], f"bold {style}".strip()))
        else:
            parts.append(literal(found["emphasis"], f"italic {style}".strip()))
    return Content("").join([*parts, literal(line[at:], style)])


def _code(lines: Sequence[str], language: str) -> Iterator[Content]:
    bar = Content.styled(_BAR, "dim")
    code = "\n".join(lines)
    known = _LANGUAGES.get(language)
    if known is not None and len(code) <= _MAX_HIGHLIGHTED_CHARACTERS:
        from textual.highlight import highlight  # noqa: PLC0415 - it loads Pygments, for texts with code

        drawn = highlight(code, language=known).split("\n")
        if [line.plain for line in drawn] == list(lines):
            yield from (bar + line for line in drawn)
            return
    yield from (bar + literal(line, "$text-primary") for line in lines)


_DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")

_GAP = "  "
_LEAST_CELLS = 6
"""Cells that a column has at least; where there are fewer, a table is drawn as a list."""


def _table_lines(lines: Sequence[str], at: int) -> int:
    """Return how many lines the table has that begins at a line; 0 where none does."""
    if at + 1 >= len(lines) or "|" not in lines[at] or "|" not in lines[at + 1]:
        return 0
    if not _DELIMITERS.fullmatch(lines[at + 1].strip()) or len(_cells(lines[at])) != len(_cells(lines[at + 1])):
        return 0
    rows = takewhile(lambda n: "|" in lines[n], range(at + 2, len(lines)))
    return 2 + sum(1 for _ in rows)


def _draw_table(lines: Sequence[str], width: int, draw: Callable[[str, str], Content]) -> Iterator[Content]:
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
    """Return the widths of columns: narrow ones get the cells that they need, and wide ones share the rest equally."""
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
