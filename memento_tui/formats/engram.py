"""Read and write the sessions, observations and prompts in the chunks of engram."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.errors import InvalidField, InvalidInput
from memento_tui.formats.base import (
    MAX_KIND_LENGTH,
    MAX_NAME_LENGTH,
    ExportRecord,
    ExportReport,
    Format,
    ImportRecord,
    RecordName,
    Refused,
    namespace_from_parts,
    one_line,
    source_digest,
    text_in,
    write_file,
)
from memento_tui.formats.columns import (
    Column,
    ColumnGroup,
    Fields,
    encode_go_json,
    foreign_moment_column,
    format_foreign_moment,
    is_exported,
    kept_fields,
    line_column,
    lost_by_columns,
    lost_origin,
    new_row_column,
    parse_foreign_moment,
    read_fields,
    read_only,
    record_fields,
    restore_row,
    text_column,
    without_keys,
    write_row,
)
from memento_tui.formats.engram_chunks import (
    CHUNK_SUFFIX,
    MANIFEST,
    Chunk,
    count_listed,
    find_chunks,
    find_home,
    is_home,
    load_chunk,
)
from memento_tui.model import Memory, WorkingItem
from memento_tui.model.memory import parse_kind
from memento_tui.model.validation import MAX_LINE_LENGTH, check_id

__all__ = ["FORMAT", "count", "read", "write"]

EXTRA_KEY = "engram"
"""The key of ``extra`` for the data that only this format has a place for."""

_MUTATIONS = "mutations"
"""The list of a chunk with the changes of records, and its name in the kept data of a record."""

_RELATION_OF_VERDICT = {"supersedes": "supersedes", "conflicts_with": "contradicts"}
"""The relation for each of its verdicts on two observations; any other verdict is ``related``."""

_RecordKey = tuple[str, str]
"""A record's sort and its key."""


class _Mutation(msgspec.Struct, frozen=True):
    """A mutation, and the manifest's line of the chunk that it stands in."""

    entry: dict[str, Any]
    value: dict[str, Any]
    payload: dict[str, Any]


class _History(msgspec.Struct):
    """The index of all chunks that is needed before the first record can be read."""

    last: dict[_RecordKey, tuple[str, int]] = msgspec.field(default_factory=dict)
    """The last place of each record: the chunk, and the position in its list."""
    mutations: dict[_RecordKey, list[_Mutation]] = msgspec.field(default_factory=dict)
    names: set[str] = msgspec.field(default_factory=set)
    """The ids that are given already; an observation and a prompt cannot share one."""


def count(root: Path) -> int:
    """Return the number of records that the manifest promises."""
    return count_listed(root)


