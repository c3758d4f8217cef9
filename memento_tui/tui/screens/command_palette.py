"""The palette that finds a command, a section or a theme by its name."""

from __future__ import annotations

from contextlib import suppress

from textual.command import CommandPalette

from memento_tui.tui.screens.dialogs import AnsweredOnce

__all__ = ["Palette"]


class Palette(CommandPalette, AnsweredOnce[None]):
    """Textual's palette, which is left once, however many keys come before it is gone."""

    def _action_command_list(self, action: str) -> None:
        """Carry out a key of the list, which does nothing while there is no room for the list."""
        with suppress(KeyError):  # Textual looks for the line of an option among lines that were not made
            super()._action_command_list(action)
