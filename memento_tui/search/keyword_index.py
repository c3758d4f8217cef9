"""The keyword index: Tantivy, derived from the store, and brought up to date by every search."""

from __future__ import annotations

import contextlib
import logging
import shutil
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import tantivy
from filelock import FileLock, Timeout

from memento_tui.errors import DataDirectoryError
from memento_tui.model import Memory
from memento_tui.model.filters import AllOf, AnyOf, Between, Filter, HasTag, Not, OneOf, Under
from memento_tui.model.memory_fields import declaration_digest, filter_fields, values_getter
from memento_tui.model.validation import fold_tag
from memento_tui.paths import DataPaths
from memento_tui.private_files import PRIVATE_FILE_MODE, close_tree, make_private_directory
from memento_tui.search.keyword_fields import (
    STATE_ID,
    TEXT_VERSION,
    IndexState,
    TermQueryBuilder,
    make_schema,
    read_state,
    register_analyzers,
)
from memento_tui.search.keyword_segments import ids_beside
from memento_tui.search.lance_filter import microseconds
from memento_tui.search.query_language import Phrase, Query, Word
from memento_tui.search.ranking import SIMILAR_TEXT_CHARACTERS, SIMILAR_TEXT_WORDS
from memento_tui.storage.store import Store
from memento_tui.text.terms import STOP_WORDS, identifiers, terms

__all__ = ["KeywordIndex", "update_keyword_index"]

_WORDS = {name: field for name, field in filter_fields("word", indexed=True).items() if name != "id"}
_FLAGS = filter_fields("flag", indexed=True)
_NUMBERS = filter_fields("number", "moment", indexed=True)
_word_values, _flag_values, _number_values = (values_getter(part.values()) for part in (_WORDS, _FLAGS, _NUMBERS))

SCHEMA_VERSION = "-".join(
    (TEXT_VERSION, declaration_digest(filter_fields("word", "flag", "number", "moment", indexed=True).values()))
)
"""The version of an index's fields and analyzers; an index of another version is rebuilt."""

_Must, _Should, _MustNot = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot


def _namespace_levels(namespace: str) -> list[str]:
    """Return a namespace and those that it lies in, outermost first."""
    names = namespace.split("/")
    return ["/".join(names[: depth + 1]) for depth in range(len(names))]


def make_document(memory: Memory) -> tantivy.Document:
    """Return the index's document for a memory."""
    facts = [f"{name}:{value}" for name, value in zip(_WORDS, _word_values(memory), strict=True) if value]
    facts += [f"{name}:1" for name, value in zip(_FLAGS, _flag_values(memory), strict=True) if value]
    facts += [f"ns:{level}" for level in _namespace_levels(memory.namespace)]
    facts += [f"tag:{fold_tag(tag)}" for tag in memory.tags]
    text = f"{memory.title}\n{memory.content}" if memory.title else memory.content
    fields: dict[str, Any] = {
        "id": memory.id,
        "body": memory.content,
        "words": text,
        "fact": facts,
    }
    for name, value in zip(_NUMBERS, _number_values(memory), strict=True):
        if value is not None:
            fields[name] = microseconds(value) if isinstance(value, datetime) else value
    if memory.title:
        fields["title"] = memory.title
    if parts := identifiers(text):
        fields["parts"] = parts
    return tantivy.Document(**fields)


