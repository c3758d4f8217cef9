"""Put the MCP server into a host's YAML or Codex' TOML, and take it out again; every other line stays as it was.

In YAML lines are inserted and removed, and what comes of it is read again: it must be what was there, and the server or
not. In TOML the server is one table at the end of the file.

Codex itself uses a library that keeps a document as it is; Python's (tomlkit) moves tables that belong to arrays, mixes
line ends and cannot add to an inline table. So lines are cut and pasted here, and the standard library's parser checks
the result: it must hold the former values and the server, and nothing else.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from memento_tui.errors import InvalidInput
from memento_tui.hosts.files import InstalledCommand
from memento_tui.hosts.json_entries import SERVER_NAME, check_is_memento, command_words
from memento_tui.hosts.programs import is_server, json_quoted

__all__ = ["TomlServer", "YamlServer"]


_SERVERS_KEY = "mcp_servers"
_SERVER_HEADING = re.compile(
    rf"""[ \t]*\[[ \t]*["']?{_SERVERS_KEY}["']?[ \t]*\.[ \t]*["']?{SERVER_NAME}["']?[ \t]*(?:\.[^\]]*)?\]"""
)
"""The heading of the server's table, or of one inside it, such as its environment."""
_ANY_HEADING = re.compile(r"[ \t]*\[")


@dataclass(frozen=True)
class TomlServer:
    """The server as a table of its own."""

    words: Sequence[str]
    """The command, word by word."""

    def add(self, text: str) -> str:
        """Return the text with the server in it."""
        document = _parse_toml(text)
        current = _current_entry(document)
        if current is not None:
            check_is_memento(current)
        entry = {**(current or {}), "command": self.words[0], "args": list(self.words[1:])}
        if current == entry:
            return text
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = [f"command = {json_quoted(self.words[0])}", f"args = [{', '.join(map(json_quoted, self.words[1:]))}]"]
        heading = f"[{_SERVERS_KEY}.{SERVER_NAME}]"
        if current is None:
            gap = "" if not text else newline if text.endswith("\n") else newline * 2
            texts = [text + gap + newline.join([heading, *lines, ""])]
        else:
            texts = [_with_statements(text, lines_of_table, lines, newline) for lines_of_table in _table_ranges(text)]
        document.setdefault(_SERVERS_KEY, {})[SERVER_NAME] = entry
        return _first_correct(texts, [document], "Put this into it by hand:\n" + "\n".join([heading, *lines]))

    def remove(self, text: str, origin: str | None) -> str:  # noqa: ARG002 - a table leaves no container behind
        """Return the text without the server."""
        document = _parse_toml(text)
        current = _current_entry(document)
        if current is None or not is_server(command_words(current)):
            return text
        others = {name: server for name, server in document.pop(_SERVERS_KEY).items() if name != SERVER_NAME}
        expected = [{**document, _SERVERS_KEY: others}, *([] if others else [document])]
        texts = [_without_lines(text, lines) for lines in _table_ranges(text)]
        return _first_correct(texts, expected, f"Take {_SERVERS_KEY}.{SERVER_NAME} out by hand.")

    def find_commands(self, text: str) -> list[InstalledCommand]:
        """Return the server's command."""
        current = _current_entry(_parse_toml(text))
        words = command_words(current) if current is not None else []
        return [InstalledCommand("server", tuple(map(str, words)))] if is_server(words) else []


def _first_correct(texts: Iterable[str], expected: Sequence[dict[str, Any]], by_hand: str) -> str:
    """Return the first text that parses to one of the expected values; only that shows which lines are the table."""
    for text in texts:
        try:
            if tomllib.loads(text) in expected:
                return text
        except tomllib.TOMLDecodeError:
            continue
    raise InvalidInput(f"{_SERVERS_KEY} is written in a way that memento does not change.", by_hand)


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f"it is not TOML: {error}.") from None


