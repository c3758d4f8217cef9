"""Retrieve the memories that a prompt or a file calls for, from a keyword index that is up to date."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from memento_tui.branches import SCOPED_NAMESPACE_ROOTS
from memento_tui.hooks.scope import RetrievedMemory, SessionScope, limited_writer
from memento_tui.hooks.settings import HookSettings
from memento_tui.paths import DataPaths
from memento_tui.processes import is_lock_held
from memento_tui.search.decay import decay_factor
from memento_tui.search.fair_share import fair_entries, is_held_back
from memento_tui.search.note_versions import is_persons, older_versions, wording
from memento_tui.search.prompt_index import PromptIndex, WeightedPart, stem_counts, stems_of
from memento_tui.search.ranking import (
    COVERAGE_WEIGHT,
    FILE_FLOOR,
    LEAST_SHARE_OF_BEST,
    LEAST_SIMILARITY_OF_FEW_WORDS,
    LEAST_SIMILARITY_READ,
    MOST_MEMORIES_SHOWN,
    PROMPT_CANDIDATES,
    PROMPT_CANDIDATES_READ,
    SCORES_ALIKE,
    UNSEEN_SIMILARITY,
    clears_floor,
)
from memento_tui.search.scoring import calibrated_relevance
from memento_tui.storage.hook_store import HookStore, MemoryRow
from memento_tui.text.conditions import is_about_another, numbered_things, of_other_places
from memento_tui.text.keywords import FEWEST_WORDS, is_filler, is_name, prompt_parts, truncate_prompt
from memento_tui.text.terms import terms

__all__ = [
    "Nearest",
    "memories_for_file",
    "memories_for_prompt",
    "memories_naming_file",
    "up_to_date_index",
]

_MAX_INLINE_CHANGES = 100
"""Changes that are indexed while the host waits, about 0.15 s in all; more are left to a detached process.

