"""Open and close an agent's session, and brief an agent on a message."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.search import SearchHit
from memento_tui.errors import DataDirectoryError, InvalidField
from memento_tui.maintenance.trust import is_essential
from memento_tui.model import Crystal, Memory, Proposal, Skip, WorkingItem
from memento_tui.model.filters import AllOf, AnyOf, OneOf
from memento_tui.model.lists import is_unverified
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.model.validation import check_namespace, new_id
from memento_tui.operations.memories import is_current
from memento_tui.operations.recall import plain_query, recall, record_essentials
from memento_tui.operations.scope import (
    is_relevant_namespace,
    matching_skips,
    relevant_items,
    relevant_skips,
    search_scope,
)
from memento_tui.projects import find_project, namespace_of_project
from memento_tui.search.fair_share import fair_entries

__all__ = [
    "Briefing",
    "SessionStart",
    "brief",
    "checked_handle",
    "open_session",
    "optional_handle",
    "write_handover_note",
]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Briefing:
    """The parts of a context, each as it concerns one message."""

    identity: Crystal | None
    items: list[WorkingItem]
    """The active ones, highest priority first."""
    skips: list[Skip]
    """The skips that the message touches."""
    hits: list[SearchHit]
    semantic: str
    """``ready``, ``warming`` or ``off``: whether meaning counted."""


def brief(workspace: Workspace, message: str, namespace: str, limit: int, session: str = "") -> Briefing:
    """Collect the records that concern a message; ``namespace`` (may be empty) leaves out other projects.

    Memories of other projects are left out without it too: see `memento_tui.operations.scope.search_scope`.

    Raises:
        InvalidField: the namespace is not one.

    """
    hits, semantic = _briefing_hits(workspace, message, namespace, limit, session)
    return Briefing(
        identity=workspace.crystals.current(),
        items=relevant_items(workspace, namespace),
        skips=matching_skips(workspace, namespace, message),
        hits=hits,
        semantic=semantic,
    )


def _briefing_hits(
    workspace: Workspace, message: str, namespace: str, limit: int, session: str
) -> tuple[list[SearchHit], str]:
    scope, words = search_scope(workspace, namespace, session), plain_query(message)
    if not words:
        return [], "off"
    place = scope.project or namespace
    hits, answer = recall(
        workspace, scope.prefix + words, limit, session, message=message, among=scope.among, place=place
    )
    return hits, answer.semantic


ListedT = TypeVar("ListedT", WorkingItem, Skip)

_HANDLE_PATTERN = re.compile(r"[\w.:-]{1,100}", re.ASCII)
_MAX_RECORDS = 20
"""Records of each kind that a session begins with; a search finds the others."""

_ESSENTIAL_FILTER = AllOf(
    (
        OneOf("status", RECALLED_STATUSES),
        AnyOf((OneOf("pinned", ("1",)), AllOf((OneOf("tier", ("shared",)), OneOf("stability", ("stable",)))))),
    )
)


@dataclass(frozen=True)
class SessionStart:
    """The records that a session begins with, as far as they concern its project."""

    session: str
    namespace: str
    """Empty where no project is known: then everything concerns the session."""
    identity: Crystal | None
    essentials: list[Memory]
    items: list[WorkingItem]
    """The active ones, highest priority first; the notes of earlier sessions are among them."""
    skips: list[Skip]


def open_session(workspace: Workspace, directory: str, namespace: str) -> SessionStart:
    """Begin a session in a project, named by its directory or by its namespace (each may be empty).

    Later searches of the session keep to that project; begun again without one, it keeps the one that it had.
    A server on standard input and output serves one agent, whose session it is. Over HTTP each gets a new handle.

    Raises:
        InvalidField: the namespace is not one.

    """
    author = workspace.author
    session = (author.session if author.channel != "http" else "") or new_id()
    project_namespace = check_namespace(namespace) if namespace else _namespace_of(workspace, directory)
    if project_namespace:
        try:
            workspace.exposures.set_session_project(session, project_namespace)
        except DataDirectoryError as error:  # a session begins on a full or read-only disk too
            _log.warning("the project of the session was not kept: %s", error)
    else:
        project_namespace = workspace.exposures.session_project(session)
    now = clock.now()
    essentials = [
        memory
        for memory in workspace.list_where(_ESSENTIAL_FILTER, limit=_MAX_RECORDS * 5).items
        if is_essential(memory)
        and is_relevant_namespace(project_namespace, memory.namespace)
        and is_current(memory, now)
    ][:_MAX_RECORDS]
    if essentials:
        record_essentials(workspace, essentials, session)
    return SessionStart(
        session,
        project_namespace,
        workspace.crystals.current(),
        essentials,
        _fairly(workspace, "item", relevant_items(workspace, project_namespace)),
        _fairly(workspace, "skip", relevant_skips(workspace, project_namespace)),
    )


def _fairly(workspace: Workspace, kind: str, records: Sequence[ListedT]) -> list[ListedT]:
    """Return the first records of a kind: half at most of one agent's session, half at least of the person's own."""
    writers = workspace.activity.writers(kind, [record.id for record in records])
    return fair_entries(records, _MAX_RECORDS, lambda one: writers.get(one.id, ""), lambda one: not is_unverified(one))


def _namespace_of(workspace: Workspace, directory: str) -> str:
    project = find_project(directory)
    return "" if project is None else namespace_of_project(project, workspace.settings.get, workspace.settings.set)


def checked_handle(session: str) -> str:
    """Return a handle. Raises `InvalidField` for one that `open_session` cannot have made."""
    if not _HANDLE_PATTERN.fullmatch(session):
        raise InvalidField("session", "is no handle that session_open gives", "Call session_open, or leave it out.")
    return session


def optional_handle(session: str | None) -> str:
    """Return a handle, or nothing where none was given. Raises like `checked_handle`."""
    return checked_handle(session) if session else ""


def write_handover_note(
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
    with workspace.one_undo():
        mine = next((note for note in notes if note.extra.get("session") == session), None)
        if mine is not None:
            return workspace.items.update(mine.id, base_version=mine.version, **fields)
        title = f"Session of {clock.now():%Y-%m-%d}"
        extra = {"session": session, "left_by": agent}
        note_outcome = workspace.items.create(
            title, category="session_note", namespace=namespace, extra=extra, **fields
        )
        if isinstance(note_outcome, WorkingItem):
            for note in notes:
                workspace.items.update(note.id, base_version=note.version, status="completed")
        return note_outcome
