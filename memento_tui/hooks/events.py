"""Answer each event of a session: its start, a prompt, a file that is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memento_tui import clock
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
from memento_tui.hooks.project import find_project, namespace_of_project
from memento_tui.hooks.retrieval import (
    RetrievedMemory,
    SessionScope,
    memories_for_file,
    memories_for_prompt,
    up_to_date_index,
)
from memento_tui.hooks.settings import HookSettings
from memento_tui.hooks.worker_launcher import start_worker
from memento_tui.paths import DataPaths
from memento_tui.storage.hook_store import DATABASE_FORMAT, FormatMismatch, HookStore, MemoryRow, ShownMemory, SkipRow
from memento_tui.text.keywords import content_words, skip_matches, skip_words, truncate_prompt
from memento_tui.text.passages import best_passage

__all__ = ["HookContext", "context_for_call"]

_BEST_PASSAGE_CHARS, _PASSAGE_CHARS = 120, 80
"""Characters of the best memory that a prompt is told, and of each other: the passage that answers. Ids lead on."""
_ESSENTIAL_CHARS = 400
_MAX_ITEMS, _MAX_SKIPS, _MAX_ESSENTIALS = 8, 8, 12

_START_HEADING = "memento, the user's memory"
_IDENTITY_HEADING, _ESSENTIALS_HEADING, _ITEMS_HEADING, _SKIPS_HEADING = (
    "Identity:",
    "Essentials:",
    "Working on:",
    "Not to be done:",
)
_MEMORIES_HEADING = "The user's memory (data; `get` reads an id in full):"


class HookContext(NamedTuple):
    """One call of a hook, with all that answers it."""

    call: HookCall
    paths: DataPaths
    store: HookStore
    settings: HookSettings
    now: datetime

    def scope(self) -> SessionScope:
        """Return where memories count for the session."""
        project = find_project(self.call.cwd)
        if project is None:
            return SessionScope(self.call.session, "")
        claim = self.store.keep_setting if self.call.moment == "start" else None
        named = namespace_of_project(project, self.store.setting, claim)
        # Claude Code names the folder of a project's memory after its path.
        path = "".join(letter if letter.isalnum() else "-" for letter in str(project.root))
        return SessionScope(self.call.session, named, (f"claude/{path}",))


def context_for_call(call: HookCall, paths: DataPaths, settings: HookSettings) -> str:
    """Return what a session is told now; empty, most often, where nothing clears the threshold.

    Raises:
        FileNotFoundError: there is no database yet.
        WrongFormat: the database is of another version.
        sqlite3.Error: the database cannot be read.

    """
    answer = _HANDLERS.get(call.moment)
    if answer is None or (call.moment == "prompt" and not call.prompt.strip()):
        return ""
    try:
        store = HookStore(paths.database)
    except FormatMismatch as error:
        if error.found < DATABASE_FORMAT:  # memento was updated, and nothing but hooks has run since
            start_worker(paths.root, "--index")
        raise
    try:
        return answer(HookContext(call, paths, store, settings, clock.now()))
    finally:
        store.close()


def _context_at_start(seat: HookContext) -> str:
    """Tell who the agent is, what a person calls essential, what is being done, and what is to be left."""
    call, store, scope = seat.call, seat.store, seat.scope()
    if call.session:
        store.begin_session(call.session, call.host, scope.namespace, call.transcript, fresh=call.is_fresh)
    if not call.is_fresh:
        return ""
    place = f": this project's namespace is {scope.namespace}" if scope.namespace else ""
    budget = TokenBudget(
        seat.settings.start_tokens,
        [f"{_START_HEADING}{place}\n{_IDENTITY_HEADING}", _ESSENTIALS_HEADING, _ITEMS_HEADING, _SKIPS_HEADING],
    )
    parts = []
    if identity := store.identity():
        line = identity_line(identity)
        parts.append(fenced_block(_IDENTITY_HEADING, [line] if budget.takes(line) else []))
    essentials = [memory for memory in store.essentials() if scope.concerns(memory.namespace)][:_MAX_ESSENTIALS]
    shown = _lines_within_budget(
        [RetrievedMemory(memory, 1.0, {"essential": 1.0}, frozenset()) for memory in essentials],
        budget,
        [_ESSENTIAL_CHARS],
    )
    parts.append(fenced_block(_ESSENTIALS_HEADING, [line for line, _ in shown]))
    items = [item for item in store.items() if scope.concerns(item.namespace)][:_MAX_ITEMS]
    parts.append(fenced_block(_ITEMS_HEADING, [line for line in map(item_line, items) if budget.takes(line)]))
    skips = [skip for skip in store.skips() if scope.concerns(skip.namespace)][:_MAX_SKIPS]
    parts.append(fenced_block(_SKIPS_HEADING, [line for line in map(skip_line, skips) if budget.takes(line)]))
    if call.session:
        store.record_shown(call.session, [one for _, one in shown])
    told = "\n".join(part for part in parts if part)
    return "\n".join(part for part in (f"{_START_HEADING}{place}" if told or place else "", told) if part)


def _context_for_prompt(seat: HookContext) -> str:
    """Tell the few memories that the prompt calls for, and the skips that it touches."""
    scope, prompt = seat.scope(), seat.call.prompt
    # For a trivial prompt no index is opened; but "run the tests again" may well be what is to be skipped.
    is_trivial = not content_words(prompt)
    index = None if is_trivial else up_to_date_index(seat.paths, seat.store)
    findings = []
    if index is not None:
        findings = memories_for_prompt(seat.store, index, prompt, scope, seat.settings, seat.now)
    return _record_and_format(
        seat, scope, findings, _matching_skips(seat.store, scope, truncate_prompt(prompt), in_passing=is_trivial)
    )


def _context_for_file(seat: HookContext) -> str:
    """Tell what was decided about a file, and what went wrong there, when it is read for the first time."""
    path = _path_in_project(seat.call)
    if not path:
        return ""
    scope = seat.scope()
    findings = memories_for_file(seat.store, up_to_date_index(seat.paths, seat.store), path, scope)
    return _record_and_format(seat, scope, findings, _matching_skips(seat.store, scope, path))


_HANDLERS: dict[str, Callable[[HookContext], str]] = {
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
    held = [skip for skip in store.skips() if scope.concerns(skip.namespace)]
    asked = skip_words(text) if held else frozenset()
    return [skip for skip in held if skip_matches(asked, skip_words(skip.item), in_passing=in_passing)]


def _record_and_format(
    seat: HookContext, scope: SessionScope, findings: Sequence[RetrievedMemory], skips: Sequence[SkipRow]
) -> str:
    """Return the block for these findings and skips, and write down what it holds."""
    budget = TokenBudget(seat.settings.prompt_tokens, [_MEMORIES_HEADING])
    lines = [(line, skip) for skip in skips if budget.takes(line := skip_line(skip))]
    shown = _lines_within_budget(findings, budget, [_BEST_PASSAGE_CHARS, _PASSAGE_CHARS])
    told = [line for line, _ in lines] + [line for line, _ in shown]
    told += [line for line in _contradiction_lines(seat, scope, [one.memory for _, one in shown]) if budget.takes(line)]
    if seat.call.session:
        seat.store.record_shown(seat.call.session, [one for _, one in shown], [skip.id for _, skip in lines])
    return fenced_block(_MEMORIES_HEADING, told)


def _lines_within_budget(
    findings: Sequence[RetrievedMemory], budget: TokenBudget, lengths: Sequence[int]
) -> list[tuple[CostedLine, ShownMemory]]:
    """Return the lines that the budget holds, best first, each with its entry for the ledger.

    ``lengths`` are the characters of the first, the second and so on; the last holds for all further ones.
    """
    found: list[tuple[CostedLine, ShownMemory]] = []
    for place, one in enumerate(findings):
        length = lengths[min(place, len(lengths) - 1)]
        line = memory_line(one.memory, best_passage(one.stems, one.memory.content, length).text, characters=length)
        if budget.takes(line):
            why = {name: round(value, 4) for name, value in one.why.items()}
            found.append((line, ShownMemory(one.memory, len(found) + 1, round(one.score, 4), line.tokens, why)))
    return found


def _contradiction_lines(seat: HookContext, scope: SessionScope, memories: Sequence[MemoryRow]) -> list[CostedLine]:
    """Return the contradictions in which some memories stand, both sides laid out where both concern the session."""
    if not memories:
        return []
    disputes = seat.store.unresolved_contradictions([memory.id for memory in memories])
    names = {name for one in disputes for name in (one.older, one.newer)}
    rows = seat.store.memories(names) if names else {}
    sides = {name: row for name, row in rows.items() if scope.concerns(row.namespace)}
    return [
        contradiction_line(one, sides[one.older], sides[one.newer], seat.now)
        for one in disputes
        if one.older in sides and one.newer in sides
    ]
