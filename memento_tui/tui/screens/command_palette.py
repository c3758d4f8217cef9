"""The palette that finds a command, a section or a theme by its name."""

from __future__ import annotations

from contextlib import suppress

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider

from memento_tui.tui.screens.dialogs import AnsweredOnce

__all__ = ["OrderedCommands", "Palette"]


class OrderedCommands(Provider):
    """The commands of the app in the order in which it names them; Textual's own provider sorts them by their names."""

    async def discover(self) -> Hits:
        """Yield every command."""
        for title, about, act, _ in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(title, act, help=about)

    async def search(self, query: str) -> Hits:
        """Yield the commands whose title holds the letters that were typed."""
        matcher = self.matcher(query)
        for title, about, act, _ in self.app.get_system_commands(self.screen):
            if (score := matcher.match(title)) > 0:
                yield Hit(score, matcher.highlight(title), act, help=about)


class Palette(CommandPalette, AnsweredOnce[None]):
    """Textual's palette, which is left once, however many keys come before it is gone."""

    def _action_command_list(self, action: str) -> None:
        """Carry out a key of the list, which does nothing while there is no room for the list."""
        with suppress(KeyError):  # Textual looks for the line of an option among lines that were not made
            super()._action_command_list(action)
