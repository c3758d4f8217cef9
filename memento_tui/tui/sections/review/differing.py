"""What differs between two texts, line by line and word by word, in bounded time."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import msgspec

from memento_tui.tui.display import shown

__all__ = ["Pair", "Run", "pairs_of"]

Run = tuple[str, bool]
"""A piece of a line that is safe to show, and whether it is one of the words that differ."""

_TOKENS = re.compile(r"\s+|[^\w\s]|\w+")
_MOST_COMPARISONS = 250_000
"""Of larger products of two lengths, what lies between the common beginning and end is shown as replaced."""

_CONTEXT = 3
"""Unchanged lines that are kept around a change."""


class Pair(msgspec.Struct, frozen=True):
    """One line of each text that stand beside each other; ``None`` where one of the two has none."""

    before: Sequence[Run] | None
    after: Sequence[Run] | None
    same: bool = False
    alike: bool = False
    """Whether the two were compared word by word; else they only happen to stand beside each other."""
    skipped: int = 0
    """How many unchanged lines this stands for, instead of two lines."""


def pairs_of(before: str, after: str) -> list[Pair]:
    """Return the lines of two texts beside each other, those that stay the same shortened to what is around changes."""
    old, new = shown(before, multiline=True).split("\n"), shown(after, multiline=True).split("\n")
    pairs: list[Pair] = []
    for tag, a1, a2, b1, b2 in _opcodes(old, new):
        if tag == "equal":
            pairs += _unchanged(old[a1:a2])
        elif a2 - a1 == b2 - b1:
            pairs += [_changed(was, now) for was, now in zip(old[a1:a2], new[b1:b2], strict=True)]
        else:
            pairs += [_beside(was, now) for was, now in zip_longest(old[a1:a2], new[b1:b2])]
    return pairs


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield what `difflib` would, after setting the common beginning and end aside."""
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    if head:
        yield "equal", 0, head, 0, head
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if left or right:
        if len(left) * len(right) > _MOST_COMPARISONS:
            yield "replace", head, head + len(left), head, head + len(right)
        else:
            matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
            for tag, a1, a2, b1, b2 in matcher.get_opcodes():
                yield tag, head + a1, head + a2, head + b1, head + b2
    if tail:
        yield "equal", len(old) - tail, len(old), len(new) - tail, len(new)


def _unchanged(lines: Sequence[str]) -> Iterator[Pair]:
    if len(lines) <= 2 * _CONTEXT + 1:
        yield from (_same(line) for line in lines)
        return
    yield from (_same(line) for line in lines[:_CONTEXT])
    yield Pair(None, None, skipped=len(lines) - 2 * _CONTEXT)
    yield from (_same(line) for line in lines[-_CONTEXT:])


def _same(line: str) -> Pair:
    return Pair(((line, False),), ((line, False),), same=True)


def _beside(before: str | None, after: str | None) -> Pair:
    """Return two lines of blocks of different length: compared word by word where they have most of it in common."""
    if before and after:
        pair = _changed(before, after)
        common = sum(len(text) for text, differs in pair.before or () if not differs)
        if 2 * common >= max(len(before), len(after)):
            return pair
    return Pair(_whole(before), _whole(after))


def _whole(line: str | None) -> Sequence[Run] | None:
    return None if line is None else ((line, False),)


def _changed(before: str, after: str) -> Pair:
    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    was: list[Run] = []
    now: list[Run] = []
    for tag, a1, a2, b1, b2 in _opcodes(old, new):
        if a2 > a1:
            was.append(("".join(old[a1:a2]), tag != "equal"))
        if b2 > b1:
            now.append(("".join(new[b1:b2]), tag != "equal"))
    return Pair(was, now, alike=True)
