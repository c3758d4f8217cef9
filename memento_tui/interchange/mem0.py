"""What mem0 gives out as JSON: ``{"results": [...], "relations": [...]}``, a bare list, or one memory a line.

A memory keeps its id. Where it belongs follows from mem0's scopes: an ``app_id`` is a project; the memories of one user
are the person's own and go where every project sees them; where a file names several users, each has a namespace.
A relation of mem0's graph joins two names, not two memories, so it is a memory itself, a sentence of its three parts.

What memento has no place for is kept in ``extra["mem0"]``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.interchange.incoming import Incoming, Refused, source_digest
from memento_tui.interchange.lines import Line, objects
from memento_tui.interchange.names import namespace_of, one_line, usable_tags
from memento_tui.interchange.restoring import moment_in, without
from memento_tui.interchange.tree import Loaded, SourceFile, load, open_source, walk

__all__ = ["KEPT", "SUFFIX", "count", "is_document", "is_memory", "read", "sentence"]

KEPT = "mem0"
"""The key of ``extra`` for what only this format knows."""

SUFFIX = ".json"
_LINES = ".jsonl"

_LARGEST = 256 * 1024 * 1024
"""Bytes of a document, which is read whole; mem0 gives out half a million memories in as much."""

_LISTS = ("results", "memories", "data")
"""The names under which mem0's interfaces have put the list of memories."""

_MOST_ATTEMPTS = 100
"""Places in a damaged document where another memory may begin; one with more is not worth the time."""

_BEGINNING = re.compile(r'\{\s*"(?:id|memory|source)"\s*:')
_TEXT = re.compile(rb'"memory"\s*:\s*"')
_NO_OBJECT = "is not an object with fields"
_HEAD = 65_536
"""Bytes of a file that tell its format."""

_ENDS = ("source", "relationship", "target")
_MOMENTS = (("created_at", "created_at"), ("updated_at", "updated_at"), ("expiration_date", "expires_at"))
_PROJECT, _USER, _AGENT = "projects", "users", "agents"
_stdlib = json.JSONDecoder()


class _Whole(msgspec.Struct):
    """The lists of a document, their elements still as they are written."""

    results: list[msgspec.Raw] | None = None
    memories: list[msgspec.Raw] | None = None
    data: list[msgspec.Raw] | None = None
    relations: list[msgspec.Raw] | None = None


def count(root: Path) -> int:
    """Return about how many memories there are: as often as a file names the field that holds their text."""
    files = (file for file in _files(root) if isinstance(file, SourceFile))
    loaded = (load(file, _LARGEST) for file in files)
    return sum(one.data.count(b'"memory"') for one in loaded if isinstance(one, Loaded))


def read(root: Path) -> Iterator[Incoming | Refused]:
    """Yield the memories and the relations of one file, or of every JSON file in a folder.

    Of a damaged document everything is read that is whole.

    Raises:
        InvalidInput: there is nothing at ``root``.

    """
    keys: set[str] = set()
    for found in _files(root):
        if isinstance(found, Refused):
            yield found
            continue
        lines = list(objects(found, "memory") if found.name.lower().endswith(_LINES) else _of_document(found))
        values = [line.value for line in lines if isinstance(line, Line)]
        several = len({value["user_id"] for value in values if isinstance(value.get("user_id"), str)}) > 1
        for line in lines:
            yield line if isinstance(line, Refused) else _incoming(line, found.name, keys, several_users=several)


def _files(root: Path) -> Iterator[SourceFile | Refused]:
    yield from walk(root, SUFFIX)
    if root.is_dir():
        yield from walk(root, _LINES)


def is_document(file: SourceFile) -> bool:
    """Tell whether a JSON file looks like what mem0 gives out, by its beginning."""
    try:
        with open_source(file) as stream:
            return _TEXT.search(stream.read(_HEAD)) is not None
    except OSError:
        return False  # reading it reports the reason


