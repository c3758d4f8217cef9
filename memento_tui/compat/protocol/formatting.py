"""Shared argument types and texts of Memento Protocol's tools, as its clients know them.

Titles, tags and reasons are one line each. A longer text stands as it was written, as agents that know this system
expect; one that comes from outside, or holds a line that could pass for a line of the answer, is fenced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from memento_tui.formats.protocol.vocabulary import ITEM_CATEGORIES, memory_type
from memento_tui.mcp.tool import UNCHANGED
from memento_tui.model import Memory, Proposal, Skip
from memento_tui.model.lists import ITEM_STATUSES
from memento_tui.operations.memories import format_time, list_labels
from memento_tui.operations.outcome import because, rejection_reason
from memento_tui.policy.policy import reasons_in_words
from memento_tui.text.fence import fenced, one_line, quoted_id
from memento_tui.text.labels import bracketed, caution_labels, condition_labels

__all__ = [
    "OMITTED",
    "SEPARATOR",
    "ImagePath",
    "ItemCategory",
    "ItemStatus",
    "Limit",
    "MemoryType",
    "WorkspaceName",
    "entry_id",
    "memory_block",
    "memory_heading",
    "not_done_text",
    "pending_text",
    "quoted_block",
    "rejected_text",
    "skip_match_text",
    "tags_text",
    "text_result",
]

OMITTED: Any = UNCHANGED
"""The default of an argument that has none of its own."""

MEMORY_TYPES = ("fact", "decision", "observation", "instruction")
"""The types that this system has; every kind of memento is taken as well."""

MemoryType = Annotated[str, Field(json_schema_extra={"enum": list(MEMORY_TYPES)})]
ItemCategory = Annotated[str, Field(json_schema_extra={"enum": list(ITEM_CATEGORIES)})]
ItemStatus = Annotated[str, Field(json_schema_extra={"enum": list(ITEM_STATUSES)})]
ImagePath = Annotated[str, Field(description="jpeg, png, gif or webp in this project")]
WorkspaceName = Annotated[str, Field(description="a workspace; <home> for your own alone")]
Limit = Annotated[int, Field(description="1 to 100")]

SEPARATOR = "\n\n---\n\n"
"""The text between two memories, and between two sections of the working memory."""

_IMITATES_MARKUP = re.compile(r"[ \t>]*(?:---|\*\*|#{1,3}[ \t]|Found \d|Links:|Images:|SKIP:|Reason:|Expires:)")


def text_result(text: str) -> CallToolResult:
    """Return a text as a tool's result."""
    return CallToolResult(content=[TextContent(type="text", text=text)])


def quoted_block(text: str, *, untrusted: bool = False) -> str:
    """Return a text of any number of lines as it may stand in an answer."""
    if untrusted or any(_IMITATES_MARKUP.match(line) for line in text.splitlines()):
        return fenced(text, untrusted=untrusted)
    return text


def entry_id(record_id: str) -> str:
    """Return an id as it stands at the beginning of an entry."""
    return f"**{quoted_id(record_id)}**"


def tags_text(tags: Iterable[str]) -> str:
    """Return tags with a space before them; nothing where there are none."""
    listed = ", ".join(one_line(tag) for tag in tags)
    return f" [{listed}]" if listed else ""


def short_heading(memory: Memory) -> str:
    """Return the line above a memory's text: its id, type, tags and end."""
    expires = "" if memory.expires_at is None else f" (expires: {format_time(memory.expires_at)})"
    tags = tags_text([*memory.tags, *memory.system_tags])
    return f"{entry_id(memory.id)} ({one_line(memory_type(memory))}){tags}{expires}"


def memory_heading(memory: Memory, now: datetime, workspace_name: str = "") -> str:
    """Return the line above a memory's text, with words of caution at its end."""
    cautions = [label for label in caution_labels(memory, now) if not label.startswith("expires ")]
    return f"{short_heading(memory)}{workspace_name} - {', '.join(cautions)}"


def memory_block(memory: Memory) -> str:
    """Return a memory's text as it may stand in an answer, below the line that says when it applies."""
    conditions = [f"{label[0].upper()}{label[1:]}" for label in condition_labels(memory)]
    return quoted_block("\n".join([*conditions, memory.content]), untrusted=memory.source_type == "external")


def skip_match_text(skip: Skip) -> str:
    """Return the lines about a skip that matches."""
    return (
        f'SKIP: "{one_line(skip.item)}"{bracketed(list_labels(skip))}\nReason: {one_line(skip.reason)}'
        f"\nExpires: {format_time(skip.expires_at)}"
    )


def pending_text(reasons: Sequence[str]) -> str:
    """Return the words that follow a description of a write that waits for a person, with the reasons why it does."""
    return f" - waits for a person's approval{because(reasons)}. Do not send it again"


def not_done_text(what: str, proposal: Proposal) -> str:
    """Return that a write, described as not done by ``what``, waits for a person, or was rejected before."""
    if proposal.state == "rejected":
        return rejected_text(what, proposal.note)
    return f"{what} yet: a person decides{because(reasons_in_words(proposal.reasons))}. Do not send it again."


def rejected_text(what: str, note: str) -> str:
    """Return that a write, described as not done by ``what``, was rejected by a person before."""
    return f"{what}: a person rejected the same before{rejection_reason(note)} Do not send it again."
