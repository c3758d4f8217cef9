"""Read and write mem0's JSON: one document with results and relations, a bare list, or one memory a line."""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.formats.base import (
    MAX_NAME_LENGTH,
    ExportRecord,
    ExportReport,
    Format,
    ImportRecord,
    Refused,
    check_absent,
    namespace_from_parts,
    source_digest,
    write_file,
)
from memento_tui.formats.columns import (
    Column,
    ColumnGroup,
    Fields,
    foreign_moment_column,
    foreign_tags_column,
    format_foreign_moment,
    is_exported,
    kept_fields,
    line_column,
    lost_by_columns,
    lost_origin,
    new_row_column,
    parse_foreign_moment,
    read_fields,
    record_fields,
    restore_row,
    text_column,
    without_keys,
    write_row,
)
from memento_tui.formats.source_files import (
    JsonLine,
    LoadedFile,
    SourceFile,
    load_file,
    open_source,
    read_objects,
    walk_files,
)
from memento_tui.model import Memory

__all__ = ["FORMAT", "count", "is_document", "read", "write"]

EXTRA_KEY = "mem0"
"""The key of ``extra`` for the data that only this format has a place for."""

DOCUMENT_SUFFIX = ".json"
_LINES_SUFFIX = ".jsonl"

_MAX_FILE_BYTES = 256 * 1024 * 1024
"""Bytes of a document, which is read whole; mem0 gives out half a million memories in as much."""

_LIST_NAMES = ("results", "memories", "data")
"""The names under which mem0's interfaces have put the list of memories."""

_MAX_RECOVERY_ATTEMPTS = 100
"""Places in a damaged document where another memory may begin; one with more is not worth the time."""

_OBJECT_START = re.compile(r'\{\s*"(?:id|memory|source)"\s*:')
_MEMORY_FIELD = re.compile(rb'"memory"\s*:\s*"')
_NO_OBJECT = "is not an object with fields"
_HEAD_BYTES = 65_536
"""Bytes at the beginning of a file by which its format is detected."""

_RELATION_PARTS = ("source", "relationship", "target")
_PROJECTS_FOLDER, _USERS_FOLDER, _AGENTS_FOLDER = "projects", "users", "agents"
_stdlib_decoder = json.JSONDecoder()


class _DocumentLists(msgspec.Struct):
    """The lists of a document, their elements still as they are written."""

    results: list[msgspec.Raw] | None = None
    memories: list[msgspec.Raw] | None = None
    data: list[msgspec.Raw] | None = None
    relations: list[msgspec.Raw] | None = None


def count(root: Path) -> int:
    """Return about how many memories there are: as often as a file names the field that holds their text."""
    files = (file for file in _files(root) if isinstance(file, SourceFile))
    loaded_files = (load_file(file, _MAX_FILE_BYTES) for file in files)
    return sum(file.data.count(b'"memory"') for file in loaded_files if isinstance(file, LoadedFile))


def read(root: Path) -> Iterator[ImportRecord | Refused]:
    """Yield the memories and the relations of one file, or of every JSON file in a folder.

    Of a damaged document everything is read that is whole.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    keys: set[str] = set()
    for file in _files(root):
        if isinstance(file, Refused):
            yield file
            continue
        lines = list(read_objects(file, "memory") if file.name.lower().endswith(_LINES_SUFFIX) else _of_document(file))
        values = [line.value for line in lines if isinstance(line, JsonLine)]
        several = len({value["user_id"] for value in values if isinstance(value.get("user_id"), str)}) > 1
        for line in lines:
            yield line if isinstance(line, Refused) else _incoming(line, file.name, keys, several_users=several)


def _files(root: Path) -> Iterator[SourceFile | Refused]:
    yield from walk_files(root, DOCUMENT_SUFFIX)
    if root.is_dir():
        yield from walk_files(root, _LINES_SUFFIX)


def is_document(file: SourceFile) -> bool:
    """Return whether a JSON file looks like one of mem0, by its beginning."""
    try:
        with open_source(file) as stream:
            return _MEMORY_FIELD.search(stream.read(_HEAD_BYTES)) is not None
    except OSError:
        return False  # reading it reports the reason


def is_memory(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a memory of this format."""
    return isinstance(value.get("memory"), str) and ("id" in value or "hash" in value or "user_id" in value)


def _is_relation(value: Mapping[str, Any]) -> bool:
    return all(isinstance(_relation_part(value, name), str) for name in _RELATION_PARTS)


