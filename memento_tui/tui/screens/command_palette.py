"""The palette that finds a command, a section or a theme by its name."""

from __future__ import annotations

from textual.command import CommandList, CommandPalette

from memento_tui.tui.screens.dialogs import AnsweredOnce

__all__ = ["Palette"]


class Palette(CommandPalette, AnsweredOnce[None]):
    """Textual's palette, which is left once, however many keys come before it is gone."""

    def _action_command_list(self, action: str) -> None:
        """Carry out a key of the list; without room for it, it has none of the lines that Textual looks for."""
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)
