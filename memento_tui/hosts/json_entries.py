"""Put the MCP server and the hooks into a host's JSON, and take them out again.

Hooks are added at the end, because Codex remembers which ones a person trusts by their position in the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memento_tui.errors import InvalidInput
from memento_tui.hosts import jsonc
from memento_tui.hosts.files import InstalledCommand
from memento_tui.hosts.jsonc import prune_empty_containers
from memento_tui.hosts.programs import hook_command_in, is_server

__all__ = ["SERVER_NAME", "AllowedTools", "HookEntries", "ServerEntry", "check_is_memento", "command_words"]

SERVER_NAME = "memento"
"""The name of the server in every host; the agent sees the tools under this name."""


@dataclass(frozen=True)
class ServerEntry:
    """The server under ``path``, such as ``mcpServers``."""

    path: tuple[str, ...]
    entry: Mapping[str, object]
    """The server as the host reads it. Keys that a person added beside these stay."""

    @property
    def _key_path(self) -> tuple[str, ...]:
        return (*self.path, SERVER_NAME)

    def add(self, text: str) -> str:
        """Return the text with the server in it."""
        current = self._current(jsonc.parse_jsonc(text))
        if current is None:
            return jsonc.put_value(text, self._key_path, dict(self.entry))
        check_is_memento(current)
        for key, value in self.entry.items():
            if current.get(key) != value:
                text = jsonc.put_value(text, (*self._key_path, key), value)
        return text

    def remove(self, text: str, origin: str | None) -> str:
        """Return the text without the server."""
        current = self._current(jsonc.parse_jsonc(text))
        if current is None or not is_server(command_words(current)):
            return text
        return prune_empty_containers(jsonc.remove_value(text, self._key_path), self.path, origin)

    def find_commands(self, text: str) -> list[InstalledCommand]:
        """Return the server's command."""
        current = self._current(jsonc.parse_jsonc(text))
        words = command_words(current) if current is not None else []
        return [InstalledCommand("server", tuple(map(str, words)))] if is_server(words) else []

    def _current(self, value: Mapping[str, object]) -> Mapping[str, object] | None:
        """Return the present entry; ``None`` where there is none."""
        here: object = value
        for depth, name in enumerate(self._key_path):
            if not isinstance(here, dict):
                raise InvalidInput(f"{'.'.join(self._key_path[:depth])} is not an object in braces.")
            if name not in here:
                return None
            here = here[name]
        if not isinstance(here, dict):
            raise InvalidInput(f"{'.'.join(self._key_path)} is not an object in braces.")
        return here


def command_words(entry: Mapping[str, object]) -> Sequence[object]:
    """Return a server's command, word by word; hosts write it as one list, or as a program and its arguments."""
    command, arguments = entry.get("command"), entry.get("args", [])
    if isinstance(command, list):
        return command
    return [command, *arguments] if isinstance(command, str) and isinstance(arguments, list) else []


def check_is_memento(entry: Mapping[str, object]) -> None:
    """Check that the server with memento's name is memento's.

    Raises:
        InvalidInput: it is somebody else's.

    """
    words = command_words(entry)
    if not is_server(words):
        command = " ".join(map(str, words)) or _address(entry) or "no command"
        raise InvalidInput(
            f"it has another MCP server called {SERVER_NAME} already: {command}.",
            "Take that one out, or give it another name; memento does not replace what it did not write.",
        )


_ADDRESS_KEYS = ("url", "serverUrl", "httpUrl", "uri")
"""The keys under which hosts name the address of a server that is not on this machine."""


def _address(entry: Mapping[str, object]) -> str:
    """Return the address of a server without its query, which may hold a key; empty where it has none."""
    found = (address for key in _ADDRESS_KEYS if isinstance(address := entry.get(key), str))
    return next(found, "").partition("?")[0]


@dataclass(frozen=True)
class AllowedTools:
    """The rule that lets Claude Code's agent use memento's tools unasked, in the list ``permissions.allow``."""

    is_wanted: bool
    """Without it nothing is added; one that is there stays until memento is removed."""

    _PATH = ("permissions", "allow")
    _RULE = f"mcp__{SERVER_NAME}"

    def add(self, text: str) -> str:
        """Return the text with the rule in it."""
        if not self.is_wanted:
            return text
        rules = self._rules(text)
        if rules is None:
            raise InvalidInput("permissions.allow is not a list in square brackets.")
        return text if self._RULE in rules else jsonc.append_value(text, self._PATH, self._RULE)

    def remove(self, text: str, origin: str | None) -> str:
        """Return the text without the rule, unless the file had it before memento came."""
        rules = self._rules(text) or []
        if self._RULE not in rules or (origin is not None and self._RULE in (self._rules(origin) or [])):
            return text
        text = jsonc.remove_value(text, (*self._PATH, rules.index(self._RULE)))
        return prune_empty_containers(text, self._PATH, origin)

    def find_commands(self, text: str) -> list[InstalledCommand]:  # noqa: ARG002 - as the other parts
        """Return nothing: a rule runs no program."""
        return []

    def _rules(self, text: str) -> list[object] | None:
        """Return the rules of a file; ``None`` where something else stands in their place."""
        permissions = jsonc.parse_jsonc(text).get("permissions", {})
        rules = permissions.get("allow", []) if isinstance(permissions, dict) else None
        return rules if isinstance(rules, list) else None


