"""Retrieve the memories that a prompt or a file calls for, from a keyword index that is up to date."""

from __future__ import annotations

import fcntl
import os
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from memento_tui.hooks.settings import HookSettings
from memento_tui.hooks.worker_launcher import start_worker
from memento_tui.paths import DataPaths
from memento_tui.search.decay import decay_factor
from memento_tui.search.prompt_index import PromptIndex, stems_of
from memento_tui.search.ranking import (
    CANDIDATE_CHARACTERS_READ,
    LEAST_SHARE_OF_BEST,
    MOST_MEMORIES_SHOWN,
    PROMPT_CANDIDATES_READ,
)
from memento_tui.storage.hook_store import HookStore, ItemRow, MemoryRow, ShownMemory, SkipRow
from memento_tui.text.keywords import content_words_by_sentence
from memento_tui.text.terms import terms

__all__ = [
    "HookStore",
    "ItemRow",
    "RetrievedMemory",
    "SessionScope",
    "ShownMemory",
    "SkipRow",
    "memories_for_file",
    "memories_for_prompt",
    "up_to_date_index",
]

_MAX_INLINE_CHANGES = 100
"""Changes that are indexed while the host waits, about 0.15 s in all; more are left to a detached process.

Entries of the journal say nothing about the work: an import puts thousands of memories into one.
"""


def up_to_date_index(paths: DataPaths, store: HookStore) -> PromptIndex | None:
    """Return the index; where it is far behind, as it was, and a detached process brings it up to date.

    ``None`` where there is none that can be read.
    """
    seq, mark = store.head()
    index = _open_index(paths)
    if index is not None and (index.state.seq, index.state.mark) == (seq, mark):
        return index
    # An index of another past, as a restored backup leaves it, says nothing about what is stored now.
    usable = index if index is not None and store.mark(index.state.seq) == index.state.mark else None
    if store.has_more_changes(0 if usable is None else usable.state.seq, _MAX_INLINE_CHANGES):
        if not _is_being_indexed(paths):
            start_worker(paths.root, "--index")
        return usable
    # The libraries that indexing needs are imported only after somebody wrote.
    from memento_tui.search.keyword_index import update_keyword_index  # noqa: PLC0415

    update_keyword_index(paths)
    return _open_index(paths)


