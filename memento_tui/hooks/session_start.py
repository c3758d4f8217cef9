"""Prepare the context for the start of a session: the identity, essential memories, working items and skips."""

from __future__ import annotations

from collections.abc import Sequence

from memento_tui.hooks.block import (
    lines_within_budget,
    open_contradictions,
    start_code_check,
    with_code_notes,
    with_contradictions,
)
from memento_tui.hooks.events import HookContext, PreparedContext
from memento_tui.hooks.formatting import (
    CostedLine,
    TokenBudget,
    fenced_block,
    identity_line,
    item_line,
    lesson_line,
    skip_line,
)
from memento_tui.hooks.scope import RetrievedMemory, SessionScope, limited_writer
from memento_tui.search.decay import decay_factor
from memento_tui.search.fair_share import fair_entries, fair_places
from memento_tui.storage.hook_store import HookStore, ItemRow, ShownMemory, SkipRow

__all__ = ["context_at_start"]

_ESSENTIAL_CHARS = 400
"""Characters of each memory at the start of a session."""

_NOTE_CHARS = 160
"""Characters of each further memory of the project."""

_MAX_ITEMS, _MAX_SKIPS, _MAX_ESSENTIALS, _MAX_NOTES, _MAX_LESSONS = 8, 8, 12, 5, 8
"""Working items, skips, essential memories, further ones of the project, and lessons of the session itself."""

_NOTES_WEIGHED = 100
"""The last changed memories of a project, of which the best are shown when a session starts."""

_NOTE_KINDS = ("decision", "instruction", "preference", "bugfix", "anti_pattern", "heuristic", "pattern", "discovery")
"""The kinds of memories that are shown at a start even unverified: decisions, instructions, pitfalls."""

_START_HEADING, _HEADING_ALONE = "memento, the user's memory", "memento"
"""The first words of the context, and the shorter ones where no memory follows."""
_IDENTITY_HEADING, _ESSENTIALS_HEADING, _LESSONS_HEADING, _ITEMS_HEADING, _SKIPS_HEADING, _NOTES_HEADING = (
    "Identity:",
    "Essentials:",
    "From this session's own transcript, before it was compacted; nobody verified it, and it waits for the user:",
    "Working on:",
    "Not to be done:",
    "Of this project:",
)

TYPE_CHECKING = False  # as in `typing`, whose import a host would wait for
if TYPE_CHECKING:
    from typing import TypeVar

    ListedT = TypeVar("ListedT", ItemRow, SkipRow)


def context_at_start(context: HookContext) -> PreparedContext:
    """Return the identity, the essentials, the working items, the skips and more of the project; begin the session.

    A session that goes on after its context was compacted gets back what its own transcript taught.
    """
    call, store, scope = context.call, context.store, context.scope()
    start_code_check(context.paths, call.cwd, store.head()[1])
    if call.session:
        store.begin_session(call.session, call.host, scope.namespace, call.transcript, fresh=call.is_fresh)
    if not call.is_fresh:
        return PreparedContext()
    project = f": this project's namespace is {scope.namespace}" if scope.namespace else ""
    notice = f"{project}{_waiting(context)}"
    heading = f"{_START_HEADING}{notice}"
    lessons = store.lessons_of(call.session, _MAX_LESSONS) if call.is_compacted and call.session else []
    lists = [_ESSENTIALS_HEADING, _ITEMS_HEADING, _SKIPS_HEADING, _NOTES_HEADING]
    lists += [_LESSONS_HEADING] if lessons else []
    budget = TokenBudget(context.settings.start_tokens, [f"{heading}\n{_IDENTITY_HEADING}", *lists])
    parts = []
    if identity := store.identity():
        line = identity_line(identity)
        parts.append(fenced_block(_IDENTITY_HEADING, [line] if budget.takes(line) else []))
    essentials = [memory for memory in store.essentials() if scope.concerns(memory.namespace)][:_MAX_ESSENTIALS]
    retrieved = [RetrievedMemory(memory, 1.0, {"essential": 1.0}, frozenset()) for memory in essentials]
    retrieved = with_contradictions(retrieved, open_contradictions(context, scope, retrieved))
    cited = with_code_notes(retrieved, context.paths, call.cwd)
    shown = lines_within_budget(cited, budget, context.now, [_ESSENTIAL_CHARS])
    parts.append(fenced_block(_ESSENTIALS_HEADING, [line for line, _ in shown]))
    lesson_lines = [line for line in map(lesson_line, lessons) if budget.takes(line)]
    parts.append(fenced_block(_LESSONS_HEADING, lesson_lines))
    items = _fairly("item", [item for item in store.items() if scope.concerns(item.namespace)], _MAX_ITEMS, store)
    parts.append(fenced_block(_ITEMS_HEADING, [line for line in map(item_line, items) if budget.takes(line)]))
    skips = _fairly("skip", [skip for skip in store.skips() if scope.concerns(skip.namespace)], _MAX_SKIPS, store)
    parts.append(fenced_block(_SKIPS_HEADING, [line for line in map(skip_line, skips) if budget.takes(line)]))
    notes = _notes(context, scope, {memory.id for memory in essentials}, budget)
    parts.append(fenced_block(_NOTES_HEADING, [line for line, _ in notes]))
    blocks = "\n".join(part for part in parts if part)
    if not blocks:
        return PreparedContext(f"{_HEADING_ALONE}{notice}" if notice else "")
    entries = [entry._replace(rank=rank) for rank, (_, entry) in enumerate([*shown, *notes], 1)]
    return PreparedContext(f"{heading}\n{blocks}", entries)


def _waiting(context: HookContext) -> str:
    """Return a line on the proposals that wait, for an agent whose context was compacted; else an empty text."""
    count = context.store.count_proposals() if context.call.is_compacted else 0
    return f"\n{count} {'proposal waits' if count == 1 else 'proposals wait'} for the user's decision." if count else ""


def _notes(
    context: HookContext, scope: SessionScope, told: set[str], budget: TokenBudget
) -> list[tuple[CostedLine, ShownMemory]]:
    """Return further memories of the project within the budget, best first by use, freshness and trust."""
    store, own = context.store, scope.own_namespaces()
    found = [one for one in store.project_memories(own, _NOTE_KINDS, _NOTES_WEIGHED) if scope.concerns(one.namespace)]
    left_out = told | (store.superseded([memory.id for memory in found]) if found else set())
    weighed = [
        RetrievedMemory(memory, factor, {"project": factor}, frozenset())
        for memory in found
        if memory.id not in left_out
        for factor in [decay_factor(memory, context.now, preset=context.settings.decay).factor]
    ]
    weighed.sort(key=lambda one: (not one.memory.pinned, -one.score, one.memory.id))
    writers = store.writers("memory", [one.memory.id for one in weighed]) if len(weighed) > 1 else {}
    retrieved = fair_places(weighed, _MAX_NOTES, lambda one: limited_writer(one.memory, writers))
    retrieved = with_contradictions(retrieved, open_contradictions(context, scope, retrieved))
    cited = with_code_notes(retrieved, context.paths, context.call.cwd)
    return lines_within_budget(cited, budget, context.now, [_NOTE_CHARS])


def _fairly(kind: str, records: Sequence[ListedT], limit: int, store: HookStore) -> list[ListedT]:
    """Return the first records of a kind: half at most of one agent's session, half at least of the person's own."""
    if len(records) < 2:  # noqa: PLR2004 - nothing to share
        return list(records)
    writers = store.writers(kind, [record.id for record in records])
    return fair_entries(records, limit, lambda one: writers.get(one.id, ""), lambda one: not one.is_unverified)
