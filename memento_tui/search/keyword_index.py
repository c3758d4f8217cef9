"""The keyword index: Tantivy, derived from the store, and brought up to date by every search."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from typing import NamedTuple, TypeVar

import tantivy
from filelock import FileLock, Timeout

from memento_tui.encryption import key_id_of
from memento_tui.errors import DataDirectoryError
from memento_tui.model import Memory
from memento_tui.model.filters import Filter
from memento_tui.paths import DataPaths
from memento_tui.private_files import PRIVATE_FILE_MODE, close_tree, make_private_directory
from memento_tui.search.keyword_fields import (
    STATE_ID,
    KeywordIndexState,
    make_schema,
    read_state,
    register_analyzers,
)
from memento_tui.search.keyword_files import LOOKED_UP, damaged_files, ids_beside, index_differences
from memento_tui.search.keyword_query import NUMBERS, SCHEMA_VERSION, QueryCompiler, make_document, read_evidence
from memento_tui.search.prompt_index import WeightedPart, WordWeights
from memento_tui.search.query_language import Query
from memento_tui.search.ranking import CONTEXT_CHARACTERS
from memento_tui.search.scoring import WordEvidence
from memento_tui.storage.store import Store
from memento_tui.text.keywords import PromptParts

__all__ = ["KeywordIndex", "update_keyword_index"]

_Must, _Should = tantivy.Occur.Must, tantivy.Occur.Should


_log = logging.getLogger(__name__)

_SMALL_WRITER_HEAP, _LARGE_WRITER_HEAP = 20_000_000, 150_000_000
"""Bytes of memory of Tantivy's writer, for few changes and for many."""

_MANY_CHANGES = 2000
"""Changed memories in one commit from which they count as many."""

_MOST_UNINDEXED = 64
"""Memories that are compared one by one because the index does not hold them yet."""

_MOST_SEGMENTS = 24
"""Segments after a commit above which Tantivy's merging is waited for: each makes every query slower."""

_NO_ID = ""
"""An id that no document has."""

_LOCK_SECONDS = 30.0
"""How long another process that is indexing is waited for."""

_CREATED_SETTING = "keyword index made"
"""The setting that records that an index was made: a missing one is reported, one not made yet is not."""

T = TypeVar("T")

_TRIED_BYTES = 64 * 1024
"""Bytes that are written to learn whether a disk has room at all."""


@dataclass(frozen=True)
class KeywordHits:
    """The result of a query: ids with BM25 scores, best first, and the number of matches in all."""

    hits: list[tuple[str, float]]
    total: int
    ceiling: float
    """The score of a perfect match."""
    evidence: dict[str, WordEvidence] = field(default_factory=dict)
    """The evidence for each of the hits, and for the other candidates that were named."""


_Place = tuple[int, int]


