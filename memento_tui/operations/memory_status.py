"""Tell how a memory stands: whether an agent may see it, and with which labels."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memento_tui.model import Memory
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.text import fence

__all__ = ["bracketed", "caution_labels", "format_time", "is_readable", "is_recalled"]


def is_readable(memory: Memory) -> bool:
    """Tell whether an agent may read the text by id: not while it waits for a person, nor once it was turned down."""
    return memory.status not in ("pending", "rejected", "deleted")


def is_recalled(memory: Memory) -> bool:
    """Tell whether a search may show the memory to an agent, whatever its query asks for."""
    return memory.status in (*RECALLED_STATUSES, "archived") and memory.sensitivity != "restricted"


def format_time(moment: datetime) -> str:
    """Return a moment in UTC to the second: ``2026-12-31T18:00:00Z``."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def bracketed(labels: Iterable[str]) -> str:
    """Return labels as they stand behind a memory's name, each with a space before it."""
    return "".join(f" [{label}]" for label in labels)


def caution_labels(memory: Memory, now: datetime) -> list[str]:
    """Return the words of caution about a memory, the gravest first."""
    return fence.caution_labels(
        memory.source_type,
        memory.stability,
        status=memory.status,
        sensitivity=memory.sensitivity,
        expires_at=memory.expires_at,
        now=now,
        is_essential=memory.pinned,
    )
