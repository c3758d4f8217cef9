"""What a host is told, in Memento Vault's shape: a few lines within a fence, and entries in the ledger for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from mcp_types import CallToolResult

from memento_tui import clock
from memento_tui.agent.disputes import disagreements
from memento_tui.agent.fence import fenced, one_line, quoted_id
from memento_tui.agent.hook.finding import Finding
from memento_tui.agent.hook.telling import tokens
from memento_tui.agent.labels import labels_of
from memento_tui.agent.vault.notes import path_of
from memento_tui.agent.vault.results import FoundNote, Injected, said
from memento_tui.records import Memory
from memento_tui.search.passage import passage_of
from memento_tui.store.hook_store import HookStore, ItemRow, Shown, SkipRow
from memento_tui.workspace import Workspace

__all__ = ["silence", "told"]

_MOST_CHARACTERS = 500
_MOST_OTHERS = 2
"""Working items, and skips, that are told."""
_PASSAGE = 200
_CAUTIONS = ("UNTRUSTED", "unverified")


def silence(source: str, reason: str, about: dict[str, Any]) -> CallToolResult:
    """Return that nothing is to be told, and why."""
    return said(Injected(should_inject=False, content="", source=source, results=[], reason=reason, metadata=about))


def told(
    workspace: Workspace,
    store: HookStore,
    source: str,
    heading: str,
    findings: Sequence[Finding],
    about: dict[str, Any],
    items: Sequence[ItemRow] = (),
    skips: Sequence[SkipRow] = (),
) -> CallToolResult:
    """Return what is told of some findings, items and skips, and write down that it was."""
    memories = workspace.store.memories([one.memory.id for one in findings])
    known = [one for one in findings if one.memory.id in memories]
    if not known and not items and not skips:
        return silence(source, "no-results", about)
    now = clock.now()
    notes = [_note(memories[one.memory.id], one, now) for one in known]
    disputed = disagreements(workspace, [note.id for note in notes], now)[:1]
    lines = [f"disputed: {quoted_id(one.older.id)} and {quoted_id(one.newer.id)}, {one.why}" for one in disputed]
    lines += [_line(note) for note in notes]
    lines += [f"- at work: {one_line(f'{item.title} {item.next_action}')}" for item in items[:_MOST_OTHERS]]
    lines += [f"- skip: {one_line(f'{skip.item}, because {skip.reason}')}" for skip in skips[:_MOST_OTHERS]]
    untrusted = any("UNTRUSTED" in note.labels for note in notes)
    session = str(about.get("session_id") or workspace.author.session)
    pairs = enumerate(zip(known, notes, strict=True), 1)
    store.note_shown(session, [Shown(f.memory, rank, f.score, tokens(n.snippet), f.why) for rank, (f, n) in pairs])
    return said(
        Injected(
            should_inject=True,
            content=_fitted(one_line(heading, 100), lines, untrusted=untrusted),
            source=source,
            results=notes,
            metadata={**about, "top_path": notes[0].path} if notes else about,
        )
    )


def _note(memory: Memory, found: Finding, now: datetime) -> FoundNote:
    return FoundNote(
        path=path_of(memory),
        title=one_line(memory.headline, 120),
        score=round(min(found.score, 1.0), 4),
        snippet=passage_of(found.stems, memory.content, _PASSAGE).text,
        id=memory.id,
        labels=labels_of(memory, now),
    )


def _line(note: FoundNote) -> str:
    marks = ", ".join(label for label in note.labels if label in _CAUTIONS)
    text = note.snippet if note.snippet.startswith(note.title.removesuffix(" ...")) else f"{note.title}: {note.snippet}"
    return f"- {note.path}{f' [{marks}]' if marks else ''}: {text}"


def _fitted(heading: str, lines: Sequence[str], *, untrusted: bool) -> str:
    """Return lines below a heading in a fence, each cut to its share of the characters that may be told."""
    left = _MOST_CHARACTERS - len(f"{heading}\n{fenced('', untrusted=untrusted)}")
    kept: list[str] = []
    for place, line in enumerate(lines):
        share = left // (len(lines) - place) - len(" ...\n")
        kept.append(one_line(line, share))
        left -= len(kept[-1]) + 1
    return f"{heading}\n{fenced(chr(10).join(kept), untrusted=untrusted)}"
