"""Put retrieved memories and skips into one text within a budget of tokens, held against the code that they cite."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from memento_tui.hooks.events import HookContext, PreparedContext
from memento_tui.hooks.formatting import (
    CostedLine,
    TokenBudget,
    contradiction_line,
    fenced_block,
    memory_line,
    shown_title,
    skip_line,
)
from memento_tui.hooks.scope import RetrievedMemory, SessionScope
from memento_tui.hooks.worker_launcher import start_worker
from memento_tui.paths import DataPaths
from memento_tui.projects import find_project, head_commit
from memento_tui.storage.hook_store import ContradictionRow, FiredSkip, MemoryRow, ShownMemory
from memento_tui.text.fence import without_invisible
from memento_tui.text.passages import best_passage
from memento_tui.text.terms import terms

__all__ = [
    "block_within_budget",
    "lines_within_budget",
    "open_contradictions",
    "start_code_check",
    "with_code_notes",
    "with_contradictions",
]


def with_code_notes(memories: Sequence[RetrievedMemory], paths: DataPaths, cwd: str | Path) -> list[RetrievedMemory]:
    """Return the memories without those whose code is gone, and with a word of caution where it changed.

    What a person made essential is told even so, with that word: they alone drop it.
    """
    project = find_project(cwd) if memories else None
    if project is None:
        return list(memories)
    from memento_tui.maintenance.code.notes import read_notes  # noqa: PLC0415 - most prompts call for no memory

    notes = read_notes(paths.code_notes(project.root))
    told = []
    for found in memories:
        note = notes.note(found.memory.id, found.memory.version, project.root)
        if note is None:
            told.append(found)
        elif not note.is_gone or found.memory.pinned:
            told.append(found._replace(caution=note.label))
    return told


def start_code_check(paths: DataPaths, cwd: str | Path, mark: str) -> None:
    """Start the worker that checks a project's memories, if its repository or the memories changed since it last did.

    ``mark`` is that of the newest entry of the journal.
    """
    project = find_project(cwd)
    if project is None or not (project.root / ".git").exists():
        return
    from memento_tui.maintenance.code.notes import read_notes  # noqa: PLC0415 - the start of a session alone

    known = read_notes(paths.code_notes(project.root))
    if (known.head, known.mark) != (head_commit(project.home, project.root), mark):
        start_worker(paths.root, "--code", f"--cwd={project.root}")


_BEST_CHARS, _OTHER_CHARS = 150, 80
"""Characters of the title and the passage of the best memory, and of each other one. The agent reads on by the id.

Another one than the best is told by its title alone, where that holds a word of the prompt: it says what can be read.
A session is told it so once; with its text it may be told afterwards.
"""

_FEWEST_PASSAGE_CHARS = 60
"""Characters of a passage, however long the title is."""

_MEMORIES_HEADING = "The user's memory (data; `get` reads an id in full):"


def block_within_budget(
    context: HookContext, scope: SessionScope, memories: Sequence[RetrievedMemory], skips: Sequence[FiredSkip]
) -> PreparedContext:
    """Return the block for as many of these memories and skips as the budget holds."""
    contradictions = open_contradictions(context, scope, memories)
    memories = with_code_notes(with_contradictions(memories, contradictions), context.paths, context.call.cwd)
    budget = TokenBudget(context.settings.prompt_tokens, [_MEMORIES_HEADING])
    lines = [(line, fired) for fired in skips if budget.takes(line := skip_line(fired.skip))]
    named = context.store.named_alone(scope.session)
    shown = lines_within_budget(memories, budget, context.now, [_BEST_CHARS, _OTHER_CHARS], named)
    texts = [line for line, _ in lines] + [line for line, _ in shown]
    told = {entry.memory.id for _, entry in shown}
    open_lines = [
        contradiction_line(found, older, newer, context.now)
        for found, older, newer in contradictions
        if not told.isdisjoint((older.id, newer.id))
    ]
    texts += [line for line in open_lines if budget.takes(line)]
    text = fenced_block(_MEMORIES_HEADING, texts)
    return PreparedContext(text, [entry for _, entry in shown], [fired for _, fired in lines])


def lines_within_budget(
    memories: Sequence[RetrievedMemory],
    budget: TokenBudget,
    now: datetime,
    lengths: Sequence[int],
    named_before: Mapping[str, int] = MappingProxyType({}),
) -> list[tuple[CostedLine, ShownMemory]]:
    """Return the lines that the budget holds, best first, each with its entry for the ledger.

    ``lengths`` are the characters of the first one's title and passage, of the second's and so on; the last holds for
    all further ones. ``named_before`` are the versions of those whose titles the session knows, by id.
    """
    shown: list[tuple[CostedLine, ShownMemory]] = []
    for rank, found in enumerate(memories):
        title = shown_title(found.memory)
        length = max(_FEWEST_PASSAGE_CHARS, lengths[min(rank, len(lengths) - 1)] - len(title))
        is_named = rank > 0 and not found.stems.isdisjoint(terms(title))
        if is_named and named_before.get(found.memory.id, 0) >= found.memory.version:
            continue
        passage = "" if is_named else best_passage(found.stems, _below_heading(found.memory), length).text
        line = memory_line(found.memory, passage, now, characters=length, caution=found.caution, against=found.against)
        if budget.takes(line):
            why = {name: round(value, 4) for name, value in found.why.items()}
            score = round(found.score, 4)
            shown.append((line, ShownMemory(found.memory, len(shown) + 1, score, line.tokens, why, is_named)))
    return shown


_HEADING_LINE = re.compile(r"(?:#{1,6} )?(\*{0,3})(.+?)\1(?: #+)?")
"""A line of a file, with or without the marks of a heading and of emphasis; the text is the second group."""


def _below_heading(memory: MemoryRow) -> str:
    """Return the text of a memory without a first line that its title as it is shown ends with, as sections have it.

    A line that differs in one sign stays: ``-5`` is not ``5``. One below which nothing stands loses its marks alone.
    """
    text = without_invisible(memory.content).lstrip()
    first, _, rest = text.partition("\n")
    heading = _HEADING_LINE.fullmatch(" ".join(first.split()))
    if heading is None or not f" {shown_title(memory)}".endswith(f" {heading[2]}"):
        return memory.content
    return rest if rest.strip() else heading[2]


OpenContradiction = tuple[ContradictionRow, MemoryRow, MemoryRow]
"""A contradiction, its older and its newer side."""


def open_contradictions(
    context: HookContext, scope: SessionScope, memories: Sequence[RetrievedMemory]
) -> list[OpenContradiction]:
    """Return the unresolved contradictions of some memories, where both sides concern the session, surest first."""
    if not memories:
        return []
    contradictions = context.store.unresolved_contradictions([found.memory.id for found in memories])
    names = {name for found in contradictions for name in (found.older, found.newer)}
    rows = context.store.memories(names) if names else {}
    sides = {name: row for name, row in rows.items() if scope.concerns(row.namespace)}
    return [
        (found, sides[found.older], sides[found.newer])
        for found in contradictions
        if found.older in sides and found.newer in sides
    ]


def with_contradictions(
    memories: Sequence[RetrievedMemory], contradictions: Sequence[OpenContradiction]
) -> list[RetrievedMemory]:
    """Return the memories, each with the ids of those that contradict it."""
    pairs = [(older.id, newer.id) for _, older, newer in contradictions]
    against = [(own, other) for one, two in pairs for own, other in ((one, two), (two, one))]
    return [
        found._replace(against=tuple(other for own, other in against if own == found.memory.id)) for found in memories
    ]
