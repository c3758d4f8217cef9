"""The format of memento-core: a tree of JSONL files, ``memories/<namespace>.jsonl``, that only ever grow.

The last line for an id in a file is the one that counts, and ``"deleted": true`` there says that the memory is gone.
memento-core tells memories apart by namespace and id, memento by id alone. So where several files have one id, it stays
with the one that is not deleted, then the one created first, then the first by file name; every other becomes
``id@file`` (the file without its ending). A memory that was moved (stored in a new namespace, deleted in the old one)
thus keeps its identity, and a second use of an id that appears later never takes it away from the first.

What the records of memento have no place for, and what would be written differently on the way back, is kept in
``extra["memento-core"]``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from memento_tui.interchange.incoming import Incoming, Refused, source_digest
from memento_tui.interchange.lines import Line, count_lines, objects
from memento_tui.interchange.names import namespace_of, usable_tags
from memento_tui.interchange.tree import SourceFile, walk

__all__ = ["KEPT", "count", "read"]

KEPT = "memento-core"
"""The key of ``extra`` for what only this format knows."""

_SUFFIX = ".jsonl"
_FIELDS = frozenset(("id", "namespace", "content", "tags", "created", "updated", "source", "relations", "ttl"))
_MOMENTS = (("created", "created_at"), ("updated", "updated_at"), ("ttl", "expires_at"))
_USUAL_MOMENT = "2026-02-26T14:30:00.000Z"
_BY_A_PERSON = ("user", "manual")

_Place = tuple[int, int]
"""A line and the place within it."""
_Rank = tuple[bool, str, str]
"""Deleted, created, file: the least of those that share an id keeps it."""


def count(root: Path) -> int:
    """Return the number of lines; several may be about one memory."""
    return count_lines(_memories(root), _SUFFIX)


def read(root: Path) -> Iterator[Incoming | Refused]:
    """Yield the memories of a home, of its folder ``memories``, or of one file, each as its last line has it.

    Every file is read twice, so that what is held at a time are ids and not texts.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    start = _memories(root)
    files: list[SourceFile] = []
    for found in walk(start, _SUFFIX, hidden=True):
        if isinstance(found, Refused):
            yield found
        else:
            files.append(found)
    last: dict[str, dict[str, _Place]] = {}
    owners: dict[str, _Rank] = {}
    for file in files:
        ranks, last[file.name] = _survey(file)
        for identity, rank in ranks.items():
            owners[identity] = min(rank, owners.get(identity, rank))
    for file in files:
        yield from _read_file(file, _namespace(start, file), last.pop(file.name), owners)


def _memories(root: Path) -> Path:
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
    return namespace_of(path.with_suffix("").parts if path.suffix.lower() == _SUFFIX else path.parts)


def _survey(file: SourceFile) -> tuple[dict[str, _Rank], dict[str, _Place]]:
    """Return, for every id of a file, its claim to that id and the place of the line that counts."""
    ranks: dict[str, _Rank] = {}
    places: dict[str, _Place] = {}
    name = file.name
    for line in objects(file, "id"):
        if type(line) is Line and not _problem(value := line.value):
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
    file: SourceFile, namespace: str, places: Mapping[str, _Place], owners: Mapping[str, _Rank]
) -> Iterator[Incoming | Refused]:
    for line in objects(file, "id"):
        if isinstance(line, Refused):
            yield line
            continue
        identity = line.value.get("id")
        if type(identity) is str and places.get(identity) == (line.number, line.nth):
            yield _incoming(line, file.name, namespace, _key(identity, file.name, owners))
        elif problem := _problem(line.value):
            yield Refused(file.name, line.number, problem)


def _key(identity: str, file: str, owners: Mapping[str, _Rank]) -> str:
    if owners[identity][2] == file:
        return identity
    key = f"{identity}@{file.removesuffix(_SUFFIX)}"
    while key in owners:
        key += "@"
    return key


def _incoming(line: Line, file: str, namespace: str, key: str) -> Incoming:
    value = line.value
    deleted = value.get("deleted") is True
    kept = {} if value.keys() <= _FIELDS else {name: value[name] for name in value if name not in _FIELDS}
    if deleted:
        del kept["deleted"]
    fields: dict[str, Any] = {"id": key, "namespace": namespace, "content": value.get("content")}
    if key != value["id"]:
        kept["id"] = value["id"]
    for name, field in _MOMENTS:
        if (given := value.get(name)) is not None:
            _take_moment(name, field, given, fields, kept)
    if tags := value.get("tags"):
        _take_tags(tags, fields, kept)
    _take_source(value.get("source"), fields, kept)
    relations = value.get("relations")
    if relations:
        kept["relations"] = relations
    if kept:
        fields["extra"] = {KEPT: kept}
    return Incoming(
        key=key,
        record="memory",
        fields=fields,
        digest=source_digest(line.source),
        file=file,
        line=line.number,
        deleted=deleted,
        links=_links(relations) if relations else (),
    )


def _take_moment(name: str, field: str, given: object, fields: dict[str, Any], kept: dict[str, Any]) -> None:
    """Take a moment if it is one, and keep its text unless it has the form that an export writes."""
    if isinstance(given, str):
        try:
            datetime.fromisoformat(given)
        except ValueError:
            pass  # not a moment: it is kept, and the memory goes without
        else:
            fields[field] = given
            if len(given) == len(_USUAL_MOMENT) and given[10] == "T" and given[19] == "." and given[23] == "Z":
                return
    kept[name] = given


def _take_tags(given: object, fields: dict[str, Any], kept: dict[str, Any]) -> None:
    words = [word for word in given if isinstance(word, str)] if isinstance(given, list) else []
    tags = usable_tags(words)
    if tags:
        fields["tags"] = tags
    if list(tags) != given:
        kept["tags"] = given


def _take_source(given: object, fields: dict[str, Any], kept: dict[str, Any]) -> None:
    fields["source_type"] = "user" if given in _BY_A_PERSON else "derived"
    if isinstance(given, str) and given:
        fields["source"] = {"agent": given}
    elif given is not None:
        kept["source"] = given


def _links(relations: object) -> tuple[tuple[str, str, str], ...]:
    if not isinstance(relations, list):
        return ()
    return tuple(("related", target, "") for target in relations if isinstance(target, str) and target)
