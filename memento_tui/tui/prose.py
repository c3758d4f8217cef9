"""How a memory reads in a preview."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from textual.content import Content

from memento_tui.records import Memory
from memento_tui.records.when import utc_now
from memento_tui.search.language import Query
from memento_tui.tui.display import ago, hidden_characters, literal, shown

__all__ = ["memory_body", "memory_facts", "when"]

_LONGEST_PREVIEW = 20_000

_STATUS_HINTS = {"pending": "PENDING, 2 decides", "deleted": "DELETED, r restores", "rejected": "REJECTED, r restores"}


def when(moment: datetime, now: datetime) -> str:
    """Return how long ago a moment is: ``just now``, ``5m ago``, ``in 3d``."""
    span = ago(moment, now)
    if span == "now":
        return "just now"
    return span if moment > now else f"{span} ago"


def memory_facts(memory: Memory) -> Content:
    """Return what is known of a memory beside its text: trust, place, life, and a warning of hidden characters."""
    now = utc_now()
    lines = [literal("  ".join(part), "dim") for part in (_trust(memory, now), _place(memory), _life(memory, now))]
    if memory.validity_context:
        lines.append(literal(f"applies to: {memory.validity_context}", "dim"))
    hidden = hidden_characters(memory.content) + hidden_characters(memory.title)
    if hidden:
        told = ", ".join(f"{count}x {name}" for name, count in hidden.most_common(3))
        more = ", ..." if len(hidden) > 3 else ""  # noqa: PLR2004 - what was told
        lines.append(literal(f"! hidden characters, shown as <...>: {told}{more}", "bold $text-warning"))
    return Content("\n").join(lines)


def _trust(memory: Memory, now: datetime) -> Iterator[str]:
    if memory.status != "active":
        yield _STATUS_HINTS.get(memory.status, memory.status.upper())
    yield memory.kind.replace("_", " ")
    if memory.stability == "draft":
        yield "draft, unverified"
    else:
        yield f"{memory.stability} {when(memory.verified_at, now)}" if memory.verified_at else memory.stability
    yield f"certainty {memory.certainty}/5"
    if memory.pinned:
        yield "pinned"
    if memory.source_type == "external":
        yield "from outside"
    if memory.sensitivity != "normal":
        yield memory.sensitivity


def _place(memory: Memory) -> Iterator[str]:
    yield memory.namespace
    for tag in memory.tags:
        yield f"#{tag}"


def _life(memory: Memory, now: datetime) -> Iterator[str]:
    changed = f"changed {when(memory.updated_at, now)}"
    yield f"{changed} by {memory.source.agent}" if memory.source.agent and memory.version == 1 else changed
    if memory.source.agent and memory.version > 1:
        yield f"first written by {memory.source.agent}"
    if memory.used_count:
        yield f"used {memory.used_count:,}x"
    if memory.expires_at is not None:
        yield f"{'expired' if memory.expires_at <= now else 'expires'} {when(memory.expires_at, now)}"
    yield f"id {memory.id}"


def memory_body(memory: Memory, query: Query | None) -> Content:
    """Return the content with the query's words marked; a very long one is cut, and says so."""
    text = shown(memory.content[:_LONGEST_PREVIEW], multiline=True)
    body = Content(text)
    if query is not None:
        from memento_tui.search.snippet import find_marks  # noqa: PLC0415 - loaded with the first search

        for start, end in find_marks(query, text):
            body = body.stylize("$text-accent bold underline", start, end)
    left = len(memory.content) - _LONGEST_PREVIEW
    if left > 0:
        body = body + literal(f"\n\n... {left:,} more characters. E opens all of it in your editor.", "dim")
    return body
