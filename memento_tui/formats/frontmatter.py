"""Parse a note's YAML frontmatter, and change one property without touching the lines of the others."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from ruamel.yaml import YAML
from ruamel.yaml.composer import MaxDepthExceededError
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

__all__ = [
    "MAX_FRONTMATTER_LENGTH",
    "InvalidFrontmatter",
    "NoteParts",
    "change_properties",
    "dump_property",
    "read_properties",
    "split_note",
    "without_head",
]

MAX_FRONTMATTER_LENGTH = 65_536
"""Characters. No person writes longer frontmatter about a note."""

_MAX_VALUES = 10_000
_MAX_DEPTH = 50
_MAX_EXACT_INTEGER = 2**53
"""Beyond this, programs that read JSON into floating point change the number."""
_TAG = "tag:yaml.org,2002:"

_PLAIN = re.compile(r"[^\W\d_](?:[\w .()/@+-]*[\w)])?|\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?")
"""Words that begin with a letter, and dates."""
_YAML_RESERVED_WORDS = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_MAX_NAME_LENGTH = 1000
"""Characters; YAML searches no further for the colon behind a name, unless a question mark announces one."""


class InvalidFrontmatter(Exception):
    """The YAML cannot be used: ``line`` counts from 1 within it, ``reason`` ends a sentence about the note."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason


class Property(msgspec.Struct, frozen=True):
    """A name with its value, and the lines that it takes in the YAML text: from ``first`` to before ``end``."""

    name: str
    value: Any
    first: int
    end: int


def read_properties(text: str) -> list[Property] | None:
    """Return the properties in their order, or ``None`` where the YAML is text, a number or a list and names nothing.

    Raises:
        BadProperties: it is not YAML, names a property twice, or is larger than any person's.

    """
    if len(text) > MAX_FRONTMATTER_LENGTH:
        raise InvalidFrontmatter(
            1, f"has frontmatter of {len(text):,} characters; the limit is {MAX_FRONTMATTER_LENGTH:,}"
        )
    try:
        root = _parser().compose(text)
        if root is None:
            return []
        if not isinstance(root, MappingNode):
            return None
        return _top_level(root, text)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InvalidFrontmatter(
            line, f"has a character in its frontmatter that YAML does not allow: {error.reason}"
        ) from None
    except (MaxDepthExceededError, RecursionError):
        raise InvalidFrontmatter(1, "has frontmatter that is nested too deep") from None
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise InvalidFrontmatter(
            mark.line + 1 if mark else 1, f"has frontmatter that is not valid YAML: {problem}"
        ) from None
    except (ValueError, OverflowError):  # ruamel passes on what Python says to an escape such as "\UFFFFFFFF"
        raise InvalidFrontmatter(
            1, "has frontmatter that is not valid YAML: it escapes a character that is none"
        ) from None


def _parser() -> YAML:
    parser = YAML(typ="safe", pure=True)
    parser.max_depth = _MAX_DEPTH
    parser.composer.warn_double_anchors = False
    return parser


def _top_level(root: MappingNode, text: str) -> list[Property]:
    plain = _NodeConverter(text)
    names = plain.names(root)
    if names is None:
        raise InvalidFrontmatter(root.start_mark.line + 1, "has frontmatter whose properties have no plain names")
    starts = [name.start_mark.line for name, _ in root.value] + [text.count("\n") + 1]
    found = []
    for at, (name, (_, value)) in enumerate(zip(names, root.value, strict=True)):
        end = _last_line(text, starts[at], starts[at + 1])
        found.append(Property(name, plain.value(value, 0), starts[at], end))
    return found


def _last_line(text: str, first: int, following: int) -> int:
    """Return where a property ends: before the empty lines and comments that lead to the next one."""
    lines = text.split("\n")[first:following]
    while len(lines) > 1 and (not lines[-1].strip() or lines[-1].startswith("#")):
        lines.pop()
    return first + len(lines)


class _NodeConverter:
    """The way from YAML's nodes to values that JSON has, within a number of values."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.left = _MAX_VALUES

    def value(self, node: Node, depth: int) -> Any:  # noqa: ANN401 - whatever JSON has
        self.left -= 1
        if self.left < 0 or depth > _MAX_DEPTH:
            raise InvalidFrontmatter(
                node.start_mark.line + 1, f"has frontmatter that unfolds to more than {_MAX_VALUES:,} values"
            )
        if isinstance(node, SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        if isinstance(node, MappingNode):
            names = self.names(node)
            if names is None:
                # A template's {{date}} is a mapping whose name is a mapping: it stays as it is written.
                return self.text[node.start_mark.index : node.end_mark.index]
            values = (self.value(value, depth + 1) for _, value in node.value)
            return dict(zip(names, values, strict=True))
        return _scalar(_scalar_text(node), str(node.tag))

    def names(self, node: MappingNode) -> list[str] | None:
        """Return the names of a mapping, or ``None`` where one is a list or a mapping itself."""
        names: dict[str, None] = {}
        for name, _ in node.value:
            if not isinstance(name, ScalarNode):
                return None
            text = _scalar_text(name)
            if text in names:
                raise InvalidFrontmatter(name.start_mark.line + 1, f"names {text!r:.60} twice in its frontmatter")
            names[text] = None
        return list(names)


def _scalar_text(node: Node) -> str:
    """Return a scalar's text; its escapes may spell characters that no text can hold."""
    text = str(node.value)
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InvalidFrontmatter(node.start_mark.line + 1, "has a NUL or half a character in its frontmatter")
    return text