def is_memory(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a memory of this format."""
    return isinstance(value.get("memory"), str) and ("id" in value or "hash" in value or "user_id" in value)


def _is_relation(value: Mapping[str, Any]) -> bool:
    return all(isinstance(_end(value, name), str) for name in _ENDS)


def _end(relation: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - whatever JSON has
    """Return a part of a relation; some of mem0's graph stores say ``destination`` for the target."""
    return relation.get(name, relation.get("destination") if name == "target" else None)


def sentence(relation: Mapping[str, Any]) -> str:
    """Return a relation of the graph as a sentence of its three parts."""
    return " ".join(str(_end(relation, name)).replace("_", " ") for name in _ENDS)


def _of_document(file: SourceFile) -> Iterator[Line | Refused]:
    loaded = load(file, _LARGEST)
    if isinstance(loaded, Refused):
        yield loaded
        return
    try:
        elements = _elements(loaded.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        yield Refused(file.name, 0, f"is not a whole list of memories ({error}); those that are whole in it are read")
        yield from _recovered(file.name, loaded.data.decode(errors="surrogateescape"))
    else:
        yield from _numbered(file.name, loaded.data, elements)


def _elements(data: bytes) -> list[msgspec.Raw]:
    """Return what a document lists, unread; a single memory is a list of one. Raises `msgspec.DecodeError`."""
    if data.lstrip()[:1] == b"[":
        return msgspec.json.decode(data, type=list[msgspec.Raw])
    whole = msgspec.json.decode(data, type=_Whole)
    lists = [*(getattr(whole, name) for name in _LISTS), whole.relations]
    if all(one is None for one in lists):
        return [msgspec.json.decode(data, type=msgspec.Raw)]
    return [element for one in lists for element in one or ()]


def _numbered(file: str, data: bytes, elements: Iterable[msgspec.Raw]) -> Iterator[Line | Refused]:
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
            # The elements were told apart without a look at what stands between their quotes.
            yield Refused(file, number + 1, f"is not a whole memory: {error}")
        else:
            is_object = isinstance(value, dict)
            yield Line(number + 1, nth, source, value) if is_object else Refused(file, number + 1, _NO_OBJECT)
        position += len(source)
        number += source.count(b"\n")


def _recovered(file: str, text: str) -> Iterator[Line | Refused]:
    """Yield the whole memories of a damaged document, and where one is not whole."""
    position = attempts = counted = 0
    number = 1
    while attempts < _MOST_ATTEMPTS and (match := _BEGINNING.search(text, position)) is not None:
        number += text.count("\n", counted, match.start())
        counted = match.start()
        try:
            value, position = _stdlib.raw_decode(text, match.start())
            source = text[match.start() : position].encode()
        except UnicodeEncodeError:
            yield Refused(file, number, "is not UTF-8")
        except (ValueError, RecursionError):  # a number of more than 4,300 digits is a ValueError too
            attempts += 1
            position = match.end()
            yield Refused(file, number, "is not a whole memory")
        else:
            yield Line(number, 0, source, value)


def _incoming(line: Line, file: str, keys: set[str], *, several_users: bool) -> Incoming | Refused:
    value = line.value
    if is_memory(value):
        identity = value.get("id")
        named = isinstance(identity, str) and bool(identity.strip())
        key = str(identity) if named else f"memory {source_digest(value['memory'].encode()).hex()}"
        fields = _memory(value, several_users=several_users)
        if named:
            fields["id"] = key
    elif _is_relation(value):
        key = f"relation {sentence(value)}"
        fields = {"content": sentence(value), "source_type": "derived", "extra": {KEPT: {"relation": value}}}
    else:
        return Refused(file, line.number, "is neither a memory nor a relation of mem0")
    if key in keys:
        return Refused(file, line.number, f"has the same {'id' if 'id' in fields else 'text'} as one before it")
    keys.add(key)
    return Incoming(
        key=key, record="memory", fields=fields, digest=source_digest(line.source), file=file, line=line.number
    )


def _memory(value: Mapping[str, Any], *, several_users: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "content": value["memory"],
        "namespace": _namespace(value, several_users=several_users),
        "source_type": "user" if value.get("role") == "user" else "derived",
        "source": {
            "agent": one_line(value["agent_id"], 100) if isinstance(value.get("agent_id"), str) else "",
            "session": one_line(value["run_id"], 100) if isinstance(value.get("run_id"), str) else "",
        },
        "extra": {KEPT: {"memory": without(dict(value), "memory")}},
    }
    for name, field in _MOMENTS:
        if (moment := moment_in(value.get(name))) is not None:
            fields[field] = moment
    categories = value.get("categories")
    if isinstance(categories, list):
        fields["tags"] = usable_tags(word for word in categories if isinstance(word, str))
    return fields


def _namespace(value: Mapping[str, Any], *, several_users: bool) -> str:
    app, user, agent = (value.get(name) for name in ("app_id", "user_id", "agent_id"))
    if isinstance(app, str) and app:
        return namespace_of([_PROJECT, app])
    if isinstance(user, str) and user:
        return namespace_of([_USER, user]) if several_users else "global"
    return namespace_of([_AGENT, agent]) if isinstance(agent, str) and agent else "global"
