"""The vector index: one LanceDB table, derived from the store. Importing this module takes a second.

A row holds the vector of a memory's text, the one that a query is compared with, and the facts that a query filters by.
The two differ where a session wrote other memories before: the second takes those into account. One row is not a
memory: it holds the journal entry that the index reflects, the store, and the model. It is written in the same commit
as the rows of that entry, so a killed engine goes on exactly where it was.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pyarrow as pa

from memento_tui.embedding.lance import IvfSq, lancedb
from memento_tui.embedding.resident_vectors import MOST_RESIDENT, ResidentVectors
from memento_tui.model import Memory
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.model.memory_fields import INDEXED_KINDS, MemoryField, filter_fields, values_getter
from memento_tui.model.validation import fold_tag
from memento_tui.private_files import close_tree, links_below, make_private_directory
from memento_tui.search.lance_filter import column_number, one_of
from memento_tui.text.terms import different_stems

__all__ = [
    "STATUSES_NOT_INDEXED",
    "VECTOR_COLUMNS",
    "IndexSnapshot",
    "ModelSource",
    "VectorIndex",
    "VectorIndexState",
    "indexed_facts",
    "is_indexed",
    "open_finished_index",
    "remove_vectors",
    "stored_state",
    "text_to_embed",
]

if TYPE_CHECKING:
    from memento_tui.embedding.models import Vectors


LAYOUT_VERSION = 3
"""Raised with every change of `text_to_embed` and of how vectors are made.

An index of another layout, or with other columns, is rebuilt.
"""

FACTS_VERSION = 1
"""The version of the values that `indexed_facts` makes of a memory; raised with every change of them.

An index of another version keeps its vectors, and every row is compared with its memory again.
"""

VECTOR_COLUMNS = ("vector", "search_vector")
"""The vector of a memory's text, by which memories are compared, and the one that a query is compared with."""

STATE_ROW_ID = ""
"""The id of the row that holds the state of the index; no record's id is empty."""

STATUSES_NOT_INDEXED = ("rejected", "deleted")


def is_indexed(memory: Memory) -> bool:
    """Tell whether the index holds the memory at all; a query's filter decides about the rest."""
    return memory.status not in STATUSES_NOT_INDEXED


def text_to_embed(memory: Memory) -> str:
    """Return the text of a memory that is embedded. The model reads only its beginning, up to the model's limit."""
    parts = (memory.title if memory.title.strip() else "", memory.content, memory.validity_context)
    return "\n".join(part for part in parts if part)


def indexed_facts(memory: Memory) -> dict[str, Any]:
    """Return the values of a memory's row, all but its vector."""
    return {
        "digest": hashlib.blake2b(text_to_embed(memory).encode(), digest_size=16).hexdigest(),
        "namespace": memory.namespace,
        "tags": sorted({fold_tag(tag) for tag in memory.tags}),
        **{f.name: _column_value(f, value) for f, value in zip(_COLUMNS, _column_values(memory), strict=True)},
        "state": None,
    }


# Whether a memory has a tag follows from its tags.
_COLUMNS = [f for f in filter_fields(*INDEXED_KINDS, indexed=True).values() if f.name != "tagged"]
"""The fields that a query filters by, each a column."""

_column_values = values_getter(_COLUMNS)


def _column_value(field: MemoryField, value: Any) -> Any:  # noqa: ANN401 - a column's value
    if field.filter in ("moment", "share"):
        return None if value is None else column_number(value)
    if field.filter == "words":
        return different_stems(value)
    return value or None if field.path else value


_log = logging.getLogger(__name__)

_TABLE = "memory"
_ROWS_BEFORE_PARTITIONS = 20_000
"""Rows. Below, comparing with every row takes some 30 ms at most; above, the rows are partitioned."""

_GROWTH_BEFORE_REPARTITION = 2
"""The partitions are made anew when the rows have become this many times as many."""

_PARTITIONS_PROBED = 32
"""Partitions that every query looks into; more where a narrow filter leaves too few results."""

