"""Replace, in everything that widgets draw, the characters that would act on the terminal."""

from __future__ import annotations

import re

from rich.cells import get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

__all__ = ["TerminalFilter"]

_UNSAFE_CHARACTERS = re.compile(
    r"[\x00-\x1f\x7f-\x9f"  # controls: escapes, line feeds and tabs move the cursor or command the terminal
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls reorder what follows
    r"\xad\u200b\u2060-\u2064\ufeff\U000e0000-\U000e007f"  # nobody sees these, and a model reads them
    r"\u2028\u2029"  # some terminals break the line at these
    r"\ud800-\udfff]"  # lone surrogates cannot be encoded, which would end the program
)


class TerminalFilter(LineFilter):
    """A filter that replaces each acting or invisible character by ``?`` on its measured cells, which are often none.

    So the width of a line stays as the layout measured it. Return one instance from `App.get_line_filters`, after
    the app's own filters: lines are cached by filter.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - the base class's
        """Return the segments without such characters, in their text and in the addresses of their links."""
        return [_safe_segment(segment) for segment in segments]


def _safe_segment(segment: Segment) -> Segment:
    text, style, control = segment
    if not (text.isascii() and text.isprintable()):
        text = _UNSAFE_CHARACTERS.sub(_replacement, text)
    # A link's address is written to the terminal too.
    if style is not None and style.link is not None and _UNSAFE_CHARACTERS.search(style.link):
        style = _without_link(style)
    if text is segment.text and style is segment.style:
        return segment
    return Segment(text, style, control)


def _replacement(character: re.Match[str]) -> str:
    return "?" * get_character_cell_size(character[0])


def _without_link(style: Style) -> Style:
    return style.update_link(None)
