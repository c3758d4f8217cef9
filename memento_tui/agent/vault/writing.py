"""Storing notes: store and daily_snapshot."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui.agent.arguments import UNCHANGED
from memento_tui.agent.seats import Seats
from memento_tui.agent.vault.notes import FOLDER, find_note, free_path, note_at, path_of, slug_of
from memento_tui.agent.vault.projects import namespace_of
from memento_tui.agent.vault.results import Snapshot, Stored, refused, said
from memento_tui.agent.vault.storing import Draft, Put, put_note, replace_by
from memento_tui.errors import InvalidField, NotFound
from memento_tui.interchange.names import usable_tags
from memento_tui.interchange.vault import SUFFIX
from memento_tui.records import Memory
from memento_tui.records.ids import new_id
from memento_tui.records.memory import content_digest
from memento_tui.workspace import Workspace

__all__ = ["WritingTools"]

_MARK = 6
"""Characters of the mark in the path of a note whose title another note has."""
_REPO_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]*")
_MANAGED = frozenset({"title", "type", "tags", "source", "certainty", "date", "repo_slug", "supersedes"})
_MOST_VERSIONS = 1_000


class WritingTools:
    """The tools that store notes."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

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
    ) -> Annotated[CallToolResult, Stored]:
        """Store one note for later sessions. Search first; a text that is known is not stored again.

        It is an unverified draft until a person reads it; pending: a person decides first.
        """
        workspace = self._seats.of(ctx)
        title = " ".join(title.split())
        _check_given(title=title, body=body)
        draft = Draft(
            path=free_path(workspace, slug_of(title), new_id()[:_MARK]),
            title=title,
            body=body,
            kind=note_type,
            source="mcp",
            namespace=namespace_of(workspace, project or ""),
            tags=usable_tags(tags or []),
            certainty=certainty,
            session=session_id or "",
            validity_context=" ".join((validity_context or "").split()),
            properties={"supersedes": supersedes, "project": project, "branch": branch},
        )
        old, missing = _superseded(workspace, supersedes or "")
        with workspace.store.together():
            put = put_note(workspace, draft)
            kept = replace_by(workspace, put.memory, old) if old is not None and put.is_new else missing
        return said(_stored(put, draft.title, old if old is not None and not kept else None, kept))

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
        workspace = self._seats.of(ctx)
        if (reason := _unusable(date, repo_slug, content)) is not None:
            return refused(reason[1], reason=reason[0])
        stem = f"daily-{date}-{repo_slug}"
        latest, version = _latest(workspace, stem)
        if latest is not None and content_digest(latest.content) == content_digest(content.strip()):
            return said(Snapshot(path=path_of(latest), supersedes=None, version=version, idempotent=True), keep=_KEPT)
        if latest is not None and not supersede:
            return refused(
                f"There is a snapshot of {date} for {repo_slug} already. Give supersede=true to write the next one.",
                reason="already_exists",
                existing_path=path_of(latest),
            )
        number = version + 1
        draft = Draft(
            path=_path(stem, number),
            title=f"Daily {date} {repo_slug}",
            body=content,
            kind="daily",
            source="mcp",
            namespace=namespace_of(workspace, repo_slug),
            certainty=2,
            properties=_more(frontmatter_extra or {}) | {"repo_slug": repo_slug},
        )
        with workspace.store.together():
            put = put_note(workspace, draft)
            kept = "" if latest is None else replace_by(workspace, put.memory, latest)
        replaced = None if latest is None or kept else path_of(latest).removeprefix(f"{FOLDER}/").removesuffix(SUFFIX)
        shape = Snapshot(
            path=path_of(put.memory),
            supersedes=replaced,
            version=number,
            pending=put.pending,
            reason=put.reason or kept or None,
        )
        return said(shape, keep=_KEPT)


_KEPT = ("supersedes",)


def _check_given(**texts: str) -> None:
    for name, text in texts.items():
        if not text.strip():
            raise InvalidField(name, "is empty", "A note needs a title and a body.")


def _superseded(workspace: Workspace, named: str) -> tuple[Memory | None, str]:
    """Return the note that is to be replaced, or why nothing is."""
    if not named.strip():
        return None, ""
    try:
        return find_note(workspace, named), ""
    except NotFound as error:
        return None, f"Nothing is replaced. {error}"


def _stored(put: Put, title: str, replaced: Memory | None, kept: str) -> Stored:
    known = not put.is_new
    return Stored(
        path=path_of(put.memory),
        title=put.memory.title or title,
        id=put.memory.id,
        created=False if known else None,
        idempotent=True if known else None,
        pending=put.pending,
        supersedes=None if replaced is None else path_of(replaced),
        reason=" ".join(part for part in (put.reason, kept) if part) or None,
    )


def _unusable(date: str, repo_slug: str, content: str) -> tuple[str, str] | None:
    """Return this system's word for what is wrong with a snapshot, and the sentence."""
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


def _path(stem: str, version: int) -> str:
    return f"{FOLDER}/{stem}{f'-v{version}' if version > 1 else ''}{SUFFIX}"


def _latest(workspace: Workspace, stem: str) -> tuple[Memory | None, int]:
    """Return the latest snapshot of a day and its number; ``None`` and 0 where there is none."""
    latest = None
    for version in range(1, _MOST_VERSIONS):
        found = note_at(workspace, _path(stem, version))
        if found is None:
            return latest, version - 1
        latest = found
    return latest, _MOST_VERSIONS - 1


def _more(given: dict[str, Any]) -> dict[str, Any]:
    return {" ".join(name.split()): value for name, value in given.items() if name.strip() and name not in _MANAGED}
