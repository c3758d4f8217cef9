"""What the semantic index holds of a memory: the facts that a query filters by, beside the vector of its text."""

from __future__ import annotations

import hashlib
from typing import Any

from memento_tui.records import Memory
from memento_tui.records.rules import fold_tag
from memento_tui.search.lance_filter import microseconds

__all__ = ["LAYOUT", "STATE_ID", "facts_of", "is_indexed", "text_to_embed"]

LAYOUT = 1
"""Raised with every change of the columns or of `text_to_embed`; an index of another layout is rebuilt."""

STATE_ID = ""
"""The id of the row that says what the index reflects; no record's id is empty."""

_NOT_INDEXED = ("rejected", "deleted")


def is_indexed(memory: Memory) -> bool:
    """Tell whether the index holds the memory at all; what else a query may see is for its filter to say."""
    return memory.status not in _NOT_INDEXED


def text_to_embed(memory: Memory) -> str:
    """Return the text whose meaning stands for the memory. The model reads only as much of it as it can take."""
    return f"{memory.title}\n{memory.content}" if memory.title.strip() else memory.content


def facts_of(memory: Memory) -> dict[str, Any]:
    """Return the values of a memory's row, all but its vector."""
    text = text_to_embed(memory)
    return {
        "id": memory.id,
        "digest": hashlib.blake2b(text.encode(), digest_size=16).hexdigest(),
        "namespace": memory.namespace,
        "kind": memory.kind,
        "tags": sorted({fold_tag(tag) for tag in memory.tags}),
        "stability": memory.stability,
        "source_type": memory.source_type,
        "sensitivity": memory.sensitivity,
        "tier": memory.tier,
        "status": memory.status,
        "agent": memory.source.agent or None,
        "session": memory.source.session or None,
        "pinned": memory.pinned,
        "certainty": memory.certainty,
        "created_at": microseconds(memory.created_at),
        "updated_at": microseconds(memory.updated_at),
        "expires_at": None if memory.expires_at is None else microseconds(memory.expires_at),
        "state": None,
    }
