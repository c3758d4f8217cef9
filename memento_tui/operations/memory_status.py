"""Tell how a memory stands: whether an agent may see it, and with which labels."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memento_tui.model import Memory
from memento_tui.model.memory import RECALLED_STATUSES

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
    labels = []
    if memory.source_type == "external":
        labels.append("UNTRUSTED")
    if memory.status != "active":
        labels.append(memory.status)
    if memory.sensitivity != "normal":
        labels.append(memory.sensitivity)
    labels.append("unverified" if memory.stability == "draft" else memory.stability)
    if memory.expires_at is not None:
        verb = "expired" if memory.expires_at <= now else "expires"
        labels.append(f"{verb} {memory.expires_at:%Y-%m-%d}")
    if memory.pinned:
        labels.append("essential")
    return labels
