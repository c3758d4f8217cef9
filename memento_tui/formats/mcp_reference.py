"""Read and write memory.jsonl of the MCP reference server: entities and relations, one a line."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.formats.base import (
    MAX_KIND_LENGTH,
    ExportRecord,
    ExportReport,
    Format,
    ImportRecord,
    Refused,
    check_absent,
    one_line,
    source_digest,
    write_file,
)
from memento_tui.formats.columns import (
    Column,
    ColumnGroup,
    Fields,
    foreign_moment_column,
    is_exported,
    kept_fields,
    new_row_column,
    read_fields,
    record_fields,
    restore_row,
    without_keys,
    write_row,
)
from memento_tui.formats.source_files import JsonLine, SourceFile, count_lines, read_objects, walk_files
from memento_tui.model import Memory, Relation
from memento_tui.model.memory import parse_kind
from memento_tui.model.validation import MAX_LINE_LENGTH

__all__ = ["FORMAT", "count", "is_line", "read", "title_of", "write"]

EXTRA_KEY = "mcp-reference"
"""The key of ``extra`` for the data that only this format has a place for."""

_SUFFIX = ".jsonl"


class _SourceGraph(msgspec.Struct):
    """The index of a whole file that is needed before its first entity can be read."""

    names: dict[str, None] = msgspec.field(default_factory=dict)
    relations: dict[str, list[JsonLine]] = msgspec.field(default_factory=dict)
    """By the entity that they begin at."""


def count(root: Path) -> int:
    """Return the number of lines, those of relations among them."""
    return count_lines(root, _SUFFIX)


def read(root: Path) -> Iterator[ImportRecord | Refused]:
    """Yield the entities of one file, or of every ``.jsonl`` file in a folder, each file a graph of its own.

    Each file is read twice; what is held at a time are names and relations, not observations.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    keys: set[str] = set()
    for source in walk_files(root, _SUFFIX, hidden=True):
        if isinstance(source, Refused):
            yield source
        else:
            yield from _read_file(source, keys)


def is_line(value: Mapping[str, Any]) -> bool:
    """Return whether an object is an entity or a relation of this format."""
    return _is_entity(value) or _is_relation(value)


def _is_entity(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("name"), str) and value.get("type", "entity") == "entity" and "observations" in value


def _is_relation(value: Mapping[str, Any]) -> bool:
    ends = (value.get("from"), value.get("to"), value.get("relationType"))
    return all(isinstance(end, str) for end in ends) and value.get("type", "relation") == "relation"


def _read_file(file: SourceFile, keys: set[str]) -> Iterator[ImportRecord | Refused]:
    graph = _index_file(file)
    keys_here = {name: _take_unique_key(name, keys) for name in graph.names}
    read_already: set[str] = set()
    for line in read_objects(file, "type"):
        if isinstance(line, Refused):
            yield line
        elif _is_entity(line.value):
            name = line.value["name"]
            if name in read_already:
                yield _memory_from_entity(line, file.name, _take_unique_key(name, keys), (), keys_here)
            else:
                read_already.add(name)
                yield _memory_from_entity(line, file.name, keys_here[name], graph.relations.get(name, ()), keys_here)
        elif not _is_relation(line.value):
            yield Refused(file.name, line.number, "is neither an entity nor a relation")
        elif line.value["from"] not in graph.names:
            yield _memory_from_relation(line, file.name, keys)


def _index_file(file: SourceFile) -> _SourceGraph:
    graph = _SourceGraph()
    for line in read_objects(file, "type"):
        if isinstance(line, Refused):
            continue
        if _is_entity(line.value):
            graph.names[line.value["name"]] = None
        elif _is_relation(line.value):
            graph.relations.setdefault(line.value["from"], []).append(line)
    return graph


def _take_unique_key(name: str, keys: set[str]) -> str:
    """Return a key that no other record of the source has, and take it."""
    key = name
    while key in keys:
        key += "@"
    keys.add(key)
    return key


def title_of(name: str) -> str:
    """Return the title of the memory that an entity with this name becomes."""
    return one_line(name, MAX_LINE_LENGTH)


def _content_of(observations: object, name: str) -> str:
    """Return the content of a memory with these observations: a line each, and the name where they are empty."""
    lines = [_text(observation) for observation in observations] if isinstance(observations, list) else []
    content = "\n".join(lines)
    return content if content.strip() else name


def _text(observation: object) -> str:
    return observation if isinstance(observation, str) else msgspec.json.encode(observation).decode()


def _is_label(relation_type: str) -> bool:
    """Return whether a relation of memento can carry the type as its label."""
    return len(relation_type) <= MAX_LINE_LENGTH and not any(mark in relation_type for mark in "\n\r\x00")


