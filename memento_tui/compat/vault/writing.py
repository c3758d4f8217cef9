"""Tools that store notes: store and daily_snapshot."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui.api import Workspace
from memento_tui.compat.vault.notes import (
    NOTES_FOLDER,
    NoteDraft,
    StoredNote,
    find_note,
    free_path,
    mark_superseded,
    namespace_of_named_project,
    note_at,
    path_of,
    put_note,
    slug_of,
)
from memento_tui.compat.vault.schemas import Snapshot, StoreResult, error_result, object_result
from memento_tui.errors import InvalidField, NotFound
from memento_tui.formats.base import usable_tags
from memento_tui.formats.vault import NOTE_SUFFIX
from memento_tui.mcp.tool import UNCHANGED
from memento_tui.mcp.workspaces import McpWorkspaces
from memento_tui.model import Memory
from memento_tui.model.memory import says_the_same
from memento_tui.model.validation import new_id

__all__ = ["WritingTools"]

_PATH_MARK_CHARS = 6
"""Characters of the mark in the path of a note whose title another note has."""
_REPO_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]*")
_MANAGED_PROPERTIES = frozenset({"title", "type", "tags", "source", "certainty", "date", "repo_slug", "supersedes"})
_MAX_VERSIONS = 1_000


class WritingTools:
    """The tools that store notes."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces

    def memento_store(  # noqa: PLR0913 - each is a property of the note
        self,
        ctx: Context,
        title: str,
        body: Annotated[str, Field(description="2 to 5 sentences: what to do next time, and why")],
        *,
        note_type: Annotated[str, Field(description="decision, discovery, pattern, bugfix, tool")] = "discovery",
        tags: list[str] = UNCHANGED,
        certainty: Annotated[int, Field(description="1 (a guess) to 5")] = UNCHANGED,
        project: Annotated[str, Field(description="name or directory")] = UNCHANGED,
        branch: str = UNCHANGED,
        session_id: str = UNCHANGED,
        validity_context: Annotated[str, Field(description="when it applies")] = UNCHANGED,
        supersedes: Annotated[str, Field(description="title or path of the note it replaces")] = UNCHANGED,
    ) -> Annotated[CallToolResult, StoreResult]:
        """Store one note for later sessions. Search first; a text that is known is not stored again.

        It is an unverified draft until a person reads it; pending: a person decides first.
        """
        workspace = self._mcp_workspaces.of(ctx)
        title = " ".join(title.split())
        _check_given(title=title, body=body)
        draft = NoteDraft(
            path=free_path(workspace, slug_of(title), new_id()[:_PATH_MARK_CHARS]),
            title=title,
            body=body,
            kind=note_type,
            source="mcp",
            namespace=namespace_of_named_project(workspace, project or ""),
            tags=usable_tags(tags or []),
            certainty=certainty,
            session=session_id or "",
            validity_context=" ".join((validity_context or "").split()),
            properties={"supersedes": supersedes, "project": project, "branch": branch},
        )
        old, missing = _note_to_replace(workspace, supersedes or "")
        with workspace.one_undo():
            stored = put_note(workspace, draft)
            reason_kept = (
                mark_superseded(workspace, stored.memory, old) if old is not None and stored.is_new else missing
            )
        return object_result(
            _store_result(stored, draft.title, old if old is not None and not reason_kept else None, reason_kept)
        )

    def memento_daily_snapshot(
        self,
        ctx: Context,
        date: Annotated[str, Field(description="YYYY-MM-DD")],
        repo_slug: str,
        content: str,
        frontmatter_extra: dict[str, Any] = UNCHANGED,
        supersede: Annotated[bool, Field(description="write the next version of one that exists")] = False,  # noqa: FBT002 - the client's own
    ) -> Annotated[CallToolResult, Snapshot]:
        """Write the snapshot of one repository's day to notes/daily-<date>-<repo_slug>.md."""
        workspace = self._mcp_workspaces.of(ctx)
        if (reason := _snapshot_error(date, repo_slug, content)) is not None:
            return error_result(reason[1], reason=reason[0])
        stem = f"daily-{date}-{repo_slug}"
        latest, version = _latest_snapshot(workspace, stem)
        if latest is not None and says_the_same(latest.content, content):
            return object_result(
                Snapshot(path=path_of(latest), supersedes=None, version=version, idempotent=True), keep=_KEPT_WHEN_NONE
            )
        if latest is not None and not supersede:
            return error_result(
                f"There is a snapshot of {date} for {repo_slug} already. Give supersede=true to write the next one.",
                reason="already_exists",
                existing_path=path_of(latest),
            )
        number = version + 1
        draft = NoteDraft(
            path=_snapshot_path(stem, number),
            title=f"Daily {date} {repo_slug}",
            body=content,
            kind="daily",
            source="mcp",
            namespace=namespace_of_named_project(workspace, repo_slug),
            certainty=2,
            properties=_given_properties(frontmatter_extra or {}) | {"repo_slug": repo_slug},
        )
        with workspace.one_undo():
            stored = put_note(workspace, draft)
            reason_kept = "" if latest is None else mark_superseded(workspace, stored.memory, latest)
        replaced = (
            None
            if latest is None or reason_kept
            else path_of(latest).removeprefix(f"{NOTES_FOLDER}/").removesuffix(NOTE_SUFFIX)
        )
        snapshot = Snapshot(
            path=path_of(stored.memory),
            supersedes=replaced,
            version=number,
            pending=stored.pending,
            reason=stored.reason or reason_kept or None,
        )
        return object_result(snapshot, keep=_KEPT_WHEN_NONE)


