"""Read and write the format of memento-core: one append-only JSONL file for each namespace."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.formats.base import (
    ExportRecord,
    ExportReport,
    Format,
    ImportRecord,
    Refused,
    check_absent,
    format_iso_moment,
    namespace_from_parts,
    source_digest,
    usable_tags,
    write_file,
)
from memento_tui.formats.columns import Column, Fields, lost_origin, record_fields
from memento_tui.formats.source_files import JsonLine, SourceFile, count_lines, read_objects, walk_files
from memento_tui.model import Memory, Relation
from memento_tui.model.memory import FOREIGN_ID
from memento_tui.moments import parse_moment

__all__ = ["EXTRA_KEY", "FORMAT", "count", "read", "write"]

EXTRA_KEY = "memento-core"
"""The key of ``extra`` for the data that only this format has a place for."""

_SUFFIX = ".jsonl"
_NAMES = ("id", "namespace", "content", "tags", "created", "updated", "source", "relations", "ttl")
"""The names of a line in their order."""

_KNOWN_NAMES = frozenset(_NAMES)
_PERSON_SOURCES = ("user", "manual")

_LinePosition = tuple[int, int]
"""A line and the place within it."""
_IdClaim = tuple[bool, str, str]
"""Deleted, created, file: the least of those that share an id keeps it."""


def count(root: Path) -> int:
    """Return the number of lines; several may be about one memory."""
    return count_lines(_memories_folder(root), _SUFFIX)


def read(root: Path) -> Iterator[ImportRecord | Refused]:
    """Yield the memories of a home, of its folder ``memories``, or of one file, each as its last line has it.

    Every file is read twice, so that what is held at a time are ids and not texts.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    start = _memories_folder(root)
    files: list[SourceFile] = []
    for source in walk_files(start, _SUFFIX, hidden=True):
        if isinstance(source, Refused):
            yield source
        else:
            files.append(source)
    last: dict[str, dict[str, _LinePosition]] = {}
    owners: dict[str, _IdClaim] = {}
    for file in files:
        ranks, last[file.name] = _index_file(file)
        for identity, rank in ranks.items():
            owners[identity] = min(rank, owners.get(identity, rank))
    for file in files:
        yield from _read_file(file, _namespace(start, file), last.pop(file.name), owners)


def _memories_folder(root: Path) -> Path:
    """Return the folder of the JSONL files in a home, or ``root`` where it is that folder or a file."""
    below = root / "memories"
    return below if below.is_dir() else root


def _namespace(start: Path, file: SourceFile) -> str:
    """Return the namespace that a file's place spells; of a file given alone, the part below ``memories``."""
    path = Path(file.name)
    if not start.is_dir():
        whole = start.absolute()
        above = [place for place in whole.parents if place.name == "memories"]
        path = whole.relative_to(above[0]) if above else path
    return namespace_from_parts(path.with_suffix("").parts if path.suffix.lower() == _SUFFIX else path.parts)


def _index_file(file: SourceFile) -> tuple[dict[str, _IdClaim], dict[str, _LinePosition]]:
    """Return, for every id of a file, its claim to that id and the place of the line that counts."""
    ranks: dict[str, _IdClaim] = {}
    places: dict[str, _LinePosition] = {}
    name = file.name
    for line in read_objects(file, "id"):
        if type(line) is JsonLine and not _problem(value := line.value):
            identity, created = value["id"], value.get("created")
            ranks[identity] = (value.get("deleted") is True, created if type(created) is str else "~", name)
            places[identity] = (line.number, line.nth)
    return ranks, places


def _problem(value: Mapping[str, Any]) -> str:
    identity, content = value.get("id"), value.get("content")
    if type(identity) is not str or not identity or identity.isspace():
        return "has no id"
    if (type(content) is not str or not content or content.isspace()) and value.get("deleted") is not True:
        return "has no content"
    return ""