The number of journal entries does not measure the work: an import puts thousands of memories into one.
"""


def up_to_date_index(paths: DataPaths, store: HookStore) -> PromptIndex | None:
    """Return the index, up to date; an outdated one where it is far behind, and a detached process is started.

    ``None`` where none can be read.
    """
    seq, mark = store.head()
    index = _open_index(paths)
    if index is not None and (index.state.seq, index.state.mark) == (seq, mark):
        return index
    # An index of another history, as a restored backup leaves it, is of no use.
    usable = index if index is not None and store.mark(index.state.seq) == index.state.mark else None
    if store.has_more_changes(0 if usable is None else usable.state.seq, _MAX_INLINE_CHANGES):
        if not is_lock_held(paths.keyword_lock):  # whoever holds it is about to do it
            from memento_tui.hooks.worker_launcher import start_index_worker  # noqa: PLC0415 - after a large import

            start_index_worker(paths)
        return usable
    # The libraries that indexing needs are imported only after somebody wrote.
    from memento_tui.search.keyword_index import update_keyword_index  # noqa: PLC0415

    update_keyword_index(paths)
    return _open_index(paths)


def _open_index(paths: DataPaths) -> PromptIndex | None:
    try:
        return PromptIndex(paths.keyword_index)
    except (ValueError, OSError):
        return None


_COMMON_FILES = frozenset(
    """
    __init__.py __main__.py main.py index.js index.ts index.tsx index.html mod.rs main.rs lib.rs main.go readme.md
    package.json makefile dockerfile setup.py conftest.py utils.py types.ts cargo.toml pyproject.toml
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Names that many folders have; alone they do not identify a file."""


Nearest = Callable[[str, SessionScope, int], Mapping[str, float]]
"""Returns the memories nearest to a text in meaning among those of a session, with their cosine similarity, by id."""


def memories_for_prompt(
    store: HookStore,
    index: PromptIndex,
    prompt: str,
    scope: SessionScope,
    settings: HookSettings,
    now: datetime,
    nearest: Nearest | None = None,
) -> list[RetrievedMemory]:
    """Return the memories that a prompt calls for, best first; most often none."""
    parts = index.weighted(prompt_parts(prompt))
    if not parts:
        return []
    by_words = index.candidates(parts, scope.own_namespaces(), SCOPED_NAMESPACE_ROOTS)
    similar = {} if nearest is None else nearest(prompt, scope, PROMPT_CANDIDATES)
    near = [name for name, similarity in similar.items() if similarity >= LEAST_SIMILARITY_READ]
    names = [*list(by_words)[:PROMPT_CANDIDATES_READ], *near]
    candidates = _not_yet_shown(store, dict.fromkeys(names), scope) if names else {}
    judge = _Judge(prompt, parts, similar)
    judged = [judge.judge(memory, by_words.get(name, 0.0)) for name, memory in candidates.items()]
    retrieved = []
    for found in judged:
        if (
            found is not None
            and clears_floor(found.why["relevance"], settings.threshold)
            and not is_held_back(found.memory)
        ):
            life = decay_factor(found.memory, now, preset=settings.decay).factor
            retrieved.append(found._replace(score=found.score * life, why=found.why | {"life": life}))
    retrieved = _without_older_versions(retrieved)
    retrieved.sort(key=lambda found: (-found.score, found.memory.id))
    best = [found for found in retrieved if found.score >= LEAST_SHARE_OF_BEST * retrieved[0].score]
    here = _without_other_places(store, best, scope.namespace)
    return _shared_fairly(store, _without_alike(store, here))


def _without_other_places(
    store: HookStore, memories: Sequence[RetrievedMemory], namespace: str
) -> list[RetrievedMemory]:
    """Return the memories without those that hold elsewhere, as `memento_tui.operations.recall` leaves them out."""
    conditions = {found.memory.id: found.memory.validity_context for found in memories if found.memory.validity_context}
    if not namespace or len(conditions) < 2:  # noqa: PLR2004 - a pair
        return list(memories)
    elsewhere = of_other_places(store.kept_both(conditions), conditions, namespace)
    return [found for found in memories if found.memory.id not in elsewhere]


class _Judge:
    """Judges how well memories answer one prompt, by their words and their meaning."""

    def __init__(self, prompt: str, parts: Sequence[WeightedPart], similar: Mapping[str, float]) -> None:
        self._parts = parts
        self._similar = similar
        self._furthest = UNSEEN_SIMILARITY * min(similar.values(), default=0.0)
        self._things = numbered_things(truncate_prompt(prompt))

    def judge(self, memory: MemoryRow, indexed: float) -> RetrievedMemory | None:
        """Return a memory with its relevance as its score; ``None`` where it is about something else.

        ``indexed`` is its score by the index; the better of that and of one by its text alone counts.
        """
        stems = stem_counts(f"{memory.title}\n{memory.content}\n{memory.validity_context}")
        length = len(terms(memory.content))
        by_text, part = max(
            ((part.score_without_index(stems, length), part) for part in self._parts), key=lambda scored: scored[0]
        )
        # A long note holds each word of a question once: then it is enough that it holds nearly all.
        covered = part.scale * COVERAGE_WEIGHT * part.share_held(stems.keys())
        keyword = max(indexed, by_text, covered)
        meaning = self._similar.get(memory.id, self._furthest) if self._similar else None
        relevance = calibrated_relevance(keyword, meaning)
        words = part.words_in(stems.keys(), stems_of([*memory.title.split(), *memory.tags]))
        is_near = meaning is not None and clears_floor(meaning)
        if len(words) <= FEWEST_WORDS and not any(map(is_name, words)) and self._is_far(meaning):
            words = []
        if not (words or is_near) or is_about_another(self._things, f"{memory.title} {memory.content}"):
            return None
        why = {"keyword": keyword, "relevance": max(relevance, meaning or 0.0)}
        if meaning is not None:
            why["semantic"] = meaning
        return RetrievedMemory(memory, relevance, why, frozenset(stems_of(words or part.words)))

    @staticmethod
    def _is_far(meaning: float | None) -> bool:
        return meaning is not None and meaning < LEAST_SIMILARITY_OF_FEW_WORDS


def _without_older_versions(ranked: Sequence[RetrievedMemory]) -> list[RetrievedMemory]:
    """Return some memories without those that another version of the same note holds.

    It has the better of their scores: a note that has grown answers no worse.
    """
    found_by = {found.memory.id: found for found in ranked}
    older = older_versions([found.memory for found in ranked], lambda name: found_by[name].stems)
    for name, version in older.items():
        best = max(found_by[name].score, found_by[version].score)
        found_by[version] = found_by[version]._replace(score=best)
    return [one for name, one in found_by.items() if name not in older]


def _without_alike(store: HookStore, near: Sequence[RetrievedMemory]) -> list[RetrievedMemory]:
    """Return some memories without those that a prompt cannot tell apart, where these are more than are shown.

    A session that writes many memories alike so silences those, but not what others wrote; and however many sessions
    do, not the few that a person wrote or stands behind.
    """
    alike = [found for found in near if found.stems == near[0].stems and found.score >= SCORES_ALIKE * near[0].score]
    if len(alike) <= MOST_MEMORIES_SHOWN:
        return list(near)
    written_by = store.writers("memory", [found.memory.id for found in alike])
    # What differs in its marks alone is told once.
    different = {wording(found.memory.content): found for found in alike}.values()
    counts = Counter(limited_writer(found.memory, written_by) for found in different)
    if counts[""] + len(counts.keys() - {""}) > MOST_MEMORIES_SHOWN:
        persons = [found.memory.id for found in different if is_persons(found.memory)]
        left_out = {found.memory.id for found in alike} - set(persons if len(persons) <= MOST_MEMORIES_SHOWN else ())
    else:
        crowded = {writer for writer, count in counts.items() if count > MOST_MEMORIES_SHOWN}
        left_out = {found.memory.id for found in alike if limited_writer(found.memory, written_by) in crowded}
    return [found for found in near if found.memory.id not in left_out]


def _shared_fairly(store: HookStore, ranked: Sequence[RetrievedMemory]) -> list[RetrievedMemory]:
    """Return the best of some memories, no two that say the same, shared among their writers and the person."""
    if len(ranked) < 2:  # noqa: PLR2004 - nothing to share
        return list(ranked)
    first = {wording(found.memory.content): found for found in reversed(ranked)}
    different = [found for found in ranked if first[wording(found.memory.content)] is found]
    writers = store.writers("memory", [found.memory.id for found in different])
    return fair_entries(
        different,
        MOST_MEMORIES_SHOWN,
        lambda found: limited_writer(found.memory, writers),
        lambda found: is_persons(found.memory),
    )


def memories_for_file(
    store: HookStore,
    index: PromptIndex | None,
    path: str,
    scope: SessionScope,
    settings: HookSettings,
    now: datetime,
    nearest: Nearest | None = None,
) -> list[RetrievedMemory]:
    """Return the memories that speak of a file, of any kind; ``path`` is relative to the project.

    First what names it, then what names its folder or module, then what holds all words of its name, where it is near
    them in meaning, or few memories hold them and its headline has one; what many hold tells none of them apart.
    """
    found = memories_naming_file(store, index, path, scope)
    subject = _subject_of_file(path, scope.namespace)
    if index is None or len(found) >= MOST_MEMORIES_SHOWN:
        return found
    around = dict.fromkeys(index.naming(_places_of_file(path)))
    if len(around) <= MOST_MEMORIES_SHOWN:
        found += _as_retrieved(store, around, scope, stems_of(path.split("/")), {"folder": 1.0})
    if subject:
        by_words = memories_for_prompt(store, index, " ".join(subject), scope, settings, now, nearest)
        is_telling = 0 < index.count_holding(subject, MOST_MEMORIES_SHOWN + 1) <= MOST_MEMORIES_SHOWN
        stems = stems_of(subject)
        for one in by_words:
            is_near = clears_floor(one.why.get("semantic", 0.0), FILE_FLOOR)
            if stems <= _stems_held(one.memory) and (
                is_near or (is_telling and stems & _stems_of_headline(one.memory))
            ):
                found.append(one)
    different = list({one.memory.id: one for one in reversed(found)}.values())[::-1]
    return _shared_fairly(store, _without_older_versions(different))


def _stems_held(memory: MemoryRow) -> AbstractSet[str]:
    return stem_counts(f"{memory.title}\n{memory.content}\n{' '.join(memory.tags)}").keys()


def _stems_of_headline(memory: MemoryRow) -> AbstractSet[str]:
    """Return the stems of the words in a memory's title, or else its first line, and in its tags."""
    return stem_counts(f"{memory.title or memory.content.partition(chr(10))[0]}\n{' '.join(memory.tags)}").keys()


