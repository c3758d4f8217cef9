"""Compare two texts by line and by word in bounded time, and draw the difference in one column or in two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

import msgspec
from rich.cells import cell_len, chop_cells
from textual.content import Content

from memento_tui.text.diff import diff_steps
from memento_tui.tui.display import shown

__all__ = [
    "MIN_SPLIT_WIDTH",
    "TextRun",
    "compare_lines",
    "draw_side_by_side",
    "draw_unified",
    "text_difference",
    "wrap_runs",
]

TextRun = tuple[str, bool]
"""A piece of a line, safe to show, and whether it differs from the other text."""

_TOKENS = re.compile(r"\s+|[^\w\s]|\w+")
_MAX_COMPARISONS = 250_000
"""Elements that one comparison looks at, which takes some 50 ms; of texts that need more, the middle is replaced."""

_CONTEXT = 3
"""Unchanged lines that are kept around a change."""


class LinePair(msgspec.Struct, frozen=True):
    """Two lines that stand beside each other, one of each text; ``None`` where one text has none."""

    before: Sequence[TextRun] | None
    after: Sequence[TextRun] | None
    same: bool = False
    alike: bool = False
    """Whether the two were compared word by word; else they only share a row."""
    skipped: int = 0
    """The number of unchanged lines that are left out here; the pair then has no lines."""


def compare_lines(before: str, after: str) -> list[LinePair]:
    """Return the lines of two texts in pairs; of unchanged lines only those around changes are kept."""
    old, new = shown(before, multiline=True).split("\n"), shown(after, multiline=True).split("\n")
    pairs: list[LinePair] = []
    for tag, a1, a2, b1, b2 in diff_steps(old, new, limit=_MAX_COMPARISONS):
        if tag == "equal":
            pairs += _unchanged(old[a1:a2])
        elif a2 - a1 == b2 - b1:
            pairs += [_marked_words(was, now) for was, now in zip(old[a1:a2], new[b1:b2], strict=True)]
        else:
            pairs += [_changed_pairs(was, now) for was, now in zip_longest(old[a1:a2], new[b1:b2])]
    return pairs


def _unchanged(lines: Sequence[str]) -> Iterator[LinePair]:
    if len(lines) <= 2 * _CONTEXT + 1:
        yield from (_same_lines(line) for line in lines)
        return
    yield from (_same_lines(line) for line in lines[:_CONTEXT])
    yield LinePair(None, None, skipped=len(lines) - 2 * _CONTEXT)
    yield from (_same_lines(line) for line in lines[-_CONTEXT:])


def _same_lines(line: str) -> LinePair:
    return LinePair(((line, False),), ((line, False),), same=True)


def _changed_pairs(before: str | None, after: str | None) -> LinePair:
    """Return two lines as a pair: with changed words marked where at least half is common, else each as a whole."""
    if before and after:
        pair = _marked_words(before, after)
        common = sum(len(text) for text, differs in pair.before or () if not differs)
        if 2 * common >= max(len(before), len(after)):
            return pair
    return LinePair(_whole_lines(before), _whole_lines(after))


def _whole_lines(line: str | None) -> Sequence[TextRun] | None:
    return None if line is None else ((line, False),)


def _marked_words(before: str, after: str) -> LinePair:
    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    was: list[TextRun] = []
    now: list[TextRun] = []
    for tag, a1, a2, b1, b2 in diff_steps(old, new, limit=_MAX_COMPARISONS):
        if a2 > a1:
            was.append(("".join(old[a1:a2]), tag != "equal"))
        if b2 > b1:
            now.append(("".join(new[b1:b2]), tag != "equal"))
    return LinePair(was, now, alike=True)


MIN_SPLIT_WIDTH = 44
"""Cells of width that two columns need at least."""

_MOST_PAIRS = 1_000
_SHOW_ALL_HINT = "; e shows all of the new text"
_GAP = " | "
_REMOVED, _ADDED = "$text-error", "$text-success"
_MARKED = " bold reverse"
"""The style of words that differ: reversed, which needs no colour."""


def text_difference(before: str, after: str) -> Content:
    """Return the difference of two texts in one column, with the words that differ in each line marked."""
    return draw_unified(compare_lines(before, after), hint="")


def draw_unified(pairs: Sequence[LinePair], *, hint: str = _SHOW_ALL_HINT, width: int = 0) -> Content:
    """Return the lines of both texts one below the other: ``-`` is removed, ``+`` is added, so it reads without colour.

    ``hint`` follows the number of the lines that are left out of a very long difference. Lines are wrapped to ``width``
    cells beside their signs; 0 leaves that to whoever shows them.
    """
    lines: list[Content] = []
    for is_block, group in groupby(pairs[:_MOST_PAIRS], lambda pair: not (pair.same or pair.alike or pair.skipped)):
        if is_block:
            block = list(group)
            for pair in block:
                lines += _lines("- ", pair.before, _REMOVED, width)
            for pair in block:
                lines += _lines("+ ", pair.after, _ADDED, width)
        else:
            for pair in group:
                lines += _unified_pair(pair, width)
    return Content("\n").join([*lines, *_more_lines_note(pairs, hint)])


def _unified_pair(pair: LinePair, width: int) -> Iterator[Content]:
    if pair.skipped:
        yield _skipped(pair)
    elif pair.same:
        yield from _lines("  ", pair.before or (), "dim", width)
    else:
        yield from _lines("- ", pair.before or (), _REMOVED, width)
        yield from _lines("+ ", pair.after or (), _ADDED, width)


def draw_side_by_side(pairs: Sequence[LinePair], width: int) -> Content:
    """Return the lines of both texts in two columns of together at most ``width`` cells."""
    lines: list[Content] = []
    for pair in pairs[:_MOST_PAIRS]:
        if pair.skipped:
            lines.append(_skipped(pair))
        elif pair.same:
            lines += two_columns(pair.before, pair.after, width, signs=("  ", "  "), styles=("dim", "dim"))
        else:
            lines += two_columns(pair.before, pair.after, width, signs=("- ", "+ "), styles=(_REMOVED, _ADDED))
    return Content("\n").join([*lines, *_more_lines_note(pairs, _SHOW_ALL_HINT)])


def two_columns(
    left: Sequence[TextRun] | None,
    right: Sequence[TextRun] | None,
    width: int,
    *,
    signs: tuple[str, str] = ("", ""),
    styles: tuple[str, str] = ("", ""),
) -> list[Content]:
    """Return two lines side by side, each wrapped in its half of ``width`` cells."""
    column = (max(width, MIN_SPLIT_WIDTH) - len(_GAP)) // 2
    halves = (
        _column(sign, runs, column, style) for sign, runs, style in zip(signs, (left, right), styles, strict=True)
    )
    gap = Content.styled(_GAP, "dim")
    return [one + gap + other for one, other in zip_longest(*halves, fillvalue=Content(" " * column))]


def _more_lines_note(pairs: Sequence[LinePair], hint: str) -> Iterator[Content]:
    if len(pairs) > _MOST_PAIRS:
        yield Content.styled(f"  ... {len(pairs) - _MOST_PAIRS:,} more lines{hint}.", "bold")


def _skipped(pair: LinePair) -> Content:
    return Content.styled(f"  ... {pair.skipped:,} unchanged lines", "dim italic")


def _lines(sign: str, runs: Sequence[TextRun] | None, style: str, width: int) -> Iterator[Content]:
    """Yield the lines of one line behind its sign; nothing where the text has none there."""
    if runs is not None:
        wrapped = wrap_runs(runs, max(width - len(sign), 1)) if width else [runs]
        for number, line in enumerate(wrapped):
            yield draw_runs(((" " * len(sign) if number else sign, False), *line), style)


def draw_runs(runs: Sequence[TextRun], style: str = "") -> Content:
    """Return a line with the words that differ reversed."""
    # Runs are safe to show already. Made safe piece by piece, a mark after its letter would count as a stray mark.
    parts = [Content.styled(piece, style + _MARKED if marked else style) for piece, marked in runs]
    return Content("").join(parts)


def _column(sign: str, runs: Sequence[TextRun] | None, width: int, style: str) -> list[Content]:
    """Return the lines of one column, each exactly ``width`` cells wide."""
    if runs is None:
        return [Content(" " * width)]
    room = width - len(sign)
    lines = []
    for number, line in enumerate(wrap_runs(runs, room)):
        used = sum(cell_len(text) for text, _ in line)
        begin = sign if number == 0 else " " * len(sign)
        lines.append(draw_runs(((begin, False), *line), style) + Content(" " * max(room - used, 0)))
    return lines


def wrap_runs(runs: Sequence[TextRun], width: int) -> list[list[TextRun]]:
    """Return a line broken into lines of at most ``width`` cells, between words where that is possible."""
    lines: list[list[TextRun]] = [[]]
    used = 0
    for text, marked in runs:
        for piece in _pieces(text, width):
            size = cell_len(piece)
            if used + size > width and lines[-1]:
                lines.append([])
                used = 0
                if piece == " ":
                    continue
            lines[-1].append((piece, marked))
            used += size
    return [_merge_runs(line) for line in lines]


def _pieces(text: str, width: int) -> Iterator[str]:
    """Yield words with the space after each; a word that is wider than a line is split."""
    word = ""
    for character in text:
        word += character
        if character == " ":
            yield from _fitting(word, width)
            word = ""
    if word:
        yield from _fitting(word, width)


def _fitting(word: str, width: int) -> Iterator[str]:
    bare = word.rstrip(" ")
    if cell_len(word) <= width:
        yield word
        return
    if cell_len(bare) <= width:
        yield bare
    else:
        yield from chop_cells(bare, width)
    yield from " " * (len(word) - len(bare))


def _merge_runs(line: Sequence[TextRun]) -> list[TextRun]:
    joined: list[TextRun] = []
    for text, marked in line:
        if joined and joined[-1][1] == marked:
            joined[-1] = (joined[-1][0] + text, marked)
        else:
            joined.append((text, marked))
    return joined
