"""The screen that the sections stand on."""

from __future__ import annotations

from textual.reactive import Reactive
from textual.screen import Screen
from textual.widget import Widget

__all__ = ["MainScreen"]


class MainScreen(Screen[None]):
    """A screen that is not painted anew where the focus moves: the two widgets concerned paint themselves."""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """The widget that has the focus."""