def read(root: Path) -> Iterator[ImportRecord | Refused]:
    """Yield the records of a folder with chunks (of the folder above it, or of one chunk), each in its last version.

    Every chunk is read twice, and one at a time.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    history = _History()
    for chunk in find_chunks(root):
        if isinstance(chunk, Chunk) and not isinstance(loaded := load_chunk(chunk), Refused):
            _index_chunk(chunk, loaded, history)
    for chunk in find_chunks(root):
        if isinstance(chunk, Refused):
            yield chunk
        elif isinstance(loaded := load_chunk(chunk), Refused):
            yield loaded
        else:
            yield from _read_chunk(chunk, loaded, history)


def _index_chunk(chunk: Chunk, loaded: Mapping[str, Any], history: _History) -> None:
    for sort, nth, value in _records(loaded):
        if not _problem(sort, value):
            history.last[sort, _identity(sort, value)] = (chunk.id, nth)
    for value in _list(loaded, _MUTATIONS):
        if (about := _subject_of(value)) is not None:
            record, payload = about
            history.mutations.setdefault(record, []).append(_Mutation(chunk.entry, value, payload))


def _list(loaded: Mapping[str, Any], name: str) -> list[Any]:
    given = loaded.get(name)
    return given if isinstance(given, list) else []


def _records(loaded: Mapping[str, Any]) -> Iterator[tuple[str, int, Any]]:
    for sort, described in _SORTS.items():
        for nth, value in enumerate(_list(loaded, described.list_name)):
            yield sort, nth, value


def _problem(sort: str, value: Any) -> str:  # noqa: ANN401 - whatever JSON has
    if not isinstance(value, dict):
        return "is not an object with fields"
    needed = "id" if sort == "session" else "content"
    text = value.get(needed)
    return "" if isinstance(text, str) and text.strip() else f"has no {needed}"


def _identity(sort: str, value: Mapping[str, Any]) -> str:
    """Return the key of a record on every machine; old observations have only the number that one machine gave."""
    given = value.get("id" if sort == "session" else "sync_id")
    if isinstance(given, str) and given.strip():
        return given
    return f"{value.get('created_at')} {value.get('id')}"


def _subject_of(mutation: Any) -> tuple[_RecordKey, dict[str, Any]] | None:  # noqa: ANN401 - whatever JSON has
    """Return the record that a mutation is about, for a relation the one that it begins at, and its payload."""
    if not isinstance(mutation, dict):
        return None
    entity, key, payload = (mutation.get(name) for name in ("entity", "entity_key", "payload"))
    try:
        fields = msgspec.json.decode(payload, type=dict[str, Any]) if isinstance(payload, str) and payload else {}
    except (msgspec.DecodeError, RecursionError):
        return None
    if entity == "relation":
        entity, key = "observation", fields.get("source_id")
    return ((entity, key), fields) if isinstance(entity, str) and entity in _SORTS and isinstance(key, str) else None


def _read_chunk(chunk: Chunk, loaded: Mapping[str, Any], history: _History) -> Iterator[ImportRecord | Refused]:
    file = chunk.file.name
    made = _made_sessions(chunk.entry, loaded)
    for sort, nth, value in _records(loaded):
        if sort == "session" and value in made.values():
            continue  # it is nobody's session, and says nothing
        if problem := _problem(sort, value):
            yield Refused(file, 1, f"holds, as {sort} {nth + 1}, something that {problem}")
        elif history.last[sort, _identity(sort, value)] == (chunk.id, nth):
            yield _incoming(sort, value, chunk, history)
    for nth, value in enumerate(_list(loaded, _MUTATIONS)):
        about = _subject_of(value)
        if about is None or about[0] not in history.last:
            yield Refused(file, 1, f"holds, as mutation {nth + 1}, a change to something that is in no chunk")
    for name in loaded.keys() - {*(described.list_name for described in _SORTS.values()), _MUTATIONS}:
        yield Refused(file, 1, f"holds {name!r:.40}, which memento does not know")


def _incoming(sort: str, value: dict[str, Any], chunk: Chunk, history: _History) -> ImportRecord:
    known_by = _identity(sort, value)
    mutations = history.mutations.get((sort, known_by), [])
    described = _SORTS[sort]
    fields, record = {**described.constants, **read_fields(described.columns, value)}, described.record
    kept: dict[str, Any] = {"chunk": chunk.entry, sort: without_keys(value, described.text_name)}
    if mutations:
        kept[_MUTATIONS] = [{"chunk": mutation.entry, "mutation": mutation.value} for mutation in mutations]
    if _usable_id(known_by) and f"{record} {known_by}" not in history.names:
        history.names.add(f"{record} {known_by}")
        fields["id"] = known_by
    content = msgspec.json.encode([value, *(mutation.value for mutation in mutations)])
    return ImportRecord(
        key=known_by if sort == "observation" else f"{sort} {known_by}",
        record=record,
        fields={**fields, "extra": {EXTRA_KEY: kept}},
        digest=source_digest(content),
        file=chunk.file.name,
        line=1,
        deleted=bool(value.get("deleted_at")) or any(_deletes(mutation) for mutation in mutations),
        links=_links(mutations, known_by, history),
    )


def _usable_id(given: str) -> bool:
    try:
        check_id(given)
    except InvalidField:
        return False
    return True


def _deletes(mutation: _Mutation) -> bool:
    return mutation.value.get("op") == "delete" and mutation.value.get("entity") != "relation"


def _links(mutations: list[_Mutation], known_by: str, history: _History) -> tuple[tuple[str, str, str], ...]:
    links: dict[tuple[str, str, str], None] = {}
    for mutation in mutations:
        target, relation = mutation.payload.get("target_id"), mutation.payload.get("relation")
        if mutation.value.get("entity") != "relation" or mutation.payload.get("judgment_status") != "judged":
            continue
        if isinstance(target, str) and isinstance(relation, str) and ("observation", target) in history.last:
            kind = _RELATION_OF_VERDICT.get(relation, "related")
            links[kind, target, "" if kind != "related" else one_line(relation, MAX_NAME_LENGTH)] = None
    return tuple(link for link in links if link[1] != known_by)


def _namespace_of_value(value: Mapping[str, Any]) -> str:
    """Return the namespace of a record."""
    project = text_in(value, "project").strip()
    return "global" if value.get("scope") == "personal" or not project else namespace_from_parts(["projects", project])


def _read_kind(value: object) -> Fields:
    kind, kind_raw = parse_kind((one_line(value, MAX_KIND_LENGTH) if isinstance(value, str) else "") or "observation")
    return {"kind": kind, "kind_raw": kind_raw}


def _write_project(fields: Fields, value: Fields) -> Fields:
    if value and fields["namespace"] == _namespace_of_value(value):
        return {}
    return _project_fields(fields["namespace"])


def _project_fields(namespace: str) -> dict[str, str]:
    """Return the fields that put a record into a project, or everywhere."""
    if namespace == "global":
        return {"scope": "personal"}
    return {"project": namespace.removeprefix("projects/"), "scope": "project"}


def _write_session(fields: Fields) -> str:
    project = _project_fields(fields["namespace"]).get("project")
    return f"{_MANUAL_SESSION}-{project}" if project else _MANUAL_SESSION


def _write_deleted(fields: Fields, value: Fields) -> Fields:
    if fields["status"] != "deleted" or value.get("deleted_at"):
        return {}
    return {"deleted_at": format_foreign_moment(fields["updated_at"], _MOMENT_EXAMPLE)}


def _read_session_title(value: Fields) -> Fields:
    words = f"{text_in(value, 'project')} {text_in(value, 'started_at')}"
    return {"title": one_line(words, MAX_LINE_LENGTH) or value["id"]}


def _read_session_moments(value: Fields) -> Fields:
    """Return when a session began and ended; a change of the working item does not change that."""
    moments = {field: parse_foreign_moment(value.get(name)) for field, name in _SESSION_MOMENTS.items()}
    return {field: moment for field, moment in moments.items() if moment is not None}


def _read_prompt_moment(value: object) -> Fields:
    moment = parse_foreign_moment(value)
    return {} if moment is None else {"created_at": moment, "updated_at": moment}


def _read_namespace(value: Fields) -> Fields:
    return {"namespace": _namespace_of_value(value)}


def _read_source(value: Fields) -> Fields:
    return {"source.agent": _AGENT, "source.session": one_line(text_in(value, "session_id"), MAX_NAME_LENGTH)}


_AGENT = "engram"
_MANUAL_SESSION = "manual-save"
"""The session that engram puts an observation in which was saved in none."""
_MOMENT_EXAMPLE = "1970-01-01 00:00:00"
"""A moment in the form in which engram writes all others too."""
_SESSION_MOMENTS = {"created_at": "started_at", "updated_at": "ended_at"}

_PLACE = ColumnGroup(_read_namespace, _write_project)
_OBSERVATION_COLUMNS: tuple[Column | ColumnGroup, ...] = (
    new_row_column("id", lambda fields: fields["number"]),
    new_row_column("sync_id", lambda fields: fields["id"]),
    new_row_column("session_id", _write_session),
    read_only(_read_source),
    Column("type", _read_kind, lambda fields, _: fields["kind_raw"] or fields["kind"]),
    line_column("title", "title", MAX_LINE_LENGTH),
    text_column("content", "content"),
    _PLACE,
    new_row_column("revision_count", lambda fields: fields["version"]),
    new_row_column("duplicate_count", lambda _: 1),
    new_row_column("last_seen_at", lambda fields: format_foreign_moment(fields["updated_at"], _MOMENT_EXAMPLE)),
    foreign_moment_column("created_at", "created_at", _MOMENT_EXAMPLE),
    foreign_moment_column("updated_at", "updated_at", _MOMENT_EXAMPLE),
    ColumnGroup(lambda _: {}, _write_deleted),
)
"""The columns of an observation; to write a new one, the fields must hold its ``number``."""
_PROMPT_COLUMNS: tuple[Column | ColumnGroup, ...] = (
    text_column("content", "content"),
    read_only(_read_source),
    _PLACE,
    Column(
        "created_at",
        _read_prompt_moment,
        lambda fields, given: format_foreign_moment(fields["created_at"], given),
    ),
    ColumnGroup(lambda _: {}, _write_deleted),
)
_SESSION_COLUMNS: tuple[Column | ColumnGroup, ...] = (
    text_column("summary", "content"),
    read_only(_read_session_title),
    read_only(_read_namespace),
    read_only(_read_session_moments),
)


class _Sort(msgspec.Struct, frozen=True):
    """One sort of records: the list of a chunk that holds them, and the record that each becomes."""

    list_name: str
    record: RecordName
    text_name: str
    """The name of the text that the record itself holds."""
    columns: tuple[Column | ColumnGroup, ...]
    constants: Fields
    """Fields that all of them have."""


_SORTS: Mapping[str, _Sort] = {
    "session": _Sort(
        "sessions", "item", "summary", _SESSION_COLUMNS, {"category": "session_note", "status": "archived"}
    ),
    "observation": _Sort(
        "observations",
        "memory",
        "content",
        _OBSERVATION_COLUMNS,
        {"kind": "observation", "source_type": "derived"},
    ),
    "prompt": _Sort(
        "prompts",
        "memory",
        "content",
        _PROMPT_COLUMNS,
        {"kind": "observation", "kind_raw": "prompt", "status": "archived"},
    ),
}

_MANIFEST_VERSION = 1
_ID_LENGTH = 8
"""Digits of a chunk's id, the first of the SHA-256 of its content."""

