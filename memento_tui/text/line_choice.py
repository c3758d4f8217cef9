"""A change of a text as lines that can be taken or left, each by itself."""

from __future__ import annotations

from collections.abc import Container
from typing import Literal

import msgspec

from memento_tui.text.diff import diff_steps

__all__ = ["ChangeLine", "change_lines", "text_of_chosen"]


class ChangeLine(msgspec.Struct, frozen=True):
    """One line of both texts, or of one of them."""

    sign: Literal[" ", "-", "+"]
    """``-`` is removed, ``+`` added; a space stands in both."""
    text: str
    part: int
    """The number of the change that it is of: lines that change together have the same; -1 for a line of both texts."""


def change_lines(before: str, after: str) -> list[ChangeLine]:
    """Return the lines of both texts in order; of lines that change together the removed ones come first."""
    old, new = before.split("\n"), after.split("\n")
    lines: list[ChangeLine] = []
    for part, (tag, a1, a2, b1, b2) in enumerate(diff_steps(old, new)):
        if tag == "equal":
            lines += [ChangeLine(" ", text, -1) for text in old[a1:a2]]
        else:
            lines += [ChangeLine("-", text, part) for text in old[a1:a2]]
            lines += [ChangeLine("+", text, part) for text in new[b1:b2]]
    return lines


def text_of_chosen(lines: list[ChangeLine], taken: Container[int]) -> str:
    """Return the text with only the changes of the lines at the indexes ``taken`` carried out."""
    return "\n".join(
        line.text for index, line in enumerate(lines) if line.sign == " " or (line.sign == "+") == (index in taken)
    )