def _is_being_indexed(paths: DataPaths) -> bool:
    """Tell whether another process indexes now: of the prompts that come meanwhile, each would start one more."""
    try:
        lock = os.open(paths.keyword_lock, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _open_index(paths: DataPaths) -> PromptIndex | None:
    try:
        return PromptIndex(paths.keyword_index)
    except (ValueError, OSError):
        return None


_FILE_KINDS = ("decision", "instruction", "bugfix", "anti_pattern", "discovery", "heuristic", "pattern")
"""What to know before a file is read: what was decided about it, and what went wrong there."""
_COMMON_FILES = frozenset(
    """
    __init__.py __main__.py main.py index.js index.ts index.tsx index.html mod.rs main.rs lib.rs main.go readme.md
    package.json makefile dockerfile setup.py conftest.py utils.py types.ts cargo.toml pyproject.toml
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Names that every other folder has; alone they do not tell which file is meant."""


class SessionScope(NamedTuple):
    """Where memories count for a session: everywhere but in the namespaces of other projects."""

    session: str
    namespace: str
    """Of the project; empty outside of any."""
    also: tuple[str, ...] = ()
    """Further namespaces of the same project."""

    def places(self) -> list[str]:
        """Return the namespaces of the project."""
        return [name for name in (self.namespace, *self.also) if name]

    def concerns(self, namespace: str) -> bool:
        """Tell whether a record of a namespace matters here."""
        inside = any(namespace == place or namespace.startswith(f"{place}/") for place in self.places())
        return inside or namespace.partition("/")[0] not in SCOPED_NAMESPACE_ROOTS


SCOPED_NAMESPACE_ROOTS = ("projects", "claude", "accounts")
"""The namespaces below which each name is a project, or an account of `memento serve`, which may be anybody's."""


class RetrievedMemory(NamedTuple):
    """One memory to tell, its score, the numbers that made it, and the stems that a passage is chosen by."""

    memory: MemoryRow
    score: float
    why: dict[str, float]
    stems: frozenset[str]


def memories_for_prompt(
    store: HookStore, index: PromptIndex, prompt: str, scope: SessionScope, settings: HookSettings, now: datetime
) -> list[RetrievedMemory]:
    """Return the memories that a prompt calls for, best first; most often none."""
    near = {
        one.id: one
        for one in index.candidates(content_words_by_sentence(prompt), scope.places(), SCOPED_NAMESPACE_ROOTS)[
            :PROMPT_CANDIDATES_READ
        ]
    }
    findings = []
    for memory in _not_yet_shown(store, near, scope).values() if near else ():
        candidate, stems = near[memory.id], _stem_counts(memory)
        keyword = max(candidate.keyword, candidate.by_itself(stems, len(terms(memory.content))))
        life = decay_factor(memory, now, preset=settings.decay)
        score = keyword * life.factor
        subject = stems_of([*memory.title.split(), *memory.tags])
        about = candidate.is_about(stems.keys(), subject) if score >= settings.threshold else []
        if about:
            why = {"keyword": keyword, "relevance": keyword, "life": life.factor}
            findings.append(RetrievedMemory(memory, score, why, frozenset(stems_of(about))))
    findings.sort(key=lambda one: (-one.score, one.memory.id))
    return [one for one in findings if one.score >= LEAST_SHARE_OF_BEST * findings[0].score][:MOST_MEMORIES_SHOWN]


def _stem_counts(memory: MemoryRow) -> Counter[str]:
    """Return how often a memory holds each stem, and each part of its names."""
    text = f"{memory.title}\n{memory.content[:CANDIDATE_CHARACTERS_READ]}"
    found = Counter(terms(text))
    names = Counter(word for word in text.split() if not (word.isascii() and word.isalpha()))
    for word, count in names.items():
        for stem in stems_of([word]):
            found[stem] = max(found[stem], count)
    return found


def memories_for_file(
    store: HookStore, index: PromptIndex | None, path: str, scope: SessionScope
) -> list[RetrievedMemory]:
    """Return what was decided about a file, and what went wrong there; ``path`` is relative to the project."""
    names = _names_of_file(path)
    ids = dict.fromkeys(store.related_to_file(names))
    if index is not None:
        ids.update(dict.fromkeys(index.naming(names, _FILE_KINDS)))
    untold = _not_yet_shown(store, ids, scope)
    stems = frozenset(stems_of([path.rpartition("/")[2]]))
    return [RetrievedMemory(untold[name], 1.0, {"file": 1.0}, stems) for name in ids if name in untold][
        :MOST_MEMORIES_SHOWN
    ]


def _names_of_file(path: str) -> list[str]:
    """Return the names by which a memory may speak of a file: its path and the ends of it that still tell which."""
    parts = path.split("/")
    names = ["/".join(parts[start:]) for start in range(len(parts))]
    if len(parts) > 1 and parts[-1].lower() in _COMMON_FILES:
        names.pop()
    return names


def _not_yet_shown(store: HookStore, ids: Iterable[str], scope: SessionScope) -> dict[str, MemoryRow]:
    """Return those memories that concern the session and that it neither was told in this version nor wrote itself."""
    told = store.already_shown(scope.session)
    rows = store.memories(ids)
    gone = store.superseded(rows) if rows else set()
    return {
        name: row
        for name, row in rows.items()
        if name not in gone
        and told.get(name, 0) < row.version
        and scope.concerns(row.namespace)
        and not (scope.session and row.session == scope.session)
    }
