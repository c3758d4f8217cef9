"""What changed between two texts, for a person who decides about it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from textual.content import Content

from memento_tui.tui.display import shown

__all__ = ["difference"]

_WORDS = re.compile(r"\s+|[^\w\s]|\w+")

_KEPT = 3
"""Unchanged lines that are shown beside each change."""

_ALIKE = 0.3
"""The part of two lines that must be the same for it to be of use to mark the words that are not."""

_MOST_COMPARED = 2_000_000
"""Lines of the one times lines of the other, or words, beyond which a difference is not looked for in the detail."""


def difference(before: str, after: str) -> Content:
    """Return what changed between two texts, line by line, with the words that differ in each line marked.

    Removed lines begin with ``-``, added ones with ``+``, so that colour is not needed to read it.
    """
    old, new = shown(before, multiline=True).split("\n"), shown(after, multiline=True).split("\n")
    if old == new:
        told = "Only characters that cannot be seen differ." if before != after else "Nothing differs."
        return Content.styled(told, "bold $text-warning")
    lines: list[Content] = []
    for tag, a1, a2, b1, b2 in _steps(old, new):
        if tag == "equal":
            lines += _context(old[a1:a2], at_start=a1 == 0, at_end=a2 == len(old))
        elif tag == "replace" and a2 - a1 == b2 - b1:
            for was, now in zip(old[a1:a2], new[b1:b2], strict=True):
                lines += _changed_line(was, now)
        else:
            lines += [_line("-", line, "$text-error") for line in old[a1:a2]]
            lines += [_line("+", line, "$text-success") for line in new[b1:b2]]
    return Content("\n").join(lines)


def _steps(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    if len(old) * len(new) > _MOST_COMPARED:
        return [("delete", 0, len(old), 0, 0), ("insert", len(old), len(old), 0, len(new))]
    return difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _line(sign: str, text: str, style: str) -> Content:
    return Content.styled(f"{sign} {text}", style)


def _context(lines: list[str], *, at_start: bool, at_end: bool) -> list[Content]:
    """Return unchanged lines: those that stand beside a change, and how many are left out."""
    first = 0 if at_start else _KEPT
    last = 0 if at_end else _KEPT
    left_out = len(lines) - first - last
    if left_out <= 1:
        return [_line(" ", line, "dim") for line in lines]
    middle = Content.styled(f"  ... {left_out:,} unchanged lines", "dim italic")
    tail = lines[len(lines) - last :]
    return [*(_line(" ", x, "dim") for x in lines[:first]), middle, *(_line(" ", x, "dim") for x in tail)]


def _changed_line(before: str, after: str) -> list[Content]:
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    steps = _steps(old, new)
    kept = sum(len("".join(old[a1:a2]).strip()) for tag, a1, a2, _, _ in steps if tag == "equal")
    if kept < _ALIKE * max(len(before), len(after)):
        return [_line("-", before, "$text-error"), _line("+", after, "$text-success")]
    removed, added = Content.styled("- ", "$text-error"), Content.styled("+ ", "$text-success")
    for tag, a1, a2, b1, b2 in steps:
        emphasis = "" if tag == "equal" else " bold reverse"
        removed += Content.styled("".join(old[a1:a2]), f"$text-error{emphasis}")
        added += Content.styled("".join(new[b1:b2]), f"$text-success{emphasis}")
    return [removed, added]
