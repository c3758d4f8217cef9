"""The memory of the MCP reference server: ``memory.jsonl``, a graph of entities and relations, one a line.

An entity is a memory: its name is the title, its observations are the lines of the content. A relation is a relation of
type ``related`` whose label is the relation's type. One that begins at a name that no entity has is a memory as well,
for it is all that the graph knows of that name.

Servers that came after the reference one write the same lines with more fields, or without ``type``; both are read.
What memento has no place for is kept in ``extra["mcp-reference"]``: the entity's own object, and the objects of the
relations that begin at it, each with its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.interchange.incoming import Incoming, Refused, source_digest
from memento_tui.interchange.lines import Line, count_lines, objects
from memento_tui.interchange.names import one_line
from memento_tui.interchange.note import LONGEST_KIND
from memento_tui.interchange.restoring import moment_in, without
from memento_tui.interchange.tree import SourceFile, walk
from memento_tui.records.memory import kind_of
from memento_tui.records.rules import MAX_LINE_LENGTH

__all__ = ["KEPT", "content_of", "count", "is_label", "is_line_of", "kind_fields", "read", "title_of", "triple"]

KEPT = "mcp-reference"
"""The key of ``extra`` for what only this format knows."""

_SUFFIX = ".jsonl"
_MOMENTS = (("createdAt", "created_at"), ("updatedAt", "updated_at"))


class _Graph(msgspec.Struct):
    """What has to be known of a whole file before its first entity can be told."""

    names: dict[str, None] = msgspec.field(default_factory=dict)
    relations: dict[str, list[Line]] = msgspec.field(default_factory=dict)
    """By the entity that they begin at."""


def count(root: Path) -> int:
    """Return the number of lines, those of relations among them."""
    return count_lines(root, _SUFFIX)


def read(root: Path) -> Iterator[Incoming | Refused]:
    """Yield the entities of one file, or of every ``.jsonl`` file in a folder, each file a graph of its own.

    Each file is read twice; what is held at a time are names and relations, not observations.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    keys: set[str] = set()
    for found in walk(root, _SUFFIX, hidden=True):
        if isinstance(found, Refused):
            yield found
        else:
            yield from _read_file(found, keys)


def is_line_of(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is an entity or a relation of this format."""
    return _is_entity(value) or _is_relation(value)


def _is_entity(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("name"), str) and value.get("type", "entity") == "entity" and "observations" in value


def _is_relation(value: Mapping[str, Any]) -> bool:
    ends = (value.get("from"), value.get("to"), value.get("relationType"))
    return all(isinstance(end, str) for end in ends) and value.get("type", "relation") == "relation"


def _read_file(file: SourceFile, keys: set[str]) -> Iterator[Incoming | Refused]:
    graph = _survey(file)
    keys_here = {name: _free(name, keys) for name in graph.names}
    read_already: set[str] = set()
    for line in objects(file, "type"):
        if isinstance(line, Refused):
            yield line
        elif _is_entity(line.value):
            name = line.value["name"]
            if name in read_already:
                yield _entity(line, file.name, _free(name, keys), (), keys_here)
            else:
                read_already.add(name)
                yield _entity(line, file.name, keys_here[name], graph.relations.get(name, ()), keys_here)
        elif not _is_relation(line.value):
            yield Refused(file.name, line.number, "is neither an entity nor a relation")
        elif line.value["from"] not in graph.names:
            yield _loose(line, file.name, keys)


def _survey(file: SourceFile) -> _Graph:
    graph = _Graph()
    for line in objects(file, "type"):
        if isinstance(line, Refused):
            continue
        if _is_entity(line.value):
            graph.names[line.value["name"]] = None
        elif _is_relation(line.value):
            graph.relations.setdefault(line.value["from"], []).append(line)
    return graph


def _free(name: str, keys: set[str]) -> str:
    """Return a key that no other record of the source has, and take it."""
    key = name
    while key in keys:
        key += "@"
    keys.add(key)
    return key


def title_of(name: str) -> str:
    """Return the title of the memory that an entity with this name becomes."""
    return one_line(name, MAX_LINE_LENGTH)


def content_of(observations: object, name: str) -> str:
    """Return the content of a memory with these observations: a line each, and the name where they say nothing."""
    lines = [_text(one) for one in observations] if isinstance(observations, list) else []
    content = "\n".join(lines)
    return content if content.strip() else name


def _text(observation: object) -> str:
    return observation if isinstance(observation, str) else msgspec.json.encode(observation).decode()


def kind_fields(entity_type: object) -> tuple[str, str]:
    """Return the kind and raw kind of a memory whose entity has this type."""
    raw = one_line(entity_type, LONGEST_KIND) if isinstance(entity_type, str) else ""
    return kind_of(raw) if raw else ("fact", "")


def is_label(relation_type: str) -> bool:
    """Tell whether a relation of memento can carry the type as its label."""
    return len(relation_type) <= MAX_LINE_LENGTH and not any(mark in relation_type for mark in "\n\r\x00")


def triple(relation: Mapping[str, Any]) -> str:
    """Return a relation as a sentence of its three parts."""
    return f"{relation['from']} {relation['relationType']} {relation['to']}"


def _entity(
    line: Line, file: str, key: str, relations: tuple[Line, ...] | list[Line], keys: Mapping[str, str]
) -> Incoming:
    value = line.value
    kind, kind_raw = kind_fields(value.get("entityType"))
    content = content_of(value["observations"], value["name"])
    kept: dict[str, Any] = {"entity": without(value, "observations")}
    if content.split("\n") != value["observations"]:
        kept["entity"]["observations"] = value["observations"]
    if relations:
        kept["relations"] = [{"line": one.number, "relation": one.value} for one in relations]
    return Incoming(
        key=key,
        record="memory",
        fields={
            "title": title_of(value["name"]),
            "content": content,
            "kind": kind,
            "kind_raw": kind_raw,
            "source_type": "derived",
            **_moments(value),
            "extra": {KEPT: kept},
        },
        digest=source_digest(b"\n".join([line.source, *(one.source for one in relations)])),
        file=file,
        line=line.number,
        links=tuple(
            dict.fromkeys(
                ("related", keys[one.value["to"]], one.value["relationType"])
                for one in relations
                if one.value["to"] in keys and is_label(one.value["relationType"])
            )
        ),
    )


def _moments(value: Mapping[str, Any]) -> dict[str, Any]:
    moments = ((field, moment_in(value.get(name))) for name, field in _MOMENTS)
    return {field: moment for field, moment in moments if moment is not None}


def _loose(line: Line, file: str, keys: set[str]) -> Incoming:
    return Incoming(
        key=_free(f"relation {triple(line.value)}", keys),
        record="memory",
        fields={
            "content": triple(line.value),
            "source_type": "derived",
            **_moments(line.value),
            "extra": {KEPT: {"relations": [{"line": line.number, "relation": line.value}]}},
        },
        digest=source_digest(line.source),
        file=file,
        line=line.number,
    )