_REFINE_FACTOR = 4
"""Candidates for each requested result that are compared by exact vectors after the compressed ones."""

_CANDIDATES_TRIED = 1.25
"""How many times as many of the nearest as results a condition is tried on that nearly every row meets."""

_ROWS_PER_BATCH = 1_024
"""Rows that a scan reads at a time."""

_OLD_VERSIONS_KEPT = timedelta(seconds=30)
"""How long old versions stay on disk: longer than any query that reads one."""

_NO_OLD_VERSION = timedelta(milliseconds=1)
"""Keeps the newest version alone, since writing it takes longer; LanceDB warns of zero."""


class ModelSource(msgspec.Struct, frozen=True):
    """The place from which the model of an index is loaded again."""

    name: str = "all-MiniLM-L6-v2"
    folder: str = ""
    """Empty for the model that comes with memento."""
    query_prefix: str = ""
    document_prefix: str = ""


PACKAGED_MODEL = ModelSource()
"""The model that comes with memento."""


class VectorIndexState(msgspec.Struct, frozen=True):
    """The store, the model and the journal entry that an index reflects."""

    layout: int
    store: str
    """The store's identity."""
    model: str
    """The model's identity."""
    seq: int = 0
    entry: str = ""
    """The hash of the journal entry ``seq``: a store restored from a backup has another one."""
    trained: int = 0
    """How many rows there were when the partitions were made; 0 where there are none."""
    source: ModelSource = PACKAGED_MODEL
    """The place of the model."""
    facts: int = 0
    """The version of the facts in the rows."""


