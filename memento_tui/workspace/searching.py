"""Searching a workspace: both indexes asked, their answers fused, weighted by life, and turned into hits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from memento_tui.config import Config
from memento_tui.errors import InvalidInput
from memento_tui.paths import DataPaths
from memento_tui.records import Memory
from memento_tui.search.fusion import Relevance, fuse
from memento_tui.search.language import Query, parse
from memento_tui.search.life import Life, in_order, life_of
from memento_tui.search.variety import varied
from memento_tui.store.filters import AllOf, Between, Filter, NotThat, OneOf
from memento_tui.store.reads import mentions, visible
from memento_tui.store.store import Store

if TYPE_CHECKING:
    from memento_tui.search.keyword import KeywordIndex
    from memento_tui.search.passage import Snippet
    from memento_tui.search.semantic import SemanticClient

__all__ = ["Hit", "SearchAnswer", "Searching", "recallable"]

Mode = Literal["keyword", "semantic", "hybrid"]
SemanticState = Literal["ready", "warming", "off"]

_CANDIDATES = 200
"""How many each view proposes at least; the fused order of the first tens does not change beyond this."""

_WAIT_SECONDS = 3600.0


class Hit(msgspec.Struct, frozen=True, dict=True):
    """One result: a memory with its score, from 0 to about 1."""

    memory: Memory
    score: float
    relevance: Relevance
    life: Life
    query: Query

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id

    @cached_property
    def passage(self) -> Snippet:
        """The passage that answers, with the places of the query's words in it."""
        from memento_tui.search.snippet import make_snippet  # noqa: PLC0415 - it needs the analyzers of the index

        return make_snippet(self.query, self.memory.content)

    @property
    def snippet(self) -> str:
        """The passage's text."""
        return self.passage.text

    @property
    def marks(self) -> tuple[tuple[int, int], ...]:
        """The start and end of each word of the query in the snippet."""
        return self.passage.marks

    def explain(self) -> dict[str, Any]:
        """Return every number that made the score."""
        found, life = self.relevance, self.life
        return {
            "keyword": found.keyword,
            "keyword_rank": found.keyword_rank,
            "semantic": found.semantic,
            "semantic_rank": found.semantic_rank,
            "relevance": found.score,
            "life": life.factor,
            "weight": life.weight,
            "age": life.age,
            "use": life.use,
            "certainty": life.certainty,
            "stability": life.stability,
            "superseded": life.superseded,
            "held": life.held,
            "score": self.score,
        }


class SearchAnswer(msgspec.Struct, frozen=True):
    """The results, best first, and how they came about."""

    results: list[Hit]
    total: int
    """How many memories the keyword index found in all where they were counted; at least the number of results."""
    semantic: SemanticState
    """``ready``: meaning counted; ``warming``: the engine was not ready; ``off``: it was not asked, or is disabled."""
    problems: tuple[str, ...] = ()
    """A sentence for each part of the query that could not be used."""
    notice: str = ""
    """A sentence for the person, such as that a damaged index was rebuilt."""


_INCOMPLETE = "Results by meaning are incomplete: the semantic index is still being built or rebuilt."


class _View(NamedTuple):
    """What the semantic half said; ``hits`` is ``None`` where it could not be asked."""

    state: SemanticState
    hits: list[tuple[str, float]] | None
    problem: str


_NOT_ASKED = _View("off", None, "")


def recallable(tree: Filter, now: datetime) -> Filter:
    """Return the filter without what a search leaves out unless it is asked for by name.

    That is what is not active (pending, archived, rejected, deleted), what has expired, and what is restricted.
    """
    parts = [visible(tree)]
    if not mentions(tree, "expires_at"):
        parts.append(NotThat(Between("expires_at", None, now)))
    if not mentions(tree, "sensitivity") and not mentions(tree, "id"):
        parts.append(NotThat(OneOf("sensitivity", ("restricted",))))
    return AllOf(tuple(parts))