_CREATED_BY = "memento"


class _ChunkDraft(msgspec.Struct):
    """One chunk in the making, and its line of the manifest."""

    entry: dict[str, Any]
    lists: dict[str, list[dict[str, Any]]] = msgspec.field(
        default_factory=lambda: {described.list_name: [] for described in _SORTS.values()}
    )
    mutations: list[dict[str, Any]] = []


def write(records: Iterable[ExportRecord], root: Path) -> ExportReport:
    """Write memories and sessions as ``root/manifest.json`` and ``root/chunks/<id>.jsonl.gz``.

    A record that came from a chunk goes back into it. A chunk of which nothing was changed is the same to the byte, and
    keeps its id; any other has a new one, for engram reads no chunk twice. Other memories are in a chunk of their own.

    Raises:
        InvalidInput: ``root`` holds chunks already, or cannot be written.

    """
    folder = root / "chunks"
    if folder.exists() or (root / MANIFEST).exists():
        raise InvalidInput(f"{root} holds chunks already.", "Choose an empty folder.")
    chunks: dict[str, _ChunkDraft] = {}
    fresh: list[Memory] = []
    left_out = 0
    for record in records:
        if (
            isinstance(record, Memory | WorkingItem)
            and (kept := kept_fields(record, EXTRA_KEY))
            and _return_to_chunk(record, kept, chunks)
        ):
            continue
        if isinstance(record, Memory) and is_exported(record, EXTRA_KEY):
            fresh.append(record)
        else:
            left_out += 1
    whole = sorted(chunks.values(), key=lambda chunk: str(chunk.entry.get("created_at")))
    written = sum(len(values) for chunk in whole for values in chunk.lists.values())
    if fresh:
        whole.append(_chunk_of_new(fresh, whole))
    manifest = [_write_chunk(chunk, folder) for chunk in whole]
    whole_manifest = encode_go_json({"version": _MANIFEST_VERSION, "chunks": manifest})
    write_file(root / MANIFEST, [msgspec.json.format(whole_manifest, indent=2)])
    return ExportReport(records=written + len(fresh), files=len(manifest) + 1, left_out=left_out)