def relation_sentence(relation: Mapping[str, Any]) -> str:
    """Return a relation as a sentence of its three parts."""
    return f"{relation['from']} {relation['relationType']} {relation['to']}"


def _memory_from_entity(
    line: JsonLine, file: str, key: str, relations: tuple[JsonLine, ...] | list[JsonLine], keys: Mapping[str, str]
) -> ImportRecord:
    value = line.value
    fields = {"kind": "fact", **read_fields((*_ENTITY_COLUMNS, *_MOMENT_COLUMNS), value)}
    kept: dict[str, Any] = {"entity": without_keys(value, "observations")}
    if fields["content"].split("\n") != value["observations"]:
        kept["entity"]["observations"] = value["observations"]
    if relations:
        kept["relations"] = [{"line": relation.number, "relation": relation.value} for relation in relations]
    return ImportRecord(
        key=key,
        record="memory",
        fields={"source_type": "derived", **fields, "extra": {EXTRA_KEY: kept}},
        digest=source_digest(b"\n".join([line.source, *(relation.source for relation in relations)])),
        file=file,
        line=line.number,
        links=tuple(
            dict.fromkeys(
                ("related", keys[relation.value["to"]], relation.value["relationType"])
                for relation in relations
                if relation.value["to"] in keys and _is_label(relation.value["relationType"])
            )
        ),
    )


def _memory_from_relation(line: JsonLine, file: str, keys: set[str]) -> ImportRecord:
    return ImportRecord(
        key=_take_unique_key(f"relation {relation_sentence(line.value)}", keys),
        record="memory",
        fields={
            "content": relation_sentence(line.value),
            "source_type": "derived",
            **read_fields(_MOMENT_COLUMNS, line.value),
            "extra": {EXTRA_KEY: {"relations": [{"line": line.number, "relation": line.value}]}},
        },
        digest=source_digest(line.source),
        file=file,
        line=line.number,
    )


def _observations_of(content: str, entity: Mapping[str, Any]) -> list[Any]:
    """Return the observations of a content: those of the source that it still holds, and otherwise one a line."""
    if not entity:
        return [content]
    given = entity.get("observations")
    if not isinstance(given, list):
        return content.split("\n")
    if content == _content_of(given, entity["name"]):
        return given
    longer = [observation for observation in given if isinstance(observation, str) and "\n" in observation]
    observations: list[str] = []
    rest: str | None = content
    while rest is not None:
        whole = next(
            (observation for observation in longer if rest == observation or rest.startswith(f"{observation}\n")),
            rest.split("\n", 1)[0],
        )
        observations.append(whole)
        rest = rest[len(whole) + 1 :] if len(rest) > len(whole) else None
    return observations


def _read_kind(entity_type: object) -> Fields:
    raw = one_line(entity_type, MAX_KIND_LENGTH) if isinstance(entity_type, str) else ""
    kind, kind_raw = parse_kind(raw) if raw else ("fact", "")
    return {"kind": kind, "kind_raw": kind_raw}


_MOMENT_COLUMNS = (
    foreign_moment_column("createdAt", "created_at"),
    foreign_moment_column("updatedAt", "updated_at"),
)
_ENTITY_COLUMNS: tuple[Column | ColumnGroup, ...] = (
    new_row_column("type", lambda _: "entity"),
    Column("name", lambda value: {"title": title_of(value)}, lambda fields, _: fields["name"]),
    Column("entityType", _read_kind, lambda fields, _: fields["kind_raw"] or fields["kind"]),
    ColumnGroup(
        lambda entity: {"content": _content_of(entity["observations"], entity["name"])},
        lambda fields, entity: {"observations": _observations_of(fields["content"], entity)},
    ),
)
"""For writing, the fields hold the ``name`` that the entity is to have. A new entity has no moments."""


_Edge = tuple[str, str]
"""The end of a relation of memento, and its label."""


def write(records: Iterable[ExportRecord], root: Path) -> ExportReport:
    """Write memories and the relations between them to the file ``root``.

    The format keeps a memory's title, text and kind. A record that came from such a file and was not changed is written
    as it was; other memories become one observation each.

    Raises:
        InvalidInput: the file is there already, or cannot be written.

    """
    check_absent(root)
    memories: list[Memory] = []
    gone: set[str] = set()
    edges: dict[str, dict[_Edge, None]] = {}
    left_out = 0
    for record in records:
        if isinstance(record, Memory) and is_exported(record, EXTRA_KEY):
            memories.append(record)
        elif isinstance(record, Memory):
            gone.add(_entity_of(kept_fields(record, EXTRA_KEY)).get("name", ""))
            left_out += 1
        elif isinstance(record, Relation) and record.type not in ("file", "item"):
            edges.setdefault(record.src, {})[record.dst, record.label or record.type] = None
        else:
            left_out += 1
    graph = _ExportGraph(memories, gone, edges)
    lines = [*graph.entities(), *graph.relations()]
    write_file(root, (msgspec.json.encode(line) + b"\n" for line in lines))
    return ExportReport(records=len(lines), files=1, left_out=left_out)