def memories_naming_file(
    store: HookStore, index: PromptIndex | None, path: str, scope: SessionScope
) -> list[RetrievedMemory]:
    """Return the memories that name a file by its path, or by an end of it that identifies it."""
    names = _names_of_file(path)
    ids = dict.fromkeys(store.related_to_file(names))
    if index is not None:
        ids.update(dict.fromkeys(index.naming(names)))
    unshown = _as_retrieved(store, ids, scope, stems_of([path.rpartition("/")[2]]), {"file": 1.0})
    return _shared_fairly(store, _without_older_versions(unshown))


def _as_retrieved(
    store: HookStore, ids: Iterable[str], scope: SessionScope, stems: set[str], why: dict[str, float]
) -> list[RetrievedMemory]:
    """Return those of the memories that the session was not shown, in their order."""
    names = list(ids)
    unshown = _not_yet_shown(store, names, scope) if names else {}
    kept = [unshown[name] for name in names if name in unshown and not is_held_back(unshown[name])]
    return [RetrievedMemory(memory, 1.0, why, frozenset(stems)) for memory in kept]


def _places_of_file(path: str) -> list[str]:
    """Return the names of a file's module and folder, of more than one part each: one word names no place."""
    folders, _, name = path.rpartition("/")
    module = [*folders.split("/"), name.partition(".")[0]] if folders else [name.partition(".")[0]]
    places = [sign.join(module[start:]) for start in range(len(module) - 1) for sign in ("/", ".")]
    parts = folders.split("/")
    return [*places, *("/".join(parts[start:]) for start in range(len(parts) - 1))]


