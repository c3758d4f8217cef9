"""What leads from one sequence of lines or words to another, found in bounded time whatever the sequences are."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import Match, SequenceMatcher
from typing import Literal

__all__ = ["Step", "steps", "unified"]

Step = tuple[Literal["equal", "replace", "delete", "insert"], int, int, int, int]
"""What is done, and the range of each sequence that it is done to, as `difflib` tells it."""

_MOST_LOOKS = 1_500_000
"""Elements that are looked at: a few tenths of a second. `difflib` looks at every pair of equal elements again for
every part that it finds: a text that an agent made of one line, ten thousand times, keeps it busy for hours."""

_CONTEXT = 3


def steps(old: Sequence[str], new: Sequence[str]) -> list[Step]:
    """Return the steps from one sequence to another.

    What is the same at both ends is always told apart; where comparing the middle would take too long, it is one
    replacement.
    """
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    found: list[Step] = [("equal", 0, head, 0, head)] if head else []
    found += [(tag, i1 + head, i2 + head, j1 + head, j2 + head) for tag, i1, i2, j1, j2 in _middle(a, b)]
    if tail:
        found.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return found


def _same(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many elements at the beginning are the same."""
    shorter = min(len(old), len(new))
    return next((place for place in range(shorter) if old[place] != new[place]), shorter)


def _middle(old: Sequence[str], new: Sequence[str]) -> list[Step]:
    if not old or not new:
        tag: Literal["insert", "delete"] = "delete" if old else "insert"
        return [(tag, 0, len(old), 0, len(new))] if old or new else []
    try:
        return _Bounded(old, new).get_opcodes()
    except _TooLongError:
        return [("replace", 0, len(old), 0, len(new))]


class _TooLongError(Exception):
    """Comparing would take too long."""


class _Bounded(SequenceMatcher[str]):
    """Gives up once it has looked at too many elements."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__(None, old, new, autojunk=False)
        self._old = old
        self._looks = 0

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        """Return the longest part that both have in these ranges. Raises `_TooLongError`."""
        places: dict[str, list[int]] = self.b2j  # type: ignore[attr-defined] # the stub lacks it
        self._looks += sum([1 + len(places.get(element, ())) for element in self._old[alo:ahi]])
        if self._looks > _MOST_LOOKS:
            raise _TooLongError
        return super().find_longest_match(alo, ahi, blo, bhi)


def unified(before: str, after: str) -> str:
    """Return the difference of two texts by line in the unified format, without its head; empty where they are equal.

    Lines end at a line feed and nowhere else.
    """
    old, new = before.split("\n"), after.split("\n")
    found = steps(old, new)
    lines: list[str] = []
    for group in _groups(found):
        (_, a1, _, b1, _), (_, _, a2, _, b2) = group[0], group[-1]
        lines.append(f"@@ -{_range(a1, a2)} +{_range(b1, b2)} @@")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[i1:i2]]
            else:
                lines += [f"-{line}" for line in old[i1:i2]] + [f"+{line}" for line in new[j1:j2]]
    return "\n".join(lines)


def _range(start: int, stop: int) -> str:
    count = stop - start
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _groups(found: list[Step]) -> list[list[Step]]:
    """Return the changes with a few equal elements around each, those that are near one another together."""
    groups: list[list[Step]] = []
    present: list[Step] = []
    for place, step in enumerate(found):
        tag, a1, a2, b1, b2 = step
        if tag != "equal":
            present.append(step)
            continue
        first, last = place == 0, place == len(found) - 1
        if first:
            present.append((tag, max(a1, a2 - _CONTEXT), a2, max(b1, b2 - _CONTEXT), b2))
        elif last or a2 - a1 > 2 * _CONTEXT:
            present.append((tag, a1, min(a2, a1 + _CONTEXT), b1, min(b2, b1 + _CONTEXT)))
            groups.append(present)
            present = [] if last else [(tag, a2 - _CONTEXT, a2, b2 - _CONTEXT, b2)]
        else:
            present.append(step)
    return [group for group in [*groups, present] if any(step[0] != "equal" for step in group)]
