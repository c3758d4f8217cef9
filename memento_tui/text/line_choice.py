"""A change of a text as lines and sentences to take or leave, each by itself or with the one that it replaces."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import Literal

import msgspec

from memento_tui.text.diff import diff_steps

__all__ = ["ChangeLine", "change_lines", "is_in_text", "text_of_chosen"]

_MAX_COMPARED_PAIRS = 2_500
"""Pairs of a removed and an added line that are compared, some 10 ms; of larger changes the lines are paired in order.
"""


_NEXT_SENTENCE = re.compile(r"(?<=[.!?]) (?=\S)")
"""Where a line is divided: at the one space behind the end of a sentence."""


class ChangeLine(msgspec.Struct, frozen=True):
    """One line, or one sentence of it, of both texts or of one of them."""

    sign: Literal[" ", "-", "+"]
    """``-`` is removed, ``+`` added; a space stands in both."""
    text: str
    part: int
    """The number of the change that it is of: lines that change together have the same; -1 for a line of both texts."""
    pair: int = -1
    """The number that a removed line shares with the one that replaces it; each other changed line has its own."""
    begins_line: bool = True
    """Whether it stands at the beginning of a line, and not behind another sentence."""


def change_lines(before: str, after: str) -> list[ChangeLine]:
    """Return the lines of both texts in order, by sentences; one that replaces another follows it."""
    old, new = _pieces(before), _pieces(after)
    lines: list[ChangeLine] = []
    for part, (tag, a1, a2, b1, b2) in enumerate(diff_steps(old, new)):
        if tag == "equal":
            lines += [_line(" ", piece) for piece in old[a1:a2]]
            continue
        for pair, (was, now) in enumerate(_pairs(old[a1:a2], new[b1:b2]), len(lines)):
            lines += [_line("-", was, part, pair)] if was is not None else []
            lines += [_line("+", now, part, pair)] if now is not None else []
    return lines


def _pieces(text: str) -> list[str]:
    """Return the sentences of all lines, each behind what divides it from the one before: a line feed or a space."""
    return [
        ("\n" if number == 0 else " ") + sentence
        for line in text.split("\n")
        for number, sentence in enumerate(_NEXT_SENTENCE.split(line))
    ]


def _line(sign: Literal[" ", "-", "+"], piece: str, part: int = -1, pair: int = -1) -> ChangeLine:
    return ChangeLine(sign, piece[1:], part, pair, begins_line=piece[0] == "\n")


def _pairs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str | None, str | None]]:
    """Yield the lines of two blocks in order, each with the one that replaces it, as far as one block has as many.

    Where the blocks differ in length, those lines are paired that have the most words in common.
    """
    matched = _matches(old, new)
    next_old = next_new = 0
    for i, j in [*matched, (len(old), len(new))]:
        yield from ((was, None) for was in old[next_old:i])
        yield from ((None, now) for now in new[next_new:j])
        if i < len(old):
            yield old[i], new[j]
        next_old, next_new = i + 1, j + 1


def _matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the indexes of the lines that replace each other, in order: as many as the shorter block has."""
    shorter = min(len(old), len(new))
    if len(old) == len(new) or not shorter or len(old) * len(new) > _MAX_COMPARED_PAIRS:
        return [(index, index) for index in range(shorter)]
    was, now = [[frozenset(line.casefold().split()) for line in block] for block in (old, new)]
    # best[i][j] is the most likeness of as many pairs as the lines from i and from j allow.
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            paired = shorter + _likeness(was[i], now[j]) + best[i + 1][j + 1]  # a pair more always counts for more
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    found, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            found.append((i, j))
            i, j = i + 1, j + 1
    return found


def _likeness(was: frozenset[str], now: frozenset[str]) -> float:
    """Return the share of words that two lines have in common, less than 1."""
    return len(was & now) / (len(was | now) + 1)


def text_of_chosen(lines: Sequence[ChangeLine], taken: Container[int]) -> str:
    """Return the text with only the changes of the lines at the indexes ``taken`` carried out."""
    chosen = [line for index, line in enumerate(lines) if is_in_text(line, is_taken=index in taken)]
    return "".join(("\n" if line.begins_line else " ") + line.text for line in chosen)[1:]


def is_in_text(line: ChangeLine, *, is_taken: bool) -> bool:
    """Return whether a line stands in the text when its change is taken, or left."""
    return line.sign == " " or (line.sign == "+") == is_taken