_WORD_OF_A_PATH = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]{2,}")
_WORDS_OF_ANY_PATH = frozenset(
    """
    app apps base bin cmd common core data doc docs helper helpers index init lib main model models pkg src test tests
    text type types util utils view views
    """.split()  # noqa: SIM905 - a paragraph is easier to read than a list of quoted words
)
"""Words in the names of files and folders of any project; they say nothing of what a file is about."""


def _subject_of_file(path: str, namespace: str) -> list[str]:
    """Return the words of a file's name, and of its folder where they are few; none where they name no subject.

    The words of the project's own name, the last of its namespace, tell none of its files apart.
    """
    *folders, name = path.split("/")
    of_project = stems_of(_WORD_OF_A_PATH.findall(namespace.rpartition("/")[2]))
    telling: dict[str, None] = {}
    for part in (name.partition(".")[0], *folders[-1:]):
        words = [word.lower() for word in _WORD_OF_A_PATH.findall(part)]
        words = [word for word in words if word not in _WORDS_OF_ANY_PATH and not is_filler(word)]
        telling.update(dict.fromkeys(word for word in words if not stems_of([word]) <= of_project))
        if len(telling) >= FEWEST_WORDS:
            return list(telling)
    return []


def _names_of_file(path: str) -> list[str]:
    """Return the names by which a memory may mention a file: its path, and the ends of it that still identify it."""
    parts = path.split("/")
    names = ["/".join(parts[start:]) for start in range(len(parts))]
    if len(parts) > 1 and parts[-1].lower() in _COMMON_FILES:
        names.pop()
    return names


def _not_yet_shown(store: HookStore, ids: Iterable[str], scope: SessionScope) -> dict[str, MemoryRow]:
    """Return the memories that concern the session, but for those that it was shown in this version or wrote itself."""
    shown = store.already_shown(scope.session)
    rows = store.memories(ids)
    superseded = store.superseded(rows) if rows else set()
    return {
        name: row
        for name, row in rows.items()
        if name not in superseded
        and shown.get(name, 0) < row.version
        and scope.concerns(row.namespace)
        and not (scope.session and row.source.session == scope.session)
    }
