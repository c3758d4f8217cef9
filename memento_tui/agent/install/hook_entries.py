"""The hooks in a host's JSON: for each event, one entry at the end of the event's list.

At the end, because Codex remembers which hooks a person trusts by their place in the list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from memento_tui.agent.install import jsonc
from memento_tui.agent.install.part import Found
from memento_tui.agent.install.programs import hook_in
from memento_tui.agent.install.prune import prune
from memento_tui.errors import InvalidInput

__all__ = ["HookEntries"]

_HOOKS = "hooks"


@dataclass(frozen=True)
class HookEntries:
    """The hooks of one file, under ``hooks`` by event."""

    entries: Mapping[str, Mapping[str, object]]
    """What is put into the list of each event: a handler, or a group that holds one under ``hooks``."""
    beside: Mapping[str, object] = field(default_factory=dict)
    """What the file needs beside the hooks, where it does not say it yet."""

    def add(self, text: str) -> str:
        """Return the text with a hook for each event, and with none of memento's for other events."""
        value = jsonc.parse(text)
        for name, needed in self.beside.items():
            if name not in value:
                text = jsonc.put(text, (name,), needed)
        for event, groups in _events(value).items():
            wanted = self.entries.get(event)
            ours = list(_handlers(groups))
            if not ours or (len(ours) == 1 and wanted is not None and _same(groups[ours[0][0]], wanted)):
                continue
            text = _without(text, event, None)
        present = _events(jsonc.parse(text))
        for event, entry in self.entries.items():
            if not any(_handlers(present.get(event, []))):
                _check_list(value, event)
                text = jsonc.append(text, (_HOOKS, event), entry)
        return text

    def remove(self, text: str, origin: str | None) -> str:
        """Return the text without memento's hooks, whatever the event."""
        for event, groups in _events(jsonc.parse(text)).items():
            if any(_handlers(groups)):
                text = _without(text, event, origin)
        return text

    def found(self, text: str) -> list[Found]:
        """Return the command of each hook."""
        return [
            Found("hook", hook_in(command), event)
            for event, groups in _events(jsonc.parse(text)).items()
            for _, _, command in _handlers(groups)
        ]


def _events(value: Mapping[str, object]) -> dict[str, list[object]]:
    """Return the lists of hooks by event; other settings that stand among them are left out."""
    hooks = value.get(_HOOKS, {})
    if not isinstance(hooks, dict):
        raise InvalidInput("hooks is not an object in braces.")
    return {event: groups for event, groups in hooks.items() if isinstance(groups, list)}


def _check_list(value: Mapping[str, object], event: str) -> None:
    hooks = value.get(_HOOKS)
    if isinstance(hooks, dict) and not isinstance(hooks.get(event, []), list):
        raise InvalidInput(f"hooks.{event} is not a list in square brackets.")


def _inner(group: object) -> list[object]:
    """Return the handlers of a group."""
    found = group.get(_HOOKS) if isinstance(group, dict) else None
    return found if isinstance(found, list) else []


def _handlers(groups: list[object]) -> Iterator[tuple[int, int, str]]:
    """Yield memento's handlers: the number of the group, that in the group (-1 without groups), and the command."""
    for place, group in enumerate(groups):
        if not isinstance(group, dict):
            continue
        if hook_in(group.get("command")):
            yield place, -1, str(group["command"])
        for number, handler in enumerate(_inner(group)):
            if isinstance(handler, dict) and hook_in(handler.get("command")):
                yield place, number, str(handler["command"])


def _same(group: object, wanted: Mapping[str, object]) -> bool:
    """Tell whether a group runs the wanted command for the same matcher. Its timeout is a person's to change."""
    return (
        isinstance(group, dict)
        and group.get("matcher") == wanted.get("matcher")
        and [command for _, _, command in _handlers([group])]
        == [command for _, _, command in _handlers([dict(wanted)])]
    )


def _without(text: str, event: str, origin: str | None) -> str:
    """Return the text without memento's handlers of an event, and without what they leave empty."""
    groups = _events(jsonc.parse(text))[event]
    for place, number, _ in reversed(list(_handlers(groups))):
        alone = number < 0 or len(_inner(_events(jsonc.parse(text))[event][place])) == 1
        path = (_HOOKS, event, place) if alone else (_HOOKS, event, place, _HOOKS, number)
        text = jsonc.remove(text, path)
    return prune(text, (_HOOKS, event), origin)