def _scalar(written: str, tag: str) -> str | int | float | bool | None:
    kind = tag.removeprefix(_TAG)
    if kind == "null":
        return None
    if kind == "bool" and written in ("true", "false"):
        return written == "true"
    try:
        if kind == "int" and str(number := int(written)) == written and abs(number) < _MAX_EXACT_INTEGER:
            return number
        if kind == "float" and repr(fraction := float(written)) == written and math.isfinite(fraction):
            return fraction
    except ValueError:
        pass  # such as 0x1f: as valid in YAML as it is unreadable here, so it stays text
    return written


def dump_property(name: str, value: Any) -> str:  # noqa: ANN401 - whatever JSON has
    """Return the lines that write a property, each with its line break; `read_properties` reads them as the same."""
    if isinstance(value, list) and value:
        return f"{_named(name)}\n" + "".join(f"- {_inline(one)}\n" for one in value)
    return f"{_named(name)} {_inline(value)}\n"


def _named(name: str) -> str:
    return f"{_text(name)}:" if len(name) < _MAX_NAME_LENGTH else f"? {_text(name)}\n:"


def _paired(name: str, value: Any) -> str:  # noqa: ANN401 - whatever JSON has
    return f"{'' if len(name) < _MAX_NAME_LENGTH else '? '}{_text(name)}: {_inline(value)}"


def _inline(value: Any) -> str:  # noqa: ANN401 - whatever JSON has
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(_inline(one) for one in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(_paired(name, one) for name, one in value.items())}}}"
    return json.dumps(value)


def _text(text: str) -> str:
    """Return a text as it is where every reader takes it for itself, else in double quotes."""
    if _PLAIN.fullmatch(text) and text.isprintable() and text.lower() not in _YAML_RESERVED_WORDS:
        return text
    return f'"{"".join(_quoted(letter) for letter in text)}"'


def _quoted(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"


_BYTE_ORDER_MARK = "\ufeff"
_HEAD = re.compile(r"(\ufeff?---[ \t]*\r?\n)((?:.*\n)*?)(---[ \t]*\r?(?:\n|\Z))")


class NoteParts(msgspec.Struct, frozen=True):
    """A note's text in four parts that together are the text again."""

    opening: str
    yaml: str
    closing: str
    body: str

    @property
    def head(self) -> str:
        """Everything before the body."""
        return self.opening + self.yaml + self.closing


def split_note(text: str) -> NoteParts:
    """Return the parts of a note; one that does not begin with a block between two ``---`` lines is all body."""
    match = _HEAD.match(text)
    if match is None:
        return without_head(text)
    return NoteParts(match[1], match[2], match[3], text[match.end() :])


def without_head(text: str) -> NoteParts:
    """Return the parts of a note that is all body, but for a byte order mark."""
    body = text.removeprefix(_BYTE_ORDER_MARK)
    return NoteParts(text[: len(text) - len(body)], "", "", body)


def change_properties(head: str, changes: Mapping[str, Any], line_break: str) -> str:
    """Return the head with some properties set, or removed where the change is ``None``.

    The lines of every other property, with their comments and quotes, stay as they are. Where the YAML is written so
    that a property cannot be replaced by itself (on one line in braces; with an alias to a value that goes), all of it
    is written anew. An empty head gains what it needs.
    """
    if not changes:
        return head
    if head in ("", _BYTE_ORDER_MARK):
        written = "".join(dump_property(name, value) for name, value in changes.items() if value is not None)
        return head + _with_breaks(f"---\n{written}---\n", line_break)
    parts = split_note(head)
    present = read_properties(parts.yaml) or []
    values = {known.name: known.value for known in present} | dict(changes)
    values = {name: value for name, value in values.items() if value is not None or name not in changes}
    lines = parts.yaml.split("\n")
    for known in reversed(present):
        if known.name in changes:
            lines[known.first : known.end] = _lines_of(known.name, changes[known.name], line_break)
    added = [name for name in changes if name in values and name not in {known.name for known in present}]
    lines[-1:-1] = [line for name in added for line in _lines_of(name, changes[name], line_break)]
    yaml = "\n".join(lines)
    if not _means(yaml, values):
        yaml = _with_breaks("".join(dump_property(name, value) for name, value in values.items()), line_break)
    return parts.opening + yaml + parts.closing


def _lines_of(name: str, value: Any, line_break: str) -> list[str]:  # noqa: ANN401 - whatever JSON has
    if value is None:
        return []
    return _with_breaks(dump_property(name, value), line_break).split("\n")[:-1]


def _with_breaks(text: str, line_break: str) -> str:
    return text if line_break == "\n" else text.replace("\n", line_break)


def _means(yaml: str, values: Mapping[str, Any]) -> bool:
    try:
        present = read_properties(yaml)
    except InvalidFrontmatter:
        return False
    return present is not None and {known.name: known.value for known in present} == values
