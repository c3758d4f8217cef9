"""Search a workspace: ask both indexes, fuse and rank their answers; and keep searches under a name."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from memento_tui.api.result_choice import choose_results, without_summarized_sources
from memento_tui.config import Config
from memento_tui.errors import InvalidField, InvalidInput, NotAllowed, NotFound
from memento_tui.locked_property import locked_property
from memento_tui.model import Memory
from memento_tui.model.filters import AllOf, Between, Filter, Not, OneOf, filters_on, valid_at, with_default_statuses
from memento_tui.paths import DataPaths
from memento_tui.private_files import PRIVATE_FILE_MODE
from memento_tui.search.decay import DecayFactor, decay_factor
from memento_tui.search.query_language import QUERY_HINT, Query, parse
from memento_tui.search.ranking import FUSED_CANDIDATES
from memento_tui.search.scoring import Match, fuse
from memento_tui.storage.journal import Author
from memento_tui.storage.memory_queries import WeighedMemory
from memento_tui.storage.store import Store

__all__ = ["SavedSearch", "SavedSearches", "SearchAnswer", "SearchEngine", "SearchHit", "recallable_filter"]

if TYPE_CHECKING:
    from memento_tui.search.engine_client import SemanticClient, SemanticState
    from memento_tui.search.keyword_index import KeywordIndex
    from memento_tui.search.prompt_index import WeightedPart
    from memento_tui.text.keywords import PromptParts
    from memento_tui.text.passages import Snippet


SearchMode = Literal["keyword", "semantic", "hybrid"]

_MAX_WAIT_SECONDS = 3600.0

_ENGINE_LOCK_SECONDS = 10.0
"""How long an engine that ends is waited for before its files are written."""

_log = logging.getLogger(__name__)


class SearchHit(msgspec.Struct, frozen=True, dict=True):
    """One result: a memory, the score that it was ranked by, from 0 to about 1, and the numbers that made it."""

    memory: Memory
    score: float
    match: Match
    life: DecayFactor
    query: Query

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id

    @property
    def relevance(self) -> float:
        """How well the memory answers, 0 to 1: the number to show, and to compare with thresholds.

        Unlike ``score`` it is not what results are ordered by; `memento_tui.search.scoring.calibrated_relevance` says
        what it means.
        """
        return self.match.relevance

    @cached_property
    def passage(self) -> Snippet:
        """The passage that answers, with the places of the query's words in it."""
        from memento_tui.search.snippets import make_snippet  # noqa: PLC0415 - it needs the analyzers of the index

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
        found, life = self.match, self.life
        return {
            "keyword": found.keyword,
            "keyword_rank": found.keyword_rank,
            "semantic": found.semantic,
            "semantic_rank": found.semantic_rank,
            "coverage": None if found.words is None else found.words.coverage,
            "heading": None if found.words is None else found.words.heading,
            "nearby": None if found.words is None else found.words.nearby,
            "relevance": found.relevance,
            "match": found.score,
            "life": life.factor,
            "weight": life.weight,
            "age": life.age,
            "use": life.use,
            "certainty": life.certainty,
            "stability": life.stability,
            "confidence": life.confidence,
            "superseded": life.superseded,
            "held": life.held,
            "score": self.score,
        }


class SearchAnswer(msgspec.Struct, frozen=True):
    """The results, best first, and how they came about."""

    results: list[SearchHit]
    total: int
    """How many memories the keyword index found in all where they were counted; at least the number of results."""
    semantic: SemanticState
    """``ready``: meaning counted; ``warming``: the engine was not ready; ``off``: it was not used, or is disabled."""
    problems: tuple[str, ...] = ()
    """A sentence for each part of the query that could not be used."""
    notice: str = ""
    """A sentence for the person, such as that a damaged index was rebuilt."""


_INDEX_INCOMPLETE = "Results by meaning are incomplete: the semantic index is still being built or rebuilt."


class _SemanticAnswer(NamedTuple):
    """The results of the semantic half; ``hits`` is ``None`` where the engine could not be reached."""

    state: SemanticState
    hits: list[tuple[str, float]] | None
    problem: str


_SEMANTIC_NOT_ASKED = _SemanticAnswer("off", None, "")


def recallable_filter(tree: Filter, now: datetime) -> Filter:
    """Return the filter, restricted to memories that may be recalled, unless it names others itself.

    It leaves out memories that are not active (pending, archived, rejected, deleted), have expired, hold no longer or
    not yet, or are restricted.
    """
    parts = [with_default_statuses(tree)]
    if not filters_on(tree, "expires_at"):
        parts.append(Not(Between("expires_at", None, now)))
    if not filters_on(tree, "valid_from") and not filters_on(tree, "valid_to"):
        parts.append(valid_at(now))
    if not filters_on(tree, "sensitivity") and not filters_on(tree, "id"):
        parts.append(Not(OneOf("sensitivity", ("restricted",))))
    return AllOf(tuple(parts))


