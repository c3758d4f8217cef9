"""An agent's session by its handle: where it is filed, what it begins with, and what it leaves to the next."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from memento_tui import clock
from memento_tui.agent.briefing import concerns
from memento_tui.agent.project import namespace_of_project, project_of
from memento_tui.agent.recall import note_essentials
from memento_tui.errors import InvalidField
from memento_tui.records import Crystal, Memory, Proposal, Skip, WorkingItem
from memento_tui.records.ids import new_id
from memento_tui.records.memory import RECALLED
from memento_tui.records.rules import check_namespace
from memento_tui.store.filters import AllOf, AnyOf, OneOf
from memento_tui.upkeep.trust import is_essential
from memento_tui.workspace import Workspace

__all__ = ["Opening", "checked_handle", "handle_of", "leave_note", "open_session"]

_HANDLE = re.compile(r"[\w.:-]{1,100}", re.ASCII)
_MOST = 20
"""Records of each kind that a session begins with: what is more is for a search."""

_ESSENTIAL = AllOf(
    (
        OneOf("status", RECALLED),
        AnyOf((OneOf("pinned", ("1",)), AllOf((OneOf("tier", ("shared",)), OneOf("stability", ("stable",)))))),
    )
)


@dataclass(frozen=True)
class Opening:
    """What a session begins with, as it concerns its project."""

    session: str
    namespace: str
    """Empty where no project is known: then everything concerns the session."""
    identity: Crystal | None
    essentials: list[Memory]
    items: list[WorkingItem]
    """The active ones, highest priority first; the notes of earlier sessions are among them."""
    skips: list[Skip]


def open_session(workspace: Workspace, directory: str, namespace: str) -> Opening:
    """Begin a session in a project, named by its directory or by its namespace (each may be empty).

    A server on standard input and output serves one agent, whose session it is. Over HTTP each gets a new handle.

    Raises:
        InvalidField: the namespace is not one.

    """
    place = check_namespace(namespace) if namespace else _namespace_of(workspace, directory)
    author = workspace.author
    session = (author.session if author.channel != "http" else "") or new_id()
    now = clock.now()
    essentials = [
        memory
        for memory in workspace.store.page(_ESSENTIAL, limit=_MOST * 5).items
        if is_essential(memory)
        and concerns(place, memory.namespace)
        and (memory.expires_at is None or memory.expires_at > now)
    ][:_MOST]
    if essentials:
        note_essentials(workspace, essentials, session)
    items = [item for item in workspace.items.list(status="active") if concerns(place, item.namespace)]
    skips = [skip for skip in workspace.skips.list() if concerns(place, skip.namespace)]
    return Opening(session, place, workspace.crystals.current(), essentials, items[:_MOST], skips[:_MOST])


def _namespace_of(workspace: Workspace, directory: str) -> str:
    project = project_of(directory)
    return "" if project is None else namespace_of_project(project, workspace.store)


def checked_handle(session: str) -> str:
    """Return a handle. Raises `InvalidField` for what `open_session` cannot have made."""
    if not _HANDLE.fullmatch(session):
        raise InvalidField("session", "is no handle that session_open gives", "Call session_open, or leave it out.")
    return session


def handle_of(session: str | None) -> str:
    """Return a handle, or nothing where none was given. Raises like `checked_handle`."""
    return checked_handle(session) if session else ""


def leave_note(
    workspace: Workspace, session: str, summary: str, next_action: str, namespace: str
) -> WorkingItem | Proposal:
    """Leave a note for the next session; the note that this agent left there before is completed by it.

    Called again for a session, it changes its note.

    Raises:
        InvalidField: a text breaks a rule.

    """
    agent = workspace.author.name
    notes = [
        item
        for item in workspace.items.list(category="session_note", status="active")
        if item.namespace == namespace and item.extra.get("left_by") == agent
    ]
    fields: dict[str, Any] = {"content": summary, "next_action": next_action}
    with workspace.store.together():
        mine = next((note for note in notes if note.extra.get("session") == session), None)
        if mine is not None:
            return workspace.items.update(mine.id, **fields)
        title = f"Session of {clock.now():%Y-%m-%d}"
        extra = {"session": session, "left_by": agent}
        left = workspace.items.create(title, category="session_note", namespace=namespace, extra=extra, **fields)
        if isinstance(left, WorkingItem):
            for note in notes:
                workspace.items.update(note.id, status="completed")
        return left