def _place(address: tantivy.DocAddress) -> _Place:
    """Return a document's segment and number, which can be looked up; an address cannot."""
    return address.segment_ord, address.doc


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
        self._schema = make_schema(NUMBERS)
        self._access = threading.RLock()
        self._index: tantivy.Index | None = None
        self._linked: Path | None = None
        """A folder of links to the files of an index that cannot be written, beside which its locks can be made."""
        self._reads_links = False
        self._indexed_seq = -1
        self._mark = ""
        self._sound_files: set[str] = set()
        self.notice = ""
        """A sentence for the person when the index had to be rebuilt."""

    @property
    def indexed_seq(self) -> int:
        """The journal entry that the index reflects; -1 before its first use."""
        return self._indexed_seq

    def search(
        self, query: Query, tree: Filter, limit: int, *, count: bool = True, beside: Sequence[str] | None = None
    ) -> KeywordHits:
        """Return the memories that match a query, after catching up with every write acknowledged before this call.

        Without ``count`` the total is that of the hits returned: counting has to visit everything that matches. Where
        ``beside`` is not ``None``, the evidence for the hits and for these other memories is gathered too.
        """

        def run(searcher: tantivy.Searcher) -> KeywordHits:
            compiler = QueryCompiler(self._schema, searcher)
            # Tantivy reserves memory for the limit.
            most = max(1, min(limit, searcher.num_docs))
            result = searcher.search(compiler.compile(query, tree), limit=most, count=count)
            hits = [(str(searcher.doc(address)["id"][0]), float(score)) for score, address in result.hits]
            total: int = result.count if count else len(hits)  # type: ignore[attr-defined] # the stub lacks it
            evidence = {}
            if beside is not None:
                places = {_place(address): hit for (_, address), hit in zip(result.hits, hits, strict=True)}
                evidence = self._evidence(searcher, compiler, query, places, beside)
            return KeywordHits(hits, total, compiler.ceiling(query), evidence)

        answer = self._run(run)
        if not answer.hits and self._is_damaged_unseen():
            self.rebuild()
            answer = self._run(run)
        return answer

    def _is_damaged_unseen(self) -> bool:
        """Tell whether a file that words are looked up in was changed: Tantivy finds nothing there and does not say so.

        A file is read once, by the first search that finds nothing.
        """
        damaged = damaged_files(self._directory, endings=LOOKED_UP, sound=self._sound_files)
        if damaged:
            self._note_damage(ValueError(f"{damaged[0]} does not fit its checksum"))
        return bool(damaged)

    def rebuild_if_damaged(self) -> bool:
        """Build the index anew if any of its files does not fit its checksum; return whether one did not."""
        if not damaged_files(self._directory, sound=self._sound_files):
            return False
        self.rebuild()
        return True

    def differences(self) -> list[str]:
        """Return in words how the index, once it is up to date, differs from its checksums and from the database."""
        self.catch_up()
        if damaged := damaged_files(self._directory):
            return [f"{', '.join(damaged[:3])} damaged"]
        try:
            with self._access:
                return list(index_differences(self._open().searcher(), self._schema, self._store))
        except BaseException as error:
            if not _is_index_damage(error):
                raise
            return [f"it cannot be read: {error}"]

    def _evidence(
        self,
        searcher: tantivy.Searcher,
        compiler: QueryCompiler,
        query: Query,
        places: dict[_Place, tuple[str, float]],
        beside: Sequence[str],
    ) -> dict[str, WordEvidence]:
        """Return the evidence for the hits, which are given by their places in the index, and for other memories."""

        def scores(among: Sequence[str], words: tantivy.Query) -> list[tuple[float, tantivy.DocAddress]]:
            if not among:
                return []
            # A set of terms would be looked for along the whole dictionary of ids, which takes three times as long.
            one_of = [(_Should, tantivy.Query.term_query(self._schema, "id", name, "basic")) for name in among]
            chosen = tantivy.Query.const_score_query(tantivy.Query.boolean_query(one_of), 0.0)
            both = tantivy.Query.boolean_query([(_Must, chosen), (_Should, words)])
            found = searcher.search(both, limit=len(among), count=False).hits
            return [(float(score), address) for score, address in found]

        present = {name for name, _ in places.values()}
        for score, address in scores([name for name in beside if name not in present], compiler.words(query)):
            places[_place(address)] = str(searcher.doc(address)["id"][0]), score
        names = [name for name, _ in places.values()]
        shares = {_place(address): read_evidence(score) for score, address in scores(names, compiler.evidence(query))}
        # As many hits were asked for as there are ids.
        if len(set(names)) < len(names) or not places.keys() <= shares.keys():
            raise ValueError("a memory is in the index twice")
        return {name: WordEvidence(score, *shares[place]) for place, (name, score) in places.items()}

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

    def weighted(self, parts: PromptParts) -> list[WeightedPart]:
        """Return the parts of a prompt that are looked for, with the weights of their words.

        Raises:
            DataDirectoryError: the index directory cannot be written.

        """
        return self._run(lambda searcher: WordWeights(searcher).weighted(parts))

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
                    _check_writable(self._directory)  # what is there answers searches still
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
        places = (self._directory, *self._directory.parents)
        in_the_way = next((place for place in places if place.exists() and not place.is_dir()), None)
        if in_the_way is not None:
            return DataDirectoryError(
                f"{in_the_way} is a file, where the folder of the keyword index is to be.",
                "Move the file away; the index is built anew from the database.",
            )
        return DataDirectoryError(
            f"The keyword index in {self._directory} cannot be written: {getattr(error, 'strerror', None) or error}.",
            _hint_of(error),
        )

    def _add(self, memories: Collection[Memory], writer: tantivy.IndexWriter) -> None:
        """Add memories that the index does not hold yet."""
        contexts = self._store.memories.session_context(memories, CONTEXT_CHARACTERS)
        for memory in memories:
            writer.add_document(make_document(memory, contexts.get(memory.id)))

    def _open(self) -> tantivy.Index:
        if self._index is None:
            make_private_directory(self._directory)
            self._index = self._open_files()
            self._index.config_reader("manual")
            register_analyzers(self._index)
            self._index.reload()
        return self._index

    def _open_files(self) -> tantivy.Index:
        """Open the index, or make an empty one. One that cannot be written is opened where its locks can be."""
        self._reads_links = False
        try:
            return tantivy.Index(self._schema, str(self._directory), reuse=True)
        except (OSError, ValueError):
            if not (self._directory / "meta.json").is_file() or _may_write(self._directory):
                raise
        self._reads_links = True
        if self._linked is None:
            self._linked = Path(mkdtemp(prefix="memento-index-"))
            weakref.finalize(self, shutil.rmtree, self._linked, ignore_errors=True)
        for file in self._directory.iterdir():
            link = self._linked / file.name
            if not file.name.startswith(".") and not link.is_symlink():
                link.symlink_to(file.absolute())
        return tantivy.Index(self._schema, str(self._linked), reuse=True)

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
            is_missed = state is None and not key_id_of(self._store.database.path)  # memory forgets it at a restart
            if is_missed and self._store.settings.get(_CREATED_SETTING) is not None:
                self.notice = "The keyword index was missing and has been rebuilt."
            self._discard()

    def _is_of_this_history(self, state: KeywordIndexState) -> bool:
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
        if self._reads_links:
            self._index = None  # it may be writable by the next time
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
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
        writer = _make_writer(index, len(ids))
        found = self._store.memories.get_many(ids)
        for memory_id in ids:
            writer.delete_documents_by_term("id", memory_id)
        self._add(found.values(), writer)
        self._commit(index, writer, reached, clean=clean)

    def _write_all(self, index: tantivy.Index, progress: Callable[[int, int], None] | None) -> None:
        head, total, done = self._store.journal.head(), self._store.memories.count_all(), 0
        writer = _make_writer(index, total)
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