class QueryCompiler:
    """Turns a query's syntax tree into a Tantivy query for one searcher."""

    def __init__(self, schema: tantivy.Schema, searcher: tantivy.Searcher) -> None:
        self._schema = schema
        self._searcher = searcher
        self._words = TermQueryBuilder(schema, searcher)

    def compile(self, query: Query, tree: Filter) -> tantivy.Query:
        """Return the Tantivy query for a whole query; ``tree`` is its filter as it applies."""
        state = tantivy.Query.term_query(self._schema, "id", STATE_ID, "basic")
        clauses: list[tuple[tantivy.Occur, tantivy.Query]] = [
            (_Must, tantivy.Query.const_score_query(self._filter_query(tree), 0.0)),
            (_MustNot, state),
        ]
        scored = [self._word_query(part) for part in self._content_words(query)]
        if scored:
            clauses.append((_Must, tantivy.Query.boolean_query([(_Should, part) for part in scored])))
        clauses += [(_Must, self._word_query(phrase)) for phrase in query.phrases]
        clauses += [(_MustNot, self._word_query(part)) for part in query.excluded]
        return tantivy.Query.boolean_query(clauses)

    @staticmethod
    def _content_words(query: Query) -> list[Word | Phrase]:
        """Return the words that carry meaning; all of them where only stop words were given."""
        kept = [part for part in query.words if isinstance(part, Phrase) or part.text.lower() not in STOP_WORDS]
        return kept or list(query.words)

    def similar(self, text: str) -> tantivy.Query:
        """Return the query for memories that share the rarest words of a text; an unknown word can match nothing."""
        stems = dict.fromkeys(stem for stem in terms(text[:SIMILAR_TEXT_CHARACTERS]) if stem not in STOP_WORDS)
        by_frequency = sorted((count, stem) for stem in stems if (count := self._searcher.doc_freq("body", stem)))
        rarest = [stem for _, stem in by_frequency[:SIMILAR_TEXT_WORDS]]
        parts = [(_Should, tantivy.Query.term_query(self._schema, "body", stem)) for stem in rarest]
        return tantivy.Query.boolean_query(parts) if parts else tantivy.Query.empty_query()

    def _word_query(self, part: Word | Phrase) -> tantivy.Query:
        """Return the query for one word or phrase, in each of the forms in which text is indexed."""
        if isinstance(part, Phrase):
            return self._words.phrase(part.text)
        return self._words.word(part.text, typing=part.typing)

    def _filter_query(self, tree: Filter) -> tantivy.Query:  # noqa: PLR0911 - one for each kind of condition
        """Return the query for a filter."""
        match tree:
            case OneOf("id", values):
                return tantivy.Query.term_set_query(self._schema, "id", list(values))
            case OneOf(field, values):
                return self._one_of(field, values)
            case HasTag(tag):
                return self._words.facts([f"tag:{fold_tag(tag)}"])
            case Under(namespace):
                return self._words.facts([f"ns:{namespace}"])
            case Between(field, low, high):
                return self._between(field, low, high)
            case Not(part):
                return tantivy.Query.boolean_query(
                    [(_Must, tantivy.Query.all_query()), (_MustNot, self._filter_query(part))]
                )
            case AllOf(parts):
                compiled = [(_Must, self._filter_query(part)) for part in parts]
                return tantivy.Query.boolean_query([*compiled, (_Must, tantivy.Query.all_query())])
            case AnyOf(parts):
                return tantivy.Query.boolean_query([(_Should, self._filter_query(part)) for part in parts])

    def _one_of(self, field: str, values: Sequence[str]) -> tantivy.Query:
        if field in _WORDS:
            return self._words.facts(f"{field}:{value}" for value in values)
        if field not in _FLAGS:
            raise ValueError(field)
        is_set, chosen = self._words.facts([f"{field}:1"]), {bool(int(value)) for value in values}
        parts = [is_set] if True in chosen else []
        if False in chosen:
            parts.append(tantivy.Query.boolean_query([(_Must, tantivy.Query.all_query()), (_MustNot, is_set)]))
        return tantivy.Query.boolean_query([(_Should, part) for part in parts])

    def _between(self, field: str, low: datetime | int | None, high: datetime | int | None) -> tantivy.Query:
        if field not in _NUMBERS:
            raise ValueError(field)
        first = microseconds(low) if isinstance(low, datetime) else low
        last = microseconds(high) if isinstance(high, datetime) else high
        if first is None and last is None:
            return tantivy.Query.exists_query(field)
        return tantivy.Query.range_query(
            self._schema, field, tantivy.FieldType.Integer, first, last, include_lower=True, include_upper=last is None
        )

    def ceiling(self, query: Query) -> float:
        """Return the score of a perfect match: a memory that holds every word of the query as densely as can be.

        It is the sum over the words of BM25's limit, and makes scores comparable from query to query.
        """
        return self._words.ceiling(part.text for part in self._content_words(query))


_log = logging.getLogger(__name__)

_SMALL_WRITER_HEAP, _LARGE_WRITER_HEAP = 20_000_000, 150_000_000
"""Bytes of memory of Tantivy's writer, for few changes and for many."""

_MANY_CHANGES = 2000
"""Changed memories in one commit from which they count as many."""

_MOST_UNINDEXED = 64
"""Memories that are compared one by one because the index does not hold them yet."""