def _current_entry(document: dict[str, Any]) -> dict[str, Any] | None:
    servers = document.get(_SERVERS_KEY, {})
    if not isinstance(servers, dict):
        raise InvalidInput(f"{_SERVERS_KEY} is not a table.")
    current = servers.get(SERVER_NAME)
    if current is not None and not isinstance(current, dict):
        raise InvalidInput(f"{_SERVERS_KEY}.{SERVER_NAME} is not a table.")
    return current


def _table_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of lines that may be the server's table, the last first.

    A line that looks like its heading may stand inside a text of several lines.
    """
    lines = text.splitlines(keepends=True)
    for begins in reversed(range(len(lines))):
        if _SERVER_HEADING.match(lines[begins]):
            ends = begins + 1
            while ends < len(lines) and (_SERVER_HEADING.match(lines[ends]) or not _ANY_HEADING.match(lines[ends])):
                ends += 1
            # Comments and empty lines before the next heading are the next table's.
            while ends > begins + 1 and (not lines[ends - 1].strip() or lines[ends - 1].lstrip().startswith("#")):
                ends -= 1
            yield begins, ends


def _without_lines(text: str, span: tuple[int, int]) -> str:
    """Return a text without some lines, and without the empty one in front of them where they are the last."""
    lines = text.splitlines(keepends=True)
    begins, ends = span
    if begins and ends == len(lines) and not lines[begins - 1].strip():
        begins -= 1
    return "".join(lines[:begins] + lines[ends:])


def _with_statements(text: str, span: tuple[int, int], statements: Sequence[str], newline: str) -> str:
    """Return the text with other statements for ``command`` and ``args`` in the server's table."""
    lines = text.splitlines(keepends=True)
    begins, ends = span
    kept: list[str] = []
    number = begins + 1
    while number < ends:
        following = number + 1
        if re.match(r"[ \t]*(?:command|args)[ \t]*=", lines[number]):
            while following < ends and not _is_complete_statement("".join(lines[number:following])):
                following += 1
        else:
            kept += lines[number:following]
        number = following
    heading = lines[begins] if lines[begins].endswith("\n") else lines[begins] + newline
    added = (f"{statement}{newline}" for statement in statements)
    return "".join([*lines[:begins], heading, *added, *kept, *lines[ends:]])


def _is_complete_statement(statement: str) -> bool:
    try:
        tomllib.loads(statement)
    except tomllib.TOMLDecodeError:
        return False
    return True


_STEP = "  "
_BY_HAND = "Write it with one key a line, as the host does, and install again."


