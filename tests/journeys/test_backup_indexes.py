"""The search indexes after a backup was restored: they hold what the database holds."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from memento_tui.api import Workspace
from memento_tui.embedding.engine_state import EngineState, ModelLock
from memento_tui.embedding.index_updater import IndexUpdater
from memento_tui.embedding.vector_index import VectorIndex
from tests.journeys.engine_house import until
from tests.made import edit

if TYPE_CHECKING:
    from memento_tui.embedding.models import Embedder, Vectors

WIDTH = 8


class FakeEmbedder:
    """Gives each text a vector of its own, without a model."""

    characters = 1000

    def documents(self, texts: Sequence[str]) -> Vectors:
        made = [np.random.default_rng(len(text)).standard_normal(WIDTH) for text in texts]
        return np.asarray([one / np.linalg.norm(one) for one in made], dtype=np.float32)

    def documents_in_context(self, texts: Sequence[tuple[str, str]]) -> Vectors:
        return self.documents([before + text for before, text in texts])


def _ids(index: VectorIndex) -> set[str]:
    return {name for name, _ in index.snapshot().search(np.ones(WIDTH, dtype=np.float32), "", 100)}


def test_the_index_of_meaning_is_begun_again_though_as_many_entries_were_written_since_as_were_lost(
    workspace: Workspace, tmp_path: Path
) -> None:
    index = VectorIndex(tmp_path / "semantic", WIDTH, workspace._store.settings.identity(), "model")
    embedder = cast("Embedder", FakeEmbedder())
    catch_up = IndexUpdater(workspace._store, index, embedder, ModelLock(), EngineState(), threading.Event())
    first = workspace.remember("One.")
    made = workspace.backups.make()
    second = workspace.remember("Two, which is lost.")
    while catch_up.step():
        pass
    assert _ids(index) == {first.id, second.id}
    workspace.backups.restore(made.name)
    third = workspace.remember("Three.")
    assert workspace._store.journal.head() > index.state.seq
    while catch_up.step():
        pass
    assert _ids(index) == {first.id, third.id}
    assert index.state.seq == workspace._store.journal.head()


def test_a_new_engine_joins_the_files_that_a_killed_one_left(workspace: Workspace, tmp_path: Path) -> None:
    def begun() -> IndexUpdater:
        index = VectorIndex(tmp_path / "semantic", WIDTH, workspace._store.settings.identity(), "model")
        embedder = cast("Embedder", FakeEmbedder())
        return IndexUpdater(workspace._store, index, embedder, ModelLock(), EngineState(), threading.Event())

    killed = begun()
    for text in ("One.", "Two."):
        workspace.remember(text)
        assert killed.step()
    updater = begun()
    assert not updater.step()
    assert updater.has_commits()

    def is_joined() -> bool:
        updater._index.optimize(keep=timedelta(milliseconds=50))
        return updater._index.is_optimized()

    until(is_joined, "the old versions are gone")
    assert not begun().has_commits()


def test_what_a_session_wrote_before_a_memory_is_in_the_vector_for_queries_until_it_is_purged(
    workspace: Workspace, tmp_path: Path
) -> None:
    index = VectorIndex(tmp_path / "semantic", WIDTH, workspace._store.settings.identity(), "model")
    embedder = cast("Embedder", FakeEmbedder())
    updater = IndexUpdater(workspace._store, index, embedder, ModelLock(), EngineState(), threading.Event())
    written = [("A question.", "s"), ("And the answer to it.", "s"), ("Something else altogether.", "")]
    ids = [workspace.remember(text, source={"session": session}).id for text, session in written]
    while updater.step():
        pass

    def taken_in() -> list[bool]:
        rows = index.snapshot().rows(ids)
        return [not np.allclose(rows[name]["vector"], rows[name]["search_vector"]) for name in ids if name in rows]

    assert taken_in() == [False, True, False]
    edit(workspace, ids[1], certainty=2)
    while updater.step():
        pass
    assert taken_in() == [False, True, False]
    rows = index.snapshot().rows(ids)
    assert [rows[name]["after"] for name in ids] == [None, [ids[0]], None]
    index.purge([ids[0]])
    assert taken_in() == [False, False]
    assert index.snapshot().rows(ids)[ids[1]]["after"] is None
