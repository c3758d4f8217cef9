"""The chunks of engram: ``.engram/manifest.json`` and ``.engram/chunks/<id>.jsonl.gz``, each a piece of its history.

A chunk is one JSON object with sessions, observations and prompts. What a later chunk of the manifest says of the same
record counts. An observation is a memory; so is a prompt, but archived: it is what was asked and not what was learned,
kept for whoever looks for it and put in front of no agent. A session is a working item, archived too. A judged relation
between observations is a relation; it comes as a mutation, and mutations are kept with the record that they are about.

An observation of the scope ``personal`` is valid everywhere, any other in ``projects/<project>``. What memento has no
place for, and the chunk that a record stood in, is kept in ``extra["engram"]``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.errors import InvalidField
from memento_tui.interchange.engram_chunks import Chunk, chunks, listed, load_chunk
from memento_tui.interchange.incoming import Incoming, RecordName, Refused, source_digest
from memento_tui.interchange.names import namespace_of, one_line
from memento_tui.interchange.note import LONGEST_KIND
from memento_tui.interchange.restoring import moment_in, without
from memento_tui.records.ids import check_id
from memento_tui.records.memory import kind_of
from memento_tui.records.rules import MAX_LINE_LENGTH

__all__ = ["KEPT", "LISTS", "MUTATIONS", "count", "kind_in", "namespace_in", "read"]

KEPT = "engram"
"""The key of ``extra`` for what only this format knows."""

LISTS: Mapping[str, str] = {"session": "sessions", "observation": "observations", "prompt": "prompts"}
"""What a chunk holds, and the name of the list that holds it."""

MUTATIONS = "mutations"
"""The list of a chunk that says what happened to records, and its name in what is kept of one."""

_RELATIONS = {"supersedes": "supersedes", "conflicts_with": "contradicts"}
"""Its verdicts on two observations that mean what a relation of memento means; any other is ``related``."""

_AGENT = "engram"
_LONGEST_NAME = 100

_Record = tuple[str, str]
"""A record's sort and what it is known by."""


class _Mutation(msgspec.Struct, frozen=True):
    """A mutation, and the manifest's line of the chunk that it stands in."""

    entry: dict[str, Any]
    value: dict[str, Any]
    payload: dict[str, Any]


class _History(msgspec.Struct):
    """What has to be known of all chunks before the first record can be told."""

    last: dict[_Record, tuple[str, int]] = msgspec.field(default_factory=dict)
    """Where each record was told last: the chunk, and the place in its list."""
    mutations: dict[_Record, list[_Mutation]] = msgspec.field(default_factory=dict)
    names: set[str] = msgspec.field(default_factory=set)
    """The ids that are given already; an observation and a prompt cannot share one."""


def count(root: Path) -> int:
    """Return the number of records that the manifest promises."""
    return listed(root)


