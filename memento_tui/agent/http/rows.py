"""Records as Memento Protocol's clients read them, field by field."""

from __future__ import annotations

from typing import Any

from memento_tui import clock
from memento_tui.agent.http.call import Call
from memento_tui.agent.labels import is_readable, is_recalled, labels_of, moment_text
from memento_tui.interchange.protocol_model import category_of, item_title, linkage_of, type_of
from memento_tui.records import Memory, Skip, WorkingItem

__all__ = ["item_row", "linkages", "memory_row", "skip_row"]

_WITHHELD = {
    "pending": "It waits for a person's decision; until then its text is withheld.",
    "rejected": "A person turned it down, so its text is withheld.",
}


def linkages(call: Call, memory: Memory) -> list[dict[str, str]]:
    """Return a memory's linkages."""
    relations = call.workspace.store.relations_of(memory.id)
    return [linkage_of(one.type, one.dst, one.label) for one in relations if one.src == memory.id]


def memory_row(call: Call, memory: Memory) -> dict[str, Any]:
    """Return a memory with all of its fields; one that may not be read has no text.

    ``relevance`` is its certainty as a share of the highest, ``access_count`` how often it was of use: what was merely
    found is no access.
    """
    readable = is_readable(memory)
    into = [
        one.src
        for one in call.workspace.store.relations_of(memory.id)
        if one.dst == memory.id and one.type == "consolidated_from" and _is_recalled(call, one.src)
    ]
    row: dict[str, Any] = {
        "id": memory.id,
        "content": memory.content if readable else "",
        "type": type_of(memory),
        "tags": list(memory.tags) if readable else [],
        "created_at": moment_text(memory.created_at),
        "updated_at": moment_text(memory.updated_at),
        "expires_at": None if memory.expires_at is None else moment_text(memory.expires_at),
        "relevance": memory.certainty / 5,
        "access_count": memory.used_count,
        "last_accessed_at": None if memory.last_used_at is None else moment_text(memory.last_used_at),
        "consolidated": int(memory.status == "consolidated"),
        "consolidated_into": into[-1] if into else None,
        "linkages": linkages(call, memory) if readable else [],
        "images": [],
        "status": memory.status,
        "labels": labels_of(memory, clock.now()),
        "version": memory.version,
    }
    return row if readable else {**row, "withheld": _WITHHELD[memory.status]}


def _is_recalled(call: Call, memory_id: str) -> bool:
    found: Memory | None = call.workspace.store.find("memory", memory_id)
    return found is not None and is_recalled(found) and call.place.holds(found.namespace)


def item_row(item: WorkingItem) -> dict[str, Any]:
    """Return a working item with all of its fields."""
    touched = moment_text(item.updated_at)
    return {
        "id": item.id,
        "category": category_of(item),
        "title": item_title(item),
        "content": item.content,
        "status": item.status,
        "priority": item.priority,
        "tags": list(item.tags),
        "next_action": item.next_action or None,
        "created_at": moment_text(item.created_at),
        "updated_at": touched,
        "last_touched": touched,
        "version": item.version,
    }


def skip_row(skip: Skip) -> dict[str, str]:
    """Return a skip."""
    return {"id": skip.id, "item": skip.item, "reason": skip.reason, "expires_at": moment_text(skip.expires_at)}
