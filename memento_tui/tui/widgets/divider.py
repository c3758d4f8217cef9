"""The line between two panes, which the mouse drags."""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.content import Content
from textual.widget import Widget

__all__ = ["Divider"]


class Divider(Widget):
    """A line between two panes. ``dragged`` is called with the column and row of the screen that it is dragged to."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Divider { width: 1fr; height: 1; color: $panel; text-wrap: nowrap; }
    Divider:hover { color: $accent; }
    """

    def __init__(self, dragged: Callable[[int, int], None]) -> None:
        super().__init__()
        self._dragged = dragged

    def render(self) -> Content:
        """Return the line, as long as it is high or wide."""
        if self.size.width > 1:
            return Content("\N{BOX DRAWINGS LIGHT HORIZONTAL}" * self.size.width)
        return Content("\n".join("\N{BOX DRAWINGS LIGHT VERTICAL}" * self.size.height))

    def on_mouse_down(self) -> None:
        """Follow the mouse."""
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move with the mouse while it is held."""
        if self.app.mouse_captured is self:
            self._dragged(event.screen_x, event.screen_y)

    def on_mouse_up(self) -> None:
        """Stay where the mouse was let go."""
        self.release_mouse()
