"""The palette, its commands, and the guard that each acts on the rows for which the palette was opened."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.app import SystemCommand
from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider

from memento_tui.app_sections import SECTIONS
from memento_tui.tui.commands import COMMANDS, KeyScope, key_names
from memento_tui.tui.screens.dialogs import AnsweredOnce
from memento_tui.tui.section import ROW_CHANGED

if TYPE_CHECKING:
    from memento_tui.tui.app import MementoApp
    from memento_tui.tui.section import ChosenRows

__all__ = ["OrderedCommands", "Palette", "PaletteCommands"]


_GOING = {tab.name: next(one for one in COMMANDS if one.id == f"app.{tab.name}") for tab in SECTIONS}
"""The command that goes to each section."""

_ELSEWHERE = (*_GOING.values(), next(one for one in COMMANDS if one.id == "app.palette"))


class PaletteCommands:
    """The commands that the palette offers at one place of the app."""

    def __init__(self, app: MementoApp) -> None:
        self._app = app
        self._meant: ChosenRows | None = None
        """The rows that were chosen when the palette was opened."""

    def opened(self) -> None:
        """Note the rows that are chosen now, on which the palette's commands act."""
        self._meant = self._app.section.chosen()

    def commands(self, scopes: Sequence[KeyScope]) -> Iterator[SystemCommand]:
        """Yield the commands of the place, the sections, the commands of the app, then the person's own."""
        app = self._app
        yield from (one for scope in scopes if scope != "everywhere" for one in self._of_scope(scope))
        for tab in SECTIONS:
            about = f"Go to {tab.subject}  key {key_names(app.keys.of(_GOING[tab.name]))}"
            yield SystemCommand(tab.title, about, self._callback(_GOING[tab.name].action))
        yield from self._of_scope("everywhere")
        own_keys = app.own.keys()
        for name, about in app.own.help().items():
            key = f"key {key_names(own_keys[name])}" if name in own_keys else f":{name}"
            go = self._callback(f"own('{name}')", acts_on_rows=name in app.own.commands)
            yield SystemCommand(f"Own: {name}", f"{about}  {key}", go)

    def _of_scope(self, scope: KeyScope) -> Iterator[SystemCommand]:
        """Yield the commands of one scope; the sections have entries of their own, and the palette is open."""
        for command in COMMANDS:
            if command.scope == scope != "rows" and command.action and command not in _ELSEWHERE:
                area = "App" if scope == "everywhere" else scope.capitalize()
                keys = key_names(self._app.keys.of(command))
                act = self._callback(command.action, scope, acts_on_rows=scope != "everywhere")
                yield SystemCommand(f"{area}: {command.help}", f"key {keys}", act)

    def _callback(
        self, action: str, scope: KeyScope = "everywhere", *, acts_on_rows: bool = False
    ) -> Callable[[], Awaitable[None]]:
        async def act() -> None:
            if acts_on_rows and self._app.section.chosen() != self._meant:
                self._app.show_status(ROW_CHANGED, problem=True)
            else:
                await self._app.run_command(action, scope)

        return act


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
