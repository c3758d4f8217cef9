"""Memories as chunks that engram takes in, with their manifest."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.interchange.engram import KEPT, LISTS, MUTATIONS, kind_in, namespace_in
from memento_tui.interchange.engram_chunks import MANIFEST, SUFFIX
from memento_tui.interchange.go_json import go_json
from memento_tui.interchange.names import one_line
from memento_tui.interchange.outgoing import Outgoing, Written, cannot_write, put_in_place
from memento_tui.interchange.restoring import goes_out, kept_of, moment_as
from memento_tui.records import Memory, WorkingItem
from memento_tui.records.rules import MAX_LINE_LENGTH

__all__ = ["identity_of", "write"]

_VERSION = 1
_LENGTH = 8
"""Digits of a chunk's id, the first of the SHA-256 of what it holds."""

_MANUAL = "manual-save"
"""The session that engram puts an observation in which was saved in none."""

_MAKER = "memento"
_EARLIEST = "1970-01-01 00:00:00"
"""A moment in the form in which engram writes all others too."""


class _Chunk(msgspec.Struct):
    """One chunk in the making, and its line of the manifest."""

    entry: dict[str, Any]
    lists: dict[str, list[dict[str, Any]]] = msgspec.field(default_factory=lambda: {n: [] for n in LISTS.values()})
    mutations: list[dict[str, Any]] = []


def write(records: Iterable[Outgoing], root: Path) -> Written:
    """Write memories and sessions as ``root/manifest.json`` and ``root/chunks/<id>.jsonl.gz``.

    A record that came from a chunk goes back into it. A chunk of which nothing was changed is the same to the byte, and
    keeps its id; any other has a new one, for engram reads no chunk twice. Other memories are in a chunk of their own.

    Raises:
        InvalidInput: ``root`` holds chunks already, or cannot be written.

    """
    folder = root / "chunks"
    if folder.exists() or (root / MANIFEST).exists():
        raise InvalidInput(f"{root} holds chunks already.", "Choose an empty folder.")
    chunks: dict[str, _Chunk] = {}
    fresh: list[Memory] = []
    left_out = 0
    for record in records:
        if isinstance(record, Memory | WorkingItem) and (kept := kept_of(record, KEPT)) and _put(record, kept, chunks):
            continue
        if isinstance(record, Memory) and goes_out(record, KEPT):
            fresh.append(record)
        else:
            left_out += 1
    whole = sorted(chunks.values(), key=lambda chunk: str(chunk.entry.get("created_at")))
    written = sum(len(values) for chunk in whole for values in chunk.lists.values())
    if fresh:
        whole.append(_of_others(fresh, whole))
    manifest = [_write_chunk(chunk, folder) for chunk in whole]
    _put_file(root / MANIFEST, msgspec.json.format(go_json({"version": _VERSION, "chunks": manifest}), indent=2))
    return Written(records=written + len(fresh), files=len(manifest) + 1, left_out=left_out)


def _put(record: Memory | WorkingItem, kept: Mapping[str, Any], chunks: dict[str, _Chunk]) -> bool:
    """Put a record back into its chunk; tell whether it had one, and should go there."""
    sort = next((sort for sort in LISTS if isinstance(kept.get(sort), dict)), None)
    entry = kept.get("chunk")
    if sort is None or not _is_entry(entry) or (isinstance(record, Memory) and record.status == "rejected"):
        return False
    value = _item(record, kept[sort]) if isinstance(record, WorkingItem) else _memory(record, kept[sort], sort)
    _chunk(chunks, entry).lists[LISTS[sort]].append(value)
    given = kept.get(MUTATIONS)
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict) and _is_entry(one.get("chunk")) and isinstance(one.get("mutation"), dict):
            _chunk(chunks, one["chunk"]).mutations.append(one["mutation"])
    return True


def _is_entry(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str)


def _chunk(chunks: dict[str, _Chunk], entry: Any) -> _Chunk:  # noqa: ANN401 - whatever was kept
    return chunks.setdefault(entry["id"], _Chunk(dict(entry)))


