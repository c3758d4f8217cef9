"""One Markdown note with its frontmatter: what it says, in the terms of a memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

import msgspec

from memento_tui.errors import InvalidField
from memento_tui.interchange import markdown
from memento_tui.interchange.frontmatter import Split, split_note, without_head
from memento_tui.interchange.names import one_line, usable_tags
from memento_tui.interchange.properties import read_properties
from memento_tui.records.memory import kind_of
from memento_tui.records.rules import MAX_LINE_LENGTH, MAX_TAGS
from memento_tui.records.when import parse_moment, parse_span

__all__ = ["LINK_PROPERTIES", "LONGEST_KIND", "Note", "moment_of", "read_note", "text_of", "texts_of"]

LINK_PROPERTIES: Mapping[str, str] = {
    "supersedes": "supersedes",
    "synthesized_from": "consolidated_from",
    "contradicts": "contradicts",
    "related": "related",
}
"""The properties that link to notes by a name alone, and the relation that each means."""

LONGEST_KIND = 100
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?!\d)")
_CREATED = ("date", "created", "created_at")
_UPDATED = ("updated", "modified", "updated_at")


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What a note's own text says; what it does not say is empty or ``None``."""

    parts: Split
    properties: dict[str, Any]
    content: str
    """The body, or, of a note that has properties only, those properties as lines."""
    title: str
    kind: str
    kind_raw: str
    tags: tuple[str, ...]
    """Those of the frontmatter."""
    body_tags: tuple[str, ...]
    """Those in the body that the frontmatter does not name."""
    certainty: int | None
    validity_context: str
    created_at: datetime | None
    updated_at: datetime | None
    links: tuple[tuple[str, str, str], ...]


def read_note(text: str, name: str) -> Note | None:
    """Return what the note says, or ``None`` where it has neither a body nor a property.

    Raises:
        BadProperties: the frontmatter cannot be used.

    """
    parts = split_note(text)
    found = read_properties(parts.yaml)
    if found is None:
        # What stands between the two lines is prose, a list or a number: two rules across a page, not frontmatter.
        parts, found = without_head(text), []
    properties = {one.name: one.value for one in found}
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
        validity_context=one_line(text_of(properties.get("validity-context")), MAX_LINE_LENGTH),
        created_at=_first_moment(properties, _CREATED) or _day_in(name),
        updated_at=_first_moment(properties, _UPDATED),
        links=_links(properties, plain),
    )


def text_of(value: object) -> str:
    """Return a property's value as it is written, the first one of a list; nothing where it is an object."""
    if isinstance(value, list):
        return text_of(value[0]) if value else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else ""


def texts_of(value: object) -> list[str]:
    """Return the values of a property that may hold one or a list."""
    values = value if isinstance(value, list) else [value]
    return [text for one in values if (text := text_of(one).strip())]


def _as_lines(properties: Mapping[str, Any]) -> str:
    def shown(value: object) -> str:
        if isinstance(value, list) and all(isinstance(one, (str, int, float)) for one in value):
            return ", ".join(text_of(one) for one in value)
        return msgspec.json.encode(value).decode() if isinstance(value, (list, dict)) else text_of(value)

    return "".join(f"{name}: {shown(value)}".rstrip() + "\n" for name, value in properties.items())


def _title(properties: Mapping[str, Any], body: str, name: str) -> str:
    if properties.get("title") == "":
        return ""
    given = text_of(properties.get("title"))
    return one_line(given or markdown.first_heading(body) or PurePosixPath(name).stem, MAX_LINE_LENGTH)


def _kind(value: object) -> tuple[str, str]:
    raw = text_of(value).strip()
    linked = markdown.wikilinks(raw)
    raw = one_line(linked[0].target if linked else raw, LONGEST_KIND)
    return kind_of(raw) if raw else ("fact", "")


def _own_tags(properties: Mapping[str, Any]) -> tuple[str, ...]:
    value = properties.get("tags", properties.get("tag"))
    words = re.split(r"[,\s]+", value) if isinstance(value, str) else texts_of(value)
    return usable_tags(word.strip().lstrip("#") for word in words)


def _body_tags(plain: str, own: Iterable[str]) -> tuple[str, ...]:
    known = {tag.casefold() for tag in own}
    found = usable_tags(tag for tag in markdown.tags(plain) if tag.casefold() not in known)
    return found[: max(0, MAX_TAGS - len(known))]


def _certainty(value: object) -> int | None:
    text = text_of(value)
    return int(text) if text in ("1", "2", "3", "4", "5") else None


def moment_of(value: object) -> datetime | None:
    """Return the moment that a property names, or ``None`` where it names none."""
    # A span such as 7d is a moment in other places; in a note's date it would lie in the future.
    if not isinstance(value, str) or parse_span(value) is not None:
        return None
    try:
        return parse_moment(value, "date")
    except InvalidField:
        return None


def _first_moment(properties: Mapping[str, Any], names: Iterable[str]) -> datetime | None:
    return next((moment for name in names if (moment := moment_of(properties.get(name)))), None)


def _day_in(name: str) -> datetime | None:
    match = _DAY.match(PurePosixPath(name).name)
    return moment_of(match[0]) if match else None


def _links(properties: Mapping[str, Any], plain: str) -> tuple[tuple[str, str, str], ...]:
    found: dict[tuple[str, str], str] = {}
    for name, value in properties.items():
        relation = LINK_PROPERTIES.get(name)
        for text in _texts_within(value):
            named = markdown.links(text) or ([markdown.Link(text.strip(), "")] if relation and text.strip() else [])
            for link in named:
                label = link.label if relation else name
                found.setdefault((relation or "related", one_line(link.target, MAX_LINE_LENGTH)), label)
    for link in markdown.links(plain):
        found.setdefault(("related", one_line(link.target, MAX_LINE_LENGTH)), link.label)
    return tuple((relation, target, one_line(label, MAX_LINE_LENGTH)) for (relation, target), label in found.items())


def _texts_within(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for one in value for text in _texts_within(one)]
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts_within(one)]
    return []