class Searching:
    """The indexes of one workspace."""

    def __init__(self, store: Store, paths: DataPaths, config: Config) -> None:
        self._store = store
        self._paths = paths
        self._config = config
        self._guard = threading.Lock()

    @cached_property
    def keyword(self) -> KeywordIndex:
        """The keyword index."""
        from memento_tui.search.keyword import KeywordIndex  # noqa: PLC0415 - the first frame does without it

        return KeywordIndex(self._paths.keyword_index, self._paths.keyword_lock, self._store)

    @cached_property
    def semantic(self) -> SemanticClient:
        """The connection to the engine."""
        from memento_tui.search.semantic import SemanticClient  # noqa: PLC0415 - browsing never needs it

        return SemanticClient(self._paths, enabled=self._config.engine.enabled)

    def close(self) -> None:
        """Close the connection to the engine."""
        if "semantic" in self.__dict__:
            self.semantic.close()

    def wait(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Wait until both indexes reflect everything written before.

        ``progress`` is called with how many memories are embedded, and of how many.

        Raises:
            EngineUnavailable: the engine cannot be had.

        """
        head = self._store.head()
        self.keyword.catch_up()
        if self._config.engine.enabled:
            self.semantic.wait(head, timeout=_WAIT_SECONDS, progress=progress)

    def search(
        self, source: str, *, mode: Mode, limit: int, now: datetime, wait: bool = False, typing: bool = False
    ) -> SearchAnswer:
        """Return the best memories for a query; see `memento_tui.workspace.Workspace.search`.

        ``typing`` lets the last word be the beginning of one; by keyword alone it answers between two keystrokes, with
        no more candidates than results and without a count.

        Raises:
            InvalidInput: ``limit`` is less than 1.
            EngineUnavailable: ``wait`` was asked for and the engine cannot be had.

        """
        if limit < 1:
            raise InvalidInput(f"A search returns at least one memory; not {limit}.", "Give a limit of 1 or more.")
        if wait:
            self.wait()
        query = parse(source, now=now, typing=typing)
        tree = recallable(query.filter, now)
        if query.problems and not query.words and query.filter == AllOf():
            # What was asked could not be read at all; everything would be no answer to it.
            return SearchAnswer([], 0, "off", query.problems)
        if not query.words:
            return self._listing(query, tree, limit, now)
        hurried = typing and mode == "keyword"
        candidates = limit if hurried else max(_CANDIDATES, 3 * limit)
        keyword: list[tuple[str, float]] = []
        total, ceiling = 0, 0.0
        if mode != "semantic":
            answer = self.keyword.search(query, tree, candidates, count=not hurried)
            keyword, total, ceiling = answer.hits, answer.total, answer.ceiling
        view = _NOT_ASKED if mode == "keyword" else self._semantic(query, tree, candidates)
        found = fuse(keyword, ceiling, view.hits)
        hits = self._ranked(query, tree, found, limit, now)
        notice = self.keyword.notice or view.problem
        return SearchAnswer(hits, max(total, len(found)), view.state, query.problems, notice)

    def _semantic(self, query: Query, tree: Filter, candidates: int) -> _View:
        head = self._store.head()
        answer = self.semantic.search(query.text, tree, candidates)
        if answer.state != "ready":
            return _View(answer.state, None, answer.problem)
        whole = answer.seq >= head and self._paths.semantic_index.exists()
        problem = answer.problem or ("" if whole else _INCOMPLETE)
        if query.phrases or query.unwanted:
            self.keyword.catch_up()
            allowed = self.keyword.matching(query, tree, [name for name, _ in answer.hits])
            return _View("ready", [hit for hit in answer.hits if hit[0] in allowed], problem)
        return _View("ready", answer.hits, problem)

    def _ranked(self, query: Query, tree: Filter, found: dict[str, Relevance], limit: int, now: datetime) -> list[Hit]:
        # The database has the last word: an index may lag behind a deletion or an expiry.
        memories = self._store.memories(list(found), tree)
        successors = self._store.successors(list(memories))
        preset = self._config.upkeep.decay
        lives = {
            name: life_of(memory, now, preset=preset, superseded=name in successors)
            for name, memory in memories.items()
        }
        scores = {name: found[name].score * life.factor for name, life in lives.items()}
        hits = []
        kinds = {name: memory.kind for name, memory in memories.items()}
        for name, score in varied(in_order(scores, successors), kinds, limit):
            life = lives[name] if score == scores[name] else lives[name].lowered(score / scores[name])
            hits.append(self._hit(query, memories[name], score, found[name], life))
        return hits

    @staticmethod
    def _hit(query: Query, memory: Memory, score: float, relevance: Relevance, life: Life) -> Hit:
        return Hit(memory, score, relevance, life, query)

    def _listing(self, query: Query, tree: Filter, limit: int, now: datetime) -> SearchAnswer:
        """Answer a query that has filters only: what it selects, most recently changed first."""
        page = self._store.page(tree, limit=limit)
        memories: Sequence[Memory] = page.items
        relevance = Relevance(1.0, None, None, None, None)
        lives = [life_of(memory, now, preset=self._config.upkeep.decay) for memory in memories]
        hits = [self._hit(query, m, life.factor, relevance, life) for m, life in zip(memories, lives, strict=True)]
        return SearchAnswer(hits, self._store.count(tree), "off", query.problems)
