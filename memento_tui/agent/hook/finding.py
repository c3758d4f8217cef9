"""Which memories a prompt or a file calls for: few, well above a threshold, and none that the session was told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from memento_tui.agent.hook.settings import HookSettings
from memento_tui.search.life import life_of
from memento_tui.search.prompt import PromptIndex, stems_of
from memento_tui.search.prompt_words import parts_of
from memento_tui.search.text import terms
from memento_tui.store.hook_store import HookStore, MemoryRow

__all__ = ["Finding", "Scope", "about_file", "about_prompt"]

_MOST_FINDINGS = 3
_OF_THE_BEST = 0.9
"""What scores less than this share of the best finding is left out: the best is most often what was meant."""
_MOST_READ = 12
"""Candidates of which the text is read."""
_READ = 20_000
"""Characters of a memory in which the words of a prompt are looked for."""

_FILE_KINDS = ("decision", "instruction", "bugfix", "anti_pattern", "discovery", "heuristic", "pattern")
"""What to know before a file is read: what was decided about it, and what went wrong there."""
_COMMON_FILES = frozenset(
    """
    __init__.py __main__.py main.py index.js index.ts index.tsx index.html mod.rs main.rs lib.rs main.go readme.md
    package.json makefile dockerfile setup.py conftest.py utils.py types.ts cargo.toml pyproject.toml
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Names that every other folder has; alone they do not tell which file is meant."""


class Scope(NamedTuple):
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
        return inside or namespace.partition("/")[0] not in OTHERS


OTHERS = ("projects", "claude", "accounts")
"""The namespaces below which each name is a project, or an account of `memento serve`, which may be anybody's."""


class Finding(NamedTuple):
    """One memory to tell, its score, the numbers that made it, and the stems that a passage is chosen by."""

    memory: MemoryRow
    score: float
    why: dict[str, float]
    stems: frozenset[str]


def about_prompt(
    store: HookStore, index: PromptIndex, prompt: str, scope: Scope, settings: HookSettings, now: datetime
) -> list[Finding]:
    """Return the memories that a prompt calls for, best first; most often none."""
    near = {one.id: one for one in index.candidates(parts_of(prompt), scope.places(), OTHERS)[:_MOST_READ]}
    findings = []
    for memory in _untold(store, near, scope).values() if near else ():
        candidate, stems = near[memory.id], _stems(memory)
        keyword = max(candidate.keyword, candidate.by_itself(stems, len(terms(memory.content))))
        life = life_of(memory, now, preset=settings.decay)
        score = keyword * life.factor
        subject = stems_of([*memory.title.split(), *memory.tags])
        about = candidate.is_about(stems.keys(), subject) if score >= settings.threshold else []
        if about:
            why = {"keyword": keyword, "relevance": keyword, "life": life.factor}
            findings.append(Finding(memory, score, why, frozenset(stems_of(about))))
    findings.sort(key=lambda one: (-one.score, one.memory.id))
    return [one for one in findings if one.score >= _OF_THE_BEST * findings[0].score][:_MOST_FINDINGS]


def _stems(memory: MemoryRow) -> Counter[str]:
    """Return how often a memory holds each stem, and each part of its names."""
    text = f"{memory.title}\n{memory.content[:_READ]}"
    found = Counter(terms(text))
    names = Counter(word for word in text.split() if not (word.isascii() and word.isalpha()))
    for word, count in names.items():
        for stem in stems_of([word]):
            found[stem] = max(found[stem], count)
    return found


def about_file(store: HookStore, index: PromptIndex | None, path: str, scope: Scope) -> list[Finding]:
    """Return what was decided about a file, and what went wrong there; ``path`` is relative to the project."""
    names = _names(path)
    ids = dict.fromkeys(store.related_to_file(names))
    if index is not None:
        ids.update(dict.fromkeys(index.naming(names, _FILE_KINDS)))
    untold = _untold(store, ids, scope)
    stems = frozenset(stems_of([path.rpartition("/")[2]]))
    return [Finding(untold[name], 1.0, {"file": 1.0}, stems) for name in ids if name in untold][:_MOST_FINDINGS]


def _names(path: str) -> list[str]:
    """Return the names by which a memory may speak of a file: its path and the ends of it that still tell which."""
    parts = path.split("/")
    names = ["/".join(parts[start:]) for start in range(len(parts))]
    if len(parts) > 1 and parts[-1].lower() in _COMMON_FILES:
        names.pop()
    return names


def _untold(store: HookStore, ids: Iterable[str], scope: Scope) -> dict[str, MemoryRow]:
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
