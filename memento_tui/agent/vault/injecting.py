"""What a host may put before its model unasked: at the start of a session, with a prompt, before a file is read.

Silence is the usual answer. What is told is found as the hooks of `memento_tui.agent.hook` find it, by the same
threshold, and never twice to a session unless the note changed: facts on a few lines within a fence, at most 500
characters.
"""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import PurePosixPath
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui import clock
from memento_tui.agent.hook.finding import Finding, Scope, about_file, about_prompt
from memento_tui.agent.hook.settings import read_settings
from memento_tui.agent.seats import Seats
from memento_tui.agent.vault.projects import UNKNOWN, namespace_of, slug_of_namespace
from memento_tui.agent.vault.results import Injected
from memento_tui.agent.vault.telling import silence, told
from memento_tui.search.prompt import PromptIndex
from memento_tui.search.prompt_words import content_words
from memento_tui.store.hook_store import HookStore
from memento_tui.workspace import Workspace

__all__ = ["InjectingTools"]

_FILE_SCORE = 0.6
"""The score below which a note is not told before a file is read that it does not name.

A path has few words, and a wrong note would come up at every read.
"""
_CONSIDERED = 12
_MOST_NOTES = 3
_FEWEST_WORDS = 2
_READING_TOOLS = frozenset({"read", "read_file", "view"})
_GENERATED = frozenset({"node_modules", ".git", ".venv", "venv", "dist", "build", "target", "vendor", "__pycache__"})
"""Folders whose files nobody writes notes about."""
_UNTELLING = frozenset({"src", "lib", "app", "apps", "pkg", "cmd", "test", "tests", "main", "index", "init", "utils"})
_WORD = re.compile(r"[^\W_]{2,}")


class InjectingTools:
    """The tools that a host's hooks call."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def memento_briefing(
        self, ctx: Context, cwd: str = "", session_id: str = ""
    ) -> Annotated[CallToolResult, Injected]:
        """Return what a session in a project should know at its start, for a host to put before its model."""
        workspace = self._seats.of(ctx)
        about = {"cwd": cwd, "session_id": session_id}
        if not cwd.strip():
            return silence("briefing", "missing-cwd", about)
        scope = _scope(workspace, cwd, session_id)
        slug = slug_of_namespace(scope.namespace)
        about["project_slug"] = slug
        if slug == UNKNOWN:
            return silence("briefing", "unknown-project", about)
        with _opened(workspace) as store:
            findings = _essentials(workspace, store, scope)[:_MOST_NOTES]
            items = [item for item in store.items() if scope.concerns(item.namespace)]
            skips = [skip for skip in store.skips() if scope.concerns(skip.namespace)]
            return told(workspace, store, "briefing", f"Known about {slug}:", findings, about, items, skips)

    def memento_recall(
        self, ctx: Context, prompt: str, cwd: str = "", session_id: str = ""
    ) -> Annotated[CallToolResult, Injected]:
        """Return notes that concern a prompt, for a host to put before its model; mostly none."""
        workspace = self._seats.of(ctx)
        about = {"cwd": cwd, "session_id": session_id}
        if not prompt.strip():
            return silence("recall", "empty-prompt", about)
        if len(content_words(prompt)) < _FEWEST_WORDS:
            return silence("recall", "low-signal-prompt", about)
        scope = _scope(workspace, cwd, session_id)
        with _opened(workspace) as store:
            findings = _about(workspace, store, prompt, scope)
            if not findings and _about(workspace, store, prompt, scope._replace(session="")):
                return silence("recall", "duplicate", about)
            return told(workspace, store, "recall", "Notes that may apply:", findings, about)

    def memento_tool_context(
        self,
        ctx: Context,
        tool_name: str,
        file_path: Annotated[str, Field(description="the file that is about to be read")],
        cwd: str = "",
        session_id: str = "",
    ) -> Annotated[CallToolResult, Injected]:
        """Return notes about a file that is about to be read, for a host to put before its model; mostly none."""
        workspace = self._seats.of(ctx)
        about = {"cwd": cwd, "session_id": session_id, "tool_name": tool_name, "file_path": file_path}
        path = PurePosixPath(file_path.strip().replace("\\", "/"))
        if tool_name.lower() not in _READING_TOOLS:
            return silence("tool-context", "unsupported-tool", about)
        if not path.name:
            return silence("tool-context", "missing-file-path", about)
        if _GENERATED & set(path.parts):
            return silence("tool-context", "skipped-path", about)
        scope = _scope(workspace, cwd, session_id)
        with _opened(workspace) as store:
            findings = _about_file(workspace, store, path, scope)
            if not findings and _about_file(workspace, store, path, scope._replace(session="")):
                return silence("tool-context", "duplicate", about)
            return told(workspace, store, "tool-context", f"Notes about {path.name}:", findings, about)


def _opened(workspace: Workspace) -> closing[HookStore]:
    workspace.searching.keyword.catch_up()
    return closing(HookStore(workspace.paths.database))


def _scope(workspace: Workspace, cwd: str, session: str) -> Scope:
    namespace = namespace_of(workspace, cwd)
    return Scope(session, namespace, (namespace.lower(),))


def _about(workspace: Workspace, store: HookStore, text: str, scope: Scope, lowest: float = 0.0) -> list[Finding]:
    """Return the notes that a text is about, by the threshold of the hooks or a higher one."""
    settings = read_settings(workspace.paths.config)
    settings = settings._replace(threshold=max(settings.threshold, lowest))
    return about_prompt(store, PromptIndex(workspace.paths.keyword_index), text, scope, settings, clock.now())


def _about_file(workspace: Workspace, store: HookStore, path: PurePosixPath, scope: Scope) -> list[Finding]:
    """Return the notes that name a file, then those that its name's words find."""
    ends = PurePosixPath(*path.parts[-3:]).as_posix().lstrip("/")
    named = about_file(store, PromptIndex(workspace.paths.keyword_index), ends, scope)
    words = _words_of(path)
    found = _about(workspace, store, " ".join(words), scope, _FILE_SCORE) if len(words) >= _FEWEST_WORDS else []
    return list({one.memory.id: one for one in [*named, *found]}.values())[:_MOST_NOTES]


def _words_of(path: PurePosixPath) -> list[str]:
    """Return the words of a file's name, and where those are few of its folders, that could name a subject."""
    found: dict[str, None] = {}
    for part in (path.stem, *reversed(path.parent.parts)):
        found.update(dict.fromkeys(word for word in _WORD.findall(part.lower()) if word not in _UNTELLING))
        if len(found) >= _FEWEST_WORDS:
            break
    return list(found)


def _essentials(workspace: Workspace, store: HookStore, scope: Scope) -> list[Finding]:
    """Return what a person made essential and concerns a project, then what was written about it last."""
    recent = workspace.list(f'ns:"{scope.namespace}"', limit=_CONSIDERED).items if _is_plain(scope.namespace) else []
    essentials = {memory.id: memory for memory in store.essentials() if scope.concerns(memory.namespace)}
    rows = essentials | store.memories([memory.id for memory in recent if memory.id not in essentials])
    shown, replaced = store.already_shown(scope.session) if scope.session else {}, store.superseded(rows)
    fresh = [row for name, row in rows.items() if name not in replaced and shown.get(name, 0) < row.version]
    return [Finding(row, 1.0, {}, frozenset()) for row in fresh]


def _is_plain(namespace: str) -> bool:
    return '"' not in namespace and "," not in namespace
