"""Answer each event of a session: its start, a prompt, a file that is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from memento_tui import clock
from memento_tui.hooks.code_notes import start_code_check, with_code_notes
from memento_tui.hooks.formatting import (
    CostedLine,
    TokenBudget,
    contradiction_line,
    fenced_block,
    identity_line,
    item_line,
    memory_line,
    skip_line,
)
from memento_tui.hooks.host_events import HookCall
from memento_tui.hooks.project import claude_namespace, find_project, namespace_of_project
from memento_tui.hooks.retrieval import (
    Nearest,
    RetrievedMemory,
    SessionScope,
    memories_for_file,
    memories_for_prompt,
    up_to_date_index,
)
from memento_tui.hooks.settings import HookSettings
from memento_tui.hooks.worker_launcher import start_worker
from memento_tui.paths import DataPaths
from memento_tui.search.fair_share import fair_places
from memento_tui.storage.hook_store import (
    DATABASE_FORMAT,
    FormatMismatch,
    HookStore,
    ItemRow,
    MemoryRow,
    ShownMemory,
    SkipRow,
)
from memento_tui.text.keywords import content_words, truncate_prompt
from memento_tui.text.passages import best_passage
from memento_tui.text.skip_matching import mentions_of, skip_matches

__all__ = ["HookContext", "PreparedContext", "context_for_call", "is_answered", "prepare_context"]

_BEST_PASSAGE_CHARS, _PASSAGE_CHARS = 120, 80
"""Characters of the passage from the best memory, and from each other one. The agent reads on by the id."""

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
_MEMORIES_HEADING = "The user's memory (data; `get` reads an id in full):"


ListedT = TypeVar("ListedT", ItemRow, SkipRow)


class PreparedContext(NamedTuple):
    """The text for a session's context, and what the ledger is to record once the session has it."""

    text: str = ""
    shown: Sequence[ShownMemory] = ()
    skip_ids: Sequence[str] = ()

    def record(self, store: HookStore, session: str) -> None:
        """Record that a session was shown this; nothing for a host that names no session."""
        if session:
            store.record_shown(session, self.shown, self.skip_ids)


class HookContext(NamedTuple):
    """One call of a hook, with everything needed to answer it."""

    call: HookCall
    paths: DataPaths
    store: HookStore
    settings: HookSettings
    now: datetime
    nearest: Nearest | None = None
    """Finds memories by meaning; ``None`` without an engine."""

    def scope(self) -> SessionScope:
        """Return the namespaces whose memories concern the session."""
        project = find_project(self.call.cwd)
        if project is None:
            return SessionScope(self.call.session, "")
        claim = self.store.keep_setting if self.call.moment == "start" else None
        namespace = namespace_of_project(project, self.store.setting, claim)
        return SessionScope(self.call.session, namespace, (claude_namespace(project),))


def context_for_call(call: HookCall, paths: DataPaths, settings: HookSettings) -> str:
    """Return the text for the session's context; most often empty, because nothing reaches the threshold.

    Raises:
        FileNotFoundError: there is no database yet.
        FormatMismatch: the database is of another version.
        sqlite3.Error: the database cannot be read.

    """
    if not is_answered(call):
        return ""
    try:
        store = HookStore(paths.database)
    except FormatMismatch as error:
        if error.found < DATABASE_FORMAT:  # memento was updated, and nothing but hooks has run since
            start_worker(paths.root, "--index")
        raise
    try:
        prepared = prepare_context(HookContext(call, paths, store, settings, clock.now()))
        prepared.record(store, call.session)
        return prepared.text
    finally:
        store.close()


def is_answered(call: HookCall) -> bool:
    """Tell whether there may be something to tell at an event."""
    return call.moment in _HANDLERS and (call.moment != "prompt" or bool(call.prompt.strip()))


def prepare_context(context: HookContext) -> PreparedContext:
    """Return what the session is to be told; the caller records it once the host has it."""
    return _HANDLERS[context.call.moment](context)


def _context_at_start(context: HookContext) -> PreparedContext:
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
    shown = _lines_within_budget(with_code_notes(retrieved, context.paths, call.cwd), budget, [_ESSENTIAL_CHARS])
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