class _ExportGraph:
    """The memories of an export by the names that they have as entities."""

    def __init__(self, memories: list[Memory], gone: Container[str], edges: Mapping[str, Mapping[_Edge, None]]) -> None:
        self._gone = gone
        self._arrows = edges
        loose = {memory.id for memory in memories if _is_standalone_relation(memory)}
        self._loose = [memory for memory in memories if memory.id in loose]
        self._memories = [memory for memory in memories if memory.id not in loose]
        self._kept = {memory.id: kept_fields(memory, EXTRA_KEY) for memory in self._memories}
        self._names: dict[str, str] = {}
        self._by_old_name: dict[str, str] = {}
        taken: set[str] = set()
        for memory in self._memories:
            old = _entity_of(self._kept[memory.id]).get("name")
            if isinstance(old, str):
                self._by_old_name.setdefault(old, memory.id)
            if isinstance(old, str) and title_of(old) == memory.title:
                name = old
            else:
                name = memory.headline if memory.headline not in taken else f"{memory.headline} ({memory.id})"
            taken.add(name)
            self._names[memory.id] = name

    def entities(self) -> Iterator[dict[str, Any]]:
        """Yield the lines of the entities."""
        for memory in self._memories:
            fields = {**record_fields(memory), "name": self._names[memory.id]}
            if entity := _entity_of(self._kept[memory.id]):
                yield restore_row((*_ENTITY_COLUMNS, *_MOMENT_COLUMNS), fields, entity)
            else:
                yield write_row(_ENTITY_COLUMNS, fields, {})

    def relations(self) -> list[dict[str, Any]]:
        """Return the lines of the relations: those of a file in its order, then those that were drawn here."""
        old: list[tuple[int, dict[str, Any]]] = []
        new: list[dict[str, Any]] = []
        for memory in self._memories:
            drawn = self._arrows.get(memory.id, {})
            kept_edges: set[_Edge] = set()
            for line, relation in _relations_of(self._kept[memory.id]):
                if self._still_holds(memory, relation, drawn, kept_edges):
                    target = self._names.get(self._by_old_name.get(relation["to"], ""), relation["to"])
                    old.append((line, {**relation, "from": self._names[memory.id], "to": target}))
            new += [
                {"type": "relation", "from": self._names[memory.id], "to": self._names[dst], "relationType": label}
                for dst, label in drawn
                if dst in self._names and (dst, label) not in kept_edges
            ]
        for memory in self._loose:
            old += _relations_of(kept_fields(memory, EXTRA_KEY))
        return [relation for _, relation in sorted(old, key=lambda pair: pair[0])] + new

    def _still_holds(
        self, memory: Memory, relation: Mapping[str, Any], drawn: Container[_Edge], kept_edges: set[_Edge]
    ) -> bool:
        """Return whether a relation of the source stands; add to ``kept_edges`` the relation of memento that it became.

        One that memento could not draw (to a name that is no memory, or to itself) cannot have been taken away here.
        """
        target = self._by_old_name.get(relation["to"])
        if target is None:
            return relation["to"] not in self._gone
        if target == memory.id or not _is_label(relation["relationType"]):
            return True
        edge = (target, relation["relationType"] or "related")
        kept_edges.add(edge)
        return edge in drawn


def _is_standalone_relation(memory: Memory) -> bool:
    """Return whether a memory stands for a relation that begins at no entity, and still has its text."""
    kept = kept_fields(memory, EXTRA_KEY)
    relations = _relations_of(kept)
    return "entity" not in kept and len(relations) == 1 and relation_sentence(relations[0][1]) == memory.content


def _entity_of(kept: Mapping[str, Any]) -> dict[str, Any]:
    entity = kept.get("entity")
    return entity if isinstance(entity, dict) and isinstance(entity.get("name"), str) else {}


def _relations_of(kept: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    given = kept.get("relations")
    whole = given if isinstance(given, list) else []
    pairs = [(entry.get("line"), entry.get("relation")) for entry in whole if isinstance(entry, dict)]
    return [
        (line, relation)
        for line, relation in pairs
        if isinstance(line, int)
        and isinstance(relation, dict)
        and all(isinstance(relation.get(name), str) for name in ("from", "to", "relationType"))
    ]


FORMAT = Format(
    name="mcp-reference",
    title="MCP reference server's memory",
    description="memory.jsonl of the MCP reference memory server: a graph of entities and relations",
    read=read,
    count=count,
    write=write,
    is_line=is_line,
)
