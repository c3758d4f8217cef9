"""Tools for sessions: open and close one, capture its lessons, and distill a transcript.

Tools that look at everything at once: the context of a message, and the status of the memory.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver import Context as RequestContext
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.distillation import distill_text, distill_transcript
from memento_tui.errors import InvalidInput, NotAllowed, NotFound
from memento_tui.maintenance.distillation.proposals import DistillationResult
from memento_tui.mcp.results import (
    change_result,
    item_entry,
    item_lines,
    remember_result,
    remember_result_text,
    search_result,
    search_result_lines,
    skip_entry,
    skip_lines,
    tool_result,
)
from memento_tui.mcp.schemas import (
    CaptureResult,
    ChangeResult,
    ContextResult,
    DistillResult,
    EssentialMemory,
    LessonResult,
    SessionOpenResult,
    StatusResult,
)
from memento_tui.mcp.tool import UNCHANGED, Namespace, Session
from memento_tui.mcp.tools.memories import proposal_entry, proposal_lines
from memento_tui.mcp.workspaces import McpWorkspaces
from memento_tui.model.filters import OneOf
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.operations.memories import code_labels, list_labels
from memento_tui.operations.outcome import DECIDED_STATES, StoreOutcome, proposals_of_agent, store_memories
from memento_tui.operations.recall import MAX_HITS
from memento_tui.operations.relations import contradiction_section, contradictions_among, labels_of
from memento_tui.operations.sessions import (
    Briefing,
    SessionStart,
    brief,
    checked_handle,
    open_session,
    optional_handle,
    write_handover_note,
)
from memento_tui.text.fence import fenced, one_line, quoted_id
from memento_tui.text.labels import bracketed

__all__ = ["DistillTools", "OverviewTools", "SessionTools"]


_MAX_DECISIONS = 20
_RECENT_DECISIONS = 5
_ESSENTIAL_CHARS = 300
"""Characters of each essential memory; its full text is to be had by its id."""


class SessionTools:
    """The tools for sessions."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces

    def session_open(
        self,
        ctx: Context,
        cwd: Annotated[str, Field(description="your working directory")] = "",
        namespace: Namespace = UNCHANGED,
    ) -> Annotated[CallToolResult, SessionOpenResult]:
        """Begin a session: who you are, what always holds, open work, skips, and what was decided on your proposals.

        Pass the session and namespace that it returns to later calls.
        """
        workspace = self._mcp_workspaces.of(ctx)
        opening = open_session(workspace, cwd, namespace or "")
        now = clock.now()
        of_code = code_labels(workspace, opening.essentials)
        contradictions = contradictions_among(workspace, [memory.id for memory in opening.essentials], now)
        labels = labels_of(opening.essentials, now, contradictions)
        result = SessionOpenResult(
            session=opening.session,
            namespace=opening.namespace,
            identity="" if opening.identity is None else opening.identity.content,
            identity_labels=[] if opening.identity is None else list_labels(opening.identity),
            essentials=[
                EssentialMemory(
                    id=memory.id,
                    text=one_line(memory.content, _ESSENTIAL_CHARS),
                    labels=[*labels[memory.id], *of_code.get(memory.id, ())],
                )
                for memory in opening.essentials
            ],
            items=[item_entry(item) for item in opening.items],
            skips=[skip_entry(skip) for skip in opening.skips],
            decided=[
                proposal_entry(memory)
                for memory in proposals_of_agent(workspace, DECIDED_STATES, limit=_RECENT_DECISIONS)[0]
            ],
            contradictions=workspace.contradictions.count(),
        )
        return tool_result(_session_open_text(result, opening), result)

    def session_close(
        self,
        ctx: Context,
        session: Session,
        summary: str,
        next_action: Annotated[str, Field(description="what to do first next time")] = "",
        namespace: Namespace = UNCHANGED,
    ) -> Annotated[CallToolResult, ChangeResult]:
        """End a session: leave a note on where things stand. What will still hold next month: capture it first."""
        checked_handle(session)
        project_namespace = "global" if namespace is UNCHANGED else namespace
        return change_result(
            write_handover_note(self._mcp_workspaces.of(ctx), session, summary, next_action, project_namespace),
            "Left the note",
        )

    def capture(
        self,
        ctx: Context,
        summary: Annotated[str, Field(description="what a newcomer must know now; no log")],
        decisions: Annotated[
            list[str], Field(description="each an instruction", max_length=_MAX_DECISIONS)
        ] = UNCHANGED,
        namespace: Namespace = UNCHANGED,
        session: Session = UNCHANGED,
    ) -> Annotated[CallToolResult, CaptureResult]:
        """Keep a stretch of work in one call, before your context is compacted: a summary, and each decision taken."""
        workspace = self._mcp_workspaces.of(ctx)
        if not summary.strip():
            raise InvalidInput("summary: is empty.", "Say what the next session must know.")
        author = workspace.author
        handle = author.session if session is UNCHANGED else checked_handle(session)
        location = {"namespace": "global" if namespace is UNCHANGED else namespace}
        source = {"source": {"agent": author.agent, "session": handle}}
        texts = [
            {"content": summary, "kind": "daily"},
            *({"content": text, "kind": "decision"} for text in decisions or ()),
        ]
        outcomes = store_memories(workspace, [{**text, **location, **source} for text in texts])
        result = CaptureResult(memories=[remember_result(outcome) for outcome in outcomes])
        return tool_result(_capture_text(outcomes), result)


