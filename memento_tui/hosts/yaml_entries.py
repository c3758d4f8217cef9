"""Put the MCP server into a host's YAML, and take it out again; every other line stays as it was written.

Lines are inserted and removed, and what comes of it is read again: it must be what was there, and the server or not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from memento_tui.errors import InvalidInput
from memento_tui.hosts.files import InstalledCommand
from memento_tui.hosts.json_entries import SERVER_NAME, check_is_memento
from memento_tui.hosts.programs import is_server, json_quoted

__all__ = ["YamlServer"]

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
        at = self._key_line(lines)
        if at is None:
            if lines and not lines[-1].endswith("\n"):
                lines[-1] += end
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
    """Return a text that says what is expected. Raises `InvalidInput` where it was written in another way."""
    if _parse(text) != expected:
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