def _return_to_chunk(record: Memory | WorkingItem, kept: Mapping[str, Any], chunks: dict[str, _ChunkDraft]) -> bool:
    """Put a record back into its chunk; return whether it had one, and should go there."""
    sort = next((sort for sort in _SORTS if isinstance(kept.get(sort), dict)), None)
    entry = kept.get("chunk")
    if sort is None or not _is_entry(entry) or (isinstance(record, Memory) and record.status == "rejected"):
        return False
    value = restore_row(_SORTS[sort].columns, record_fields(record), kept[sort])
    _chunk_for(chunks, entry).lists[_SORTS[sort].list_name].append(value)
    given = kept.get(_MUTATIONS)
    for change in given if isinstance(given, list) else ():
        if isinstance(change, dict) and _is_entry(change.get("chunk")) and isinstance(change.get("mutation"), dict):
            _chunk_for(chunks, change["chunk"]).mutations.append(change["mutation"])
    return True


def _is_entry(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str)


def _chunk_for(chunks: dict[str, _ChunkDraft], entry: Any) -> _ChunkDraft:  # noqa: ANN401 - whatever was kept
    return chunks.setdefault(entry["id"], _ChunkDraft(dict(entry)))


def _chunk_of_new(memories: list[Memory], chunks: list[_ChunkDraft]) -> _ChunkDraft:
    """Return a chunk with the memories that come from no chunk."""
    numbers = (value.get("id") for chunk in chunks for value in chunk.lists[_SORTS["observation"].list_name])
    highest = max((number for number in numbers if isinstance(number, int)), default=0)
    latest = max(memory.updated_at for memory in memories)
    made = _ChunkDraft({"id": "", "created_by": _CREATED_BY, "created_at": format_foreign_moment(latest, None)})
    for number, memory in enumerate(memories, highest + 1):
        fields = {**record_fields(memory), "number": number, "title": memory.headline}
        made.lists[_SORTS["observation"].list_name].append(write_row(_OBSERVATION_COLUMNS, fields, {}))
    return made