def _read_file(
    file: SourceFile, namespace: str, places: Mapping[str, _LinePosition], owners: Mapping[str, _IdClaim]
) -> Iterator[ImportRecord | Refused]:
    for line in read_objects(file, "id"):
        if isinstance(line, Refused):
            yield line
            continue
        identity = line.value.get("id")
        if type(identity) is str and places.get(identity) == (line.number, line.nth):
            yield _incoming(line, file.name, namespace, _record_key(identity, file.name, owners))
        elif problem := _problem(line.value):
            yield Refused(file.name, line.number, problem)


def _record_key(identity: str, file: str, owners: Mapping[str, _IdClaim]) -> str:
    if owners[identity][2] == file:
        return identity
    key = f"{identity}@{file.removesuffix(_SUFFIX)}"
    while key in owners:
        key += "@"
    return key


def _incoming(line: JsonLine, file: str, namespace: str, key: str) -> ImportRecord:
    value = line.value
    deleted = value.get("deleted") is True
    kept = {} if value.keys() <= _KNOWN_NAMES else {name: value[name] for name in value if name not in _KNOWN_NAMES}
    if deleted:
        del kept["deleted"]
    fields: dict[str, Any] = {"id": key, "namespace": namespace, "content": value.get("content")}
    if key != value["id"]:
        kept["id"] = value["id"]
    for column in _COLUMNS:
        given = value.get(column.name)
        read = column.read(given)
        fields.update(read)
        if given is not None and column.write(read, None) != given:
            kept[column.name] = given
    if agent := fields.pop("source.agent", ""):
        fields["source"] = {"agent": agent}
    relations = value.get("relations")
    if relations:
        kept["relations"] = relations
    if kept:
        fields["extra"] = {EXTRA_KEY: kept}
    return ImportRecord(
        key=key,
        record="memory",
        fields=fields,
        digest=source_digest(line.source),
        file=file,
        line=line.number,
        deleted=deleted,
        given_id=value["id"] if key != value["id"] else "",
        links=_links(relations) if relations else (),
    )


def _moment_column(name: str, field: str) -> Column:
    """Return a column that holds a moment in the source's own text, and in the form of JavaScript in a new line."""

    def read(given: object) -> Fields:
        if isinstance(given, str):
            try:
                datetime.fromisoformat(given)
            except ValueError:
                return {}  # not a moment: it is kept, and the memory goes without
            return {field: given}
        return {}

    def write(fields: Fields, given: Any) -> Any:  # noqa: ANN401 - whatever the source had
        value = fields.get(field)
        if isinstance(value, str):  # as it was just read
            is_written_so = (
                len(value) == len("2026-02-26T14:30:00.000Z")
                and (value[10], value[19]) == ("T", ".")
                and value[-1] == "Z"
            )
            return value if is_written_so else None
        return given if value is None else _format_moment(value, given)

    return Column(name, read, write)


def _format_moment(moment: datetime, given: object) -> str:
    """Return the source's own text where it still means the moment, else the form that JavaScript writes."""
    if isinstance(given, str):
        try:
            if parse_moment(given, "moment") == moment:
                return given
        except InvalidInput:
            pass  # an export never fails over a text that the import could not read either
    return format_iso_moment(moment)


def _read_tags(given: object) -> Fields:
    tags = _usable(given)
    return {"tags": tags} if tags else {}


def _write_tags(fields: Fields, given: Any) -> Any:  # noqa: ANN401 - whatever the source had
    tags = tuple(fields.get("tags", ()))
    return given if given is not None and _usable(given) == tags else list(tags)


def _usable(given: object) -> tuple[str, ...]:
    return usable_tags([word for word in given if isinstance(word, str)] if isinstance(given, list) else [])


def _read_source(given: object) -> Fields:
    fields: dict[str, Any] = {"source_type": "user" if given in _PERSON_SOURCES else "derived"}
    return {**fields, "source.agent": given} if isinstance(given, str) and given else fields


