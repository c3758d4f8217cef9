"""Drawing what differs: one below the other, or in two columns of wrapped lines that wide characters do not tear."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from rich.cells import cell_len, chop_cells
from textual.content import Content

from memento_tui.tui.sections.review.differing import Pair, Run

__all__ = ["LEAST_SPLIT", "below", "beside", "wrapped"]

LEAST_SPLIT = 44
"""Cells that two columns need at least."""

_MOST_PAIRS = 1_000
_GAP = " | "
_REMOVED, _ADDED = "$text-error", "$text-success"
_MARKED = " bold reverse"
"""The words that differ: reversed, which needs no colour."""


def below(pairs: Sequence[Pair]) -> Content:
    """Return the lines of both texts one below the other: ``-`` is removed, ``+`` is added."""
    lines: list[Content] = []
    for is_block, group in groupby(pairs[:_MOST_PAIRS], lambda pair: not (pair.same or pair.alike or pair.skipped)):
        if is_block:
            block = list(group)
            lines += [_line("- ", pair.before, _REMOVED) for pair in block if pair.before is not None]
            lines += [_line("+ ", pair.after, _ADDED) for pair in block if pair.after is not None]
        else:
            for pair in group:
                lines += _one_below(pair)
    return Content("\n").join([*lines, *_rest(pairs)])


def _one_below(pair: Pair) -> Iterator[Content]:
    if pair.skipped:
        yield _skipped(pair)
    elif pair.same:
        yield _line("  ", pair.before or (), "dim")
    else:
        yield _line("- ", pair.before or (), _REMOVED)
        yield _line("+ ", pair.after or (), _ADDED)


def beside(pairs: Sequence[Pair], width: int) -> Content:
    """Return the lines of both texts in two columns of together at most ``width`` cells."""
    lines: list[Content] = []
    for pair in pairs[:_MOST_PAIRS]:
        if pair.skipped:
            lines.append(_skipped(pair))
        elif pair.same:
            lines += two_columns(pair.before, pair.after, width, signs=("  ", "  "), styles=("dim", "dim"))
        else:
            lines += two_columns(pair.before, pair.after, width, signs=("- ", "+ "), styles=(_REMOVED, _ADDED))
    return Content("\n").join([*lines, *_rest(pairs)])


def two_columns(
    left: Sequence[Run] | None,
    right: Sequence[Run] | None,
    width: int,
    *,
    signs: tuple[str, str] = ("", ""),
    styles: tuple[str, str] = ("", ""),
) -> list[Content]:
    """Return two lines beside each other, each wrapped in its half of ``width`` cells."""
    column = (max(width, LEAST_SPLIT) - len(_GAP)) // 2
    halves = (
        _column(sign, runs, column, style) for sign, runs, style in zip(signs, (left, right), styles, strict=True)
    )
    gap = Content.styled(_GAP, "dim")
    return [one + gap + other for one, other in zip_longest(*halves, fillvalue=Content(" " * column))]


def _rest(pairs: Sequence[Pair]) -> Iterator[Content]:
    if len(pairs) > _MOST_PAIRS:
        yield Content.styled(f"  ... {len(pairs) - _MOST_PAIRS:,} more lines; e shows all of the new text.", "bold")


def _skipped(pair: Pair) -> Content:
    return Content.styled(f"  ... {pair.skipped:,} unchanged lines", "dim italic")


def _line(sign: str, runs: Sequence[Run], style: str) -> Content:
    return drawn(((sign, False), *runs), style)


def drawn(runs: Sequence[Run], style: str = "") -> Content:
    """Return a line with the words that differ reversed."""
    # Runs are safe to show already. Piece by piece, a mark behind its letter would count as one that stands alone.
    parts = [Content.styled(piece, style + _MARKED if marked else style) for piece, marked in runs]
    return Content("").join(parts)


def _column(sign: str, runs: Sequence[Run] | None, width: int, style: str) -> list[Content]:
    """Return the lines of one column, each exactly ``width`` cells wide."""
    if runs is None:
        return [Content(" " * width)]
    room = width - len(sign)
    lines = []
    for number, line in enumerate(wrapped(runs, room)):
        used = sum(cell_len(text) for text, _ in line)
        begin = sign if number == 0 else " " * len(sign)
        lines.append(drawn(((begin, False), *line), style) + Content(" " * max(room - used, 0)))
    return lines


def wrapped(runs: Sequence[Run], width: int) -> list[list[Run]]:
    """Return a line broken into lines of at most ``width`` cells, between words where that is possible."""
    lines: list[list[Run]] = [[]]
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
    return [_joined(line) for line in lines]


def _pieces(text: str, width: int) -> Iterator[str]:
    """Yield words with the space behind each; a word that is wider than a line comes in parts."""
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


def _joined(line: Sequence[Run]) -> list[Run]:
    joined: list[Run] = []
    for text, marked in line:
        if joined and joined[-1][1] == marked:
            joined[-1] = (joined[-1][0] + text, marked)
        else:
            joined.append((text, marked))
    return joined
