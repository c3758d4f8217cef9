"""Prepare what a session is told when it starts: identity, essentials, what is worked on, what is not to be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from memento_tui.hooks.block import lines_within_budget
from memento_tui.hooks.code_notes import start_code_check, with_code_notes
from memento_tui.hooks.events import HookContext, PreparedContext
from memento_tui.hooks.formatting import TokenBudget, fenced_block, identity_line, item_line, skip_line
from memento_tui.hooks.scope import RetrievedMemory
from memento_tui.search.fair_share import fair_places
from memento_tui.storage.hook_store import HookStore, ItemRow, SkipRow

__all__ = ["context_at_start"]

_ESSENTIAL_CHARS = 400
"""Characters of each memory at the start of a session."""

_MAX_ITEMS, _MAX_SKIPS, _MAX_ESSENTIALS = 8, 8, 12
"""Working items, skips and memories at the start of a session."""

_START_HEADING = "memento, the user's memory"
_IDENTITY_HEADING, _ESSENTIALS_HEADING, _ITEMS_HEADING, _SKIPS_HEADING = (
    "Identity:",
    "Essentials:",
    "Working on:",
    "Not to be done:",
)

ListedT = TypeVar("ListedT", ItemRow, SkipRow)


def context_at_start(context: HookContext) -> PreparedContext:
    """Return the identity, the essential memories, the working items and the skips; begin the session."""
    call, store, scope = context.call, context.store, context.scope()
    start_code_check(context.paths, call.cwd, store.head()[1])
    if call.session:
        store.begin_session(call.session, call.host, scope.namespace, call.transcript, fresh=call.is_fresh)
    if not call.is_fresh:
        return PreparedContext()
    project = f": this project's namespace is {scope.namespace}" if scope.namespace else ""
    budget = TokenBudget(
        context.settings.start_tokens,
        [f"{_START_HEADING}{project}\n{_IDENTITY_HEADING}", _ESSENTIALS_HEADING, _ITEMS_HEADING, _SKIPS_HEADING],
    )
    parts = []
    if identity := store.identity():
        line = identity_line(identity)
        parts.append(fenced_block(_IDENTITY_HEADING, [line] if budget.takes(line) else []))
    essentials = [memory for memory in store.essentials() if scope.concerns(memory.namespace)][:_MAX_ESSENTIALS]
    retrieved = [RetrievedMemory(memory, 1.0, {"essential": 1.0}, frozenset()) for memory in essentials]
    shown = lines_within_budget(with_code_notes(retrieved, context.paths, call.cwd), budget, [_ESSENTIAL_CHARS])
    parts.append(fenced_block(_ESSENTIALS_HEADING, [line for line, _ in shown]))
    items = _fairly("item", [item for item in store.items() if scope.concerns(item.namespace)], _MAX_ITEMS, store)
    parts.append(fenced_block(_ITEMS_HEADING, [line for line in map(item_line, items) if budget.takes(line)]))
    skips = _fairly("skip", [skip for skip in store.skips() if scope.concerns(skip.namespace)], _MAX_SKIPS, store)
    parts.append(fenced_block(_SKIPS_HEADING, [line for line in map(skip_line, skips) if budget.takes(line)]))
    blocks = "\n".join(part for part in parts if part)
    heading = f"{_START_HEADING}{project}" if blocks or project else ""
    return PreparedContext("\n".join(part for part in (heading, blocks) if part), [entry for _, entry in shown])


def _fairly(kind: str, records: Sequence[ListedT], limit: int, store: HookStore) -> list[ListedT]:
    """Return the first records of a kind, at most half of them of one agent's session where others have some."""
    if len(records) < 2:  # noqa: PLR2004 - nothing to share
        return list(records)
    writers = store.writers(kind, [record.id for record in records])
    return fair_places(records, limit, lambda record: writers.get(record.id, ""))
