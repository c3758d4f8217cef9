"""Put the MCP server and the hooks into a host's JSON, and take them out again.

Hooks are added at the end, because Codex remembers which ones a person trusts by their position in the list.

Edit JSON with comments as text: everything that is not changed keeps its bytes, order, comments and white space.

Libraries that read comments write the whole document in their own layout. Here the text is only parsed for the
positions of the values; an edit inserts or removes characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memento_tui.errors import InvalidInput
from memento_tui.hosts.files import InstalledCommand
from memento_tui.hosts.programs import hook_command_in, is_server

__all__ = [
    "SERVER_NAME",
    "AllowedTools",
    "HookEntries",
    "ServerEntry",
    "append_value",
    "check_is_memento",
    "command_words",
    "parse_jsonc",
    "put_value",
    "remove_value",
]


_MAX_DEPTH = 100
"""Levels of nesting. Settings have ten at most; Python's own stack ends at about a thousand."""

_GAP = re.compile(r"(?>(?:[ \t\r\n]++|//[^\r\n]*+|/\*.*?\*/)*)", re.DOTALL)
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?>(?:\\.[^"\\\x00-\x1f]*+)*)"')
_SCALAR = re.compile(r"-?\d[\d.eE+-]*+|true|false|null")
_COMMENT = re.compile(r"//[^\r\n]*+|/\*.*?\*/", re.DOTALL)
_BLANK_LINE = re.compile(r"[ \t]*+\r?\n")
_REST_OF_LINE = re.compile(r"[ \t]*+(?>(?:/\*(?>(?:(?!\*/)[^\r\n])*)\*/[ \t]*+)*)(?://[^\r\n]*+)?")
"""Comments behind a value on its line, which belong to that value."""

Key = str | int


@dataclass(slots=True)
class _Node:
    """A value and its position in the text."""

    start: int
    end: int
    value: object
    inner: dict[Key, _Node] = field(default_factory=dict)
    """The values inside, by name or number."""
    name_start: int = -1
    """The start of the value's name, in an object; the start of the value, in a list."""
    comma: int = -1
    """The position of the comma behind the value; -1 where there is none."""


class _Parser:
    """Parses one document into nodes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def root(self) -> _Node:
        node = self._value(self._after_gap(0), 0)
        end = self._after_gap(node.end)
        if end != len(self._text):
            raise self._error(end, "something follows the end")
        return node

    def _error(self, at: int, problem: str) -> InvalidInput:
        line = self._text.count("\n", 0, at) + 1
        column = at - (self._text.rfind("\n", 0, at) + 1) + 1
        return InvalidInput(f"it is not JSON: {problem} at line {line}, column {column}.")

    def _after_gap(self, at: int) -> int:
        found = _GAP.match(self._text, at)
        return found.end() if found else at

    def _value(self, at: int, depth: int) -> _Node:
        if depth > _MAX_DEPTH:
            raise self._error(at, f"more than {_MAX_DEPTH} levels")
        opening = self._text[at : at + 1]
        if opening in ("{", "["):
            return self._container(at, depth, is_object=opening == "{")
        if opening == '"':
            end = self._string_end(at)
        else:
            found = _SCALAR.match(self._text, at)
            if found is None:
                raise self._error(at, "a value is missing" if at < len(self._text) else "it ends too soon")
            end = found.end()
        return _Node(at, end, self._plain(at, end))

    def _plain(self, at: int, end: int) -> object:
        try:
            return json.loads(self._text[at:end])
        except ValueError:
            raise self._error(at, "a value is malformed") from None

    def _string_end(self, at: int) -> int:
        found = _STRING.match(self._text, at)
        if found is None:
            raise self._error(at, "a name or text in quotation marks is missing")
        return found.end()

    def _container(self, at: int, depth: int, *, is_object: bool) -> _Node:
        node = _Node(at, at, {} if is_object else [])
        closing = "}" if is_object else "]"
        here = self._after_gap(at + 1)
        last: _Node | None = None
        while self._text[here : here + 1] != closing:
            if last is not None and last.comma < 0:
                raise self._error(here, f"a comma or {closing} is missing")
            last = self._member(here, depth, node) if is_object else self._item(here, depth, node)
            here = self._after_gap(last.end)
            if self._text[here : here + 1] == ",":
                last.comma = here
                here = self._after_gap(here + 1)
        node.end = here + 1
        node.value = {key: inner.value for key, inner in node.inner.items()}
        if not is_object:
            node.value = [inner.value for inner in node.inner.values()]
        return node

    def _member(self, at: int, depth: int, into: _Node) -> _Node:
        name_end = self._string_end(at)
        colon = self._after_gap(name_end)
        if self._text[colon : colon + 1] != ":":
            raise self._error(colon, "a colon is missing")
        node = self._value(self._after_gap(colon + 1), depth + 1)
        node.name_start = at
        name = str(self._plain(at, name_end))
        if name in into.inner:
            # Parsers disagree about which one counts, so an edit could miss the one that the host reads.
            raise self._error(at, f"the name {name!r:.60} stands there twice")
        into.inner[name] = node
        return node

    def _item(self, at: int, depth: int, into: _Node) -> _Node:
        node = self._value(at, depth + 1)
        node.name_start = at
        into.inner[len(into.inner)] = node
        return node


def parse_jsonc(text: str) -> dict[str, object]:
    """Return the value of a document; that of an empty one is ``{}``.

    Raises:
        InvalidInput: it is not JSON with or without comments, or not an object. The message names no file.

    """
    found = _parse_document(text).value
    if not isinstance(found, dict):
        raise InvalidInput("it holds no object in braces.")
    return found


def _parse_document(text: str) -> _Node:
    return _Parser(text if _GAP.fullmatch(text) is None else text + "{}").root()


def put_value(text: str, path: Sequence[str], value: object) -> str:
    """Return the document with ``value`` under ``path``, replacing the present one, else last in its object.

    Missing objects on the way are made. The caller has checked that the existing ones are objects.
    """
    text = text if _GAP.fullmatch(text) is None else f"{text}{{}}\n"
    node = _parse_document(text)
    for depth, name in enumerate(path):
        if name not in node.inner:
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _insert(text, node, value, name)
        node = node.inner[name]
    layout = _Layout(text)
    return text[: node.start] + layout.written(value, layout.indent_at(node.start)) + text[node.end :]


def append_value(text: str, path: Sequence[str], value: object) -> str:
    """Return the document with ``value`` at the end of the list under ``path``; the list is made if it is missing."""
    node = _parse_document(text)
    for name in path:
        if name not in node.inner:
            return put_value(text, path, [value])
        node = node.inner[name]
    return _insert(text, node, value, None)


def remove_value(text: str, path: Sequence[Key]) -> str:
    """Return the document without the value under ``path``, which must exist.

    It reverses `put_value` and `append_value`.
    """
    node = _parse_document(text)
    for name in path[:-1]:
        node = node.inner[name]
    around, siblings = node, list(node.inner)
    gone = node.inner[path[-1]]
    position = siblings.index(path[-1])
    before = around.inner[siblings[position - 1]] if position else None
    end = gone.comma + 1 if gone.comma >= 0 else gone.end
    inside = around.start + 1 if before is None else before.comma + 1
    start = _start_of_gap(text, inside, gone.name_start, end)
    if len(siblings) == 1 and not text[inside:start].strip() and not text[end : around.end - 1].strip():
        return text[:inside] + text[around.end - 1 :]
    if before is not None and gone.comma < 0:
        return text[: before.comma] + text[inside:start] + text[end:]
    if before is None and start == gone.name_start:
        return text[:start] + text[end:].lstrip(" ")
    return text[:start] + text[end:]


def _start_of_gap(text: str, inside: int, start: int, end: int) -> int:
    """Return the start of the white space that is removed with a value: the start of its line, at most."""
    gap = text[inside:start]
    before = gap.rstrip(" \t")
    if not before.endswith("\n"):
        # Blanks between a brace and the first value on its line belong to the brace.
        return start if not before and text[inside - 1] in "{[" else inside + len(before)
    comments = _COMMENT.findall(gap)
    if comments and comments[-1].startswith("//") and not _BLANK_LINE.match(text, end):
        # The comment in front needs the end of its line.
        return inside + len(before)
    return inside + len(before) - (2 if before.endswith("\r\n") else 1)


def _insert(text: str, into: _Node, value: object, name: str | None) -> str:
    """Return the text with a value behind the last one of an object (with its name) or of a list."""
    layout = _Layout(text)
    outer = layout.indent_at(into.start)
    last = next(reversed(into.inner.values()), None)
    if last is None:
        indent = outer + layout.unit
        written = layout.written(value, indent, name)
        inside = text[into.start + 1 : into.end - 1].rstrip()
        opening = text[: into.start + 1] + inside
        return f"{opening}{layout.newline}{indent}{written}{layout.newline}{outer}{text[into.end - 1 :]}"
    if "\n" not in text[into.start : last.name_start]:
        written = layout.written(value, None, name)
        if last.comma >= 0:
            return f"{text[: last.comma + 1]} {written},{text[last.comma + 1 :]}"
        return f"{text[: last.end]}, {written}{text[last.end :]}"
    indent = layout.indent_at(last.name_start)
    written = f"{layout.newline}{indent}{layout.written(value, indent, name)}"
    if last.comma >= 0:
        # A trailing comma stays one.
        at = _line_end(text, last.comma + 1)
        return f"{text[:at]}{written},{text[at:]}"
    at = _line_end(text, last.end)
    return f"{text[: last.end]},{text[last.end : at]}{written}{text[at:]}"


def _line_end(text: str, at: int) -> int:
    """Return the end of the comments behind a value on its line."""
    found = _REST_OF_LINE.match(text, at)
    return at + len(found[0].rstrip()) if found else at


class _Layout:
    """The layout of a document: its line ends and its indentation."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.newline = "\r\n" if "\r\n" in text else "\n"
        first = re.search(r"\n([ \t]+)\S", text)
        self.unit = first[1] if first else "  "
        """The white space of one level of indentation."""

    def indent_at(self, at: int) -> str:
        """Return the white space at the start of the line of a position."""
        line = self._text[self._text.rfind("\n", 0, at) + 1 : at]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def written(self, value: object, indent: str | None, name: str | None = None) -> str:
        """Return a value, with its name, for a line set in by ``indent``; all in one line where that is ``None``."""
        label = "" if name is None else json.dumps(name, ensure_ascii=False) + ": "
        if indent is None:
            return label + json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.unit).split("\n")
        return label + f"{self.newline}{indent}".join(lines)


def _prune_empty_containers(text: str, path: Sequence[str], origin: str | None) -> str:
    """Return the text without the empty containers along ``path``, the innermost first.

    Those that ``origin`` had stay: others made them.
    """
    kept = _parse_original(origin)
    for depth in range(len(path), 0, -1):
        if _value_at(parse_jsonc(text), path[:depth]) not in ({}, []) or _value_at(kept, path[:depth]) is not None:
            break
        text = remove_value(text, path[:depth])
    return text


def _parse_original(origin: str | None) -> object:
    try:
        return parse_jsonc(origin or "")
    except InvalidInput:
        # A damaged copy is no original.
        return {}


def _value_at(value: object, path: Sequence[str]) -> object:
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return None
        value = value[name]
    return value


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
        current = self._current(parse_jsonc(text))
        if current is None:
            return put_value(text, self._key_path, dict(self.entry))
        check_is_memento(current)
        for key, value in self.entry.items():
            if current.get(key) != value:
                text = put_value(text, (*self._key_path, key), value)
        return text

    def remove(self, text: str, origin: str | None) -> str:
        """Return the text without the server."""
        current = self._current(parse_jsonc(text))
        if current is None or not is_server(command_words(current)):
            return text
        return _prune_empty_containers(remove_value(text, self._key_path), self.path, origin)

    def find_commands(self, text: str) -> list[InstalledCommand]:
        """Return the server's command."""
        current = self._current(parse_jsonc(text))
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
        return text if self._RULE in rules else append_value(text, self._PATH, self._RULE)

    def remove(self, text: str, origin: str | None) -> str:
        """Return the text without the rule, unless the file had it before memento came."""
        rules = self._rules(text) or []
        if self._RULE not in rules or (origin is not None and self._RULE in (self._rules(origin) or [])):
            return text
        text = remove_value(text, (*self._PATH, rules.index(self._RULE)))
        return _prune_empty_containers(text, self._PATH, origin)

    def find_commands(self, text: str) -> list[InstalledCommand]:  # noqa: ARG002 - as the other parts
        """Return nothing: a rule runs no program."""
        return []

    def _rules(self, text: str) -> list[object] | None:
        """Return the rules of a file; ``None`` where something else stands in their place."""
        permissions = parse_jsonc(text).get("permissions", {})
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
        value = parse_jsonc(text)
        for name, needed in self.defaults.items():
            if name not in value:
                text = put_value(text, (name,), needed)
        for event, groups in _lists_by_event(value).items():
            entry = self.entries.get(event)
            ours = list(_memento_handlers(groups))
            if not ours or (len(ours) == 1 and entry is not None and _is_same_command(groups[ours[0][0]], entry)):
                continue
            text = _without_handlers(text, event, None)
        present = _lists_by_event(parse_jsonc(text))
        for event, entry in self.entries.items():
            if not any(_memento_handlers(present.get(event, []))):
                _check_list(value, event)
                text = append_value(text, (_HOOKS_KEY, event), entry)
        return text

    def remove(self, text: str, origin: str | None) -> str:
        """Return the text without memento's hooks, for any event."""
        for event, groups in _lists_by_event(parse_jsonc(text)).items():
            if any(_memento_handlers(groups)):
                text = _without_handlers(text, event, origin)
        return text

    def find_commands(self, text: str) -> list[InstalledCommand]:
        """Return the command of each hook."""
        return [
            InstalledCommand("hook", hook_command_in(command), event)
            for event, groups in _lists_by_event(parse_jsonc(text)).items()
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
    groups = _lists_by_event(parse_jsonc(text))[event]
    for position, number, _ in reversed(list(_memento_handlers(groups))):
        is_alone = number < 0 or len(_handlers_of_group(_lists_by_event(parse_jsonc(text))[event][position])) == 1
        path = (_HOOKS_KEY, event, position) if is_alone else (_HOOKS_KEY, event, position, _HOOKS_KEY, number)
        text = remove_value(text, path)
    return _prune_empty_containers(text, (_HOOKS_KEY, event), origin)