def _relation_part(relation: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - whatever JSON has
    """Return a part of a relation; some of mem0's graph stores say ``destination`` for the target."""
    return relation.get(name, relation.get("destination") if name == "target" else None)


def relation_sentence(relation: Mapping[str, Any]) -> str:
    """Return a relation of the graph as a sentence of its three parts."""
    return " ".join(str(_relation_part(relation, name)).replace("_", " ") for name in _RELATION_PARTS)


def _of_document(file: SourceFile) -> Iterator[JsonLine | Refused]:
    loaded = load_file(file, _MAX_FILE_BYTES)
    if isinstance(loaded, Refused):
        yield loaded
        return
    data = loaded.data.removeprefix(codecs.BOM_UTF8)
    try:
        elements = _elements(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        yield Refused(file.name, 0, f"is not a whole list of memories ({error}); those that are whole in it are read")
        yield from _recovered(file.name, data.decode(errors="surrogateescape"))
    else:
        yield from _numbered_elements(file.name, data, elements)


def _elements(data: bytes) -> list[msgspec.Raw]:
    """Return the elements of a document, undecoded; a single memory is a list of one. Raises `msgspec.DecodeError`."""
    if data.lstrip()[:1] == b"[":
        return msgspec.json.decode(data, type=list[msgspec.Raw])
    whole = msgspec.json.decode(data, type=_DocumentLists)
    lists = [*(getattr(whole, name) for name in _LIST_NAMES), whole.relations]
    if all(elements is None for elements in lists):
        return [msgspec.json.decode(data, type=msgspec.Raw)]
    return [element for elements in lists for element in elements or ()]


def _numbered_elements(file: str, data: bytes, elements: Iterable[msgspec.Raw]) -> Iterator[JsonLine | Refused]:
    """Yield the elements with the lines that they begin at."""
    position = number = 0
    for nth, element in enumerate(elements):
        source = bytes(element)
        at = data.find(source, position)
        # The relations may stand before the memories in the document; counting begins anew for them.
        start, base = (position, number) if at >= 0 else (0, 0)
        at = at if at >= 0 else data.find(source)
        number = base + data.count(b"\n", start, at)
        position = at
        try:
            value = msgspec.json.decode(source)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            # The elements were separated without decoding the strings in them.
            yield Refused(file, number + 1, f"is not a whole memory: {error}")
        else:
            is_object = isinstance(value, dict)
            yield JsonLine(number + 1, nth, source, value) if is_object else Refused(file, number + 1, _NO_OBJECT)
        position += len(source)
        number += source.count(b"\n")


def _recovered(file: str, text: str) -> Iterator[JsonLine | Refused]:
    """Yield the whole memories of a damaged document, and where one is not whole."""
    position = attempts = counted = 0
    number = 1
    while attempts < _MAX_RECOVERY_ATTEMPTS and (match := _OBJECT_START.search(text, position)) is not None:
        number += text.count("\n", counted, match.start())
        counted = match.start()
        try:
            _, position = _stdlib_decoder.raw_decode(text, match.start())
            source = text[match.start() : position].encode()
            value = msgspec.json.decode(source)
        except UnicodeEncodeError:
            yield Refused(file, number, "is not UTF-8")
        except msgspec.DecodeError:
            yield Refused(file, number, "holds a character or a number that no text can carry")
        except (ValueError, RecursionError):  # a number of more than 4,300 digits is a ValueError too
            attempts += 1
            position = match.end()
            yield Refused(file, number, "is not a whole memory")
        else:
            yield JsonLine(number, 0, source, value)


def _incoming(line: JsonLine, file: str, keys: set[str], *, several_users: bool) -> ImportRecord | Refused:
    value = line.value
    if is_memory(value):
        identity = value.get("id")
        has_id = isinstance(identity, str) and bool(identity.strip())
        key = str(identity) if has_id else f"memory {source_digest(value['memory'].encode()).hex()}"
        fields = _memory_fields(value, several_users=several_users)
        if has_id:
            fields["id"] = key
    elif _is_relation(value):
        key = f"relation {relation_sentence(value)}"
        fields = {
            "content": relation_sentence(value),
            "source_type": "derived",
            "extra": {EXTRA_KEY: {"relation": value}},
        }
    else:
        return Refused(file, line.number, "is neither a memory nor a relation of mem0")
    if key in keys:
        return Refused(file, line.number, f"has the same {'id' if 'id' in fields else 'text'} as one before it")
    keys.add(key)
    return ImportRecord(
        key=key, record="memory", fields=fields, digest=source_digest(line.source), file=file, line=line.number
    )


def _memory_fields(value: Mapping[str, Any], *, several_users: bool) -> dict[str, Any]:
    return {
        **read_fields(_COLUMNS, value),
        "namespace": _namespace(value, several_users=several_users),
        "source_type": "user" if value.get("role") == "user" else "derived",
        "extra": {EXTRA_KEY: {"memory": without_keys(dict(value), "memory")}},
    }


def _namespace(value: Mapping[str, Any], *, several_users: bool) -> str:
    app, user, agent = (value.get(name) for name in ("app_id", "user_id", "agent_id"))
    if isinstance(app, str) and app:
        return namespace_from_parts([_PROJECTS_FOLDER, app])
    if isinstance(user, str) and user:
        return namespace_from_parts([_USERS_FOLDER, user]) if several_users else "global"
    return namespace_from_parts([_AGENTS_FOLDER, agent]) if isinstance(agent, str) and agent else "global"


def _read_updated(value: Fields) -> Fields:
    moment = parse_foreign_moment(value.get("updated_at"))
    return {} if moment is None else {"updated_at": moment}


def _write_updated(fields: Fields, value: Fields) -> Fields:
    """Return the time of a change, and the hash of the text with it; a memory that never changed may lack both."""
    given = value.get("updated_at")
    if value and (parse_foreign_moment(given) or fields["created_at"]) == fields["updated_at"]:
        return {}
    has_hash = "hash" in value or not value
    return {
        "updated_at": format_foreign_moment(fields["updated_at"], given),
        **({"hash": _content_hash(fields["content"])} if has_hash else {}),
    }


def _content_hash(text: str) -> str:
    """Return the hash by which mem0 recognises a text."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _read_day(value: object) -> Fields:
    return {"expires_at": parse_foreign_moment(value)}


def _write_day(fields: Fields, _: object) -> str | None:
    expires = fields["expires_at"]
    return expires.date().isoformat() if expires else None


_COLUMNS: tuple[Column | ColumnGroup, ...] = (
    new_row_column("id", lambda fields: fields["id"]),
    text_column("memory", "content"),
    new_row_column("metadata", lambda fields: {"title": fields["title"]} if fields["title"] else {}),
    foreign_tags_column("categories"),
    foreign_moment_column("created_at", "created_at"),
    ColumnGroup(_read_updated, _write_updated),
    new_row_column("user_id", lambda _: "default"),
    Column("expiration_date", _read_day, _write_day, is_optional=True),
    line_column("agent_id", "source.agent", MAX_NAME_LENGTH, empty=None, only_if_present=True),
    line_column("run_id", "source.session", MAX_NAME_LENGTH, empty=None, only_if_present=True),
)
"""All but the parts of the namespace, which is read from several names and not written."""


def write(records: Iterable[ExportRecord], root: Path) -> ExportReport:
    """Write memories to the file ``root``.

    The format keeps a memory's id, text, tags (as categories), times and source. A memory that came from mem0 and was
    not changed is written as it was.

    Raises:
        InvalidInput: the file is there already, or cannot be written.

    """
    check_absent(root)
    results: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    left_out = 0
    for record in records:
        if not isinstance(record, Memory) or not is_exported(record, EXTRA_KEY):
            left_out += 1
        elif (relation := _relation_of_memory(record)) is not None:
            relations.append(relation)
        else:
            results.append(_result(record))
    document = {"results": results, **({"relations": relations} if relations else {})}
    write_file(root, [msgspec.json.format(msgspec.json.encode(document), indent=2), b"\n"])
    return ExportReport(records=len(results) + len(relations), files=1, left_out=left_out)


def _relation_of_memory(memory: Memory) -> dict[str, Any] | None:
    """Return the relation of mem0's graph that a memory stands for, while it still has its text."""
    relation = kept_fields(memory, EXTRA_KEY).get("relation")
    return relation if isinstance(relation, dict) and relation_sentence(relation) == memory.content else None


def _result(memory: Memory) -> dict[str, Any]:
    kept = kept_fields(memory, EXTRA_KEY).get("memory")
    fields = record_fields(memory)
    return restore_row(_COLUMNS, fields, kept) if isinstance(kept, dict) else write_row(_COLUMNS, fields, {})


def _lost_fields(written: ExportRecord, read: ExportRecord) -> set[str]:
    if not isinstance(read, Memory):
        return set()
    lost = lost_origin(written, read) | lost_by_columns(_COLUMNS, record_fields(written), read)
    return lost | {"namespace"} if read.namespace == _namespace({}, several_users=False) else lost


FORMAT = Format(
    name="mem0",
    title="mem0",
    description="the memories that mem0 gives out as JSON",
    read=read,
    count=count,
    write=write,
    loses=_lost_fields,
    is_line=is_memory,
)