class _StoredCandidates:
    """The candidates of a search as the database has them."""

    def __init__(self, store: Store, tree: Filter) -> None:
        self._store = store
        self._tree = tree

    def weighed(self, ids: Sequence[str]) -> Mapping[str, WeighedMemory]:
        return self._store.memories.weighed(ids, self._tree)

    def successors(self, ids: Sequence[str]) -> Mapping[str, Collection[str]]:
        return self._store.memories.successors(ids)

    def writers(self, ids: Sequence[str]) -> Mapping[str, str]:
        return self._store.writes.writers("memory", ids)


class SearchEngine:
    """The indexes of one workspace."""

    def __init__(
        self, store: Store, paths: DataPaths, config: Config, *, shares: bool = False, read_only: bool = False
    ) -> None:
        """``shares``: results are for an agent, so no session of one may have written most of them.

        With ``read_only`` a copy of the keyword index is searched, and no engine is started.
        """
        self._store = store
        self._paths = paths
        self._config = config
        self._shares = shares
        self._read_only = read_only

    @locked_property
    def keyword(self) -> KeywordIndex:
        """The keyword index."""
        from memento_tui.search.keyword_index import KeywordIndex  # noqa: PLC0415 - the first frame does without it

        if self._read_only:
            from memento_tui.search.keyword_files import copy_index  # noqa: PLC0415 - seldom needed

            paths = DataPaths(copy_index(self, self._paths))
            return KeywordIndex(paths.keyword_index, paths.keyword_lock, self._store)
        return KeywordIndex(self._paths.keyword_index, self._paths.keyword_lock, self._store)

    @locked_property
    def semantic(self) -> SemanticClient:
        """The connection to the engine."""
        from memento_tui.search.engine_client import SemanticClient  # noqa: PLC0415 - browsing never needs it

        return SemanticClient(self._paths, enabled=self._config.engine.enabled, may_start=not self._read_only)

    def weighted(self, parts: PromptParts) -> list[WeightedPart]:
        """Return the words of a prompt with what each counts among all memories; see `KeywordIndex.weighted`."""
        return self.keyword.weighted(parts)

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
        head = self._store.journal.head()
        self.keyword.catch_up()
        if self._config.engine.enabled:
            self.semantic.wait(head, timeout=_MAX_WAIT_SECONDS, progress=progress)

    def purge_vectors(self, ids: Sequence[str]) -> None:
        """Take the vectors of purged memories out of the files: by the engine where one runs, else here.

        Where neither can, the whole index is deleted, to be built anew.
        """
        if self.semantic.purge(ids):
            return
        self.semantic.stop()  # one that is loading, or of another version
        from filelock import FileLock  # noqa: PLC0415 - as below

        try:
            from memento_tui.embedding.vector_index import remove_vectors  # noqa: PLC0415 - it takes a second to import

            with FileLock(self._paths.engine_lock, timeout=_ENGINE_LOCK_SECONDS, mode=PRIVATE_FILE_MODE):
                for directory in self._paths.semantic_indexes():
                    remove_vectors(directory, ids)
        except Exception:  # noqa: BLE001 - LanceDB raises any type; the index is disposable and the text must be gone
            _log.info("the semantic index is deleted, because vectors could not be taken out of it", exc_info=True)
            for directory in self._paths.semantic_indexes():
                shutil.rmtree(directory, ignore_errors=True)

    def search(
        self,
        source: str,
        *,
        mode: SearchMode,
        limit: int,
        now: datetime,
        among: Filter | None = None,
        wait: bool = False,
        typing: bool = False,
    ) -> SearchAnswer:
        """Return the best memories for a query; see `memento_tui.api.Workspace.search`.

        ``typing`` lets the last word be the beginning of one; by keyword alone it answers between two keystrokes, with
        no more candidates than results and without a count.

        Raises:
            InvalidInput: ``limit`` is less than 1, or the query has a part that cannot be used.
            EngineUnavailable: ``wait`` was asked for and the engine cannot be had.

        """
        if limit < 1:
            raise InvalidInput(f"A search returns at least one memory; not {limit}.", "Give a limit of 1 or more.")
        if wait:
            self.wait()
        query = parse(source, now=now, typing=typing)
        tree = recallable_filter(query.filter if among is None else AllOf((query.filter, among)), now)
        if query.error and not typing:
            raise InvalidInput(query.error, QUERY_HINT)
        if query.error or (query.problems and not query.words and query.filter == AllOf()):
            # What was asked could not be read; everything would be no answer to it.
            return SearchAnswer([], 0, "off", query.problems)
        if not query.words:
            return self._listing(query, tree, limit, now)
        hurried = typing and mode == "keyword"
        candidates = limit if hurried else max(FUSED_CANDIDATES, 3 * limit)
        # What every search leaves out is little of most stores; what someone asked for may be.
        most_meet = query.filter == AllOf() and among is None
        view = (
            _SEMANTIC_NOT_ASKED if mode == "keyword" else self._semantic(query, tree, candidates, most_meet=most_meet)
        )
        if mode == "semantic":
            found, total = fuse(None, 0.0, view.hits), 0
        else:
            nearest = [name for name, _ in view.hits or ()]
            answer = self.keyword.search(query, tree, candidates, count=not hurried, beside=nearest)
            found, total = fuse(answer.evidence, answer.ceiling, view.hits), answer.total
        hits = self._ranked(query, tree, found, limit, now)
        notice = self.keyword.notice or view.problem
        return SearchAnswer(hits, max(total, len(found)), view.state, query.problems, notice)

    def _semantic(self, query: Query, tree: Filter, candidates: int, *, most_meet: bool) -> _SemanticAnswer:
        head = self._store.journal.head()
        answer = self.semantic.search(query.text, tree, candidates, most_meet=most_meet)
        if answer.state != "ready":
            return _SemanticAnswer(answer.state, None, answer.problem)
        whole = answer.seq >= head and self._paths.semantic_index.exists()
        problem = answer.problem or ("" if whole else _INDEX_INCOMPLETE)
        if query.phrases or query.excluded:
            self.keyword.catch_up()
            allowed = self.keyword.matching(query, tree, [name for name, _ in answer.hits])
            return _SemanticAnswer("ready", [hit for hit in answer.hits if hit[0] in allowed], problem)
        return _SemanticAnswer("ready", answer.hits, problem)

    def _ranked(
        self, query: Query, tree: Filter, found: dict[str, Match], limit: int, now: datetime
    ) -> list[SearchHit]:
        preset = self._config.maintenance.decay

        def life(memory: WeighedMemory, superseded: bool) -> DecayFactor:  # noqa: FBT001 - as `choose_results` calls it
            return decay_factor(memory, now, preset=preset, superseded=superseded)

        # The database has the last word: an index may lag behind a deletion or an expiry.
        with self._store.memories.one_state():
            chosen = choose_results(
                {name: match.score for name, match in found.items()},
                _StoredCandidates(self._store, tree),
                life,
                limit,
                with_sources=bool(filters_on(query.filter, "status")),
                shares=self._shares,
            )
            memories = self._store.memories.get_many([one.id for one in chosen])
        return [SearchHit(memories[one.id], one.score, found[one.id], one.life, query) for one in chosen]

    def _listing(self, query: Query, tree: Filter, limit: int, now: datetime) -> SearchAnswer:
        """Answer a query that has filters only: the memories that it selects, most recently changed first."""
        memories = self._listed(query, tree, limit)
        match = Match(1.0, None, None, None, None, 1.0)
        lives = [decay_factor(memory, now, preset=self._config.maintenance.decay) for memory in memories]
        hits = [SearchHit(m, life.factor, match, life, query) for m, life in zip(memories, lives, strict=True)]
        return SearchAnswer(hits, self._store.memories.count(tree), "off", query.problems)

    def _listed(self, query: Query, tree: Filter, limit: int) -> list[Memory]:
        """Return the first memories that a filter selects, without consolidated ones whose summary it selects too."""
        if filters_on(query.filter, "status"):
            return list(self._store.memories.page(tree, limit=limit).items)
        listed: list[Memory] = []
        after: str | None = None
        while len(listed) < limit:
            page = self._store.memories.page(tree, after=after, limit=limit)
            found = {memory.id: memory for memory in page.items}
            successors = self._store.memories.successors([m.id for m in page.items if m.status == "consolidated"])
            told = self._store.memories.get_many([name for names in successors.values() for name in names], tree)
            left = without_summarized_sources({**told, **found}, successors)
            listed += [memory for name, memory in found.items() if name in left]
            after = page.next
            if after is None:
                break
        return listed[:limit]