_KEPT_WHEN_NONE = ("supersedes",)


def _check_given(**texts: str) -> None:
    for name, text in texts.items():
        if not text.strip():
            raise InvalidField(name, "is empty", "A note needs a title and a body.")


def _note_to_replace(workspace: Workspace, reference: str) -> tuple[Memory | None, str]:
    """Return the note that is to be replaced, or why nothing is."""
    if not reference.strip():
        return None, ""
    try:
        return find_note(workspace, reference), ""
    except NotFound as error:
        return None, f"Nothing is replaced. {error}"


def _store_result(stored: StoredNote, title: str, replaced: Memory | None, reason_kept: str) -> StoreResult:
    is_known = not stored.is_new
    return StoreResult(
        path=path_of(stored.memory),
        title=stored.memory.title or title,
        id=stored.memory.id,
        created=False if is_known else None,
        idempotent=True if is_known else None,
        pending=stored.pending,
        supersedes=None if replaced is None else path_of(replaced),
        reason=" ".join(part for part in (stored.reason, reason_kept) if part) or None,
    )


def _snapshot_error(date: str, repo_slug: str, content: str) -> tuple[str, str] | None:
    """Return the error of a snapshot, as this system's code and a sentence; ``None`` for a valid one."""
    try:
        is_day = dt.date.fromisoformat(date).isoformat() == date
    except ValueError:
        is_day = False
    if not is_day:
        return "invalid_date", f"date: must be a day such as 2026-11-20; not {date!r:.40}."
    if not _REPO_SLUG.fullmatch(repo_slug):
        return "invalid_repo_slug", f"repo_slug: must match {_REPO_SLUG.pattern}; not {repo_slug!r:.80}."
    if not content.strip():
        return "empty_content", "content: is empty. A snapshot needs a text."
    return None


def _snapshot_path(stem: str, version: int) -> str:
    return f"{NOTES_FOLDER}/{stem}{f'-v{version}' if version > 1 else ''}{NOTE_SUFFIX}"


def _latest_snapshot(workspace: Workspace, stem: str) -> tuple[Memory | None, int]:
    """Return the latest snapshot of a day and its number; ``None`` and 0 where there is none."""
    latest = None
    for version in range(1, _MAX_VERSIONS):
        note = note_at(workspace, _snapshot_path(stem, version))
        if note is None:
            return latest, version - 1
        latest = note
    return latest, _MAX_VERSIONS - 1


def _given_properties(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        " ".join(name.split()): value
        for name, value in properties.items()
        if name.strip() and name not in _MANAGED_PROPERTIES
    }
