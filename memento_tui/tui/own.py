"""The person's own sections and commands, as ``config.toml`` declares them.

An entry that cannot be used is left out with a sentence that names its line; the app starts all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from memento_tui.app_sections import SECTION_NAMES, Tab
from memento_tui.config import Config, line_of, line_of_section, read_config_text
from memento_tui.errors import InvalidInput
from memento_tui.search.query_language import parse
from memento_tui.tui.command_words import ALIASES, APP_COMMANDS
from memento_tui.tui.commands import COMMANDS, KeyMap, key_code, key_names
from memento_tui.tui.sections.memory_commands import CHANGES, ROW_COMMANDS

__all__ = ["OwnCommand", "OwnEntries", "own_entries"]

_NAME = re.compile(r"[a-z][a-z0-9-]{0,19}")
_NOT_HIDDEN_SCOPES = ("search", "command", "editor")
"""Scopes in which keys type: an own key may be the same as one there."""

_LOCATED_PROBLEMS = 20
"""Problems whose line in the file is looked for, which reads it from its beginning; a person mends them one by one."""

_MAX_SECTIONS = 9
"""Own sections at most: each is counted whenever something is written."""


class OwnSection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A search of the memories as a section, with a tab and a key."""

    query: str
    title: str = ""
    key: str = ""


class OwnCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program to be run on the row under the cursor."""

    run: str
    """A command for ``/bin/sh``. The row's texts reach it through the environment alone."""
    key: str = ""
    help: str = ""
    terminal: bool = False
    """Whether it gets the terminal, as an editor or a pager needs it; else its last line is shown when it ends."""


class OwnEntries(msgspec.Struct, frozen=True):
    """The usable entries by their names, and a sentence for each of the others."""

    sections: Mapping[str, OwnSection] = {}
    commands: Mapping[str, OwnCommand] = {}
    problems: tuple[str, ...] = ()

    def tabs(self) -> Sequence[Tab]:
        """Return the tabs of the own sections."""
        return [
            Tab(name, key_names(key_code(own.key)) if own.key else "", own.title or name, "", f"your section {name}")
            for name, own in self.sections.items()
        ]

    def help(self) -> Mapping[str, str]:
        """Return the description of each entry, by its name."""
        sections = {name: f"Go to {own.title or name}: {own.query}" for name, own in self.sections.items()}
        return {**sections, **{name: own.help or own.run for name, own in self.commands.items()}}

    def keys(self) -> Mapping[str, str]:
        """Return the key of each entry that has one, as Textual names it."""
        entries: dict[str, OwnSection | OwnCommand] = {**self.sections, **self.commands}
        return {name: key_code(own.key) for name, own in entries.items() if own.key}


_Entry = TypeVar("_Entry", OwnSection, OwnCommand)


def own_entries(config: Config, path: Path, keys: KeyMap) -> OwnEntries:
    """Return the own sections and commands of a configuration, which was read from ``path``; never fails."""
    if not config.sections and not config.commands:  # as most have it, who need not wait for the second reading
        return OwnEntries()
    reader = _Reader(read_config_text(path), keys)
    sections = dict(reader.read("sections", config.sections, OwnSection))
    commands = dict(reader.read("commands", config.commands, OwnCommand))
    return OwnEntries(sections, commands, tuple(reader.problems))


class _Reader:
    """Reads the entries one after the other: no two have the same name or key."""

    def __init__(self, text: str, keys: KeyMap) -> None:
        self._text = text
        self.problems: list[str] = []
        self._names = {command.id.partition(".")[2].replace("_", "-"): command.id for command in COMMANDS}
        self._names |= dict.fromkeys((*CHANGES, *ROW_COMMANDS, *APP_COMMANDS, *ALIASES), "a command of the : line")
        self._names |= dict.fromkeys(SECTION_NAMES, "a section of memento")
        self._keys = {
            code: command.id
            for command in COMMANDS
            if command.scope not in _NOT_HIDDEN_SCOPES
            for code in keys.of(command).split(",")
        }

    def read(self, table: str, held: Any, kind: type[_Entry]) -> Iterator[tuple[str, _Entry]]:  # noqa: ANN401 - whatever the file says
        """Yield the entries of a table that can be used."""
        if not isinstance(held, dict):
            self._report(table, "", f"[{table}] must hold tables, such as [{table}.mine]")
            return
        for number, (name, values) in enumerate(held.items()):
            try:
                entry = msgspec.convert(values, kind)
                self._check(name, entry, number)
            except msgspec.ValidationError as error:
                self._report(f"{table}.{name}", _field_of(str(error)), f"[{table}.{name}]: {_in_words(str(error))}")
            except InvalidInput as error:
                self._report(f"{table}.{name}", "", f"[{table}.{name}]: {error.message}")
            else:
                self._names[name] = f"{table}.{name}"
                if entry.key:
                    self._keys[key_code(entry.key)] = f"{table}.{name}"
                yield name, entry

    def _check(self, name: str, entry: OwnSection | OwnCommand, number: int) -> None:
        if isinstance(entry, OwnSection) and number >= _MAX_SECTIONS:
            raise InvalidInput(f"there are {_MAX_SECTIONS} own sections at most")
        if not _NAME.fullmatch(name):
            raise InvalidInput("a name has small letters, digits and hyphens, and begins with a letter")
        if name in self._names:
            raise InvalidInput(f"the name is that of {self._names[name]}")
        if entry.key and (taken := self._keys.get(key_code(entry.key))):
            raise InvalidInput(f"{entry.key} is the key of {taken}")
        if entry.key and not re.fullmatch(r"[a-z0-9_+]+", key_code(entry.key), re.IGNORECASE):
            raise InvalidInput(f"{entry.key!r} is no key; f9, ctrl+g or 9 are some")
        if isinstance(entry, OwnSection):
            query = parse(entry.query)
            if wrong := query.error or next(iter(query.problems), ""):
                raise InvalidInput(wrong)
        elif not entry.run.strip():
            raise InvalidInput("run is empty")

    def _report(self, section: str, key: str, sentence: str) -> None:
        line = None
        if len(self.problems) < _LOCATED_PROBLEMS:
            line = (line_of(self._text, section, key) if key else None) or line_of_section(self._text, section)
        place = f"config.toml, line {line}" if line else "config.toml"
        self.problems.append(f"{place}: {sentence.rstrip('.')}.")


def _field_of(problem: str) -> str:
    """Return the field that an error names; empty where it names none."""
    unknown = re.search(r"unknown field `(.*)`", problem)
    return unknown[1] if unknown else problem.partition(" - at `$.")[2].rstrip("`")


def _in_words(problem: str) -> str:
    said, _, place = problem.partition(" - at `$.")
    if missing := re.search(r"required field `(.*)`", said):
        return f"{missing[1]} is missing"
    if unknown := re.search(r"unknown field `(.*)`", said):
        return f"there is no {unknown[1]} here"
    types = {"str": "text in quotation marks", "bool": "true or false", "object": "a table"}
    if expected := re.search(r"Expected `(\w+)", said):
        return f"{place.rstrip('`') or 'it'} must be {types.get(expected[1], expected[1])}"
    return said
