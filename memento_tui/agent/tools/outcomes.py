"""What the tools say about a change: that it is done, or that a person is asked, and why."""

from __future__ import annotations

from datetime import datetime

from mcp_types import CallToolResult

from memento_tui.agent.answers import answer
from memento_tui.agent.fence import one_line, quoted_id
from memento_tui.agent.shapes import Remembered, Written
from memento_tui.agent.waiting import reasons_of, rejection_note
from memento_tui.records import Memory, Proposal, Skip, WorkingItem
from memento_tui.review.policy import reasons_in_words
from memento_tui.workspace import Workspace

__all__ = ["applied", "more_text", "proposed", "remembered", "remembered_text", "written"]


def more_text(following: str | None) -> str:
    """Return what to add to a page after which there is another one."""
    return f"\nThere may be more: after={quoted_id(following)}" if following else ""


def applied(record_id: str, version: int, verb: str) -> CallToolResult:
    """Return the result of a change that is done."""
    text = f"{verb} {quoted_id(record_id)}, version {version}."
    return answer(text, Written(id=record_id, outcome="applied", version=version))


def proposed(proposal: Proposal) -> CallToolResult:
    """Return the result of a change that waits for a person."""
    if proposal.state == "rejected":
        return _turned_down(proposal)
    why = reasons_in_words(proposal.reasons)
    text = (
        f"Proposed: a person decides about {quoted_id(proposal.target_id)}, because {'; '.join(why)}."
        " Until then nothing changes. Do not propose it again; proposals tells the decision."
    )
    return answer(text, Written(id=proposal.target_id, outcome="proposed", why=why))


def _turned_down(proposal: Proposal) -> CallToolResult:
    because = f": {one_line(proposal.note)}" if proposal.note else "."
    text = (
        f"Not proposed again: a person rejected the same about {quoted_id(proposal.target_id)} before{because}"
        " Nothing changed."
    )
    return answer(
        text, Written(id=proposal.target_id, outcome="rejected", why=[proposal.note] if proposal.note else [])
    )


def written(made: Skip | WorkingItem | Proposal, verb: str) -> CallToolResult:
    """Return the result of a change to a skip or working item, whichever of the two it came to."""
    return proposed(made) if isinstance(made, Proposal) else applied(made.id, made.version, verb)


def remembered(workspace: Workspace, memory: Memory, began: datetime) -> Remembered:
    """Return what became of a new memory, of which the writing ``began`` at a moment."""
    return Remembered(
        id=memory.id, status=memory.status, duplicate=memory.created_at < began, why=_why(workspace, memory)
    )


def _why(workspace: Workspace, memory: Memory) -> list[str]:
    """Return why a memory waits, or what the person said who rejected it."""
    if memory.status == "rejected":
        note = rejection_note(workspace, memory)
        return [note] if note else []
    return reasons_of(workspace, memory)


def remembered_text(shape: Remembered) -> str:
    """Return what became of a new memory in words."""
    name = quoted_id(shape.id)
    if shape.status == "pending":
        again = "It waits already" if shape.duplicate else "Stored, but it waits"
        because = f", because {'; '.join(shape.why)}" if shape.why else ""
        return f"{again} for a person's decision as {name}{because}. Do not store it again."
    if shape.status == "rejected":
        because = f": {one_line(shape.why[0])}" if shape.why else "."
        return f"Not stored: a person rejected the same text before ({name}){because} Do not store it again."
    if shape.duplicate:
        return f"Known already as {name}; nothing new was stored. Use update to change it."
    return f"Stored as {name}, an unverified draft."