_HOOKS_KEY = "hooks"


@dataclass(frozen=True)
class HookEntries:
    """The hooks of one file, under ``hooks`` by event."""

    entries: Mapping[str, Mapping[str, object]]
    """The item for the list of each event: a handler, or a group that holds one under ``hooks``."""
    defaults: Mapping[str, object] = field(default_factory=dict)
    """Further values that the file needs, where it has none yet."""

    def add(self, text: str) -> str:
        """Return the text with a hook for each event, and with none of memento's for other events."""
        value = jsonc.parse_jsonc(text)
        for name, needed in self.defaults.items():
            if name not in value:
                text = jsonc.put_value(text, (name,), needed)
        for event, groups in _lists_by_event(value).items():
            entry = self.entries.get(event)
            ours = list(_memento_handlers(groups))
            if not ours or (len(ours) == 1 and entry is not None and _is_same_command(groups[ours[0][0]], entry)):
                continue
            text = _without_handlers(text, event, None)
        present = _lists_by_event(jsonc.parse_jsonc(text))
        for event, entry in self.entries.items():
            if not any(_memento_handlers(present.get(event, []))):
                _check_list(value, event)
                text = jsonc.append_value(text, (_HOOKS_KEY, event), entry)
        return text

    def remove(self, text: str, origin: str | None) -> str:
        """Return the text without memento's hooks, for any event."""
        for event, groups in _lists_by_event(jsonc.parse_jsonc(text)).items():
            if any(_memento_handlers(groups)):
                text = _without_handlers(text, event, origin)
        return text

    def find_commands(self, text: str) -> list[InstalledCommand]:
        """Return the command of each hook."""
        return [
            InstalledCommand("hook", hook_command_in(command), event)
            for event, groups in _lists_by_event(jsonc.parse_jsonc(text)).items()
            for _, _, command in _memento_handlers(groups)
        ]


def _lists_by_event(value: Mapping[str, object]) -> dict[str, list[object]]:
    """Return the lists of hooks by event, without other settings among them."""
    hooks = value.get(_HOOKS_KEY, {})
    if not isinstance(hooks, dict):
        raise InvalidInput("hooks is not an object in braces.")
    return {event: groups for event, groups in hooks.items() if isinstance(groups, list)}


def _check_list(value: Mapping[str, object], event: str) -> None:
    hooks = value.get(_HOOKS_KEY)
    if isinstance(hooks, dict) and not isinstance(hooks.get(event, []), list):
        raise InvalidInput(f"hooks.{event} is not a list in square brackets.")


def _handlers_of_group(group: object) -> list[object]:
    """Return the handlers of a group."""
    found = group.get(_HOOKS_KEY) if isinstance(group, dict) else None
    return found if isinstance(found, list) else []


def _memento_handlers(groups: list[object]) -> Iterator[tuple[int, int, str]]:
    """Yield memento's handlers: the number of the group, that in the group (-1 without groups), and the command."""
    for position, group in enumerate(groups):
        if not isinstance(group, dict):
            continue
        if hook_command_in(group.get("command")):
            yield position, -1, str(group["command"])
        for number, handler in enumerate(_handlers_of_group(group)):
            if isinstance(handler, dict) and hook_command_in(handler.get("command")):
                yield position, number, str(handler["command"])


def _is_same_command(group: object, entry: Mapping[str, object]) -> bool:
    """Tell whether a group runs the command of an entry for the same matcher. A person may change the timeout."""
    return (
        isinstance(group, dict)
        and group.get("matcher") == entry.get("matcher")
        and [command for _, _, command in _memento_handlers([group])]
        == [command for _, _, command in _memento_handlers([dict(entry)])]
    )


def _without_handlers(text: str, event: str, origin: str | None) -> str:
    """Return the text without memento's handlers of an event, and without the containers that become empty."""
    groups = _lists_by_event(jsonc.parse_jsonc(text))[event]
    for position, number, _ in reversed(list(_memento_handlers(groups))):
        is_alone = number < 0 or len(_handlers_of_group(_lists_by_event(jsonc.parse_jsonc(text))[event][position])) == 1
        path = (_HOOKS_KEY, event, position) if is_alone else (_HOOKS_KEY, event, position, _HOOKS_KEY, number)
        text = jsonc.remove_value(text, path)
    return prune_empty_containers(text, (_HOOKS_KEY, event), origin)