def _capture_text(outcomes: list[StoreOutcome]) -> str:
    """Return the outcomes by their places, not their texts: a text may hold a secret that was just taken out of it."""
    names = ["summary", *(f"decision {number}" for number in range(1, len(outcomes)))]
    return "\n".join(f"{name}: {remember_result_text(outcome)}" for name, outcome in zip(names, outcomes, strict=True))


def _session_open_text(result: SessionOpenResult, opening: SessionStart) -> str:
    project = f", namespace {quoted_id(result.namespace)}" if result.namespace else ", no project"
    parts = [f"Session {quoted_id(result.session)}{project}."]
    if result.identity:
        parts.append(f"Identity{bracketed(result.identity_labels)}:\n{fenced(result.identity)}")
    if result.essentials:
        parts.append(f"Always holds (full text: get):\n{_essential_lines(result.essentials)}")
    if opening.items:
        parts.append(f"Working items:\n{item_lines(opening.items)}")
    if opening.skips:
        parts.append(f"Skips:\n{skip_lines(opening.skips)}")
    if result.decided:
        parts.append(f"Decided about your proposals:\n{proposal_lines(result.decided)}")
    if result.contradictions:
        parts.append(f"Open contradictions: {result.contradictions}; see contradictions.")
    return "\n\n".join(parts)


def _essential_lines(essentials: list[EssentialMemory]) -> str:
    return fenced(
        "\n".join(f"{quoted_id(memory.id)} [{', '.join(memory.labels)}]: {memory.text}" for memory in essentials)
    )


_MAX_TEXT_CHARS = 100_000
_MAX_FILE_BYTES = 64 * 1024 * 1024
"""Bytes. A session of a whole day is a tenth of it."""
_TRANSCRIPT_SUFFIXES = (".jsonl", ".json")
_MAX_LESSON_CHARS = 200


