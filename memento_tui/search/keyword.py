"""The keyword index: Tantivy, derived from the store, brought up to date by whoever searches."""

from __future__ import annotations

import contextlib
import logging
import shutil
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

import tantivy
from filelock import FileLock, Timeout

from memento_tui.errors import DataDirectoryError
from memento_tui.records import Memory
from memento_tui.search.keyword_layout import (
    SCHEMA_VERSION,
    STATE_ID,
    IndexState,
    make_schema,
    read_state,
    register_analyzers,
)
from memento_tui.search.keyword_schema import Compiler, document
from memento_tui.search.language import Query
from memento_tui.store.filters import Filter
from memento_tui.store.store import Store

__all__ = ["KeywordHits", "KeywordIndex"]

_log = logging.getLogger(__name__)

_SMALL_HEAP, _LARGE_HEAP = 20_000_000, 150_000_000
_MANY = 2000
_MOST_LAGGING = 64
"""Memories that are compared one by one because the index does not hold them yet."""

_MOST_SEGMENTS = 24
_LOCK_SECONDS = 30.0
_MADE = "keyword index made"
"""The store's own note that there was an index once, so that one that is missing is told from one not made yet."""

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class KeywordHits:
    """The ids that a query found, each with its BM25 score, best first; and how many there are in all."""

    hits: list[tuple[str, float]]
    total: int
    ceiling: float
    """What a perfect match would have scored."""


class Nearby(NamedTuple):
    """The ids of memories that share words with a text, most alike first, and of those not indexed yet."""

    found: list[str]
    lagging: list[str]


def _is_damage(error: BaseException) -> bool:
    """Tell whether Tantivy failed over what a file holds, rather than over the system that keeps the file.

    A panic of its Rust code arrives as a `BaseException` of a class that cannot be imported.
    """
    if type(error).__name__ == "PanicException":
        return True
    return isinstance(error, ValueError) and "os error" not in str(error)


