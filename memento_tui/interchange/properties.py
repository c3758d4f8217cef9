"""The YAML between a note's first two ``---`` lines, as plain values and as the lines that each property takes.

The text is a stranger's. So it is parsed into nodes only, never into objects; a date stays the text that was written,
and so does a number that would be written differently on the way back (``007``, ``1.10``); the number of values and
the depth have a limit that counts every use of an alias.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import msgspec
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

__all__ = ["LONGEST", "BadProperties", "Property", "dump_property", "read_properties"]

LONGEST = 65_536
"""Characters. Longer frontmatter is not something that a person wrote about a note."""

_MOST_VALUES = 10_000
_DEEPEST = 50
_EXACT_INTEGER = 2**53
"""Beyond this, programs that read JSON into floating point change the number."""
_TAG = "tag:yaml.org,2002:"

_PLAIN = re.compile(r"[^\W\d_](?:[\w .()/@+-]*[\w)])?|\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?")
"""Words that begin with a letter, and dates."""
_WORDS_OF_YAML = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_LONGEST_NAME = 1000
"""Characters; YAML looks no further for the colon behind a name unless it is told that one comes."""


class BadProperties(Exception):
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
    if len(text) > LONGEST:
        raise BadProperties(1, f"has frontmatter of {len(text):,} characters; the limit is {LONGEST:,}")
    try:
        root = _parser().compose(text)
        if root is None:
            return []
        if not isinstance(root, MappingNode):
            return None
        return _top_level(root, text)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BadProperties(
            line, f"has a character in its frontmatter that YAML does not allow: {error.reason}"
        ) from None
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise BadProperties(
            mark.line + 1 if mark else 1, f"has frontmatter that is not valid YAML: {problem}"
        ) from None
    except RecursionError:
        raise BadProperties(1, "has frontmatter that is nested too deep") from None
    except (ValueError, OverflowError):  # ruamel passes on what Python says to an escape such as "\UFFFFFFFF"
        raise BadProperties(1, "has frontmatter that is not valid YAML: it escapes a character that is none") from None


def _parser() -> YAML:
    parser = YAML(typ="safe", pure=True)
    parser.max_depth = _DEEPEST
    parser.composer.warn_double_anchors = False
    return parser


def _top_level(root: MappingNode, text: str) -> list[Property]:
    plain = _Plain(text)
    names = plain.names(root)
    if names is None:
        raise BadProperties(root.start_mark.line + 1, "has frontmatter whose properties have no plain names")
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


class _Plain:
    """The way from YAML's nodes to values that JSON has, within a number of values."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.left = _MOST_VALUES

    def value(self, node: Node, depth: int) -> Any:  # noqa: ANN401 - whatever JSON has
        self.left -= 1
        if self.left < 0 or depth > _DEEPEST:
            raise BadProperties(
                node.start_mark.line + 1, f"has frontmatter that unfolds to more than {_MOST_VALUES:,} values"
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
        return _scalar(_text_in(node), str(node.tag))

    def names(self, node: MappingNode) -> list[str] | None:
        """Return the names of a mapping, or ``None`` where one is a list or a mapping itself."""
        names: dict[str, None] = {}
        for name, _ in node.value:
            if not isinstance(name, ScalarNode):
                return None
            text = _text_in(name)
            if text in names:
                raise BadProperties(name.start_mark.line + 1, f"names {text!r:.60} twice in its frontmatter")
            names[text] = None
        return list(names)


def _text_in(node: Node) -> str:
    """Return a scalar's text; its escapes may spell what no text can hold."""
    text = str(node.value)
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise BadProperties(node.start_mark.line + 1, "has a NUL or half a character in its frontmatter")
    return text


def _scalar(written: str, tag: str) -> str | int | float | bool | None:
    kind = tag.removeprefix(_TAG)
    if kind == "null":
        return None
    if kind == "bool" and written in ("true", "false"):
        return written == "true"
    try:
        if kind == "int" and str(number := int(written)) == written and abs(number) < _EXACT_INTEGER:
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
    return f"{_text(name)}:" if len(name) < _LONGEST_NAME else f"? {_text(name)}\n:"


def _paired(name: str, value: Any) -> str:  # noqa: ANN401 - whatever JSON has
    return f"{'' if len(name) < _LONGEST_NAME else '? '}{_text(name)}: {_inline(value)}"


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
    if _PLAIN.fullmatch(text) and text.isprintable() and text.lower() not in _WORDS_OF_YAML:
        return text
    return f'"{"".join(_quoted(letter) for letter in text)}"'


def _quoted(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"
