"""Compare two sequences of lines or words in bounded time, whatever they are."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import Match, SequenceMatcher
from typing import Literal

__all__ = ["DiffStep", "diff_steps", "unified_diff"]

DiffStep = tuple[Literal["equal", "replace", "delete", "insert"], int, int, int, int]
"""What is done, and the range of each sequence that it is done to, as `difflib` tells it."""

_MAX_COMPARISONS = 1_500_000
"""Elements that are looked at: a few tenths of a second. `difflib` looks at every pair of equal elements again for
every part that it finds: a text that an agent made of one line, ten thousand times, keeps it busy for hours."""

_CONTEXT_LINES = 3


def diff_steps(old: Sequence[str], new: Sequence[str], *, limit: int = _MAX_COMPARISONS) -> list[DiffStep]:
    """Return the steps from one sequence to another.

    The common beginning and end are always found; where comparing the middle would look at more than ``limit``
    elements, it is one replacement.
    """
    head = _common_prefix_length(old, new)
    tail = _common_prefix_length(old[head:][::-1], new[head:][::-1])
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    found: list[DiffStep] = [("equal", 0, head, 0, head)] if head else []
    found += [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in _diff_middle(a, b, limit)]
    if tail:
        found.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return found


def _common_prefix_length(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many elements at the beginning are the same."""
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
    """Comparing would take too long."""


class _BoundedMatcher(SequenceMatcher[str]):
    """Gives up once it has looked at too many elements."""

    def __init__(self, old: Sequence[str], new: Sequence[str], limit: int) -> None:
        super().__init__(None, old, new, autojunk=False)
        self._limit = limit
        self._old = old
        self._looks = 0

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Return the longest part that both have in these ranges. Raises `_TooLongError`."""
        places: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined] # the stub lacks it
        self._looks += sum([1 + len(places.get(element, ())) for element in self._old[alo:ahi]])
        if self._looks > self._limit:
            raise _TooLongError
        return super().find_longest_match(alo, ahi, blo, bhi)


def unified_diff(before: str, after: str) -> str:
    """Return the difference of two texts by line in the unified format, without its head; empty where they are equal.

    Lines end at a line feed and nowhere else.
    """
    old, new = before.split("\n"), after.split("\n")
    found = diff_steps(old, new)
    lines: list[str] = []
    for group in _group_changes(found):
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


def _group_changes(found: list[DiffStep]) -> list[list[DiffStep]]:
    """Return the changes with a few equal elements around each, those that are near one another together."""
    groups: list[list[DiffStep]] = []
    present: list[DiffStep] = []
    for place, step in enumerate(found):
        tag, a1, a2, b1, b2 = step
        if tag != "equal":
            present.append(step)
            continue
        first, last = place == 0, place == len(found) - 1
        if first:
            present.append((tag, max(a1, a2 - _CONTEXT_LINES), a2, max(b1, b2 - _CONTEXT_LINES), b2))
        elif last or a2 - a1 > 2 * _CONTEXT_LINES:
            present.append((tag, a1, min(a2, a1 + _CONTEXT_LINES), b1, min(b2, b1 + _CONTEXT_LINES)))
            groups.append(present)
            present = [] if last else [(tag, a2 - _CONTEXT_LINES, a2, b2 - _CONTEXT_LINES, b2)]
        else:
            present.append(step)
    return [group for group in [*groups, present] if any(step[0] != "equal" for step in group)]
