"""Vectors on object storage that the machines of a hub have in common: a text is embedded once, by whoever is first.

There is one LanceDB table for each workspace of a hub and each model. It is a cache and nothing more: every machine has
an index of its own, which alone answers searches, embeds what is not in the table, and goes on without it. Rows are
added and never changed, so machines write at the same time; joining them into larger files is for one at a time, under
a lock at the hub (`memento_tui.hub.vectors`).
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import pyarrow as pa

from memento_tui.agreements import Destination, require_agreement
from memento_tui.embedding.lance import lancedb
from memento_tui.errors import NotAllowed
from memento_tui.model import Memory
from memento_tui.search.lance_filter import one_of
from memento_tui.storage.hub_state import HubMembership, membership_of
from memento_tui.storage.journal import HUB_CHANNEL
from memento_tui.storage.store import Store

__all__ = ["SharedVectors", "Text", "VectorCompaction", "VectorExchange", "compact_shared_vectors"]

if TYPE_CHECKING:
    from memento_tui.embedding.models import Vectors

T = TypeVar("T")

Text = tuple[str, ...]
"""The words that a vector is made of: a text, or its context and the text."""

_OPTIONS = {"timeout": "10s", "connect_timeout": "3s", "client_max_retries": "1", "client_retry_timeout": "10"}
"""For how long object storage is waited for; where it is and with which key, the environment says."""

_RETRY_SECONDS = 300.0
"""Seconds until object storage that failed is asked again."""

_ROWS_AT_ONCE = 500
"""Texts that one query asks for."""

_OLD_VERSIONS_KEPT = timedelta(hours=1)
"""How long old versions stay: longer than any machine reads one."""

_MOST_TABLES = 10_000
"""Tables at one address that are looked at."""

_LENGTH_TOLERANCE = 0.02
"""How far from 1 the length of a vector may be that another machine made."""

_PURGE_SETTING = "shared vectors reflect purge of hub "
"""The setting, with the id of a hub's workspace behind it, of the newest purge that its vectors were deleted for."""

_log = logging.getLogger(__name__)


class VectorCompaction(NamedTuple):
    """How many files and vectors the tables of a workspace have, before and after they were compacted."""

    files_before: int
    files: int
    vectors: int


class SharedVectors:
    """The table of one workspace and one model. Its methods raise whatever LanceDB raises, which is any type."""

    def __init__(self, address: str, workspace: str, model: str, dimension: int) -> None:
        self._address = address
        self._key = workspace.encode()[:64]
        self._workspace = workspace
        self._name = f"{workspace}-{model}"
        self._schema = pa.schema(
            [
                pa.field("text", pa.string(), nullable=False),
                pa.field("vector", pa.list_(pa.float32(), dimension), nullable=False),
            ]
        )
        self._dimension = dimension
        self._table: Any = None

    def find(self, texts: Sequence[Text]) -> dict[Text, Vectors]:
        """Return the vectors of those of the texts that the table has, each of length 1."""
        table = self._opened()
        table.checkout_latest()
        by_digest = {self._digest(text): text for text in texts}
        digests = list(by_digest)
        found: dict[Text, Vectors] = {}
        for start in range(0, len(digests), _ROWS_AT_ONCE):
            part = digests[start : start + _ROWS_AT_ONCE]
            # Two machines may have added the same text at the same time.
            rows = table.search().where(one_of("text", part)).select(["text", "vector"]).limit(8 * len(part)).to_arrow()
            vectors = rows.column("vector").combine_chunks().flatten().to_numpy().reshape(-1, self._dimension)
            lengths = np.linalg.norm(vectors, axis=1)
            for digest, vector, length in zip(rows.column("text").to_pylist(), vectors, lengths, strict=True):
                if abs(length - 1.0) <= _LENGTH_TOLERANCE:
                    found[by_digest[digest]] = vector
        return found

    def put(self, made: Mapping[Text, Vectors]) -> None:
        """Add the vectors of texts that the table has not got."""
        flat = pa.array(np.concatenate(list(made.values())).astype(np.float32, copy=False))
        columns = [
            pa.array([self._digest(text) for text in made]),
            pa.FixedSizeListArray.from_arrays(flat, self._dimension),
        ]
        rows = pa.table(columns, schema=self._schema)
        self._opened().merge_insert("text").when_not_matched_insert_all().execute(rows)

    def drop(self) -> None:
        """Delete every vector of the workspace, of any model: which is of a text that was purged, nobody can tell."""
        self._table = None
        database = _connect(self._address)
        for name in database.list_tables(limit=_MOST_TABLES).tables:
            if name.startswith(f"{self._workspace}-"):
                database.drop_table(name)

    def _opened(self) -> Any:  # noqa: ANN401 - LanceDB has no types
        if self._table is None:
            database = _connect(self._address)
            # One with other columns, which could be of any size, is refused here before a row is read.
            self._table = database.create_table(self._name, schema=self._schema, exist_ok=True)
        return self._table

    def _digest(self, text: Text) -> str:
        # Keyed, so that no two workspaces have a digest in common. It hides no text from whoever reads the bucket: the
        # key is in the table's name, and the vectors tell as much.
        return hashlib.blake2b(msgspec.json.encode(text), digest_size=16, key=self._key).hexdigest()


