"""Give programs that ask, such as tools, the same memories, items and skips that hooks would show a session.

Only for programs that have a workspace open: what runs inside a host's time limit imports far less.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.hooks.retrieval import memories_for_prompt, memories_naming_file
from memento_tui.hooks.scope import RetrievedMemory, SessionScope
from memento_tui.hooks.settings import read_settings
from memento_tui.search.prompt_index import PromptIndex
from memento_tui.storage.hook_store import HookStore, ItemRow, ShownMemory, SkipRow

__all__ = ["ItemRow", "RequestedContext", "ShownMemory", "SkipRow"]

_MOST_RECENT = 12
"""The last changed memories of a project, of which those not yet shown are returned."""


class RequestedContext:
    """The retrieval of the hooks over an open workspace, brought up to date. A context manager, for one thread."""

    def __init__(self, workspace: Workspace) -> None:
        workspace.catch_up()
        self._workspace = workspace
        self._store = HookStore(workspace.paths.database)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    def about_text(self, text: str, scope: SessionScope, lowest: float = 0.0) -> list[RetrievedMemory]:
        """Return the memories that a text is about, by the threshold of the hooks or a higher one."""
        settings = read_settings(self._workspace.paths.config)
        settings = settings._replace(threshold=max(settings.threshold, lowest))
        return memories_for_prompt(self._store, self._index(), text, scope, settings, clock.now())

    def naming_file(self, path: str, scope: SessionScope) -> list[RetrievedMemory]:
        """Return the memories that name a file by its path, or by an end of it that identifies it."""
        return memories_naming_file(self._store, self._index(), path, scope)

    def _index(self) -> PromptIndex:
        return PromptIndex(self._workspace.paths.keyword_index)

    def essentials(self, scope: SessionScope) -> list[RetrievedMemory]:
        """Return the essential memories that concern a project, then the latest about it; none that it was shown."""
        namespace = scope.namespace
        is_plain = '"' not in namespace and "," not in namespace
        recent = self._workspace.list(f'ns:"{namespace}"', limit=_MOST_RECENT).items if is_plain else []
        essentials = {memory.id: memory for memory in self._store.essentials() if scope.concerns(memory.namespace)}
        rows = essentials | self._store.memories([memory.id for memory in recent if memory.id not in essentials])
        shown = self._store.already_shown(scope.session) if scope.session else {}
        replaced = self._store.superseded(rows)
        unshown = [row for name, row in rows.items() if name not in replaced and shown.get(name, 0) < row.version]
        return [RetrievedMemory(row, 1.0, {}, frozenset()) for row in unshown]

    def items(self, scope: SessionScope) -> list[ItemRow]:
        """Return the active working items that concern a project, the highest priority first."""
        return [item for item in self._store.items() if scope.concerns(item.namespace)]

    def skips(self, scope: SessionScope) -> list[SkipRow]:
        """Return the skips that hold and concern a project, soonest to end first."""
        return [skip for skip in self._store.skips() if scope.concerns(skip.namespace)]

    def record_shown(self, session: str, shown: Sequence[ShownMemory]) -> None:
        """Count a session's exposures, and record them in the ledger."""
        self._store.record_shown(session, shown)
