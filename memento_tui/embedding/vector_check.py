"""Hold the vector index against the database: its ids, the texts and facts of its rows, and a sample of its vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from memento_tui.embedding.vector_index import (
    STATUSES_NOT_INDEXED,
    VECTOR_COLUMNS,
    IndexSnapshot,
    indexed_facts,
    is_indexed,
    open_finished_index,
)
from memento_tui.model import Memory
from memento_tui.model.filters import Not, OneOf
from memento_tui.storage.store import Store
from memento_tui.text.quantities import count_of

__all__ = ["compare_index", "compare_newest"]

_MOST_SAMPLED = 200
"""Memories whose rows and vectors are read in full."""

_LENGTH_TOLERANCE = 0.01
"""By how much the length of a vector may differ from 1, after it was stored as 32-bit numbers."""

_CHANGES_PER_READ = 20_000

_INDEXED = Not(OneOf("status", STATUSES_NOT_INDEXED))


class IndexReport(msgspec.Struct, frozen=True):
    """The differences between an index of vectors and the database."""

    differences: tuple[str, ...]
    """In words; empty where the index is as it should be."""
    compared: int = 0
    """Memories whose text was compared with the one that was embedded."""
    sampled: int = 0
    """Memories whose facts and vectors were read."""
    behind: int = 0
    """Memories that changed since the journal entry which the index reflects: they are not compared."""
    model: str = ""
    """The name of the model that made the vectors."""


def compare_index(directory: Path, store: Store) -> IndexReport:
    """Compare every id and text, and a sample of facts and vectors, while an engine may be writing the index.

    Raises:
        DataDirectoryError: the database cannot be read.

    """
    index = open_finished_index(directory)
    if index is None:
        return IndexReport(("it cannot be read",))
    if index.state.store != store.settings.identity():
        return IndexReport(("it is of another database",))
    try:
        digests = list(index.digests())
    except (OSError, RuntimeError) as error:
        return IndexReport((f"it cannot be read: {error}",))
    held = dict(digests)
    expected: dict[str, str] = {}
    sample: dict[str, Memory] = {}
    step = max(1, store.memories.count_all() // _MOST_SAMPLED)
    place = 0
    for batch in store.memories.batches():
        for memory in filter(is_indexed, batch):
            expected[memory.id] = indexed_facts(memory)["digest"]
            if place % step == 0:
                sample[memory.id] = memory
            place += 1
    # Read last: whatever changed while the database was read is in it.
    late = _changed_since(store, index.state.seq)
    sample = {name: memory for name, memory in sample.items() if name not in late}
    found = [
        *_id_differences(set(expected) - late, set(held) - late),
        *(["some memories are in it twice"] if len(digests) != len(held) else []),
        *_text_differences({name: text for name, text in expected.items() if name not in late}, held),
        *_row_differences(index, sample),
    ]
    compared = len((set(expected) & set(held)) - late)
    return IndexReport(tuple(found), compared, len(sample), len(late), index.state.source.name)


def compare_newest(index: IndexSnapshot, store: Store, entries: int) -> list[str]:
    """Return in words how an index differs in the memories that the last entries changed, and in the number of all.

    Raises:
        OSError, RuntimeError: the files are gone or damaged.

    """
    seq = index.state.seq
    ids, _ = store.journal.changed_memories(max(0, seq - entries), _MOST_SAMPLED)
    late = _changed_since(store, seq)
    memories = store.memories.get_many([name for name in ids if name not in late][:_MOST_SAMPLED])
    found = list(_row_differences(index, {name: one for name, one in memories.items() if is_indexed(one)}))
    count = index.count()
    if not late and store.journal.head() == seq and count != (expected := store.memories.count(_INDEXED)):
        found.append(f"it holds {count_of(count, 'memory', 'memories')}, and there are {expected:,}")
    return found


def _changed_since(store: Store, seq: int) -> set[str]:
    changed: set[str] = set()
    while seq < store.journal.head():
        ids, seq = store.journal.changed_memories(seq, _CHANGES_PER_READ)
        changed.update(ids)
    return changed


def _id_differences(expected: set[str], held: set[str]) -> Iterator[str]:
    if missing := expected - held:
        yield f"{count_of(len(missing), 'memory is missing', 'memories are missing')}, such as {min(missing)}"
    if surplus := held - expected:
        there = count_of(len(surplus), "memory is in it that does not exist", "memories are in it that do not exist")
        yield f"{there}, such as {min(surplus)}"


def _text_differences(expected: Mapping[str, str], held: Mapping[str, str]) -> Iterator[str]:
    outdated = [name for name, digest in expected.items() if held.get(name, digest) != digest]
    if outdated:
        have = count_of(len(outdated), "memory has", "memories have")
        yield f"{have} the vector of another text, such as {min(outdated)}"


def _row_differences(index: IndexSnapshot, memories: Mapping[str, Memory]) -> Iterator[str]:
    """Yield how the rows of some memories differ from them, and which vectors cannot be compared with others."""
    rows = index.rows(list(memories)) if memories else {}
    outdated = [name for name, row in rows.items() if _differs(row, memories[name])]
    if outdated:
        yield f"{len(outdated):,} of {len(rows):,} sampled memories are not as they are now, such as {min(outdated)}"
    broken = [name for name, row in rows.items() if not all(_is_vector(row[column]) for column in VECTOR_COLUMNS)]
    if broken:
        yield f"{len(broken):,} of {len(rows):,} sampled vectors are damaged, such as that of {min(broken)}"
    if missing := set(memories) - set(rows):
        yield f"{len(missing):,} of {len(memories):,} sampled memories have no vector, such as {min(missing)}"


def _differs(row: Mapping[str, Any], memory: Memory) -> bool:
    return any(row[column] != value for column, value in indexed_facts(memory).items())


def _is_vector(vector: Sequence[float]) -> bool:
    """Tell whether every number of a vector is finite, and its length 1."""
    length = float(np.linalg.norm(np.asarray(vector, dtype=np.float64)))
    return bool(np.isfinite(length)) and abs(length - 1.0) <= _LENGTH_TOLERANCE
