"""Results as the protocol carries them: structured, and the same in words for a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from memento_tui.agent.fence import fenced, one_line, quoted_id
from memento_tui.agent.labels import in_brackets, labels_of, moment_text
from memento_tui.agent.shapes import FoundMemory, Item, SkipEntry
from memento_tui.records import Skip, WorkingItem
from memento_tui.workspace.searching import Hit

__all__ = [
    "answer",
    "found_lines",
    "found_memory",
    "item_entry",
    "item_lines",
    "refusal",
    "skip_entry",
    "skip_lines",
    "whole_text",
]


def answer(text: str, shape: BaseModel) -> CallToolResult:
    """Return a result: ``text`` for the model and ``shape`` for programs."""
    structured = shape.model_dump(mode="json", exclude_defaults=True)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)


def refusal(sentence: str) -> CallToolResult:
    """Return a result that says why nothing was done."""
    return CallToolResult(content=[TextContent(type="text", text=sentence)], is_error=True)


def found_memory(hit: Hit, now: datetime) -> FoundMemory:
    """Return a search result as it is sent."""
    memory = hit.memory
    return FoundMemory(
        id=memory.id,
        title=one_line(memory.headline, 120),
        kind=memory.kind,
        score=round(hit.score, 3),
        snippet=one_line(hit.snippet, 400),
        labels=labels_of(memory, now),
        tags=list(memory.tags),
        namespace=memory.namespace,
    )


def found_lines(found: Sequence[FoundMemory]) -> str:
    """Return search results in words, fenced: two lines for each, of which only the second holds its text."""
    return fenced("\n".join(line for number, memory in enumerate(found, 1) for line in _lines(number, memory)))


def _lines(number: int, memory: FoundMemory) -> tuple[str, str]:
    head = f"{number}. {quoted_id(memory.id)} {memory.kind} {memory.score:.2f}{in_brackets(memory.labels)}"
    # The headline is the beginning of the text where there is no title of its own.
    beginning = memory.title.removesuffix(" ...")
    text = memory.snippet if memory.snippet.startswith(beginning) else f"{memory.title}: {memory.snippet}"
    return head, f"   {text}"


def whole_text(head: str, facts: Iterable[tuple[str, str]], content: str, *, untrusted: bool) -> str:
    """Return a memory in full below a line about it: those of its facts that are known, a line each, and its text."""
    lines = [f"{name}: {value}" for name, value in facts if value]
    body = "\n".join([*lines, *([""] if lines else []), content])
    return f"{head}\n{fenced(body, untrusted=untrusted)}"


def skip_entry(skip: Skip) -> SkipEntry:
    """Return a skip as it is sent."""
    return SkipEntry(
        id=skip.id,
        item=skip.item,
        reason=skip.reason,
        expires_at=moment_text(skip.expires_at),
        namespace=skip.namespace,
    )


def skip_lines(skips: Sequence[Skip]) -> str:
    """Return skips in words, fenced, a line for each."""
    return fenced(
        "\n".join(
            f"{quoted_id(skip.id)} until {skip.expires_at:%Y-%m-%d}: skip {one_line(skip.item)} -"
            f" because {one_line(skip.reason)}"
            for skip in skips
        )
    )


def item_entry(item: WorkingItem) -> Item:
    """Return a working item as it is sent."""
    return Item(
        id=item.id,
        title=item.title,
        category=item.category,
        status=item.status,
        content=item.content,
        next_action=item.next_action,
        priority=item.priority,
        tags=list(item.tags),
        namespace=item.namespace,
        version=item.version,
    )


def item_lines(items: Sequence[WorkingItem]) -> str:
    """Return working items in words, fenced, a line for each."""
    return fenced("\n".join(_item_line(item) for item in items))


def _item_line(item: WorkingItem) -> str:
    parts = [one_line(item.title), one_line(item.content)]
    if item.next_action:
        parts.append(f"next: {one_line(item.next_action)}")
    text = " | ".join(part for part in parts if part)
    return f"{quoted_id(item.id)} {item.category}, {item.status}, priority {item.priority}: {text}"
