"""The commands of the ``:`` line: their names, their arguments, and the completion of both while typing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from memento_tui.api.query_completion import MAX_SUGGESTIONS, QueryHelper, Suggestion, Suggestions, suggest
from memento_tui.app_sections import SECTION_NAMES, SECTIONS
from memento_tui.errors import InvalidInput
from memento_tui.model.memory import RELATION_TYPES
from memento_tui.model.memory_fields import FIELDS_BY_NAME
from memento_tui.paths import typed_path
from memento_tui.text.near_names import nearest_name
from memento_tui.tui.commands import COMMANDS, Command, KeyScope
from memento_tui.tui.sections.memory_commands import CHANGES, ROW_COMMANDS

__all__ = ["ALIASES", "APP_COMMANDS", "CommandWords", "TypedLine"]

ALIASES = {"ns": "namespace", "tags": "tag", "applies": "validity", "until": "valid-to", "q": "quit", "e": "edit"}
"""Other names of commands, as queries and other programs have them."""

APP_COMMANDS = {
    "open": ("SECTION QUERY", "Go to a section, and filter it"),
    "search": ("QUERY", "Search the memories"),
    "saved": ("NAME", "Go to a saved search"),
    "save": ("NAME", "Keep this search under a name"),
    "workspace": ("NAME", "Go to another workspace"),
    "import": ("PATH", "Show what a file or folder holds, and import it"),
    "export": ("PATH FORMAT", "Write every record to a file or folder"),
    "at": ("MOMENT", "See the memory as it was: 3 days ago, a date"),
    "theme": ("NAME", "Choose another theme"),
}
"""The commands that take an argument and change no field, each with its argument and its effect."""

_MOVING_SCOPES = frozenset({"rows", "search", "editor", "command"})
"""Scopes whose keys move or type; a name for them would only be longer."""

_UNNAMED = frozenset(
    {
        "app.line",
        "app.palette",
        "app.previous",
        "app.next",
        "list.filter",
        "list.clear",
        "list.scroll_down",
        "list.scroll_up",
        *(f"app.{name}" for name in SECTION_NAMES),
    }
)
"""Commands that move or type, and those that have another name."""

_VALUES: dict[str, Sequence[tuple[str, str]]] = {
    "certainty": [("5", "certain"), ("4", ""), ("3", ""), ("2", ""), ("1", "a guess")],
    "confidence": [(".9", ""), (".6", ""), (".3", "")],
    "expires": [("7d", ""), ("30d", ""), ("90d", ""), ("1y", ""), ("never", "clears it")],
    "valid": [("from", ""), ("until", ""), ("always", "clears both")],
    "valid-from": [("never", "clears it")],
    "valid-to": [("30d", ""), ("never", "clears it")],
}

_MEMORY_VIEWS = {scope for tab in SECTIONS if tab.name == "memories" for scope, _ in tab.inner_scopes}
"""The views over the preview of a memory, which leads to others: a change there could mean either."""

_QUERY_FIELDS = {"kind": "kind", "namespace": "ns", "tier": "tier"}
"""The commands whose values are those of a field in a query."""


class TypedLine(NamedTuple):
    """A line taken apart: the name of a command, the rest, and whether it is for all that is listed (``%``)."""

    name: str
    argument: str = ""
    whole: bool = False

    @classmethod
    def parse(cls, line: str) -> TypedLine:
        """Return the parts of a line."""
        text = line.strip().lstrip(":").lstrip()
        whole = text.startswith("%")
        name, _, argument = text.removeprefix("%").strip().partition(" ")
        return cls(ALIASES.get(name.lower(), name.lower()), argument.strip(), whole)


class CommandWords:
    """The commands that can be typed at one place of the app.

    ``scopes`` are the key scopes of that place; ``themes``, ``searches`` and ``workspaces`` return names to complete;
    ``own`` says what the person's own sections and commands do, by their names.
    """

    def __init__(
        self,
        scopes: Iterable[KeyScope],
        helper: QueryHelper,
        *,
        themes: Callable[[], Iterable[str]],
        searches: Callable[[], Iterable[str]],
        workspaces: Callable[[], Iterable[str]],
        own: Mapping[str, str],
    ) -> None:
        self.keyed: dict[str, Command] = {}
        """The commands that have keys, by the name that they are typed by."""
        scopes = list(scopes)
        for scope in scopes:
            for command in COMMANDS:
                name = command.id.partition(".")[2].replace("_", "-")
                if command.scope == scope not in _MOVING_SCOPES and command.action and command.id not in _UNNAMED:
                    self.keyed.setdefault(name, command)
        self._on_memories = "memories" in scopes
        self._in_view = any(scope in _MEMORY_VIEWS for scope in scopes)
        self._own = own
        self._helper = helper
        self._names = {"theme": themes, "saved": searches, "workspace": workspaces}

    @property
    def known(self) -> dict[str, str]:
        """Every command with a few words about it, those that take something first."""
        typed = {**({**CHANGES, **ROW_COMMANDS} if self._on_memories else {}), **APP_COMMANDS}
        takes = {name: f"{argument}  {about}" for name, (argument, about) in typed.items()}
        keyed = {name: command.help for name, command in self.keyed.items() if name not in ALIASES}
        return {**keyed, **takes, **self._own, **{tab.name: f"Go to {tab.subject}" for tab in SECTIONS}}

    def check_name(self, name: str) -> None:
        """Raise `InvalidInput` for a name that is none, with the one that was probably meant."""
        if name in self.known:
            return
        if name in CHANGES or name in ROW_COMMANDS:
            way = "Escape leaves this view first." if self._in_view else "Go there first: :memories."
            raise InvalidInput(f":{name} is for memories.", way)
        near = nearest_name(name, [*self.known, *ALIASES])
        hint = f"Did you mean :{near}?" if near else "Tab shows what there is; ? shows the keys."
        raise InvalidInput(f"There is no command :{name:.40} here.", hint)

    def complete(self, line: str, cursor: int) -> Suggestions:
        """Return completions at the cursor: names of commands, then the command's arguments."""
        before = line[:cursor]
        start = len(before) - len(before.lstrip(":% "))
        name, space, argument = before[start:].partition(" ")
        if not space:
            known = [(word, about) for word, about in self.known.items() if word.startswith(name.lower())]
            return suggest(start, name, known) if name else Suggestions()
        if name in ("import", "export"):
            return _complete_path(argument, cursor - len(argument))
        begin = cursor - len(argument.rpartition(" ")[2])
        return self._complete_argument(TypedLine.parse(name).name, argument, begin)

    def _complete_argument(self, name: str, argument: str, begin: int) -> Suggestions:
        typed = argument.rpartition(" ")[2]
        if name == "tag":
            sign = typed[:1] if typed[:1] in ("+", "-") else ""
            known = [value for value in self._helper.values("tag") if " " not in value[0]]
            return suggest(begin + len(sign), typed[len(sign) :], known)
        if name == "search" or (name == "open" and argument.startswith("memories ")):
            found = self._helper.complete(argument, len(argument))
            moved = begin + len(typed) - len(argument)
            return found._replace(start=found.start + moved, end=found.end + moved)
        if name == "relate":
            if " " in argument:
                return suggest(begin, typed, [(kind, "") for kind in RELATION_TYPES])
            return self._helper.complete_memory(begin, typed)
        if name == "valid" and " " in argument:
            return suggest(begin, typed, [("from", ""), ("until", "")]) if len(argument.split()) > 1 else Suggestions()
        return suggest(begin, typed, self._values(name)) if " " not in argument else Suggestions()

    def _values(self, name: str) -> Iterable[tuple[str, str]]:
        if name in _QUERY_FIELDS:
            return self._helper.values(_QUERY_FIELDS[name])
        if name == "open":
            return [(tab.name, tab.subject) for tab in SECTIONS]
        if name in self._names:
            return [(value, "") for value in self._names[name]()]
        field = FIELDS_BY_NAME.get(name.replace("-", "_"))
        return _VALUES.get(name) or [(choice, "") for choice in (field.choices if field else ())]


def _complete_path(typed: str, begin: int) -> Suggestions:
    """Return the files and folders that complete the path ``typed``; ``begin`` is its place in the line."""
    folder, slash, name = typed.rpartition("/")
    try:
        with os.scandir(typed_path(f"{folder}{slash}") if slash else Path()) as entries:
            begun = [entry for entry in entries if entry.name.startswith(name) and (name or entry.name[0] != ".")]
            names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in begun)
    except (OSError, ValueError):
        return Suggestions()
    options = tuple(Suggestion(one) for one in names[:MAX_SUGGESTIONS] if one != name)
    return Suggestions(begin + len(folder) + len(slash), begin + len(typed), options)
