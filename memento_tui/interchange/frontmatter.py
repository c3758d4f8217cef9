"""A note's frontmatter: where it ends, and how to change a property without touching the lines of the others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from memento_tui.interchange.properties import BadProperties, dump_property, read_properties

__all__ = ["Split", "change_properties", "split_note", "without_head"]

_MARK = "\ufeff"
_HEAD = re.compile(r"(\ufeff?---[ \t]*\r?\n)((?:.*\n)*?)(---[ \t]*\r?(?:\n|\Z))")


class Split(msgspec.Struct, frozen=True):
    """A note's text in four parts that together are the text again."""

    opening: str
    yaml: str
    closing: str
    body: str

    @property
    def head(self) -> str:
        """Everything before the body."""
        return self.opening + self.yaml + self.closing


def split_note(text: str) -> Split:
    """Return the parts of a note; one that does not begin with two ``---`` lines around something is all body."""
    match = _HEAD.match(text)
    if match is None:
        return without_head(text)
    return Split(match[1], match[2], match[3], text[match.end() :])


def without_head(text: str) -> Split:
    """Return the parts of a note that is all body, but for a byte order mark."""
    body = text.removeprefix(_MARK)
    return Split(text[: len(text) - len(body)], "", "", body)


def change_properties(head: str, changes: Mapping[str, Any], line_break: str) -> str:
    """Return the head with some properties set, or removed where the change is ``None``.

    The lines of every other property, with their comments and quotes, stay as they are. Where the YAML is written so
    that a property cannot be replaced by itself (on one line in braces; with an alias to a value that goes), all of it
    is written anew. An empty head gains what it needs.
    """
    if not changes:
        return head
    if head in ("", _MARK):
        written = "".join(dump_property(name, value) for name, value in changes.items() if value is not None)
        return head + _with_breaks(f"---\n{written}---\n", line_break)
    parts = split_note(head)
    found = read_properties(parts.yaml) or []
    wanted = {one.name: one.value for one in found} | dict(changes)
    wanted = {name: value for name, value in wanted.items() if value is not None or name not in changes}
    lines = parts.yaml.split("\n")
    for one in reversed(found):
        if one.name in changes:
            lines[one.first : one.end] = _lines_of(one.name, changes[one.name], line_break)
    added = [name for name in changes if name in wanted and name not in {one.name for one in found}]
    lines[-1:-1] = [line for name in added for line in _lines_of(name, changes[name], line_break)]
    yaml = "\n".join(lines)
    if not _means(yaml, wanted):
        yaml = _with_breaks("".join(dump_property(name, value) for name, value in wanted.items()), line_break)
    return parts.opening + yaml + parts.closing


def _lines_of(name: str, value: Any, line_break: str) -> list[str]:  # noqa: ANN401 - whatever JSON has
    if value is None:
        return []
    return _with_breaks(dump_property(name, value), line_break).split("\n")[:-1]


def _with_breaks(text: str, line_break: str) -> str:
    return text if line_break == "\n" else text.replace("\n", line_break)


def _means(yaml: str, wanted: Mapping[str, Any]) -> bool:
    try:
        found = read_properties(yaml)
    except BadProperties:
        return False
    return found is not None and {one.name: one.value for one in found} == wanted
