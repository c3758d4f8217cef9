"""Put the MCP server into Codex' TOML as one table at the end of the file, and take it out again.

Codex itself uses a library that keeps a document as it is; Python's (tomlkit) moves tables that belong to arrays, mixes
line ends and cannot add to an inline table. So lines are cut and pasted here, and the standard library's parser checks
the result: it must hold the former values and the server, and nothing else.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memento_tui.errors import InvalidInput
from memento_tui.hosts.files import InstalledCommand
from memento_tui.hosts.json_entries import SERVER_NAME, check_is_memento, command_words
from memento_tui.hosts.programs import is_server, json_quoted

__all__ = ["TomlServer"]

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