def _made_sessions(entry: Mapping[str, Any], lists: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the sessions, by id, that an export makes for its observations, as engram has none outside of one."""
    sessions: dict[str, dict[str, Any]] = {}
    if entry.get("created_by") != _CREATED_BY:
        return sessions
    for observation in _list(lists, _SORTS["observation"].list_name):
        name = observation.get("session_id") if isinstance(observation, dict) else None
        if isinstance(name, str) and name not in sessions:
            sessions[name] = {
                "id": name,
                "project": observation.get("project", ""),
                "directory": "",
                "started_at": observation.get("created_at"),
            }
    return sessions


def _write_chunk(chunk: _ChunkDraft, folder: Path) -> dict[str, Any]:
    """Write a chunk; return its line of the manifest."""
    for values in chunk.lists.values():
        if all(isinstance(value.get("id"), int) for value in values):
            values.sort(key=lambda value: int(value["id"]))
    sessions = chunk.lists[_SORTS["session"].list_name]
    named = {session.get("id") for session in sessions}
    sessions += [made for name, made in _made_sessions(chunk.entry, chunk.lists).items() if name not in named]
    # A list of Go that was never filled is null.
    whole: dict[str, Any] = {name: values or None for name, values in chunk.lists.items()}
    if chunk.mutations:
        whole[_MUTATIONS] = sorted(
            chunk.mutations, key=lambda one: seq if isinstance(seq := one.get("seq"), int) else 0
        )
    data = encode_go_json(whole)
    # Go writes a byte that was no UTF-8 as the escape of the replacement character, and that character as it is.
    escaped = data.replace("\ufffd".encode(), b"\\ufffd")
    if chunk_id(escaped) == chunk.entry["id"]:
        data = escaped
    path = folder / f"{chunk_id(data)}{CHUNK_SUFFIX}"
    write_file(path, [gzip.compress(data, mtime=0)])
    counts = {"sessions": "session", "memories": "observation", "prompts": "prompt"}
    return {
        **chunk.entry,
        "id": chunk_id(data),
        **{name: len(chunk.lists[_SORTS[sort].list_name]) for name, sort in counts.items()},
    }


def chunk_id(data: bytes) -> str:
    """Return the id of a chunk that holds these bytes before they are compressed."""
    return hashlib.sha256(data).hexdigest()[:_ID_LENGTH]


def _lost_fields(written: ExportRecord, read: ExportRecord) -> set[str]:
    if not isinstance(written, Memory):
        return set()
    fields = {**record_fields(written), "number": 0, "title": written.headline}
    return lost_origin(written, read) | lost_by_columns(_OBSERVATION_COLUMNS, fields, read)


FORMAT = Format(
    name="engram",
    title="engram",
    description="the compressed chunks of engram, in a folder .engram",
    read=read,
    count=count,
    write=write,
    loses=_lost_fields,
    is_place=is_home,
    home=find_home,
)
