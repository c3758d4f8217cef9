"""Compare two sequences of lines or words in bounded time."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import Match, SequenceMatcher
from typing import Literal

__all__ = ["DiffStep", "diff_steps", "unified_diff"]

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
    head = _common_prefix_length(old, new)
    tail = _common_prefix_length(old[head:][::-1], new[head:][::-1])
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    steps: list[DiffStep] = [("equal", 0, head, 0, head)] if head else []
    steps += [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in _diff_middle(a, b, limit)]
    if tail:
        steps.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return steps


def _common_prefix_length(old: Sequence[str], new: Sequence[str]) -> int:
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
