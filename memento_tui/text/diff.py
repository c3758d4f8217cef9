"""Compare two sequences of lines or words in bounded time, and two texts as changes to take or leave one by one."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from difflib import Match, SequenceMatcher
from typing import Literal

import msgspec

__all__ = [
    "ChangeLine",
    "change_lines",
    "common_prefix_length",
    "diff_steps",
    "is_in_text",
    "text_of_chosen",
    "unified_diff",
]


DiffStep = tuple[Literal["equal", "replace", "delete", "insert"], int, int, int, int]
"""An operation and its range in each sequence, with the names and bounds of `difflib`'s opcodes."""

_MAX_COMPARISONS = 1_500_000
"""The pairs of elements that are compared: a few tenths of a second. `difflib` compares every pair of equal elements
again for every part that it finds: one line repeated ten thousand times keeps it busy for hours."""

_CONTEXT_LINES = 3


def diff_steps(old: Sequence[str], new: Sequence[str], *, limit: int = _MAX_COMPARISONS) -> list[DiffStep]:
    """Return the steps from one sequence to another.

    The common beginning and end are always found; where the middle would take more than ``limit``
    comparisons, it is one replacement.
    """
    head = common_prefix_length(old, new)
    tail = common_prefix_length(old[head:][::-1], new[head:][::-1])
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    steps: list[DiffStep] = [("equal", 0, head, 0, head)] if head else []
    steps += [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in _diff_middle(a, b, limit)]
    if tail:
        steps.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return steps


def common_prefix_length(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the number of equal elements at the beginning."""
    shorter = min(len(old), len(new))
    return next((place for place in range(shorter) if old[place] != new[place]), shorter)


def _diff_middle(old: Sequence[str], new: Sequence[str], limit: int) -> list[DiffStep]:
    if not old or not new:
        tag: Literal["insert", "delete"] = "delete" if old else "insert"
        return [(tag, 0, len(old), 0, len(new))] if old or new else []
    try:
        return _BoundedMatcher(old, new, limit).get_opcodes()
    except _TooLongError:
        return [("replace", 0, len(old), 0, len(new))]


class _TooLongError(Exception):
    """The limit on comparisons was reached."""


class _BoundedMatcher(SequenceMatcher[str]):
    """A `SequenceMatcher` that gives up after ``limit`` comparisons."""

    def __init__(self, old: Sequence[str], new: Sequence[str], limit: int) -> None:
        super().__init__(None, old, new, autojunk=False)
        self._limit = limit
        self._old = old
        self._comparisons = 0

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Return the longest common part of these ranges. Raises `_TooLongError`."""
        places: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined] # the stub lacks it
        self._comparisons += sum([1 + len(places.get(element, ())) for element in self._old[alo:ahi]])
        if self._comparisons > self._limit:
            raise _TooLongError
        return super().find_longest_match(alo, ahi, blo, bhi)


def unified_diff(before: str, after: str) -> str:
    """Return the unified diff of two texts without its head, or an empty text where they are equal.

    Lines end at a line feed and nowhere else.
    """
    old, new = before.split("\n"), after.split("\n")
    steps = diff_steps(old, new)
    lines: list[str] = []
    for group in _group_changes(steps):
        (_, a1, _, b1, _), (_, _, a2, _, b2) = group[0], group[-1]
        lines.append(f"@@ -{_format_range(a1, a2)} +{_format_range(b1, b2)} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[i1:i2]]
            else:
                lines += [f"-{line}" for line in old[i1:i2]] + [f"+{line}" for line in new[j1:j2]]
    return "\n".join(lines)


def _format_range(start: int, stop: int) -> str:
    count = stop - start
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _group_changes(steps: list[DiffStep]) -> list[list[DiffStep]]:
    """Return the changes, each with a few equal elements around it; changes near one another form one group."""
    groups: list[list[DiffStep]] = []
    current: list[DiffStep] = []
    for place, step in enumerate(steps):
        tag, a1, a2, b1, b2 = step
        if tag != "equal":
            current.append(step)
            continue
        first, last = place == 0, place == len(steps) - 1
        if first:
            current.append((tag, max(a1, a2 - _CONTEXT_LINES), a2, max(b1, b2 - _CONTEXT_LINES), b2))
        elif last or a2 - a1 > 2 * _CONTEXT_LINES:
            current.append((tag, a1, min(a2, a1 + _CONTEXT_LINES), b1, min(b2, b1 + _CONTEXT_LINES)))
            groups.append(current)
            current = [] if last else [(tag, a2 - _CONTEXT_LINES, a2, b2 - _CONTEXT_LINES, b2)]
        else:
            current.append(step)
    return [group for group in [*groups, current] if any(step[0] != "equal" for step in group)]


_MAX_COMPARED_PAIRS = 2_500
"""Pairs of a removed and an added line that are compared, some 10 ms; of larger changes the lines are paired in order.
"""


_NEXT_SENTENCE = re.compile(r"(?<=[.!?]) (?=\S)")
"""Match the one space behind the end of a sentence, at which a line is divided.

The pieces, joined by a space, are the line again; those of `text.sentences` are not.
"""


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
    """Return the sentences of all lines, each after its separator from the one before: a line feed or a space."""
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
