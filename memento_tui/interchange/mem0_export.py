"""Memories as mem0 gives them out: one JSON document with its ``results`` and the ``relations`` of its graph."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from memento_tui.errors import InvalidInput
from memento_tui.interchange.mem0 import KEPT, sentence
from memento_tui.interchange.outgoing import Outgoing, Written, cannot_write, put_in_place
from memento_tui.interchange.restoring import goes_out, kept_of, moment_as, moment_in, tags_as
from memento_tui.records import Memory

__all__ = ["write"]


def write(records: Iterable[Outgoing], root: Path) -> Written:
    """Write memories to the file ``root``.

    The format keeps a memory's id, text, tags (as categories), times and source. What came from mem0 and was not
    changed is written as it was.

    Raises:
        InvalidInput: the file is there already, or cannot be written.

    """
    if root.exists():
        raise InvalidInput(f"{root} is there already.", "Choose another name, or move it away.")
    results: list[dict[str, Any]] = []
    relations: list[dict[str, Any]] = []
    left_out = 0
    for record in records:
        if not isinstance(record, Memory) or not goes_out(record, KEPT):
            left_out += 1
        elif (relation := _relation(record)) is not None:
            relations.append(relation)
        else:
            results.append(_result(record))
    document = {"results": results, **({"relations": relations} if relations else {})}
    try:
        put_in_place(root, [msgspec.json.format(msgspec.json.encode(document), indent=2), b"\n"])
    except OSError as error:
        raise cannot_write(root, error) from error
    return Written(records=len(results) + len(relations), files=1, left_out=left_out)


def _relation(memory: Memory) -> dict[str, Any] | None:
    """Return the relation of mem0's graph that a memory stands for, while it still says so."""
    relation = kept_of(memory, KEPT).get("relation")
    return relation if isinstance(relation, dict) and sentence(relation) == memory.content else None


def _result(memory: Memory) -> dict[str, Any]:
    kept = kept_of(memory, KEPT).get("memory")
    if not isinstance(kept, dict):
        return _made(memory)
    changed: dict[str, Any] = {"memory": memory.content}
    given = kept.get("updated_at")
    if (moment_in(given) or memory.created_at) != memory.updated_at:
        changed["updated_at"] = moment_as(memory.updated_at, given)
        if "hash" in kept:
            changed["hash"] = _hash(memory.content)
    if memory.tags or kept.get("categories"):
        changed["categories"] = tags_as(memory.tags, kept.get("categories"))
    expires = memory.expires_at
    if expires != moment_in(kept.get("expiration_date")):
        changed["expiration_date"] = expires.date().isoformat() if expires else None
    return {**kept, **changed}


def _made(memory: Memory) -> dict[str, Any]:
    made: dict[str, Any] = {
        "id": memory.id,
        "memory": memory.content,
        "hash": _hash(memory.content),
        "metadata": {"title": memory.title} if memory.title else {},
        "categories": list(memory.tags),
        "created_at": moment_as(memory.created_at, None),
        "updated_at": moment_as(memory.updated_at, None),
        "user_id": "default",
    }
    if memory.expires_at:
        made["expiration_date"] = memory.expires_at.date().isoformat()
    if memory.source.agent:
        made["agent_id"] = memory.source.agent
    if memory.source.session:
        made["run_id"] = memory.source.session
    return made


def _hash(text: str) -> str:
    """Return what mem0 knows a text by."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
