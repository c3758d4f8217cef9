"""What a person's acceptance does to a memory, and what a change by fields makes of one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from memento_tui.errors import InvalidField
from memento_tui.records import Memory, check_memory, make_memory
from memento_tui.store.journal import Author

__all__ = ["edited", "verified"]


def verified(memory: Memory, author: Author, now: datetime) -> Memory:
    """Return the memory as a person leaves it who has read and accepted it."""
    stability = "verified" if memory.stability == "draft" else memory.stability
    return msgspec.structs.replace(memory, stability=stability, verified_at=now, verified_by=author.name)


def edited(memory: Memory, changes: Mapping[str, Any], now: datetime) -> Memory:
    """Return the memory with some fields changed, checked by every rule of a new one. Raises `InvalidField`."""
    fixed = {"id", "created_at", "version", "shown_count", "used_count", "last_used_at"}
    for name in changes:
        if name in fixed:
            raise InvalidField(name, "cannot be changed")
    plain = {name: getattr(memory, name) for name in Memory.__struct_fields__}
    made = make_memory({**plain, **changes, "updated_at": now}, now=now)
    cleared = {n: None for n, v in changes.items() if v is None and getattr(made, n, None) is not None}
    return check_memory(msgspec.structs.replace(made, **cleared)) if cleared else made