@dataclass(frozen=True)
class IndexSnapshot:
    """A table and the state that it reflects at least, for one reader, whatever is written meanwhile.

    Methods may be called from several threads.

    Raises:
        OSError, RuntimeError: the files are gone or damaged, or the index was rebuilt since.

    """

    table: Any
    schema: Any
    state: VectorIndexState

    def count(self) -> int:
        """Return how many memories the index holds."""
        return int(self.table.count_rows()) - 1

    def read(self, where: str, columns: list[str], limit: int) -> Any:  # noqa: ANN401 - an Arrow table; untyped
        """Return some columns of the rows that a condition selects, as an Arrow table."""
        return self.table.search().where(where).select(columns).limit(limit).to_arrow()

    def digests(self) -> Iterator[tuple[str, str]]:
        """Yield the id of every memory in the index, with the digest of the text that was embedded."""
        for batch in self.table.search().select(["id", "digest"]).to_batches(batch_size=_ROWS_PER_BATCH):
            pairs = zip(batch.column("id").to_pylist(), batch.column("digest").to_pylist(), strict=True)
            yield from (pair for pair in pairs if pair[0] != STATE_ROW_ID)

    def rows(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return the rows of these ids, by id, each with its vectors."""
        found = self.read(one_of("id", ids), self.schema.names, len(ids))
        vectors = [
            found.column(name).combine_chunks().flatten().to_numpy().reshape(-1, self._dimension)
            for name in VECTOR_COLUMNS
        ]
        rows = found.drop_columns(list(VECTOR_COLUMNS)).to_pylist()
        return {
            row["id"]: {**row, **dict(zip(VECTOR_COLUMNS, both, strict=True))}
            for row, *both in zip(rows, *vectors, strict=True)
        }

    def vectors_of(self, ids: Sequence[str]) -> tuple[list[str], Vectors]:
        """Return those of the ids that the index holds, in their order, and a vector of length 1 for each."""
        found = self.read(one_of("id", ids), ["id", "vector"], max(1, len(ids)))
        row_of = {name: number for number, name in enumerate(found.column("id").to_pylist())}
        names = [name for name in ids if name in row_of and name != STATE_ROW_ID]
        vectors = self._unit_vectors(found.column("vector").combine_chunks())
        return names, vectors[[row_of[name] for name in names]]

    def batches(self, where: str) -> Iterator[tuple[Any, Vectors]]:
        """Yield the rows that a condition selects, a thousand at a time: their ids, and vectors of length 1."""
        # The state's row has no status: a condition on one does not select it.
        query = self.table.search().where(where).select(["id", "vector"])
        for batch in query.to_batches(batch_size=_ROWS_PER_BATCH):
            if batch.num_rows:
                yield batch.column("id"), self._unit_vectors(batch.column("vector"))

    def recalled(self) -> Iterator[tuple[list[str], list[str], Vectors]]:
        """Yield the recallable memories, a thousand at a time: ids, namespaces, and vectors for queries."""
        columns = ["id", "namespace", VECTOR_COLUMNS[1]]
        query = self.table.search().where(one_of("status", RECALLED_STATUSES)).select(columns)
        for batch in query.to_batches(batch_size=_ROWS_PER_BATCH):
            if batch.num_rows:
                names, namespaces = batch.column("id").to_pylist(), batch.column("namespace").to_pylist()
                yield names, namespaces, self._unit_vectors(batch.column(VECTOR_COLUMNS[1]))

    def search(
        self, vector: Vectors, where: str, limit: int, *, for_query: bool = False, most_meet: bool = False
    ) -> list[tuple[str, float]]:
        """Return the ids of the nearest memories that a condition selects, nearest first, with similarity 0 to 1.

        A memory's vector is compared with those of other texts; with ``for_query`` with those made for queries.
        ``most_meet`` says that nearly every memory is likely to meet the condition. It is tried on the nearest then,
        and on every row, which takes time that grows with the rows, only where too few of those meet it.

        Raises:
            ValueError: the condition cannot be read.

        """
        column = VECTOR_COLUMNS[for_query]
        candidates = int(_CANDIDATES_TRIED * limit) + 1
        if where and most_meet and self.table.count_rows() > candidates:
            found = self._nearest(vector, column, candidates).where(where, prefilter=False)
            if len(near := _similarities(found)) >= limit:
                return near[:limit]
        query = self._nearest(vector, column, limit + 1)
        return _similarities(query.where(where, prefilter=True) if where else query)[:limit]

    def _nearest(self, vector: Vectors, column: str, limit: int) -> Any:  # noqa: ANN401 - a query of LanceDB's; untyped
        query = self.table.search(vector, vector_column_name=column).distance_type("cosine")
        query = query.minimum_nprobes(_PARTITIONS_PROBED).maximum_nprobes(0).refine_factor(_REFINE_FACTOR)
        return query.select(["id", "_distance"]).limit(limit)

    @property
    def _dimension(self) -> int:
        return int(self.schema.field("vector").type.list_size)

    def _unit_vectors(self, column: Any) -> Vectors:  # noqa: ANN401 - an Arrow array
        flat = np.asarray(column.flatten().to_numpy(zero_copy_only=False), dtype=np.float32)
        vectors = flat.reshape(-1, self._dimension)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float32)


def _similarities(query: Any) -> list[tuple[str, float]]:  # noqa: ANN401 - a query of LanceDB's; untyped
    """Return the ids that a query finds and their similarities, without the row that holds the state."""
    found = query.to_arrow()
    pairs = zip(found.column("id").to_pylist(), found.column("_distance").to_pylist(), strict=True)
    return [(name, min(1.0, max(0.0, 1.0 - distance))) for name, distance in pairs if name != STATE_ROW_ID]


class VectorIndex:
    """The table in ``directory``, made anew where it is missing, damaged, or of another store or model.

    One thread writes. Any thread may take a `snapshot` and read from it.
    """

    def __init__(
        self, directory: Path, dimension: int, store: str, model: str, source: ModelSource = PACKAGED_MODEL
    ) -> None:
        self._directory = directory
        self._dimension = dimension
        self._empty_state = VectorIndexState(LAYOUT_VERSION, store, model, source=source, facts=FACTS_VERSION)
        self._schema = _schema(dimension)
        # The table and its state change in one assignment: a reader never has the one without the other.
        self._current = self._open()
        self._resident: ResidentVectors | None = None

    def snapshot(self) -> IndexSnapshot:
        """Return the present table with its state; a reader takes one for each request."""
        return self._current

    @property
    def resident(self) -> ResidentVectors | None:
        """The vectors that prompts are compared with, once `load_resident` read them; ``None`` where they are many."""
        return self._resident

    def load_resident(self) -> None:
        """Read the vectors that prompts are compared with into memory, where they are few enough.

        Raises:
            OSError, RuntimeError: the files are gone or damaged.

        """
        self._resident = None
        if self._current.count() > MOST_RESIDENT:
            return
        resident = ResidentVectors(self._dimension)
        for ids, namespaces, vectors in self._current.recalled():
            resident.put(ids, namespaces, vectors)
        self._resident = resident

    @property
    def state(self) -> VectorIndexState:
        """The state that the index reflects."""
        return self._current.state

    def _open(self) -> IndexSnapshot:
        if not self._directory.exists():
            return self._create()
        if (linked := next(links_below(self._directory), None)) is not None:
            return self._recreate(f"{linked} is a link, and cleaning would remove what it leads to")
        try:
            table = lancedb.connect(self._directory).open_table(_TABLE)
            # The order of the columns does not matter: a table keeps the one that it was made with.
            if {field.name: field for field in table.schema} != {field.name: field for field in self._schema}:
                return self._recreate("its columns are of another version")
            self._schema = table.schema
            found = IndexSnapshot(table, self._schema, self._empty_state)
            state = _read_state(table)
        except Exception as error:  # noqa: BLE001 - LanceDB raises any type for a damaged file, and all mean the same
            return self._recreate(f"it cannot be read ({error})")
        empty = self._empty_state
        if (state.layout, state.store, state.model) != (empty.layout, empty.store, empty.model):
            return self._recreate("it is of another model, store or version")
        if state.facts != empty.facts:
            _log.info("the facts in the index are of another version: its rows are compared with the memories")
            state = msgspec.structs.replace(state, seq=0, entry="", facts=empty.facts)
        # The folder of a model may have another path by now.
        return replace(found, state=msgspec.structs.replace(state, source=empty.source))

    def rebuild(self, reason: str) -> None:
        """Begin again with an empty table."""
        self._current = self._recreate(reason)
        self._resident = ResidentVectors(self._dimension)

    def _recreate(self, reason: str) -> IndexSnapshot:
        _log.warning("the semantic index is built anew: %s", reason)
        if self._directory.exists():
            shutil.rmtree(self._directory)
        return self._create()

    def _create(self) -> IndexSnapshot:
        make_private_directory(self._directory)
        table = lancedb.connect(self._directory).create_table(_TABLE, schema=self._schema)
        self._merge_rows(table, [], [], [], self._empty_state)
        return IndexSnapshot(table, self._schema, self._empty_state)

    def is_present(self) -> bool:
        """Tell whether the table's files are where they were; anyone may delete them at any moment."""
        return (self._directory / f"{_TABLE}.lance" / "_versions").exists()

    def is_sound(self) -> bool:
        """Tell whether every row can be read."""
        try:
            for _ in self._table.search().to_batches(batch_size=_ROWS_PER_BATCH):
                pass
        except Exception:  # noqa: BLE001 - as in _open
            _log.exception("the semantic index is damaged")
            return False
        return True

    def write(
        self,
        rows: Sequence[dict[str, Any]],
        vectors: Sequence[Vectors],
        *,
        search_vectors: Sequence[Vectors] | None = None,
        gone: Sequence[str] = (),
        state: VectorIndexState | None = None,
    ) -> None:
        """Write rows with their vectors, remove those of ``gone``, and record the new state with the same commit.

        ``search_vectors`` are those that queries are compared with, where they are others than ``vectors``.
        """
        if gone:
            self._table.delete(one_of("id", gone))
        for_queries = vectors if search_vectors is None else search_vectors
        self._merge_rows(self._table, rows, vectors, for_queries, state)
        self._update_resident(rows, for_queries, gone)
        if state is not None:
            self._current = replace(self._current, state=state)

    def _update_resident(self, rows: Sequence[dict[str, Any]], vectors: Sequence[Vectors], gone: Sequence[str]) -> None:
        if self._resident is None:
            return
        recalled = [place for place, row in enumerate(rows) if row["status"] in RECALLED_STATUSES]
        self._resident.remove([*gone, *(row["id"] for row in rows)])
        if len(self._resident) + len(recalled) > MOST_RESIDENT:
            self._resident = None
        elif recalled:
            chosen = [rows[place] for place in recalled]
            self._resident.put(
                [row["id"] for row in chosen],
                [row["namespace"] for row in chosen],
                np.stack([vectors[place] for place in recalled]),
            )

    @property
    def _table(self) -> Any:  # noqa: ANN401 - LanceDB has no types
        return self._current.table

    def _merge_rows(
        self,
        table: Any,  # noqa: ANN401 - as above
        rows: Sequence[dict[str, Any]],
        vectors: Sequence[Vectors],
        search_vectors: Sequence[Vectors],
        state: VectorIndexState | None,
    ) -> None:
        all_rows = list(rows)
        columns = dict(zip(VECTOR_COLUMNS, ([*vectors], [*search_vectors]), strict=True))
        if state is not None:
            all_rows.append(_state_row(state))
            for column in columns.values():
                column.append(self._state_vector())
        if not all_rows:
            return
        schema = pa.schema([field for field in self._schema if field.name not in columns])
        written = pa.Table.from_pylist(all_rows, schema=schema)
        for name, column in columns.items():
            flat = pa.array(np.concatenate(column).astype(np.float32, copy=False))
            values = pa.FixedSizeListArray.from_arrays(flat, self._dimension)
            written = written.append_column(self._schema.field(name), values)
        merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        merge.execute(written.select(self._schema.names))

    def _state_vector(self) -> Vectors:
        # Of length 1, as every other: a null or zero would be a special case wherever vectors are compared.
        vector = np.zeros(self._dimension, dtype=np.float32)
        vector[0] = 1.0
        return vector

    def optimize(self, *, keep: timedelta = _OLD_VERSIONS_KEPT) -> None:
        """Join small files, drop versions older than ``keep``, and partition the rows where they are many."""
        count = self._current.count()
        if count >= _ROWS_BEFORE_PARTITIONS and count >= _GROWTH_BEFORE_REPARTITION * self.state.trained:
            for column in VECTOR_COLUMNS:
                self._table.create_index(column, config=IvfSq(distance_type="cosine"))
            self.write([], [], state=msgspec.structs.replace(self.state, trained=count))
            _log.info("partitioned %d memories", count)
        # Nobody else writes here, so a file that no version names was left by a killed engine.
        self._table.optimize(cleanup_older_than=keep, delete_unverified=True)

    def purge(self, ids: Sequence[str]) -> None:
        """Take the vectors of some memories out of the files; see `remove_vectors`."""
        remove_vectors(self._directory, ids)
        self._current = self._open()
        if self._resident is not None:
            self.load_resident()  # what followed one of these in its session has another vector now

    def is_optimized(self) -> bool:
        """Tell whether old versions are off the disk; `optimize` leaves its own there for a while.

        Single removed vectors stay in a file until a tenth of it is removed; `purge` takes them out at once.
        """
        return len(self._table.list_versions()) == 1


def open_finished_index(directory: Path) -> IndexSnapshot | None:
    """Return the index in a directory for reading alone; ``None`` where it cannot be read.

    An engine may go on writing it: what is read is the state of this moment.
    """
    try:
        table = lancedb.connect(directory).open_table(_TABLE)
        return IndexSnapshot(table, table.schema, _read_state(table))
    except Exception:  # noqa: BLE001 - LanceDB raises any type for a damaged file, and all mean the same
        _log.info("the index in %s cannot be read", directory, exc_info=True)
        return None


def stored_state(directory: Path) -> VectorIndexState | None:
    """Return the state of the index in a directory; ``None`` where none can be read."""
    try:
        return _read_state(lancedb.connect(directory).open_table(_TABLE))
    except Exception:  # noqa: BLE001 - LanceDB raises any type for a damaged file, and all mean the same
        _log.info("the index in %s cannot be read", directory, exc_info=True)
        return None


def _read_state(table: Any) -> VectorIndexState:  # noqa: ANN401 - LanceDB has no types
    found = table.search().where(one_of("id", [STATE_ROW_ID])).select(["state"]).limit(1).to_arrow().to_pylist()
    return msgspec.json.decode(found[0]["state"], type=VectorIndexState)


def remove_vectors(directory: Path, ids: Sequence[str]) -> None:
    """Take the vectors of some memories, and all that were replaced or removed before, out of the files of an index.

    LanceDB marks a row as deleted and keeps its vector until a tenth of the file is deleted, and then for as long as
    old versions are kept. So every other row is written anew, with its vectors: no model is needed. A memory that a
    session wrote after one of these is found by its own vector from then on. Nobody else may write meanwhile.

    Raises:
        OSError, RuntimeError, ValueError: the index cannot be read or written.

    """
    if (linked := next(links_below(directory), None)) is not None:
        raise ValueError(f"{linked} is a link, and what it leads to would be removed")
    database = lancedb.connect(directory)
    table = database.open_table(_TABLE)
    schema = table.schema
    state = msgspec.structs.replace(_read_state(table), trained=0)
    kept = table.search().where(f"NOT ({one_of('id', [*ids, STATE_ROW_ID])})")
    batches = kept.select(schema.names).to_batches(batch_size=_ROWS_PER_BATCH)
    vector = np.zeros(schema.field("vector").type.list_size, dtype=np.float32)
    vector[0] = 1.0
    both = dict.fromkeys(VECTOR_COLUMNS, vector)
    state_row = pa.Table.from_pylist([{**_state_row(state), **both}], schema=schema)
    rows = chain(state_row.to_batches(), (_without_context(batch.select(schema.names), ids) for batch in batches))
    written = database.create_table(_TABLE, data=rows, schema=schema, mode="overwrite")
    written.optimize(cleanup_older_than=_NO_OLD_VERSION, delete_unverified=True)
    close_tree(directory)


def _without_context(batch: Any, ids: Sequence[str]) -> Any:  # noqa: ANN401 - a batch of Arrow's
    """Return a batch without the context of some memories: those that follow them get the vector of their own text."""
    gone = set(ids)
    followers = [gone.intersection(before or ()) != set() for before in batch.column("after").to_pylist()]
    if not any(followers):
        return batch
    own, of_query = (np.array(batch.column(name).flatten()).reshape(batch.num_rows, -1) for name in VECTOR_COLUMNS)
    of_query[followers] = own[followers]
    listed = zip(batch.column("after").to_pylist(), followers, strict=True)
    changed = {
        VECTOR_COLUMNS[1]: pa.FixedSizeListArray.from_arrays(pa.array(of_query.ravel()), own.shape[1]),
        "after": pa.array([None if follows else before for before, follows in listed], pa.list_(pa.string())),
    }
    for name, values in changed.items():
        batch = batch.set_column(batch.schema.names.index(name), batch.schema.field(name), values)
    return batch


def _schema(dimension: int) -> Any:  # noqa: ANN401 - pyarrow has no types
    text, number = pa.string(), pa.int64()
    types = {"word": text, "words": pa.list_(text), "flag": pa.bool_()}
    return pa.schema(
        [
            pa.field("id", text, nullable=False),
            *(pa.field(name, pa.list_(pa.float32(), dimension), nullable=False) for name in VECTOR_COLUMNS),
            pa.field("after", pa.list_(text)),
            pa.field("digest", text),
            pa.field("namespace", text),
            pa.field("tags", pa.list_(text)),
            *(pa.field(field.name, types.get(field.filter, number)) for field in _COLUMNS if field.name != "id"),
            pa.field("state", text),
        ]
    )


def _state_row(state: VectorIndexState) -> dict[str, Any]:
    return {"id": STATE_ROW_ID, "state": msgspec.json.encode(state).decode()}