class DistillTools:
    """The tool that learns from transcripts."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces

    def distill(
        self,
        ctx: Context,
        text: Annotated[str, Field(max_length=_MAX_TEXT_CHARS, description="User: ... Assistant: ...")] = "",
        path: Annotated[str, Field(description="or your host's transcript file")] = "",
        limit: Annotated[int, Field(ge=1, le=50)] = 20,
    ) -> Annotated[CallToolResult, DistillResult]:
        """Find what a conversation taught (decisions, preferences, skips, to-dos) and propose it to the person."""
        workspace = self._mcp_workspaces.of(ctx)
        if bool(text.strip()) == bool(path.strip()):
            raise InvalidInput("Either text or path is needed, and not both.", "Give text for a short conversation.")
        if text.strip():
            report = distill_text(workspace, text, "given by the agent", limit=limit)
        else:
            report = distill_transcript(workspace, _transcript_path(workspace, path), limit=limit)
        result = DistillResult(
            lessons=[_lesson_result(lesson) for lesson in report.learned], problems=list(report.problems)
        )
        return tool_result(_distill_text(result, report.turns), result)


def _transcript_path(workspace: Workspace, written: str) -> Path:
    """Return the file of a transcript that this agent may have read.

    Raises:
        NotAllowed: the agent is not on this machine, or the path is none of a transcript.
        NotFound: there is no such file.

    """
    if workspace.author.channel == "http":
        raise NotAllowed("Files are not read for an agent that asks over HTTP.", "Give the conversation as text.")
    expanded = os.path.expanduser(written)  # noqa: PTH111 - pathlib's raises for a user who does not exist
    path = Path() if "\0" in written else Path(os.path.realpath(expanded))
    if not os.path.isabs(expanded) or path.suffix not in _TRANSCRIPT_SUFFIXES:  # noqa: PTH117 - it may be no path at all
        raise NotAllowed(
            f"{written!r:.200} is not the path of a transcript.",
            f"Give the whole path of a file whose name ends in {' or '.join(_TRANSCRIPT_SUFFIXES)}, "
            "or the conversation as text.",
        )
    try:
        status = path.stat()
    except OSError as error:
        raise NotFound(f"There is no transcript {path!s:.200}.", "Ask your host where it keeps it.") from error
    if not stat.S_ISREG(status.st_mode):
        raise NotAllowed(f"{path!s:.200} is not a regular file.", "Name the transcript file itself.")
    if status.st_size > _MAX_FILE_BYTES:
        raise NotAllowed(
            f"{path!s:.200} has {status.st_size:,} bytes; {_MAX_FILE_BYTES:,} are read at most.",
            "Ask the person to run memento distill on it.",
        )
    return path


def _lesson_result(lesson: DistillationResult) -> LessonResult:
    fields = lesson.candidate.fields
    text = next((str(fields[name]) for name in ("content", "title", "item") if fields.get(name)), "")
    return LessonResult(
        target=lesson.candidate.target,
        outcome=lesson.outcome,
        id=lesson.id,
        text=one_line(text, _MAX_LESSON_CHARS),
        why=lesson.why,
    )


def _distill_text(result: DistillResult, turns: int) -> str:
    parts = [f"Read {turns} turns."]
    if result.lessons:
        parts.append(
            f"A person decides about what is proposed:\n{fenced(chr(10).join(map(_lesson_line, result.lessons)))}"
        )
    else:
        parts.append("Nothing in it is worth keeping.")
    return "\n".join([*parts, *result.problems])


def _lesson_line(lesson: LessonResult) -> str:
    name = f" {quoted_id(lesson.id)}" if lesson.id else ""
    why = f" ({one_line(lesson.why)})" if lesson.why else ""
    return f"{lesson.outcome}: {lesson.target}{name}{why}: {lesson.text}"


class OverviewTools:
    """The tools that look at everything at once."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces

    def context(
        self,
        ctx: RequestContext,
        message: Annotated[str, Field(description="the task or message at hand")],
        namespace: Namespace = UNCHANGED,
        limit: Annotated[int, Field(ge=1, le=MAX_HITS)] = 5,
        session: Session = UNCHANGED,
    ) -> Annotated[CallToolResult, ContextResult]:
        """Call first for a new task: identity, active working items, skips that match, relevant memories."""
        workspace = self._mcp_workspaces.of(ctx)
        briefing = brief(workspace, message, namespace or "", limit, optional_handle(session))
        now = clock.now()
        memories = [hit.memory for hit in briefing.hits]
        of_code = code_labels(workspace, memories)
        contradictions = contradictions_among(workspace, [memory.id for memory in memories], now)
        labels = labels_of(memories, now, contradictions, quoted=False)
        result = ContextResult(
            identity=briefing.identity.content if briefing.identity is not None else "",
            identity_labels=[] if briefing.identity is None else list_labels(briefing.identity),
            items=[item_entry(item) for item in briefing.items],
            skips=[skip_entry(skip) for skip in briefing.skips],
            memories=[search_result(hit, [*labels[hit.id], *of_code.get(hit.id, ())]) for hit in briefing.hits],
            semantic=briefing.semantic,
            contradictions=contradictions,
        )
        return tool_result(_briefing_text(briefing, result), result)

    def status(self, ctx: RequestContext) -> Annotated[CallToolResult, StatusResult]:
        """Return how many memories (of each kind), working items, skips, open questions there are; your name here."""
        workspace = self._mcp_workspaces.of(ctx)
        result = StatusResult(
            agent=workspace.author.name,
            memories=workspace.count(OneOf("status", RECALLED_STATUSES)),
            kinds=workspace.statistics.facets().kinds,
            working_items=len(workspace.items.list(status="active")),
            skips=len(workspace.skips.list()),
            contradictions=workspace.contradictions.count(),
            waiting=workspace.review.count(),
        )
        return tool_result(_status_text(result), result)


def _briefing_text(briefing: Briefing, result: ContextResult) -> str:
    parts = []
    if result.identity:
        parts.append(f"Identity{bracketed(result.identity_labels)}:\n{fenced(result.identity)}")
    if briefing.items:
        parts.append(f"Working items:\n{item_lines(briefing.items)}")
    if briefing.skips:
        parts.append(f"Skips that match:\n{skip_lines(briefing.skips)}")
    if result.memories:
        parts.append(f"Memories (full text: get):\n{search_result_lines(result.memories)}")
    if result.contradictions:
        parts.append(contradiction_section(result.contradictions))
    if not parts:
        return "Nothing is known about this yet."
    return "\n\n".join(parts)


def _status_text(status: StatusResult) -> str:
    kinds = f" ({', '.join(f'{kind} {count}' for kind, count in status.kinds.items())})" if status.kinds else ""
    return (
        f"You are {quoted_id(status.agent)} here. Memories: {status.memories}{kinds}. Active working items:"
        f" {status.working_items}. Skips: {status.skips}. Contradictions: {status.contradictions}. Proposals that wait"
        f" for a person: {status.waiting}; what became of yours: proposals."
    )