def read(root: Path) -> Iterator[Incoming | Refused]:
    """Yield the records of a folder with chunks (of the folder above it, or of one chunk), each as it was told last.

    Every chunk is read twice, and one at a time.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    history = _History()
    for chunk in chunks(root):
        if isinstance(chunk, Chunk) and not isinstance(loaded := load_chunk(chunk), Refused):
            _survey(chunk, loaded, history)
    for chunk in chunks(root):
        if isinstance(chunk, Refused):
            yield chunk
        elif isinstance(loaded := load_chunk(chunk), Refused):
            yield loaded
        else:
            yield from _read_chunk(chunk, loaded, history)


def _survey(chunk: Chunk, loaded: Mapping[str, Any], history: _History) -> None:
    for sort, nth, value in _records(loaded):
        if not _problem(sort, value):
            history.last[sort, _known_by(sort, value)] = (chunk.id, nth)
    for value in _list(loaded, MUTATIONS):
        if (about := _about(value)) is not None:
            record, payload = about
            history.mutations.setdefault(record, []).append(_Mutation(chunk.entry, value, payload))


def _list(loaded: Mapping[str, Any], name: str) -> list[Any]:
    given = loaded.get(name)
    return given if isinstance(given, list) else []


def _records(loaded: Mapping[str, Any]) -> Iterator[tuple[str, int, Any]]:
    for sort, name in LISTS.items():
        for nth, value in enumerate(_list(loaded, name)):
            yield sort, nth, value


def _problem(sort: str, value: Any) -> str:  # noqa: ANN401 - whatever JSON has
    if not isinstance(value, dict):
        return "is not an object with fields"
    needed = "id" if sort == "session" else "content"
    text = value.get(needed)
    return "" if isinstance(text, str) and text.strip() else f"has no {needed}"


def _known_by(sort: str, value: Mapping[str, Any]) -> str:
    """Return what a record is known by on every machine; old observations have only the number that one gave them."""
    given = value.get("id" if sort == "session" else "sync_id")
    if isinstance(given, str) and given.strip():
        return given
    return f"{value.get('created_at')} {value.get('id')}"


def _about(mutation: Any) -> tuple[_Record, dict[str, Any]] | None:  # noqa: ANN401 - whatever JSON has
    """Return the record that a mutation is about, for a relation the one that it begins at, and its payload."""
    if not isinstance(mutation, dict):
        return None
    entity, key, payload = (mutation.get(name) for name in ("entity", "entity_key", "payload"))
    try:
        said = msgspec.json.decode(payload, type=dict[str, Any]) if isinstance(payload, str) and payload else {}
    except (msgspec.DecodeError, RecursionError):
        return None
    if entity == "relation":
        entity, key = "observation", said.get("source_id")
    return ((entity, key), said) if isinstance(entity, str) and entity in LISTS and isinstance(key, str) else None


def _read_chunk(chunk: Chunk, loaded: Mapping[str, Any], history: _History) -> Iterator[Incoming | Refused]:
    file = chunk.file.name
    for sort, nth, value in _records(loaded):
        if problem := _problem(sort, value):
            yield Refused(file, 1, f"holds, as {sort} {nth + 1}, something that {problem}")
        elif history.last[sort, _known_by(sort, value)] == (chunk.id, nth):
            yield _incoming(sort, value, chunk, history)
    for nth, value in enumerate(_list(loaded, MUTATIONS)):
        about = _about(value)
        if about is None or about[0] not in history.last:
            yield Refused(file, 1, f"holds, as mutation {nth + 1}, a change to something that is in no chunk")
    for name in loaded.keys() - {*LISTS.values(), MUTATIONS}:
        yield Refused(file, 1, f"holds {name!r:.40}, which memento does not know")


def _incoming(sort: str, value: dict[str, Any], chunk: Chunk, history: _History) -> Incoming:
    known_by = _known_by(sort, value)
    mutations = history.mutations.get((sort, known_by), [])
    fields, record = _FIELDS[sort](value), "item" if sort == "session" else "memory"
    kept: dict[str, Any] = {"chunk": chunk.entry, **fields.pop("extra")}
    if mutations:
        kept[MUTATIONS] = [{"chunk": one.entry, "mutation": one.value} for one in mutations]
    if _usable_id(known_by) and f"{record} {known_by}" not in history.names:
        history.names.add(f"{record} {known_by}")
        fields["id"] = known_by
    said = msgspec.json.encode([value, *(one.value for one in mutations)])
    return Incoming(
        key=known_by if sort == "observation" else f"{sort} {known_by}",
        record=_RECORDS[sort],
        fields={**fields, "extra": {KEPT: kept}},
        digest=source_digest(said),
        file=chunk.file.name,
        line=1,
        deleted=bool(value.get("deleted_at")) or any(_deletes(one) for one in mutations),
        links=_links(mutations, known_by, history),
    )


_RECORDS: Mapping[str, RecordName] = {"session": "item", "observation": "memory", "prompt": "memory"}


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
    for one in mutations:
        target, relation = one.payload.get("target_id"), one.payload.get("relation")
        if one.value.get("entity") != "relation" or one.payload.get("judgment_status") != "judged":
            continue
        if isinstance(target, str) and isinstance(relation, str) and ("observation", target) in history.last:
            kind = _RELATIONS.get(relation, "related")
            links[kind, target, "" if kind != "related" else one_line(relation, _LONGEST_NAME)] = None
    return tuple(link for link in links if link[1] != known_by)


def _text(value: Mapping[str, Any], name: str) -> str:
    given = value.get(name)
    return given if isinstance(given, str) else ""


def namespace_in(value: Mapping[str, Any]) -> str:
    """Return the namespace of a record."""
    project = _text(value, "project").strip()
    return "global" if value.get("scope") == "personal" or not project else namespace_of(["projects", project])


def kind_in(value: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind and raw kind of an observation."""
    return kind_of(one_line(_text(value, "type"), LONGEST_KIND) or "observation")


def _moments(value: Mapping[str, Any], created: str, updated: str) -> dict[str, Any]:
    moments = {"created_at": moment_in(value.get(created)), "updated_at": moment_in(value.get(updated))}
    return {field: moment for field, moment in moments.items() if moment is not None}


def _observation(value: dict[str, Any]) -> dict[str, Any]:
    kind, kind_raw = kind_in(value)
    return {
        "title": one_line(_text(value, "title"), MAX_LINE_LENGTH),
        "content": value["content"],
        "kind": kind,
        "kind_raw": kind_raw,
        "namespace": namespace_in(value),
        "source_type": "derived",
        "source": _source(value),
        **_moments(value, "created_at", "updated_at"),
        "extra": {"observation": without(value, "content")},
    }


def _source(value: Mapping[str, Any]) -> dict[str, str]:
    return {"agent": _AGENT, "session": one_line(_text(value, "session_id"), _LONGEST_NAME)}


def _prompt(value: dict[str, Any]) -> dict[str, Any]:
    return {
        "content": value["content"],
        "kind": "observation",
        "kind_raw": "prompt",
        "namespace": namespace_in(value),
        "status": "archived",
        "source": _source(value),
        **_moments(value, "created_at", "created_at"),
        "extra": {"prompt": without(value, "content")},
    }


def _session(value: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": one_line(f"{_text(value, 'project')} {_text(value, 'started_at')}", MAX_LINE_LENGTH) or value["id"],
        "content": _text(value, "summary"),
        "category": "session_note",
        "status": "archived",
        "namespace": namespace_in(value),
        **_moments(value, "started_at", "ended_at"),
        "extra": {"session": without(value, "summary")},
    }


_FIELDS = {"session": _session, "observation": _observation, "prompt": _prompt}
