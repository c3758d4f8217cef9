"""Tools that hosts' hooks call for the context of a session's start, a prompt, or a file.

Silence is the usual answer. Notes are found as the hooks of `memento_tui.hooks` find them, by the same threshold,
and never shown twice to a session unless the note changed: facts on a few lines within a fence, at most 500
characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.compat.vault.notes import (
    UNKNOWN_PROJECT,
    FoundNote,
    PromptContext,
    namespace_of_named_project,
    object_result,
    path_of,
    slug_of_namespace,
)
from memento_tui.hooks.formatting import estimate_tokens
from memento_tui.hooks.requested import ItemRow, RequestedContext, ShownMemory, SkipRow
from memento_tui.hooks.scope import RetrievedMemory, SessionScope
from memento_tui.mcp.workspaces import McpWorkspaces
from memento_tui.model import Memory
from memento_tui.operations.relations import contradictions_among, labels_of
from memento_tui.text.fence import fenced, one_line, quoted_id
from memento_tui.text.keywords import content_words
from memento_tui.text.labels import bracketed, entry_labels
from memento_tui.text.passages import best_passage

__all__ = ["ContextTools"]

_MAX_CHARS = 500
_MAX_ITEMS_AND_SKIPS = 2
"""Working items, and skips, in one context."""
_LINE_CHARS = 116
"""Characters of a line where the lines of a context are too many for all to stand in full: three of them fit."""
_PASSAGE_CHARS = 200
_NO_CAUTION = ("verified", "stable", "essential")


def _empty_context(source: str, reason: str, about: dict[str, Any]) -> CallToolResult:
    """Return a context without content, with the reason."""
    return object_result(
        PromptContext(should_inject=False, content="", source=source, results=[], reason=reason, metadata=about)
    )


def _list_marks(row: ItemRow | SkipRow) -> str:
    """Return the words of caution about a working item or a skip, each with a space before it."""
    return bracketed(entry_labels(is_unverified=row.is_unverified))


def _context_result(
    workspace: Workspace,
    known: RequestedContext,
    source: str,
    heading: str,
    findings: Sequence[RetrievedMemory],
    about: dict[str, Any],
    items: Sequence[ItemRow] = (),
    skips: Sequence[SkipRow] = (),
) -> CallToolResult:
    """Return the context of some findings, items and skips, and record that it was shown."""
    memories = workspace.get_many([finding.memory.id for finding in findings])
    retrieved = [finding for finding in findings if finding.memory.id in memories]
    if not retrieved and not items and not skips:
        return _empty_context(source, "no-results", about)
    now = clock.now()
    told = [memories[finding.memory.id] for finding in retrieved]
    contradictions = contradictions_among(workspace, [memory.id for memory in told], now)
    labels = labels_of(told, now, contradictions)
    notes = [_context_note(memory, finding, labels[memory.id]) for memory, finding in zip(told, retrieved, strict=True)]
    lines: list[tuple[str, int | None]] = [
        (f"contradiction: {quoted_id(entry.older.id)} and {quoted_id(entry.newer.id)}, {entry.why}", None)
        for entry in contradictions[:1]
    ]
    lines += [(_note_line(note), place) for place, note in enumerate(notes)]
    lines += [
        (f"- at work{_list_marks(item)}: {one_line(f'{item.title} {item.next_action}')}", None)
        for item in items[:_MAX_ITEMS_AND_SKIPS]
    ]
    lines += [
        (f"- skip{_list_marks(skip)}: {one_line(f'{skip.item}, because {skip.reason}')}", None)
        for skip in skips[:_MAX_ITEMS_AND_SKIPS]
    ]
    heading = one_line(heading, 100)
    shown = _fitting_lines(heading, lines)
    told_lines = [(line, retrieved[place], notes[place]) for line, place in shown if place is not None]
    notes = [note for _, _, note in told_lines]
    session = str(about.get("session_id") or workspace.author.session)
    known.record_shown(
        session,
        [
            ShownMemory(finding.memory, rank, finding.score, estimate_tokens(line), finding.why)
            for rank, (line, finding, _) in enumerate(told_lines, 1)
        ],
    )
    untrusted = any("UNTRUSTED" in note.labels for note in notes)
    return object_result(
        PromptContext(
            should_inject=True,
            content=f"{heading}\n{fenced(chr(10).join(line for line, _ in shown), untrusted=untrusted)}",
            source=source,
            results=notes,
            metadata={**about, "top_path": notes[0].path} if notes else about,
        )
    )


def _context_note(memory: Memory, retrieved: RetrievedMemory, labels: list[str]) -> FoundNote:
    return FoundNote(
        path=path_of(memory),
        title=one_line(memory.headline, 120),
        score=round(min(retrieved.score, 1.0), 4),
        snippet=best_passage(retrieved.stems, memory.content, _PASSAGE_CHARS).text,
        id=memory.id,
        labels=labels,
    )


def _note_line(note: FoundNote) -> str:
    # The 500 characters have no room for what is no caution, or stands in a line of its own.
    marks = [label for label in note.labels if label not in _NO_CAUTION and not label.startswith("contradicts ")]
    text = note.snippet if note.snippet.startswith(note.title.removesuffix(" ...")) else f"{note.title}: {note.snippet}"
    return f"- {note.path}{bracketed(marks)}: {text}"


def _fitting_lines(heading: str, lines: Sequence[tuple[str, int | None]]) -> list[tuple[str, int | None]]:
    """Return the lines that the characters of a context hold below a heading, in their order, the rest left out.

    Where not all of them fit in full, a long one is cut where a word ends.
    """
    left = _MAX_CHARS - len(f"{heading}\n{fenced('', untrusted=True)}")
    longest = left if sum(len(line) + 1 for line, _ in lines) <= left else _LINE_CHARS
    fitting: list[tuple[str, int | None]] = []
    for line, place in lines:
        shortened = one_line(line, longest)
        if len(shortened) + 1 <= left:
            fitting.append((shortened, place))
            left -= len(shortened) + 1
    return fitting


_MIN_FILE_SCORE = 0.6
"""The score below which a note is not shown for a file that it does not name.

