"""A layout that puts widgets side by side, and goes on in a new line where there is no more room."""

from __future__ import annotations

from textual.geometry import Region, Size
from textual.layout import ArrangeResult, WidgetPlacement
from textual.layouts.horizontal import HorizontalLayout
from textual.widget import Widget

__all__ = ["FlowLayout"]


class FlowLayout(HorizontalLayout):
    """Places widgets of one height as words stand in a paragraph."""

    def arrange(
        self,
        parent: Widget,
        children: list[Widget],
        size: Size,
        greedy: bool = True,  # noqa: FBT001, FBT002 - as Textual's own
    ) -> ArrangeResult:
        """Return the place of each widget, the first of a line at its left end."""
        placed: list[WidgetPlacement] = []
        left = line = 0
        for placement in super().arrange(parent, children, size, greedy):
            x, _, width, height = placement.region
            if x - left + width > size.width and x > left:
                left, line = x, line + height
            placed.append(placement._replace(region=Region(x - left, line, width, height)))
        return placed
