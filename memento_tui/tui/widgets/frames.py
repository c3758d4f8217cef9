"""Containers that paint nothing themselves, and the screen that they stand on.

A screen has a dozen containers in one another, and Textual paints each of them over its whole size, only to paint their
children over it. Where children leave a gap, the screen shows, whose background these containers have. One with a
border is painted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import events
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.geometry import Offset, Region
from textual.reactive import Reactive
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import ContentSwitcher

__all__ = [
    "DrawnAtOnce",
    "Frame",
    "HorizontalFrame",
    "LivePointer",
    "MainScreen",
    "ScrollFrame",
    "SwitcherFrame",
    "VerticalFrame",
]

if TYPE_CHECKING:
    _Base = Widget
    _ScreenBase = Screen[Any]
else:
    _Base = _ScreenBase = object
    """Textual takes the style of a class from its first base that is a widget, which is to be its own container."""


class Unpainted(_Base):
    """The part of a container that keeps it from being painted; it stands before Textual's class."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return no line, so that those of the screen stay; all of them where a border has to be drawn."""
        return super().render_lines(crop) if any(kind for kind, _ in self.styles.border) else []


class Frame(Unpainted, Container):
    """A container whose layout is that of its style."""


class VerticalFrame(Unpainted, Vertical):
    """A container of one column."""


class HorizontalFrame(Unpainted, Horizontal):
    """A container of one row."""


class ScrollFrame(Unpainted, VerticalScroll):
    """A container of one column that scrolls."""

    @property
    def text_width(self) -> int:
        """The cells of a text in it, without the one that keeps the text off the scrollbar."""
        return self.scrollable_content_region.width - 1


class SwitcherFrame(Unpainted, ContentSwitcher):
    """A container that shows one of its children at a time."""


class LivePointer(_ScreenBase):
    """The part of a screen that ignores clicks on widgets that are removed but still drawn until the next frame."""

    def get_widget_and_offset_at(self, x: int, y: int) -> tuple[Widget | None, Offset | None]:
        """Return the widget at a place, with the place in its text; nothing where the widget is gone."""
        widget, offset = super().get_widget_and_offset_at(x, y)
        is_there = widget is None or widget is self or widget.is_attached
        return (widget, offset) if is_there else (None, None)


class DrawnAtOnce(_ScreenBase):
    """The part of a screen that draws all that a key leads to in one frame."""

    def on_idle(self, event: events.Idle) -> None:
        """Leave drawing for later while a key is carried out."""
        if getattr(self.app, "is_carrying_out", False):  # a test's own app has none
            event.prevent_default()


class MainScreen(LivePointer, DrawnAtOnce, Screen[None]):
    """A screen that is not painted anew where the focus moves: the two widgets concerned paint themselves."""

    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]  # noqa: RUF012 - Textual declares it so

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """The widget that has the focus."""
