"""The palette that finds a command, a section or a theme by its name."""

from __future__ import annotations

from textual.command import CommandPalette

from memento_tui.tui.screens.dialogs import AnsweredOnce

__all__ = ["Palette"]


class Palette(CommandPalette, AnsweredOnce[None]):
    """Textual's palette, which is left once, however many keys come before it is gone."""
