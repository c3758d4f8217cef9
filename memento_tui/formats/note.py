"""Parse one Markdown note into the fields of a memory, and resolve which note a link means."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

import msgspec

from memento_tui.errors import InvalidField
from memento_tui.formats.base import MAX_KIND_LENGTH, one_line, usable_tags
from memento_tui.formats.frontmatter import NoteParts, read_properties, split_note, without_head
from memento_tui.model.memory import parse_kind
from memento_tui.model.validation import MAX_LINE_LENGTH, MAX_TAGS, fold_tag
from memento_tui.moments import parse_moment, parse_span
from memento_tui.text import markdown
from memento_tui.text.near_names import folded

__all__ = [
    "LINK_PROPERTIES",
    "LinkTargets",
    "Note",
    "property_moment",
    "property_text",
    "property_texts",
    "read_note",
]

LINK_PROPERTIES: Mapping[str, str] = {
    "supersedes": "supersedes",
    "synthesized_from": "consolidated_from",
    "contradicts": "contradicts",
    "related": "related",
}
"""The properties that link to notes by a name alone, and the relation that each means."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_CREATED = ("date", "created", "created_at")
_UPDATED = ("updated", "modified", "updated_at")


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """The content and the properties of a note; a part that the note does not give is empty or ``None``."""

    parts: NoteParts
    properties: dict[str, Any]
    content: str
    """The body, or, of a note that has properties only, those properties as lines."""
    title: str
    kind: str
    kind_raw: str
    tags: tuple[str, ...]
    """The tags of the frontmatter."""
    body_tags: tuple[str, ...]
    """The tags in the body that the frontmatter does not name."""
    certainty: int | None
    validity_context: str
    created_at: datetime | None
    updated_at: datetime | None
    links: tuple[tuple[str, str, str], ...]


def read_note(text: str, name: str) -> Note | None:
    """Return the note of a text, or ``None`` where it has neither a body nor a property.

    Raises:
        InvalidFrontmatter: the frontmatter cannot be used.

    """
    parts = split_note(text)
    known = read_properties(parts.yaml)
    if known is None:
        # What stands between the two lines is prose, a list or a number: two rules across a page, not frontmatter.
        parts, known = without_head(text), []
    properties = {entry.name: entry.value for entry in known}
    body = parts.body
    if not body.strip() and not properties:
        return None
    plain = markdown.without_code(body)
    own_tags = _own_tags(properties)
    kind, kind_raw = _kind(properties.get("type"))
    return Note(
        parts=parts,
        properties=properties,
        content=body if body.strip() else _as_lines(properties),
        title=_title(properties, body, name),
        kind=kind,
        kind_raw=kind_raw,
        tags=own_tags,
        body_tags=_body_tags(plain, own_tags),
        certainty=_certainty(properties.get("certainty")),
        validity_context=one_line(property_text(properties.get("validity-context")), MAX_LINE_LENGTH),
        created_at=_first_moment(properties, _CREATED) or _day_in(name),
        updated_at=_first_moment(properties, _UPDATED),
        links=_links(properties, plain),
    )


def property_text(value: object) -> str:
    """Return a property's value as it is written, the first one of a list; nothing where it is an object."""
    if isinstance(value, list):
        return property_text(value[0]) if value else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else ""


def property_texts(value: object) -> list[str]:
    """Return the values of a property that may hold one or a list."""
    values = value if isinstance(value, list) else [value]
    return [text for entry in values if (text := property_text(entry).strip())]


def _as_lines(properties: Mapping[str, Any]) -> str:
    def shown(value: object) -> str:
        if isinstance(value, list) and all(isinstance(entry, (str, int, float)) for entry in value):
            return ", ".join(property_text(entry) for entry in value)
        return msgspec.json.encode(value).decode() if isinstance(value, (list, dict)) else property_text(value)

    return "".join(f"{name}: {shown(value)}".rstrip() + "\n" for name, value in properties.items())


def _title(properties: Mapping[str, Any], body: str, name: str) -> str:
    if properties.get("title") == "":
        return ""
    given = property_text(properties.get("title"))
    return one_line(given or markdown.first_heading(body) or PurePosixPath(name).stem, MAX_LINE_LENGTH)


def _kind(value: object) -> tuple[str, str]:
    raw = property_text(value).strip()
    linked = markdown.find_wikilinks(raw)
    raw = one_line(linked[0].target if linked else raw, MAX_KIND_LENGTH)
    return parse_kind(raw) if raw else ("fact", "")


