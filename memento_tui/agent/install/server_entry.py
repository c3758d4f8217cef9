"""The MCP server in a host's JSON: one member of the object that lists servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memento_tui.agent.install import jsonc
from memento_tui.agent.install.part import Found
from memento_tui.agent.install.programs import is_server
from memento_tui.agent.install.prune import prune
from memento_tui.errors import InvalidInput

__all__ = ["NAME", "ServerEntry", "check_ours", "words_of"]

NAME = "memento"
"""What the server is called in every host; tools come to the agent under this name."""


@dataclass(frozen=True)
class ServerEntry:
    """The server under ``path``, such as ``mcpServers``."""

    path: tuple[str, ...]
    entry: Mapping[str, object]
    """What the host is told. Keys that a person added beside these stay."""

    @property
    def _place(self) -> tuple[str, ...]:
        return (*self.path, NAME)

    def add(self, text: str) -> str:
        """Return the text with the server in it."""
        current = self._current(jsonc.parse(text))
        if current is None:
            return jsonc.put(text, self._place, dict(self.entry))
        check_ours(current)
        for key, value in self.entry.items():
            if current.get(key) != value:
                text = jsonc.put(text, (*self._place, key), value)
        return text

    def remove(self, text: str, origin: str | None) -> str:
        """Return the text without the server."""
        current = self._current(jsonc.parse(text))
        if current is None or not is_server(words_of(current)):
            return text
        return prune(jsonc.remove(text, self._place), self.path, origin)

    def found(self, text: str) -> list[Found]:
        """Return the server's command."""
        current = self._current(jsonc.parse(text))
        words = words_of(current) if current is not None else []
        return [Found("server", tuple(map(str, words)))] if is_server(words) else []

    def _current(self, value: Mapping[str, object]) -> Mapping[str, object] | None:
        """Return what stands there now; ``None`` where nothing does."""
        here: object = value
        for depth, name in enumerate(self._place):
            if not isinstance(here, dict):
                raise InvalidInput(f"{'.'.join(self._place[:depth])} is not an object in braces.")
            if name not in here:
                return None
            here = here[name]
        if not isinstance(here, dict):
            raise InvalidInput(f"{'.'.join(self._place)} is not an object in braces.")
        return here


def words_of(entry: Mapping[str, object]) -> Sequence[object]:
    """Return a server's command, word by word; hosts write it as one list, or as a program and its arguments."""
    command, arguments = entry.get("command"), entry.get("args", [])
    if isinstance(command, list):
        return command
    return [command, *arguments] if isinstance(command, str) and isinstance(arguments, list) else []


def check_ours(entry: Mapping[str, object]) -> None:
    """See to it that a server of memento's name is memento's.

    Raises:
        InvalidInput: it is somebody else's.

    """
    words = words_of(entry)
    if not is_server(words):
        command = " ".join(map(str, words)) or "no command"
        raise InvalidInput(
            f"it has another MCP server called {NAME} already: {command}.",
            "Take that one out, or give it another name; memento does not replace what it did not write.",
        )