class KeywordIndex:
    """One data directory's keyword index, open for searching. Safe to use from several threads."""

    def __init__(self, directory: Path, lock: Path, store: Store) -> None:
        self._directory = directory
        self._lock_path = lock
        self._store = store
        self._schema = make_schema()
        self._guard = threading.RLock()
        self._index: tantivy.Index | None = None
        self._reflects = -1
        self._mark = ""
        self.notice = ""
        """A sentence for the person when the index had to be rebuilt."""

    @property
    def reflects(self) -> int:
        """The journal entry that the index reflects; -1 before it is first used."""
        return self._reflects

    def search(self, query: Query, tree: Filter, limit: int, *, count: bool = True) -> KeywordHits:
        """Return what a query finds, after catching up with every write acknowledged before this call.

        Without ``count`` the total is that of the hits returned: counting has to visit everything that matches.
        """

        def ask(searcher: tantivy.Searcher) -> KeywordHits:
            compiler = Compiler(self._schema, searcher)
            # Tantivy sets room aside for as many hits as are asked for.
            most = max(1, min(limit, searcher.num_docs))
            result = searcher.search(compiler.compile(query, tree), limit=most, count=count)
            hits = [(str(searcher.doc(address)["id"][0]), float(score)) for score, address in result.hits]
            total: int = result.count if count else len(hits)  # type: ignore[attr-defined] # the stub lacks it
            return KeywordHits(hits, total, compiler.ceiling(query))

        return self._answer(ask)

    def matching(self, query: Query, tree: Filter, ids: Iterable[str]) -> set[str]:
        """Return those of the ids that satisfy a query's filter, phrases and unwanted words."""
        asked = list(ids)
        if not asked:
            return set()
        strict = Query(query.source, query.phrases, query.unwanted, query.filter)
        among = tantivy.Query.term_set_query(self._schema, "id", asked)

        def ask(searcher: tantivy.Searcher) -> set[str]:
            compiler = Compiler(self._schema, searcher)
            wanted = [(tantivy.Occur.Must, compiler.compile(strict, tree)), (tantivy.Occur.Must, among)]
            found = searcher.search(tantivy.Query.boolean_query(wanted), limit=len(asked), count=False)
            return {str(searcher.doc(address)["id"][0]) for _, address in found.hits}

        return self._answer(ask)

    def alike(self, text: str, limit: int) -> Nearby | None:
        """Return memories that share many of a text's rarer words, without bringing the index up to date.

        A write must not wait for an index. What changed since the last commit is named instead, for the caller to
        compare; ``None`` where that is too much, or there is no index yet.
        """
        try:
            with self._guard:
                if not (self._directory / "meta.json").exists():
                    return None  # opening it would make one, which is for whoever holds the lock
                self._refresh(holding=False)
                if self._reflects < 0:
                    return None
                lagging, _ = self._store.changed_memories(self._reflects, _MOST_LAGGING + 1)
                if len(lagging) > _MOST_LAGGING:
                    return None
                searcher = self._open().searcher()
            found = searcher.search(Compiler(self._schema, searcher).alike(text), limit=limit, count=False)
            return Nearby([str(searcher.doc(address)["id"][0]) for _, address in found.hits], lagging)
        except BaseException as error:
            # An index that is damaged, or being replaced, is mended by the next search; a write goes on without it.
            if not (_is_damage(error) or isinstance(error, (OSError, ValueError))):
                raise
            _log.info("the keyword index was not asked for what is alike: %s", error)
            return None

    def _answer(self, ask: Callable[[tantivy.Searcher], Answer]) -> Answer:
        """Return an answer of the index as it is now; where damage shows only when it is read, it is mended first."""
        self.catch_up()
        try:
            return ask(self._searcher())
        except BaseException as error:
            if not _is_damage(error):
                raise
            self._note_damage(error)
        self.rebuild()
        return ask(self._searcher())

    def _searcher(self) -> tantivy.Searcher:
        with self._guard:
            return self._open().searcher()

    def catch_up(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Bring the index to the store's present state. Waits for another process that is doing so.

        Raises:
            DataDirectoryError: the index directory cannot be written.

        """
        head = self._store.head()
        with self._guard:
            # The same number is another entry where a backup was restored meanwhile.
            if self._index is not None and self._reflects == head and self._mark == self._store.mark(head):
                return
            try:
                self._refresh(holding=False)
                if self._reflects >= head:
                    return
                with self._lock():
                    self._refresh(holding=True)
                    self._write_or_rebuild(progress)
            except Timeout:
                # Another process is still indexing a long import: what it committed so far is searched.
                _log.warning("the keyword index is %d entries behind", head - self._reflects)
                self._open()
            except (OSError, ValueError) as error:
                if self._reflects < 0:
                    raise self._unwritable(error) from error
                # On a read-only medium what was indexed before can still be searched.
                self.notice = f"The keyword index is {head - self._reflects} changes behind: it cannot be written."

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Throw the index away and make it anew; return how many memories it holds.

        Raises:
            DataDirectoryError: the index directory cannot be written, or another process is writing there for long.

        """
        with self._guard:
            try:
                with self._lock():
                    self._discard()
                    self._write_changes(progress)
                    return int(self._open().searcher().num_docs) - 1
            except (OSError, ValueError) as error:
                raise self._unwritable(error) from error

    def _lock(self) -> FileLock:
        self._lock_path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(self._lock_path, timeout=_LOCK_SECONDS)

    def _unwritable(self, error: OSError | ValueError) -> DataDirectoryError:
        return DataDirectoryError(
            f"The keyword index in {self._directory} cannot be written: {getattr(error, 'strerror', None) or error}.",
            "Make the data directory writable.",
        )

    def add_new(self, memories: Iterable[Memory], writer: tantivy.IndexWriter) -> None:
        """Add memories that the index does not hold yet."""
        for memory in memories:
            writer.add_document(document(memory))

    def _open(self) -> tantivy.Index:
        if self._index is None:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, str(self._directory), reuse=True)
            self._index.config_reader("manual")
            register_analyzers(self._index)
            self._index.reload()
        return self._index

    def _refresh(self, *, holding: bool) -> None:
        """See what was committed last. Only who holds the lock removes an index that is damaged or another store's."""
        state = None
        self._reflects = -1
        if not self._directory.is_dir():
            self._index = None
        else:
            try:
                self._open().reload()
                state = read_state(self._open().searcher(), self._schema)
            except BaseException as error:
                if not _is_damage(error):
                    raise
                self._index = None
                if holding:
                    self._note_damage(error)
                    self._discard()
                return
        if state is not None and self._is_of_this_past(state):
            self._reflects, self._mark = state.seq, state.mark
        elif holding:
            if state is None and self._store.setting(_MADE) is not None:
                self.notice = "The keyword index was missing and has been rebuilt."
            self._discard()

    def _is_of_this_past(self, state: IndexState) -> bool:
        ours = (self._store.identity(), SCHEMA_VERSION, self._store.mark(state.seq))
        return (state.identity, state.version, state.mark) == ours

    def _note_damage(self, error: BaseException) -> None:
        _log.info("the keyword index cannot be read: %s", error)
        self.notice = "The keyword index was damaged and has been rebuilt."

    def _discard(self) -> None:
        self._index, self._reflects = None, -1
        if self._directory.is_dir():
            shutil.rmtree(self._directory, ignore_errors=True)
        else:
            self._directory.unlink(missing_ok=True)

    def _write_or_rebuild(self, progress: Callable[[int, int], None] | None) -> None:
        try:
            self._write_changes(progress)
        except BaseException as error:
            if not _is_damage(error):
                raise
            self._note_damage(error)
            self._discard()
            self._write_changes(progress)

    def _write_changes(self, progress: Callable[[int, int], None] | None) -> None:
        """Index what the journal says has changed, in one commit that records how far it got."""
        index = self._open()
        if self._reflects < 0:
            self._write_all(index, progress)
            return
        while True:
            ids, reached = self._store.changed_memories(self._reflects, _MANY * 10)
            if reached == self._reflects:
                return
            self._write_some(index, ids, reached)

    def _write_some(self, index: tantivy.Index, ids: Sequence[str], reached: int) -> None:
        """Index some memories as they are now, up to a journal entry.

        The writer goes with this call: it locks the directory for as long as it lives, against the next one, too.
        """
        many = len(ids) > _MANY
        writer = index.writer(_LARGE_HEAP if many else _SMALL_HEAP, 2 if many else 1)
        found = self._store.memories(ids)
        for memory_id in ids:
            writer.delete_documents_by_term("id", memory_id)
        self.add_new(found.values(), writer)
        self._commit(index, writer, reached)

    def _write_all(self, index: tantivy.Index, progress: Callable[[int, int], None] | None) -> None:
        head, total, done = self._store.head(), self._store.count_all(), 0
        many = total > _MANY
        writer = index.writer(_LARGE_HEAP if many else _SMALL_HEAP, 2 if many else 1)
        writer.delete_all_documents()
        for batch in self._store.all_memories():
            self.add_new(batch, writer)
            done += len(batch)
            if progress is not None:
                progress(done, total)
        self._commit(index, writer, head)
        if self._store.setting(_MADE) is None:
            # A database on a read-only medium can still be searched.
            with contextlib.suppress(DataDirectoryError):
                self._store.keep_setting(_MADE, "yes")

    def _commit(self, index: tantivy.Index, writer: tantivy.IndexWriter, seq: int) -> None:
        writer.delete_documents_by_term("id", STATE_ID)
        mark = self._store.mark(seq)
        state = f"{self._store.identity()} {SCHEMA_VERSION} {seq} {mark}"
        writer.add_document(tantivy.Document(id=STATE_ID, note=state))
        writer.commit()
        index.reload()
        if index.searcher().num_segments > _MOST_SEGMENTS:
            writer.wait_merging_threads()
            index.reload()
        self._reflects, self._mark = seq, mark
