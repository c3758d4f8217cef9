"""Draw dim text in a quieter colour that can still be read, whatever the theme's colours are."""

from __future__ import annotations

from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorType
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.constants import DIM_FACTOR
from textual.filter import LineFilter

from memento_tui.tui.palette import LEAST_CONTRAST, contrast

__all__ = ["LegibleDim"]

_STEP = 0.05
"""The share of a text's own colour that is added at a time to Textual's share until dim text can be read."""

_MAX_STYLES = 1024


class LegibleDim(LineFilter):
    """Blend dim text into its ground, no further than it stands out; Textual's own filters go as far always."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with a colour in the place of what is dim."""
        return [
            Segment(text, _undimmed(style, background), control) if style is not None and style.dim else segment
            for segment in segments
            for text, style, control in (segment,)
        ]


@lru_cache(_MAX_STYLES)
def _undimmed(style: Style, background: Color) -> Style:
    color, ground = style.color, style.bgcolor
    under = background if ground is None or ground.is_default else Color.from_rich_color(ground)
    if color is None or color.type is not ColorType.TRUECOLOR or under.ansi is not None:
        return style  # the terminal's own colours: it knows how to draw them dim
    own, share = Color.from_rich_color(color), DIM_FACTOR
    while share < 1 and contrast(under.blend(own, share), under) < LEAST_CONTRAST:
        share += _STEP
    red, green, blue = under.blend(own, min(share, 1)).rgb
    return style + Style(color=RichColor.from_rgb(red, green, blue), dim=False)