_SAVED_SEARCHES_SETTING = "saved_searches"
_MAX_NAME_CHARACTERS, _MAX_QUERY_CHARACTERS = 40, 1_000
"""Characters."""
_MAX_SAVED_SEARCHES = 100


class SavedSearch(msgspec.Struct, frozen=True):
    """A query and the name it goes by."""

    name: str
    query: str

    @property
    def id(self) -> str:
        """The form in which names are compared: their case does not matter."""
        return self.name.casefold()


_decode_saved_searches = msgspec.json.Decoder(list[SavedSearch]).decode


class SavedSearches:
    """The saved searches of one data directory, by name. They are settings, which the journal does not record."""

    def __init__(self, store: Store, author: Author) -> None:
        self._store = store
        self._author = author

    def list(self) -> Sequence[SavedSearch]:
        """Return all of them, by name."""
        return sorted(
            _parse_saved_searches(self._store.settings.get(_SAVED_SEARCHES_SETTING)), key=lambda saved: saved.id
        )

    def get(self, name: str) -> SavedSearch:
        """Return one by its name, in whatever case. Raises `NotFound`."""
        return _find_saved_search(_parse_saved_searches(self._store.settings.get(_SAVED_SEARCHES_SETTING)), name)

    def save(self, name: str, query: str, *, replace: bool = False) -> SavedSearch:
        """Keep a query under a name.

        Raises:
            InvalidInput: the query has a part that cannot be used, or there are too many saved searches already.
            InvalidField: the name is empty, too long, or holds characters that cannot be seen.
            NotAllowed: the name is taken and ``replace`` is not set, or an agent asks.

        """
        made = SavedSearch(_check_name(name), _check_query(query))

        def add(present: Sequence[SavedSearch]) -> Sequence[SavedSearch]:
            others = [saved for saved in present if saved.id != made.id]
            if len(others) < len(present) and not replace:
                raise _name_taken_error(made.name)
            if len(others) >= _MAX_SAVED_SEARCHES:
                raise InvalidInput(
                    f"There are {_MAX_SAVED_SEARCHES} saved searches already.", "Remove one that you do not need."
                )
            return [*others, made]

        self._change(add)
        return made

    def rename(self, name: str, new_name: str) -> SavedSearch:
        """Give a saved search another name. Raises like `save`, and `NotFound`."""
        checked = _check_name(new_name)
        renamed: list[SavedSearch] = []

        def change(present: Sequence[SavedSearch]) -> Sequence[SavedSearch]:
            old = _find_saved_search(present, name)
            made = SavedSearch(checked, old.query)
            others = [saved for saved in present if saved.id != old.id]
            if any(saved.id == made.id for saved in others):
                raise _name_taken_error(checked)
            renamed.append(made)
            return [*others, made]

        self._change(change)
        return renamed[-1]

    def remove(self, name: str) -> SavedSearch:
        """Delete a saved search and return it. Raises `NotFound` or `NotAllowed`."""
        removed: list[SavedSearch] = []

        def change(present: Sequence[SavedSearch]) -> Sequence[SavedSearch]:
            removed.append(_find_saved_search(present, name))
            return [saved for saved in present if saved.id != removed[-1].id]

        self._change(change)
        return removed[-1]

    def _change(self, change: Callable[[Sequence[SavedSearch]], Sequence[SavedSearch]]) -> None:
        if self._author.actor != "person":
            raise NotAllowed("Only a person keeps searches.", "Search for what you need instead.")
        self._store.settings.change(
            _SAVED_SEARCHES_SETTING,
            lambda present: msgspec.json.encode(list(change(_parse_saved_searches(present)))).decode(),
        )