def _memory(memory: Memory, kept: dict[str, Any], sort: str) -> dict[str, Any]:
    changed: dict[str, Any] = {"content": memory.content}
    if sort == "observation":
        if memory.title != one_line(str(kept.get("title", "")), MAX_LINE_LENGTH):
            changed["title"] = memory.title
        if kind_in(kept) != (memory.kind, memory.kind_raw):
            changed["type"] = memory.kind_raw or memory.kind
    if memory.status == "deleted" and not kept.get("deleted_at"):
        changed["deleted_at"] = moment_as(memory.updated_at, _EARLIEST)
    if memory.namespace != namespace_in(kept):
        changed |= _place(memory.namespace)
    for name, moment in (("created_at", memory.created_at), ("updated_at", memory.updated_at)):
        if kept.get(name) is not None:
            changed[name] = moment_as(moment, kept[name])
    return {**kept, **changed}


def _item(item: WorkingItem, kept: dict[str, Any]) -> dict[str, Any]:
    changed = {"summary": item.content} if item.content or kept.get("summary") else {}
    return {**kept, **changed}


def _place(namespace: str) -> dict[str, str]:
    """Return the fields that put a record into a project, or everywhere."""
    if namespace == "global":
        return {"scope": "personal"}
    return {"project": namespace.removeprefix("projects/"), "scope": "project"}


def _of_others(memories: list[Memory], chunks: list[_Chunk]) -> _Chunk:
    """Return a chunk with the memories that come from no chunk."""
    numbers = (value.get("id") for chunk in chunks for value in chunk.lists[LISTS["observation"]])
    highest = max((number for number in numbers if isinstance(number, int)), default=0)
    latest = max(memory.updated_at for memory in memories)
    made = _Chunk({"id": "", "created_by": _MAKER, "created_at": moment_as(latest, None)})
    sessions: dict[str, dict[str, Any]] = {}
    for number, memory in enumerate(memories, highest + 1):
        observation = _made(memory, number)
        sessions.setdefault(
            observation["session_id"],
            {
                "id": observation["session_id"],
                "project": observation.get("project", ""),
                "directory": "",
                "started_at": observation["created_at"],
            },
        )
        made.lists[LISTS["observation"]].append(observation)
    made.lists[LISTS["session"]] += sessions.values()
    return made


def _made(memory: Memory, number: int) -> dict[str, Any]:
    place = _place(memory.namespace)
    updated = moment_as(memory.updated_at, _EARLIEST)
    return {
        "id": number,
        "sync_id": memory.id,
        "session_id": f"{_MANUAL}-{place['project']}" if "project" in place else _MANUAL,
        "type": memory.kind_raw or memory.kind,
        "title": memory.headline,
        "content": memory.content,
        **place,
        "revision_count": memory.version,
        "duplicate_count": 1,
        "last_seen_at": updated,
        "created_at": moment_as(memory.created_at, _EARLIEST),
        "updated_at": updated,
    }


def _write_chunk(chunk: _Chunk, folder: Path) -> dict[str, Any]:
    """Write a chunk; return its line of the manifest."""
    for values in chunk.lists.values():
        if all(isinstance(value.get("id"), int) for value in values):
            values.sort(key=lambda value: int(value["id"]))
    # A list of Go that was never filled is null.
    whole: dict[str, Any] = {name: values or None for name, values in chunk.lists.items()}
    if chunk.mutations:
        whole[MUTATIONS] = sorted(chunk.mutations, key=lambda one: seq if isinstance(seq := one.get("seq"), int) else 0)
    data = go_json(whole)
    # Go writes a byte that was no UTF-8 as the escape of the replacement character, and that character as it is.
    escaped = data.replace("\ufffd".encode(), b"\\ufffd")
    if identity_of(escaped) == chunk.entry["id"]:
        data = escaped
    path = folder / f"{identity_of(data)}{SUFFIX}"
    _put_file(path, gzip.compress(data, mtime=0))
    counts = {"sessions": "session", "memories": "observation", "prompts": "prompt"}
    return {
        **chunk.entry,
        "id": identity_of(data),
        **{name: len(chunk.lists[LISTS[sort]]) for name, sort in counts.items()},
    }


def identity_of(data: bytes) -> str:
    """Return the id of a chunk that holds these bytes before they are compressed."""
    return hashlib.sha256(data).hexdigest()[:_LENGTH]


def _put_file(path: Path, data: bytes) -> None:
    try:
        put_in_place(path, [data])
    except OSError as error:
        raise cannot_write(path, error) from error