def _connect(address: str) -> Any:  # noqa: ANN401 - LanceDB has no types
    """Open object storage. Raises `NotAllowed` where the person did not agree to send anything there."""
    require_agreement(Destination.of_shared_vectors(address))
    return lancedb.connect(address, storage_options=_OPTIONS)


def compact_shared_vectors(address: str, workspace: str) -> VectorCompaction:
    """Join the small files of a workspace's tables, one of each model, and drop old versions.

    Nobody else may do so meanwhile; others may find and put. Raises whatever LanceDB raises, which is any type, and
    `NotAllowed` where the person did not agree to the address.
    """
    database = _connect(address)
    before = files = vectors = 0
    for name in database.list_tables(limit=_MOST_TABLES).tables:
        if name.startswith(f"{workspace}-"):
            table: Any = database.open_table(name)
            before += _files_of(table)
            table.optimize(cleanup_older_than=_OLD_VERSIONS_KEPT)
            table.checkout_latest()
            files += _files_of(table)
            vectors += table.count_rows()
    return VectorCompaction(before, files, vectors)


def _files_of(table: Any) -> int:  # noqa: ANN401 - LanceDB has no types
    return int(table.stats()["fragment_stats"]["num_fragments"])


class VectorExchange:
    """Finds and gives shared vectors for one store in a hub. Failures are logged, and tried again later.

    What leaves this machine is made of memories that the hub is given anyway: not of restricted ones, nor of those in
    namespaces that are not shared; nothing from a reader, and from an agent's login nothing that a person wrote at.
    """

    def __init__(self, address: str, store: Store, model: str, dimension: int) -> None:
        self._address = address
        self._store = store
        self._model = model
        self._dimension = dimension
        self._opened: tuple[str, SharedVectors] | None = None
        self._asked_again_at = 0.0
        self.forget_purged()  # what was purged while there was no engine

    def find(self, wanted: Sequence[tuple[Memory, Text]]) -> dict[Text, Vectors]:
        """Return the vectors that other machines made of these texts, each of its memory."""

        def find(shared: SharedVectors, membership: HubMembership) -> dict[Text, Vectors]:
            texts = list(dict.fromkeys(text for memory, text in wanted if _may_leave(memory, membership)))
            return shared.find(texts) if texts else {}

        return self._reach(find) or {}

    def put(self, made: Sequence[tuple[Memory, Text, Vectors]]) -> None:
        """Give other machines the vectors that were made here."""

        def put(shared: SharedVectors, membership: HubMembership) -> None:
            rows = {text: vector for memory, text, vector in made if self._is_given(memory, text, membership)}
            if rows:
                shared.put(rows)

        self._reach(put)

    def forget_purged(self) -> None:
        """Delete the shared vectors where something was purged here since this was last asked of the hub, or ever."""

        def forget(shared: SharedVectors, membership: HubMembership) -> None:
            setting = f"{_PURGE_SETTING}{membership.workspace}"
            known, newest = int(self._store.settings.get(setting) or 0), self._store.journal.last_of_action("purge")
            if known < newest:
                shared.drop()
                _log.info("the shared vectors were deleted, because something was purged here")
            if known != newest:
                self._store.settings.set(setting, str(newest))

        self._asked_again_at = 0.0
        self._reach(forget)

    def _is_given(self, memory: Memory, text: Text, membership: HubMembership) -> bool:
        """Tell whether the hub is given a text: a reader gives none, an agent's login nothing of this person."""
        if membership.role == "reader" or not _may_leave(memory, membership):
            return False
        if membership.role != "agent":
            return True
        if len(text) > 1:
            return False  # a person may have written at what stands before it
        entries = (revision.entry for revision in self._store.journal.history(Memory, memory.id))
        return all(entry.actor != "person" or entry.channel == HUB_CHANNEL for entry in entries)

    def _reach(self, do: Callable[[SharedVectors, HubMembership], T]) -> T | None:
        """Do something with the table of the hub's workspace; ``None`` without one, or where that failed."""
        membership = membership_of(self._store.settings)
        if membership is None or time.monotonic() < self._asked_again_at:
            return None
        if self._opened is None or self._opened[0] != membership.workspace:
            shared = SharedVectors(self._address, membership.workspace, self._model, self._dimension)
            self._opened = (membership.workspace, shared)
        try:
            return do(self._opened[1], membership)
        except NotAllowed as error:
            _log.warning("%s", error)
        except Exception:  # noqa: BLE001 - LanceDB raises any type, and nothing here depends on what it has
            _log.exception("the vectors in %s cannot be used; texts are embedded here", self._address)
        self._opened = None
        self._asked_again_at = time.monotonic() + _RETRY_SECONDS
        return None


def _may_leave(memory: Memory, membership: HubMembership) -> bool:
    return memory.sensitivity != "restricted" and membership.shares(memory.namespace)