def _parse_saved_searches(setting: str | None) -> list[SavedSearch]:
    return [] if setting is None else _decode_saved_searches(setting)


def _find_saved_search(present: Sequence[SavedSearch], name: str) -> SavedSearch:
    wanted = " ".join(name.split()).casefold()
    found = next((saved for saved in present if saved.id == wanted), None)
    if found is None:
        raise NotFound(f"There is no saved search {name!r:.60}.", "`memento searches` lists them.")
    return found


def _name_taken_error(name: str) -> NotAllowed:
    return NotAllowed(f"There is a saved search {name!r} already.", "Choose another name, or remove that one first.")


def _check_name(name: str) -> str:
    given = " ".join(name.split())
    if not given:
        raise InvalidField("name", "is empty", "Give the search a name of a few words.")
    if len(given) > _MAX_NAME_CHARACTERS:
        raise InvalidField("name", f"has {len(given)} characters; the limit is {_MAX_NAME_CHARACTERS}")
    if not given.isprintable():
        raise InvalidField("name", "holds characters that cannot be seen", "Type it anew.")
    return given


def _check_query(query: str) -> str:
    given = query.strip()
    if not given:
        raise InvalidInput("There is no search to save.", "Search for something first.")
    if len(given) > _MAX_QUERY_CHARACTERS:
        raise InvalidInput(f"The query has {len(given):,} characters; the limit is {_MAX_QUERY_CHARACTERS:,}.")
    if problems := parse(given).problems:
        raise InvalidInput(f"The search was not saved. {problems[0]}", "Mend the query, then save it.")
    return given
