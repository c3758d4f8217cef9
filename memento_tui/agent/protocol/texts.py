"""The texts of the tools, as this system's clients know them, and what they add where a person has the last word.

Titles, tags and reasons are one line each. A longer text stands as it was written, which is what agents that know this
system expect; one that comes from outside, or holds a line that could pass for a line of the answer, is fenced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from mcp_types import CallToolResult, TextContent

from memento_tui.agent.fence import fenced, one_line, quoted_id
from memento_tui.agent.labels import labels_of, moment_text
from memento_tui.interchange.protocol_model import type_of
from memento_tui.records import Memory, Proposal, Skip
from memento_tui.review.policy import reasons_in_words

__all__ = [
    "SEPARATOR",
    "entry_name",
    "head",
    "not_yet",
    "said",
    "set_off",
    "short_head",
    "skip_hit",
    "tags_text",
    "turned_down",
    "waits",
]

SEPARATOR = "\n\n---\n\n"
"""What stands between two memories, and between two sections of the working memory."""

_LIKE_OURS = re.compile(r"[ \t>]*(?:---|\*\*|#{1,3}[ \t]|Found \d|Links:|Images:|SKIP:|Reason:|Expires:)")


def said(text: str) -> CallToolResult:
    """Return a text as a tool's result."""
    return CallToolResult(content=[TextContent(type="text", text=text)])


def set_off(text: str, *, untrusted: bool = False) -> str:
    """Return a text of any number of lines as it may stand in an answer."""
    if untrusted or any(_LIKE_OURS.match(line) for line in text.splitlines()):
        return fenced(text, untrusted=untrusted)
    return text


def entry_name(record_id: str) -> str:
    """Return an id as it stands at the beginning of an entry."""
    return f"**{quoted_id(record_id)}**"


def tags_text(tags: Iterable[str]) -> str:
    """Return tags with a space before them; nothing where there are none."""
    listed = ", ".join(one_line(tag) for tag in tags)
    return f" [{listed}]" if listed else ""


def short_head(memory: Memory) -> str:
    """Return the line above a memory's text: its id, type, tags and end."""
    expires = "" if memory.expires_at is None else f" (expires: {moment_text(memory.expires_at)})"
    tags = tags_text([*memory.tags, *memory.system_tags])
    return f"{entry_name(memory.id)} ({one_line(type_of(memory))}){tags}{expires}"


def head(memory: Memory, now: datetime) -> str:
    """Return the line above a memory's text, with words of caution at its end."""
    cautions = [label for label in labels_of(memory, now) if not label.startswith("expires ")]
    return f"{short_head(memory)} - {', '.join(cautions)}"


def skip_hit(skip: Skip) -> str:
    """Return what is said of a skip that something touches."""
    return f'SKIP: "{one_line(skip.item)}"\nReason: {one_line(skip.reason)}\nExpires: {moment_text(skip.expires_at)}'


def _because(proposal: Proposal) -> str:
    return f"because {'; '.join(reasons_in_words(proposal.reasons))}"


def waits(proposal: Proposal) -> str:
    """Return what is said after what was asked for, where a person decides whether it happens."""
    return f" - waits for a person's approval, {_because(proposal)}. Do not send it again"


def not_yet(what: str, proposal: Proposal) -> str:
    """Return what is said in place of ``what`` was done, where a person decides or has decided."""
    if proposal.state == "rejected":
        return turned_down(what, proposal.note)
    return f"{what} yet: a person decides, {_because(proposal)}. Do not send it again."


def turned_down(what: str, note: str) -> str:
    """Return what is said in place of ``what`` was done, where a person turned the same down before."""
    because = f": {one_line(note)}" if note else "."
    return f"{what}: a person rejected the same before{because} Do not send it again."