_MOST_SEGMENTS = 24
"""Segments after a commit above which Tantivy's merging is waited for: each makes every query slower."""

_LOCK_SECONDS = 30.0
"""How long another process that is indexing is waited for."""

_CREATED_SETTING = "keyword index made"
"""The setting that records that an index was made: a missing one is reported, one not made yet is not."""

T = TypeVar("T")


@dataclass(frozen=True)
class KeywordHits:
    """The result of a query: ids with BM25 scores, best first, and the number of matches in all."""

    hits: list[tuple[str, float]]
    total: int
    ceiling: float
    """The score of a perfect match."""


class SimilarByWords(NamedTuple):
    """Memories to compare with a text: those that share words with it, most similar first, and unindexed ones."""

    ids: list[str]
    unindexed: list[str]


def _is_index_damage(error: BaseException) -> bool:
    """Tell whether Tantivy failed because of the content of a file, rather than because of the file system.

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
        self._schema = make_schema(_NUMBERS)
        self._access = threading.RLock()
        self._index: tantivy.Index | None = None
        self._indexed_seq = -1
        self._mark = ""
        self.notice = ""
        """A sentence for the person when the index had to be rebuilt."""

    @property
    def indexed_seq(self) -> int:
        """The journal entry that the index reflects; -1 before its first use."""
        return self._indexed_seq

    def search(self, query: Query, tree: Filter, limit: int, *, count: bool = True) -> KeywordHits:
        """Return the memories that match a query, after catching up with every write acknowledged before this call.

        Without ``count`` the total is that of the hits returned: counting has to visit everything that matches.
        """

        def run(searcher: tantivy.Searcher) -> KeywordHits:
            compiler = QueryCompiler(self._schema, searcher)
            # Tantivy reserves memory for the limit.
            most = max(1, min(limit, searcher.num_docs))
            result = searcher.search(compiler.compile(query, tree), limit=most, count=count)
            hits = [(str(searcher.doc(address)["id"][0]), float(score)) for score, address in result.hits]
            total: int = result.count if count else len(hits)  # type: ignore[attr-defined] # the stub lacks it
            return KeywordHits(hits, total, compiler.ceiling(query))

        return self._run(run)

    def matching(self, query: Query, tree: Filter, ids: Iterable[str]) -> set[str]:
        """Return those of the ids that satisfy a query's filter, phrases and excluded words."""
        listed = list(ids)
        if not listed:
            return set()
        strict = Query(query.source, query.phrases, query.excluded, query.filter)
        among = tantivy.Query.term_set_query(self._schema, "id", listed)

        def run(searcher: tantivy.Searcher) -> set[str]:
            compiler = QueryCompiler(self._schema, searcher)
            both = tantivy.Query.boolean_query([(_Must, compiler.compile(strict, tree)), (_Must, among)])
            found = searcher.search(both, limit=len(listed), count=False)
            return {str(searcher.doc(address)["id"][0]) for _, address in found.hits}

        return self._run(run)

    def similar(self, text: str, limit: int) -> SimilarByWords | None:
        """Return memories that share many of a text's rarer words, without bringing the index up to date.

        A write must not wait for an index. The memories changed since the last commit are listed instead, for the
        caller to compare; ``None`` where those are too many, or there is no index yet.
        """
        try:
            with self._access:
                if not (self._directory / "meta.json").exists():
                    return None  # opening it would make one, which is for whoever holds the lock
                self._refresh(has_lock=False)
                if self._indexed_seq < 0:
                    return None
                unindexed, _ = self._store.journal.changed_memories(self._indexed_seq, _MOST_UNINDEXED + 1)
                if len(unindexed) > _MOST_UNINDEXED:
                    return None
                searcher = self._open().searcher()
            found = searcher.search(QueryCompiler(self._schema, searcher).similar(text), limit=limit, count=False)
            return SimilarByWords([str(searcher.doc(address)["id"][0]) for _, address in found.hits], unindexed)
        except BaseException as error:
            # An index that is damaged, or being replaced, is rebuilt by the next search; a write goes on without it.
            if not (_is_index_damage(error) or isinstance(error, (OSError, ValueError))):
                raise
            _log.info("the keyword index was not searched for similar memories: %s", error)
            return None

    def _run(self, run: Callable[[tantivy.Searcher], T]) -> T:
        """Run a search on the index as it is now; where damage shows only in the reading, rebuild it and run again."""
        self.catch_up()
        try:
            return run(self._searcher())
        except BaseException as error:
            if not _is_index_damage(error):
                raise
            self._note_damage(error)
        self.rebuild()
        return run(self._searcher())

    def _searcher(self) -> tantivy.Searcher:
        with self._access:
            return self._open().searcher()

    def catch_up(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Bring the index up to date with the store. Waits for another process that is doing so.

        Raises:
            DataDirectoryError: the index directory cannot be written.

        """
        head = self._store.journal.head()
        with self._access:
            # The same number is another entry where a backup was restored meanwhile.
            if self._index is not None and self._indexed_seq == head and self._mark == self._store.journal.mark(head):
                return
            try:
                self._refresh(has_lock=False)
                if self._indexed_seq >= head:
                    return
                with self._lock():
                    self._refresh(has_lock=True)
                    self._write_or_rebuild(progress)
            except Timeout:
                # Another process is still indexing a long import: its commits so far are searched.
                _log.warning("the keyword index is %d entries behind", head - self._indexed_seq)
                self._open()
            except (OSError, ValueError) as error:
                if self._indexed_seq < 0:
                    raise self._unwritable(error) from error
                # On a read-only medium the former index can still be searched.
                self.notice = f"The keyword index is {head - self._indexed_seq} changes behind: it cannot be written."

    def rebuild(self, progress: Callable[[int, int], None] | None = None) -> int:
        """Delete the index and build it anew; return how many memories it holds.

        Raises:
            DataDirectoryError: the index directory cannot be written, or another process is writing there for long.

        """
        with self._access:
            try:
                with self._lock():
                    self._discard()
                    self._write_changes(progress)
                    return int(self._open().searcher().num_docs) - 1
            except (OSError, ValueError) as error:
                raise self._unwritable(error) from error

    def purge(self, ids: Sequence[str]) -> None:
        """Take every word of some purged memories, of earlier versions too, out of the files of the index.

        The segments that hold any of them are written anew; the others stay.

        Raises:
            DataDirectoryError: the index directory cannot be written, or another process is writing there for long.

        """
        with self._access:
            try:
                with self._lock():
                    self._refresh(has_lock=True)
                    self._write_or_rebuild(None)
                    if not self._is_free_of(ids):
                        self._discard()
                        self._write_changes(None)
            except (OSError, ValueError) as error:
                raise self._unwritable(error) from error

    def _is_free_of(self, ids: Sequence[str]) -> bool:
        """Write anew the segments that hold anything of some memories; return whether none is left that does."""
        try:
            beside = ids_beside(self._directory, ids)
            if beside is None:
                return True
            self._write_some(self._open(), [name for name in beside if name != STATE_ID], self._indexed_seq, clean=True)
            return ids_beside(self._directory, ids) is None
        except BaseException as error:
            if not (_is_index_damage(error) or isinstance(error, (OSError, ValueError))):
                raise
            _log.info("the keyword index is built anew for a purge: %s", error)
            return False

    def _lock(self) -> FileLock:
        make_private_directory(self._lock_path.parent)
        return FileLock(self._lock_path, timeout=_LOCK_SECONDS, mode=PRIVATE_FILE_MODE)

    def _unwritable(self, error: OSError | ValueError) -> DataDirectoryError:
        return DataDirectoryError(
            f"The keyword index in {self._directory} cannot be written: {getattr(error, 'strerror', None) or error}.",
            "Make the data directory writable.",
        )

    @staticmethod
    def _add(memories: Iterable[Memory], writer: tantivy.IndexWriter) -> None:
        """Add memories that the index does not hold yet."""
        for memory in memories:
            writer.add_document(make_document(memory))

    def _open(self) -> tantivy.Index:
        if self._index is None:
            make_private_directory(self._directory)
            self._index = tantivy.Index(self._schema, str(self._directory), reuse=True)
            self._index.config_reader("manual")
            register_analyzers(self._index)
            self._index.reload()
        return self._index

    def _refresh(self, *, has_lock: bool) -> None:
        """Read the last commit. Only with the lock, remove an index that is damaged or of another store."""
        state = None
        self._indexed_seq = -1
        if not self._directory.is_dir():
            self._index = None
        else:
            try:
                self._open().reload()
                state = read_state(self._open().searcher(), self._schema)
            except BaseException as error:
                if not _is_index_damage(error):
                    raise
                self._index = None
                if has_lock:
                    self._note_damage(error)
                    self._discard()
                return
        if state is not None and self._is_of_this_history(state):
            self._indexed_seq, self._mark = state.seq, state.mark
        elif has_lock:
            if state is None and self._store.settings.get(_CREATED_SETTING) is not None:
                self.notice = "The keyword index was missing and has been rebuilt."
            self._discard()

    def _is_of_this_history(self, state: IndexState) -> bool:
        expected = (self._store.settings.identity(), SCHEMA_VERSION, self._store.journal.mark(state.seq))
        return (state.identity, state.version, state.mark) == expected

    def _note_damage(self, error: BaseException) -> None:
        _log.info("the keyword index cannot be read: %s", error)
        self.notice = "The keyword index was damaged and has been rebuilt."

    def _discard(self) -> None:
        self._index, self._indexed_seq = None, -1
        if self._directory.is_dir():
            shutil.rmtree(self._directory, ignore_errors=True)
        else:
            self._directory.unlink(missing_ok=True)

    def _write_or_rebuild(self, progress: Callable[[int, int], None] | None) -> None:
        try:
            self._write_changes(progress)
        except BaseException as error:
            if not _is_index_damage(error):
                raise
            self._note_damage(error)
            self._discard()
            self._write_changes(progress)

    def _write_changes(self, progress: Callable[[int, int], None] | None) -> None:
        """Index the changes since the last commit, in commits that each record the journal entry that they reach."""
        index = self._open()
        if self._indexed_seq < 0:
            self._write_all(index, progress)
            return
        while True:
            ids, reached = self._store.journal.changed_memories(self._indexed_seq, _MANY_CHANGES * 10)
            if reached == self._indexed_seq:
                return
            self._write_some(index, ids, reached)

    def _write_some(self, index: tantivy.Index, ids: Sequence[str], reached: int, *, clean: bool = False) -> None:
        """Index some memories as they are now, up to a journal entry; ``clean`` removes files that are replaced.

        The writer lives as long as this call: it locks the directory, against the next writer too.
        """
        many = len(ids) > _MANY_CHANGES
        writer = index.writer(_LARGE_WRITER_HEAP if many else _SMALL_WRITER_HEAP, 2 if many else 1)
        found = self._store.memories.get_many(ids)
        for memory_id in ids:
            writer.delete_documents_by_term("id", memory_id)
        self._add(found.values(), writer)
        self._commit(index, writer, reached, clean=clean)

    def _write_all(self, index: tantivy.Index, progress: Callable[[int, int], None] | None) -> None:
        head, total, done = self._store.journal.head(), self._store.memories.count_all(), 0
        many = total > _MANY_CHANGES
        writer = index.writer(_LARGE_WRITER_HEAP if many else _SMALL_WRITER_HEAP, 2 if many else 1)
        writer.delete_all_documents()
        for batch in self._store.memories.batches():
            self._add(batch, writer)
            done += len(batch)
            if progress is not None:
                progress(done, total)
        self._commit(index, writer, head)
        if self._store.settings.get(_CREATED_SETTING) is None:
            # A database on a read-only medium can still be searched.
            with contextlib.suppress(DataDirectoryError):
                self._store.settings.set(_CREATED_SETTING, "yes")

    def _commit(self, index: tantivy.Index, writer: tantivy.IndexWriter, seq: int, *, clean: bool = False) -> None:
        writer.delete_documents_by_term("id", STATE_ID)
        mark = self._store.journal.mark(seq)
        state = f"{self._store.settings.identity()} {SCHEMA_VERSION} {seq} {mark}"
        writer.add_document(tantivy.Document(id=STATE_ID, note=state))
        writer.commit()
        index.reload()
        if clean:
            writer.garbage_collect_files()
        if clean or index.searcher().num_segments > _MOST_SEGMENTS:
            writer.wait_merging_threads()
            index.reload()
        close_tree(self._directory)  # Tantivy asks the umask
        self._indexed_seq, self._mark = seq, mark


def update_keyword_index(paths: DataPaths) -> None:
    """Bring the keyword index of a data directory up to date.

    Raises:
        DataDirectoryError: there is no database, or the index directory cannot be written.

    """
    with contextlib.closing(Store(paths.database, create=False)) as store:
        KeywordIndex(paths.keyword_index, paths.keyword_lock, store).catch_up()