@dataclass(frozen=True)
class YamlServer:
    """The server under ``key``, one of the keys at the top of the file."""

    key: str
    entry: Mapping[str, object]
    """The server as the host reads it. Keys that a person added beside these stay."""

    def add(self, text: str) -> str:
        """Return the text with the server in it."""
        value = _parse(text)
        servers = self._servers(value)
        current = servers.get(SERVER_NAME)
        if current is not None:
            check_is_memento(_as_command(current))
            if all(current.get(name) == needed for name, needed in self.entry.items()):
                return text
            text = self._without(text, servers, keep_key=True)
        wanted = {**(current or {}), **self.entry}
        if servers and self._key_line(text.splitlines()) is None:
            raise InvalidInput(f"{self.key} is written in a way that memento cannot add to.", _BY_HAND)
        changed = self._with(text, wanted)
        return _checked(changed, {**value, self.key: {**servers, SERVER_NAME: wanted}})

    def remove(self, text: str, origin: str | None) -> str:
        """Return the text without the server, and without its key where that is empty then and was not there before."""
        value = _parse(text)
        servers = self._servers(value)
        if not self.find_commands(text):
            return text
        left = {name: server for name, server in servers.items() if name != SERVER_NAME}
        before = {} if origin is None else _parse(origin)
        keep_key = bool(left) or self.key in before
        changed = self._without(text, servers, keep_key=keep_key)
        rest = {name: one for name, one in value.items() if name != self.key}
        if not keep_key:
            return _checked(changed, rest)
        if left or before[self.key] is None:
            return _checked(changed, {**rest, self.key: left or None})
        # A host that expects a list of keys may not read a file in which there is nothing.
        key = re.escape(self.key)
        return _checked(re.sub(rf"^({key}:)", r"\1 {}", changed, count=1, flags=re.MULTILINE), {**rest, self.key: {}})

    def find_commands(self, text: str) -> list[InstalledCommand]:
        """Return the server's command."""
        words = _words(self._servers(_parse(text)).get(SERVER_NAME, {}))
        return [InstalledCommand("server", tuple(map(str, words)))] if is_server(words) else []

    def _servers(self, value: Mapping[str, Any]) -> dict[str, Any]:
        found = value.get(self.key)
        if found is None:
            return {}
        if not isinstance(found, dict) or not isinstance(found.get(SERVER_NAME, {}), dict):
            raise InvalidInput(f"{self.key} is not a list of keys with what belongs to each.")
        return found

    def _with(self, text: str, entry: Mapping[str, object]) -> str:
        lines, end = text.splitlines(keepends=True), "\r\n" if "\r\n" in text else "\n"
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += end
        at = self._key_line(lines)
        if at is None:
            lines.append(f"{self.key}:{end}")
            at = len(lines) - 1
        else:
            lines[at] = re.sub(r":\s*(\{\s*\}|null|~)", ":", lines[at], count=1)
        below = next((line for line in lines[at + 1 :] if line.strip() and not line.lstrip().startswith("#")), "")
        indent = " " * _indent(below) if _indent(below) else _STEP
        written = [f"{indent}{SERVER_NAME}:"]
        written += [f"{indent}{_STEP}{name}: {_as_flow(value)}" for name, value in entry.items()]
        return "".join([*lines[: at + 1], *(f"{line}{end}" for line in written), *lines[at + 1 :]])

    def _without(self, text: str, servers: Mapping[str, object], *, keep_key: bool) -> str:
        lines = text.splitlines(keepends=True)
        top = self._key_line(lines)
        at = next(
            (
                number
                for number in range(len(lines) if top is None else top + 1, len(lines))
                if re.match(rf"\s+['\"]?{SERVER_NAME}['\"]?:\s*(#.*)?$", lines[number])
            ),
            None,
        )
        if top is None or at is None:
            raise InvalidInput(f"memento's part of {self.key} cannot be found in it.", _BY_HAND)
        ends = at + 1
        while ends < len(lines) and lines[ends].strip() and _indent(lines[ends]) > _indent(lines[at]):
            ends += 1
        del lines[at:ends]
        if not keep_key and len(servers) == 1:
            del lines[top]
        return "".join(lines)

    def _key_line(self, lines: Sequence[str]) -> int | None:
        """Return the number of the line with the key; ``None`` where there is none that lines can be put under."""
        pattern = re.compile(rf"{re.escape(self.key)}:\s*(\{{\s*\}}|null|~)?\s*(#.*)?$")
        return next((number for number, line in enumerate(lines) if pattern.match(line)), None)


def _parse(text: str) -> dict[str, Any]:
    try:
        value = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError) as error:
        raise InvalidInput(f"it is not YAML: {error}.") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInput("it is not a list of keys and values.")
    return value


def _checked(text: str, expected: Mapping[str, object]) -> str:
    """Return an edited text that has the expected values. Raises `InvalidInput` for a form that cannot be edited."""
    try:
        value = _parse(text)
    except InvalidInput:
        value = None
    if value != expected:
        raise InvalidInput("it is written in a way that memento cannot change.", _BY_HAND)
    return text


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _as_flow(value: object) -> str:
    if isinstance(value, str):
        return json_quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_as_flow, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _words(entry: Mapping[str, object]) -> list[object]:
    """Return a server's command, word by word; Goose calls the program ``cmd``."""
    program, arguments = entry.get("command", entry.get("cmd")), entry.get("args") or []
    return [program, *arguments] if isinstance(program, str) and isinstance(arguments, list) else []


def _as_command(entry: Mapping[str, object]) -> dict[str, object]:
    return {**entry, "command": _words(entry)}