def _write_source(fields: Fields, given: Any) -> Any:  # noqa: ANN401 - whatever the source had
    return fields.get("source.agent") or given


_COLUMNS = (
    _moment_column("created", "created_at"),
    _moment_column("updated", "updated_at"),
    _moment_column("ttl", "expires_at"),
    Column("tags", _read_tags, _write_tags),
    Column("source", _read_source, _write_source),
)
"""The names whose values are fields of a memory; of a value that these would not write again the text is kept."""


def _links(relations: object) -> tuple[tuple[str, str, str], ...]:
    if not isinstance(relations, list):
        return ()
    return tuple(("related", target, "") for target in relations if isinstance(target, str) and target)


def write(records: Iterable[ExportRecord], root: Path) -> ExportReport:
    """Write memories, and the relations between them, as ``root/memories/<namespace>.jsonl``, one line for each memory.

    The format keeps a memory's text, namespace, tags, times, source, relations and end; trust, kind and title have no
    place in it. A deleted memory becomes a tombstone.

    Raises:
        InvalidInput: ``root`` holds memories already, or cannot be written.

    """
    folder = root / "memories"
    check_absent(folder, "Choose an empty folder.")
    memories: list[Memory] = []
    targets: dict[str, list[str]] = {}
    left_out = 0
    for record in records:
        if isinstance(record, Memory):
            memories.append(record)
        elif isinstance(record, Relation) and record.type not in ("file", "item"):
            targets.setdefault(record.src, []).append(record.dst)
        else:
            left_out += 1
    foreign = {memory.id: _foreign_id(memory) for memory in memories}
    present = frozenset(foreign.values())
    lines: dict[str, list[bytes]] = {}
    for memory in memories:
        relations = [foreign.get(target, target) for target in targets.get(memory.id, ())]
        line = msgspec.json.encode(_line(memory, foreign[memory.id], relations, present))
        lines.setdefault(memory.namespace, []).append(line + b"\n")
    for namespace, encoded in lines.items():
        write_file(folder / f"{namespace}.jsonl", encoded)
    related = sum(len(targets.get(memory.id, ())) for memory in memories)
    return ExportReport(records=len(memories) + related, files=len(lines), left_out=left_out)


def _kept_values(memory: Memory) -> Mapping[str, Any]:
    """Return the data that the import kept; empty where something else has been put in its place."""
    kept = memory.extra.get(EXTRA_KEY)
    return kept if isinstance(kept, dict) else {}


def _foreign_id(memory: Memory) -> str:
    given = _kept_values(memory).get("id", memory.extra.get(FOREIGN_ID))
    return given if isinstance(given, str) else memory.id


def _line(memory: Memory, identity: str, relations: list[str], present: Container[str]) -> dict[str, Any]:
    kept = _kept_values(memory)
    fields = record_fields(memory)
    values = {
        **fields,
        "id": identity,
        "relations": _merge_relations(identity, relations, kept.get("relations"), present),
        **{column.name: column.write(fields, kept.get(column.name)) for column in _COLUMNS},
    }
    line = {name: values[name] for name in _NAMES}
    if memory.status == "deleted":
        line["deleted"] = True
    return {**line, **{name: value for name, value in kept.items() if name not in line}}


def _merge_relations(identity: str, current: list[str], given: Any, present: Container[str]) -> Any:  # noqa: ANN401 - as above
    """Return the relations in the source's order, then the new ones.

    Those of the source that memento has no relation for stay: to memories that are not here, and to the memory itself.
    """
    if given is not None and not isinstance(given, list) and not current:
        return given
    before = given if isinstance(given, list) else []
    stays = (identity, *current)
    still = [target for target in before if not isinstance(target, str) or target in stays or target not in present]
    return still + [target for target in dict.fromkeys(current) if target not in still]


FORMAT = Format(
    name="memento-core",
    title="memento-core",
    description="the JSONL files of memento-core, one for each namespace",
    read=read,
    count=count,
    write=write,
    loses=lost_origin,
)