def _make_writer(index: tantivy.Index, changes: int) -> tantivy.IndexWriter:
    """Return a writer for so many changes.

    Its first operation bears the number of the last commit. Where segments are merged meanwhile, Tantivy takes those
    that this commit deleted from for finished with operations of this number, and the memory that the first operation
    deletes there would stay in the index beside its new version. So the first operation deletes nothing.
    """
    many = changes > _MANY_CHANGES
    writer = index.writer(_LARGE_WRITER_HEAP if many else _SMALL_WRITER_HEAP, 2 if many else 1)
    writer.delete_documents_by_term("id", _NO_ID)
    return writer


def _may_write(directory: Path) -> bool:
    """Tell whether a file can be written in a directory: permissions say nothing of a full or read-only disk."""
    try:
        with NamedTemporaryFile(dir=directory, prefix=".try-") as file:
            file.write(bytes(_TRIED_BYTES))
            file.flush()
            return True
    except OSError:
        return False


def _check_writable(directory: Path) -> None:
    """Raise `OSError` where an index is there that could not be replaced."""
    if directory.is_dir() and not _may_write(directory):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _hint_of(error: OSError | ValueError) -> str:
    is_full = getattr(error, "errno", None) == errno.ENOSPC or "No space left" in str(error)
    return "Free some space on its disk." if is_full else "Make the data directory writable."


def update_keyword_index(paths: DataPaths) -> None:
    """Bring the keyword index of a data directory up to date.

    Raises:
        DataDirectoryError: there is no database, or the index directory cannot be written.

    """
    with contextlib.closing(Store(paths.database, create=False)) as store:
        KeywordIndex(paths.keyword_index, paths.keyword_lock, store).catch_up()