def _own_tags(properties: Mapping[str, Any]) -> tuple[str, ...]:
    value = properties.get("tags", properties.get("tag"))
    words = re.split(r"[,\s]+", value) if isinstance(value, str) else property_texts(value)
    return usable_tags(word.strip().lstrip("#") for word in words)


def _body_tags(plain: str, own: Iterable[str]) -> tuple[str, ...]:
    known = set(map(fold_tag, own))
    tags = usable_tags(tag for tag in markdown.find_tags(plain) if fold_tag(tag) not in known)
    return tags[: max(0, MAX_TAGS - len(known))]


def _certainty(value: object) -> int | None:
    text = property_text(value)
    return int(text) if text in ("1", "2", "3", "4", "5") else None


def property_moment(value: object) -> datetime | None:
    """Return the moment that a property names, or ``None`` where it names none."""
    # A span such as 7d is a moment in other places; in a note's date it would lie in the future.
    if not isinstance(value, str) or parse_span(value) is not None:
        return None
    try:
        return parse_moment(value, "date")
    except InvalidField:
        return None


def _first_moment(properties: Mapping[str, Any], names: Iterable[str]) -> datetime | None:
    return next((moment for name in names if (moment := property_moment(properties.get(name)))), None)


def _day_in(name: str) -> datetime | None:
    match = _DAY.match(PurePosixPath(name).name)
    return property_moment(match[0]) if match else None


def _links(properties: Mapping[str, Any], plain: str) -> tuple[tuple[str, str, str], ...]:
    labels: dict[tuple[str, str], str] = {}
    for name, value in properties.items():
        relation = LINK_PROPERTIES.get(name)
        for text in _texts_within(value):
            links = markdown.find_links(text) or (
                [markdown.NoteLink(text.strip(), "")] if relation and text.strip() else []
            )
            for link in links:
                label = link.label if relation else name
                labels.setdefault((relation or "related", one_line(link.target, MAX_LINE_LENGTH)), label)
    for link in markdown.find_links(plain):
        labels.setdefault(("related", one_line(link.target, MAX_LINE_LENGTH)), link.label)
    return tuple((relation, target, one_line(label, MAX_LINE_LENGTH)) for (relation, target), label in labels.items())


def _texts_within(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for entry in value for text in _texts_within(entry)]
    if isinstance(value, dict):
        return [text for entry in value.values() for text in _texts_within(entry)]
    return []


_SUFFIX = ".md"


class LinkTargets:
    """The notes that links can mean, each with its key (its path), and the other names that it goes by."""

    def __init__(self) -> None:
        self._keys: set[str] = set()
        self._by_path: dict[str, list[str]] = {}
        self._by_name: dict[str, list[str]] = {}

    def add(self, key: str, names: Iterable[str] = ()) -> None:
        """Add the note ``key`` as a target, under its path, its file name and each of ``names`` (title, aliases)."""
        self._keys.add(key)
        self._by_path.setdefault(_without_suffix(posixpath.basename(key)), []).append(key)
        for name in names:
            if name.strip():
                self._by_name.setdefault(folded(name.strip()), []).append(key)

    def add_note(self, key: str, title: str, properties: Mapping[str, Any]) -> None:
        """Add a note that was read as a target, under its title and the names in its properties as well."""
        names = [
            *property_texts(properties.get("aliases")),
            *property_texts(properties.get("alias")),
            property_text(properties.get("name")),
        ]
        self.add(key, [title, *names])

    def resolve(self, written: str, source: str = "") -> str | None:
        """Return the key that a link written in the note ``source`` means, or ``None``.

        In this order: the key itself; the path from the folder of ``source``; a path that ends so (the fewest folders
        first, those of ``source`` before all others); a title or alias. Case does not matter but for a key.
        """
        if written in self._keys:
            return written
        path = _without_suffix(written.lstrip("/"))
        beside = _without_suffix(posixpath.normpath(posixpath.join(posixpath.dirname(source), written)))
        candidates = self._by_path.get(posixpath.basename(path), [])
        ending = [key for key in candidates if f"/{_without_suffix(key)}".endswith(f"/{path}")]
        near = [key for key in candidates if _without_suffix(key) == beside]
        by_title = self._by_name.get(folded(written.strip()), [])
        folder = posixpath.dirname(source)
        for keys in (near, ending, by_title):
            if keys:
                return min(keys, key=lambda key: (posixpath.dirname(key) != folder, key.count("/"), key))
        return None


def _without_suffix(path: str) -> str:
    return folded(path).removesuffix(_SUFFIX)