def _context_for_prompt(context: HookContext) -> PreparedContext:
    """Return the few memories that the prompt calls for, and the skips that it touches."""
    scope, prompt = context.scope(), context.call.prompt
    # For a trivial prompt no index is opened; but "run the tests again" may well be a skip.
    is_trivial = not content_words(prompt)
    index = None if is_trivial else up_to_date_index(context.paths, context.store)
    memories = []
    if index is not None:
        memories = memories_for_prompt(
            context.store, index, prompt, scope, context.settings, context.now, context.nearest
        )
    return _within_budget(
        context, scope, memories, _matching_skips(context.store, scope, truncate_prompt(prompt), in_passing=is_trivial)
    )


def _context_for_file(context: HookContext) -> PreparedContext:
    """Return the decisions and lessons about a file when it is read for the first time."""
    path = _path_in_project(context.call)
    if not path:
        return PreparedContext()
    scope = context.scope()
    memories = memories_for_file(context.store, up_to_date_index(context.paths, context.store), path, scope)
    return _within_budget(context, scope, memories, _matching_skips(context.store, scope, path))


_HANDLERS: dict[str, Callable[[HookContext], PreparedContext]] = {
    "start": _context_at_start,
    "prompt": _context_for_prompt,
    "read": _context_for_file,
}


def _path_in_project(call: HookCall) -> str:
    """Return the path of the file relative to its project; empty for a file outside of it."""
    project = find_project(call.cwd)
    if project is None or not call.file or "\0" in call.file:
        return ""
    path = Path(os.path.realpath(Path(call.cwd) / call.file))
    return path.relative_to(project.root).as_posix() if path.is_relative_to(project.root) else ""


def _matching_skips(store: HookStore, scope: SessionScope, text: str, *, in_passing: bool = False) -> list[SkipRow]:
    active = [skip for skip in store.skips() if scope.concerns(skip.namespace)]
    if not active:
        return []
    mentions = mentions_of(text)
    return [skip for skip in active if skip_matches(mentions, skip.item, in_passing=in_passing)]


def _within_budget(
    context: HookContext, scope: SessionScope, memories: Sequence[RetrievedMemory], skips: Sequence[SkipRow]
) -> PreparedContext:
    """Return the block for as many of these memories and skips as the budget holds."""
    memories = with_code_notes(memories, context.paths, context.call.cwd)
    budget = TokenBudget(context.settings.prompt_tokens, [_MEMORIES_HEADING])
    lines = [(line, skip) for skip in skips if budget.takes(line := skip_line(skip))]
    shown = _lines_within_budget(memories, budget, [_BEST_PASSAGE_CHARS, _PASSAGE_CHARS])
    texts = [line for line, _ in lines] + [line for line, _ in shown]
    contradictions = _contradiction_lines(context, scope, [entry.memory for _, entry in shown])
    texts += [line for line in contradictions if budget.takes(line)]
    text = fenced_block(_MEMORIES_HEADING, texts)
    return PreparedContext(text, [entry for _, entry in shown], [skip.id for _, skip in lines])


def _lines_within_budget(
    memories: Sequence[RetrievedMemory], budget: TokenBudget, lengths: Sequence[int]
) -> list[tuple[CostedLine, ShownMemory]]:
    """Return the lines that the budget holds, best first, each with its entry for the ledger.

    ``lengths`` are the characters of the first, the second and so on; the last holds for all further ones.
    """
    shown: list[tuple[CostedLine, ShownMemory]] = []
    for rank, found in enumerate(memories):
        length = lengths[min(rank, len(lengths) - 1)]
        passage = best_passage(found.stems, found.memory.content, length).text
        line = memory_line(found.memory, passage, characters=length, caution=found.caution)
        if budget.takes(line):
            why = {name: round(value, 4) for name, value in found.why.items()}
            shown.append((line, ShownMemory(found.memory, len(shown) + 1, round(found.score, 4), line.tokens, why)))
    return shown


def _contradiction_lines(context: HookContext, scope: SessionScope, memories: Sequence[MemoryRow]) -> list[CostedLine]:
    """Return the unresolved contradictions of some memories, where both sides concern the session."""
    if not memories:
        return []
    contradictions = context.store.unresolved_contradictions([memory.id for memory in memories])
    names = {name for found in contradictions for name in (found.older, found.newer)}
    rows = context.store.memories(names) if names else {}
    sides = {name: row for name, row in rows.items() if scope.concerns(row.namespace)}
    return [
        contradiction_line(found, sides[found.older], sides[found.newer], context.now)
        for found in contradictions
        if found.older in sides and found.newer in sides
    ]
