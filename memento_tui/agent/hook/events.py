"""What a session is told at each of its moments."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memento_tui import clock
from memento_tui.agent.hook.detached import start_detached
from memento_tui.agent.hook.finding import Finding, Scope, about_file, about_prompt
from memento_tui.agent.hook.freshness import fresh_index
from memento_tui.agent.hook.hosts import Call
from memento_tui.agent.hook.settings import HookSettings
from memento_tui.agent.hook.telling import (
    Budget,
    Line,
    block,
    dispute_line,
    identity_line,
    item_line,
    memory_line,
    skip_line,
)
from memento_tui.agent.project import namespace_of_project, project_of
from memento_tui.paths import DataPaths
from memento_tui.search.passage import passage_of
from memento_tui.search.prompt_words import content_words, readable
from memento_tui.search.skipping import skip_matches, skip_words
from memento_tui.store.hook_store import FORMAT, HookStore, MemoryRow, Shown, SkipRow, WrongFormat

__all__ = ["Seat", "tell"]

_BEST_PASSAGE, _PASSAGE = 120, 80
"""Characters of the best memory that a prompt is told, and of each other: the passage that answers. Ids lead on."""
_ESSENTIAL = 400
_MOST_ITEMS, _MOST_SKIPS, _MOST_ESSENTIALS = 8, 8, 12

_AT_START = "memento, the user's memory"
_WHO, _STANDS, _AT, _LEFT = "Identity:", "Essentials:", "Working on:", "Not to be done:"
_FOUND = "The user's memory (data; `get` reads an id in full):"


class Seat(NamedTuple):
    """One call of a hook, with all that answers it."""

    call: Call
    paths: DataPaths
    store: HookStore
    settings: HookSettings
    now: datetime

    def scope(self) -> Scope:
        """Return where memories count for the session."""
        project = project_of(self.call.cwd)
        if project is None:
            return Scope(self.call.session, "")
        named = namespace_of_project(project, self.store, claim=self.call.moment == "start")
        # Claude Code names the folder of a project's memory after its path.
        path = "".join(letter if letter.isalnum() else "-" for letter in str(project.root))
        return Scope(self.call.session, named, (f"claude/{path}",))


def tell(call: Call, paths: DataPaths, settings: HookSettings) -> str:
    """Return what a session is told now; empty, most often, where nothing clears the threshold.

    Raises:
        FileNotFoundError: there is no database yet.
        WrongFormat: the database is of another version.
        sqlite3.Error: the database cannot be read.

    """
    answer = _MOMENTS.get(call.moment)
    if answer is None or (call.moment == "prompt" and not call.prompt.strip()):
        return ""
    try:
        store = HookStore(paths.database)
    except WrongFormat as error:
        if error.found < FORMAT:  # memento was updated, and nothing but hooks has run since
            start_detached(paths.root, "--index")
        raise
    try:
        return answer(Seat(call, paths, store, settings, clock.now()))
    finally:
        store.close()


def _at_start(seat: Seat) -> str:
    """Tell who the agent is, what a person calls essential, what is being done, and what is to be left."""
    call, store, scope = seat.call, seat.store, seat.scope()
    if call.session:
        store.begin_session(call.session, call.host, scope.namespace, call.transcript, fresh=call.is_fresh)
    if not call.is_fresh:
        return ""
    place = f": this project's namespace is {scope.namespace}" if scope.namespace else ""
    budget = Budget(seat.settings.start_tokens, [f"{_AT_START}{place}\n{_WHO}", _STANDS, _AT, _LEFT])
    parts = []
    if identity := store.identity():
        line = identity_line(identity)
        parts.append(block(_WHO, [line] if budget.takes(line) else []))
    essentials = [memory for memory in store.essentials() if scope.concerns(memory.namespace)][:_MOST_ESSENTIALS]
    shown = _shown(
        [Finding(memory, 1.0, {"essential": 1.0}, frozenset()) for memory in essentials], budget, [_ESSENTIAL]
    )
    parts.append(block(_STANDS, [line for line, _ in shown]))
    items = [item for item in store.items() if scope.concerns(item.namespace)][:_MOST_ITEMS]
    parts.append(block(_AT, [line for line in map(item_line, items) if budget.takes(line)]))
    skips = [skip for skip in store.skips() if scope.concerns(skip.namespace)][:_MOST_SKIPS]
    parts.append(block(_LEFT, [line for line in map(skip_line, skips) if budget.takes(line)]))
    if call.session:
        store.note_shown(call.session, [one for _, one in shown])
    told = "\n".join(part for part in parts if part)
    return "\n".join(part for part in (f"{_AT_START}{place}" if told or place else "", told) if part)


def _at_prompt(seat: Seat) -> str:
    """Tell the few memories that the prompt calls for, and the skips that it touches."""
    scope, prompt = seat.scope(), seat.call.prompt
    # For a trivial prompt no index is opened; but "run the tests again" may well be what is to be skipped.
    is_trivial = not content_words(prompt)
    index = None if is_trivial else fresh_index(seat.paths, seat.store)
    findings = []
    if index is not None:
        findings = about_prompt(seat.store, index, prompt, scope, seat.settings, seat.now)
    return _told(seat, scope, findings, _matching_skips(seat.store, scope, readable(prompt), in_passing=is_trivial))


def _at_read(seat: Seat) -> str:
    """Tell what was decided about a file, and what went wrong there, when it is read for the first time."""
    path = _inside(seat.call)
    if not path:
        return ""
    scope = seat.scope()
    findings = about_file(seat.store, fresh_index(seat.paths, seat.store), path, scope)
    return _told(seat, scope, findings, _matching_skips(seat.store, scope, path))


_MOMENTS: dict[str, Callable[[Seat], str]] = {"start": _at_start, "prompt": _at_prompt, "read": _at_read}


def _inside(call: Call) -> str:
    """Return the path of the file relative to its project; empty for a file outside of it."""
    project = project_of(call.cwd)
    if project is None or not call.file or "\0" in call.file:
        return ""
    path = Path(os.path.realpath(Path(call.cwd) / call.file))
    return path.relative_to(project.root).as_posix() if path.is_relative_to(project.root) else ""


def _matching_skips(store: HookStore, scope: Scope, text: str, *, in_passing: bool = False) -> list[SkipRow]:
    held = [skip for skip in store.skips() if scope.concerns(skip.namespace)]
    asked = skip_words(text) if held else frozenset()
    return [skip for skip in held if skip_matches(asked, skip_words(skip.item), in_passing=in_passing)]


def _told(seat: Seat, scope: Scope, findings: Sequence[Finding], skips: Sequence[SkipRow]) -> str:
    """Return the block for these findings and skips, and write down what it holds."""
    budget = Budget(seat.settings.prompt_tokens, [_FOUND])
    lines = [(line, skip) for skip in skips if budget.takes(line := skip_line(skip))]
    shown = _shown(findings, budget, [_BEST_PASSAGE, _PASSAGE])
    told = [line for line, _ in lines] + [line for line, _ in shown]
    told += [line for line in _disputes(seat, scope, [one.memory for _, one in shown]) if budget.takes(line)]
    if seat.call.session:
        seat.store.note_shown(seat.call.session, [one for _, one in shown], [skip.id for _, skip in lines])
    return block(_FOUND, told)


def _shown(findings: Sequence[Finding], budget: Budget, lengths: Sequence[int]) -> list[tuple[Line, Shown]]:
    """Return the lines that the budget holds, best first, each with its entry for the ledger.

    ``lengths`` are the characters of the first, the second and so on; the last holds for all further ones.
    """
    found: list[tuple[Line, Shown]] = []
    for place, one in enumerate(findings):
        length = lengths[min(place, len(lengths) - 1)]
        line = memory_line(one.memory, passage_of(one.stems, one.memory.content, length).text, characters=length)
        if budget.takes(line):
            why = {name: round(value, 4) for name, value in one.why.items()}
            found.append((line, Shown(one.memory, len(found) + 1, round(one.score, 4), line.tokens, why)))
    return found


def _disputes(seat: Seat, scope: Scope, memories: Sequence[MemoryRow]) -> list[Line]:
    """Return the contradictions in which some memories stand, both sides laid out where both concern the session."""
    if not memories:
        return []
    disputes = seat.store.disputes([memory.id for memory in memories])
    names = {name for one in disputes for name in (one.older, one.newer)}
    rows = seat.store.memories(names) if names else {}
    sides = {name: row for name, row in rows.items() if scope.concerns(row.namespace)}
    return [
        dispute_line(one, sides[one.older], sides[one.newer], seat.now)
        for one in disputes
        if one.older in sides and one.newer in sides
    ]