A path has few words, and a wrong note would come up at every read.
"""
_MAX_NOTES = 3
_MIN_WORDS = 2
_READING_TOOLS = frozenset({"read", "read_file", "view"})
_GENERATED_FOLDERS = frozenset(
    {"node_modules", ".git", ".venv", "venv", "dist", "build", "target", "vendor", "__pycache__"}
)
"""Folders of generated files, which nobody writes notes about."""
_GENERIC_NAMES = frozenset(
    {"src", "lib", "app", "apps", "pkg", "cmd", "test", "tests", "main", "index", "init", "utils"}
)
_WORD = re.compile(r"[^\W_]{2,}")
"""A part of a name or path that can name a subject: one letter cannot."""


class ContextTools:
    """The tools that a host's hooks call."""

    def __init__(self, mcp_workspaces: McpWorkspaces) -> None:
        self._mcp_workspaces = mcp_workspaces

    def memento_briefing(
        self, ctx: Context, cwd: str = "", session_id: str = ""
    ) -> Annotated[CallToolResult, PromptContext]:
        """Return what a session in a project should know at its start, for a host to put before its model."""
        workspace = self._mcp_workspaces.of(ctx)
        about = {"cwd": cwd, "session_id": session_id}
        if not cwd.strip():
            return _empty_context("briefing", "missing-cwd", about)
        scope = _session_scope(workspace, cwd, session_id)
        slug = slug_of_namespace(scope.namespace)
        about["project_slug"] = slug
        if slug == UNKNOWN_PROJECT:
            return _empty_context("briefing", "unknown-project", about)
        with RequestedContext(workspace) as known:
            findings = known.essentials(scope)[:_MAX_NOTES]
            items, skips = known.items(scope), known.skips(scope)
            return _context_result(workspace, known, "briefing", f"Known about {slug}:", findings, about, items, skips)

    def memento_recall(
        self, ctx: Context, prompt: str, cwd: str = "", session_id: str = ""
    ) -> Annotated[CallToolResult, PromptContext]:
        """Return notes that concern a prompt, for a host to put before its model; mostly none."""
        workspace = self._mcp_workspaces.of(ctx)
        about = {"cwd": cwd, "session_id": session_id}
        if not prompt.strip():
            return _empty_context("recall", "empty-prompt", about)
        if len(content_words(prompt)) < _MIN_WORDS:
            return _empty_context("recall", "low-signal-prompt", about)
        scope = _session_scope(workspace, cwd, session_id)
        with RequestedContext(workspace) as known:
            findings = known.about_text(prompt, scope)
            if not findings and known.about_text(prompt, scope._replace(session="")):
                return _empty_context("recall", "duplicate", about)
            return _context_result(workspace, known, "recall", "Notes that may apply:", findings, about)

    def memento_tool_context(
        self,
        ctx: Context,
        tool_name: str,
        file_path: Annotated[str, Field(description="the file that is about to be read")],
        cwd: str = "",
        session_id: str = "",
    ) -> Annotated[CallToolResult, PromptContext]:
        """Return notes about a file that is about to be read, for a host to put before its model; mostly none."""
        workspace = self._mcp_workspaces.of(ctx)
        about = {"cwd": cwd, "session_id": session_id, "tool_name": tool_name, "file_path": file_path}
        path = PurePosixPath(file_path.strip().replace("\\", "/"))
        if tool_name.lower() not in _READING_TOOLS:
            return _empty_context("tool-context", "unsupported-tool", about)
        if not path.name:
            return _empty_context("tool-context", "missing-file-path", about)
        if _GENERATED_FOLDERS & set(path.parts):
            return _empty_context("tool-context", "skipped-path", about)
        scope = _session_scope(workspace, cwd, session_id)
        with RequestedContext(workspace) as known:
            findings = _notes_for_file(known, path, scope)
            if not findings and _notes_for_file(known, path, scope._replace(session="")):
                return _empty_context("tool-context", "duplicate", about)
            return _context_result(workspace, known, "tool-context", f"Notes about {path.name}:", findings, about)


def _session_scope(workspace: Workspace, cwd: str, session: str) -> SessionScope:
    namespace = namespace_of_named_project(workspace, cwd)
    return SessionScope(session, namespace, (namespace.lower(),))


def _notes_for_file(known: RequestedContext, path: PurePosixPath, scope: SessionScope) -> list[RetrievedMemory]:
    """Return the notes that name a file, then those that its name's words find."""
    ends = PurePosixPath(*path.parts[-3:]).as_posix().lstrip("/")
    words = _subject_words(path)
    by_words = known.about_text(" ".join(words), scope, _MIN_FILE_SCORE) if len(words) >= _MIN_WORDS else []
    found = [*known.naming_file(ends, scope), *by_words]
    return list({finding.memory.id: finding for finding in found}.values())[:_MAX_NOTES]


def _subject_words(path: PurePosixPath) -> list[str]:
    """Return the words of a file's name, and where those are few of its folders, that could name a subject."""
    words: dict[str, None] = {}
    for part in (path.stem, *reversed(path.parent.parts)):
        words.update(dict.fromkeys(word for word in _WORD.findall(part.lower()) if word not in _GENERIC_NAMES))
        if len(words) >= _MIN_WORDS:
            break
    return list(words)
