"""A purge takes words and vectors out of the files of the indexes, and leaves what is beside them."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

import msgspec
import numpy as np
import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.embedding.vector_index import VectorIndex, indexed_facts
from memento_tui.model import Memory, make_memory

SECRET = "hunter2-correct-horse"  # noqa: S105 - what is looked for
WIDTH = 8


def _segments(workspace: Workspace) -> set[str]:
    return {path.stem for path in workspace.paths.keyword_index.glob("*.store")}


def _words_of(workspace: Workspace, beginning: str) -> list[object]:
    return list(workspace.search_engine.keyword._searcher().terms_with_prefix("words", beginning, limit=9))


def _filled(workspace: Workspace) -> Memory:
    """Fill three segments, the second of which holds the secret; return its memory."""
    for text in ("alpha", "beta"):
        workspace.remember_many({"content": f"{text} {n} of the first files"} for n in range(50))
        workspace.search("alpha", mode="keyword")
        if text == "alpha":
            secret = workspace.remember(f"The horse is called {SECRET}.")
            workspace.remember("A neighbour of the horse.")
            workspace.search("horse", mode="keyword")
    return secret


def test_only_the_files_that_hold_a_purged_word_are_written_anew(
    workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    secret = _filled(workspace)
    before = _segments(workspace)
    assert len(before) == 3
    with caplog.at_level(logging.INFO):
        workspace.purge(secret.id, "leaked")
    assert caplog.messages == []  # it would say why all of the index was built anew
    after = _segments(workspace)
    assert len(before & after) == 2
    assert _words_of(workspace, "hunter") == []
    assert workspace.search("neighbour horse", mode="keyword").total == 1
    assert workspace.search("alpha", mode="keyword").total == 50
    assert workspace.search_engine.keyword.notice == ""


def test_the_words_of_earlier_versions_and_of_a_deleted_memory_go_too(workspace: Workspace) -> None:
    secret = _filled(workspace)
    workspace.update(secret.id, content="Nothing to see.")
    workspace.search("nothing", mode="keyword")
    workspace.forget(secret.id)
    workspace.search("nothing", mode="keyword")
    workspace.purge(secret.id, "leaked")
    with memento_tui.open(workspace.paths.root) as other:
        assert _words_of(other, "hunter") == _words_of(other, "nothing") == []
        assert other.search("horse", mode="keyword").total == 1


def test_an_index_whose_files_cannot_be_looked_into_is_built_anew(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = _filled(workspace)

    def fail(*_: object) -> None:
        raise ValueError("the file is no segment")

    monkeypatch.setattr("memento_tui.search.keyword_index.ids_beside", fail)
    workspace.purge(secret.id, "leaked")
    assert _words_of(workspace, "hunter") == []
    assert workspace.search("alpha", mode="keyword").total == 50


# Vectors


def _vector(number: int) -> np.ndarray:
    return np.random.default_rng(number).standard_normal(WIDTH).astype(np.float32)


def _index(folder: Path, count: int) -> VectorIndex:
    index = VectorIndex(folder, WIDTH, "store", "model")
    state = msgspec.structs.replace(index.state, seq=7, entry="hash", trained=5)
    rows = [indexed_facts(make_memory({"id": f"m{n}", "content": f"text {n}"})) for n in range(count)]
    index.write(rows, [_vector(n) for n in range(count)], state=state)
    return index


def _files_with(folder: Path, number: int) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and _vector(number).tobytes() in path.read_bytes()]


def test_a_purged_vector_is_in_no_file_and_every_other_is_where_it_was(tmp_path: Path) -> None:
    index = _index(tmp_path / "semantic", 300)
    index.write([], [], gone=["m5"])
    index.optimize(keep=timedelta(milliseconds=1))
    assert _files_with(tmp_path, 5), "LanceDB keeps what is deleted, which is why a purge does more"
    index.purge(["m5", "m6"])
    assert (_files_with(tmp_path, 5), _files_with(tmp_path, 6)) == ([], [])
    snapshot = index.snapshot()
    assert snapshot.count() == 298
    assert [name for name, _ in snapshot.search(_vector(7), "", 1)] == ["m7"]
    again = VectorIndex(tmp_path / "semantic", WIDTH, "store", "model")
    assert (again.state.seq, again.state.entry, again.state.trained) == (7, "hash", 0)
    assert again.snapshot().count() == 298
    index.write([indexed_facts(make_memory({"id": "m5", "content": "anew"}))], [_vector(999)])
    assert index.snapshot().count() == 299


def test_the_api_takes_vectors_out_without_a_model_where_no_engine_runs(workspace: Workspace) -> None:
    memory = workspace.remember(f"The horse is called {SECRET}.", make_id=lambda: "m5")
    _index(workspace.paths.semantic_index, 300)
    workspace.purge(memory.id, "leaked")
    assert _files_with(workspace.paths.semantic_index, 5) == []
    assert len(_files_with(workspace.paths.semantic_index, 7)) == 1


def test_an_index_that_cannot_be_written_is_deleted_rather_than_kept_with_the_vector(workspace: Workspace) -> None:
    memory = workspace.remember(f"The horse is called {SECRET}.", make_id=lambda: "m5")
    _index(workspace.paths.semantic_index, 30)
    next(workspace.paths.semantic_index.rglob("*.lance")).joinpath("_versions").rename(workspace.paths.root / "gone")
    workspace.purge(memory.id, "leaked")
    assert not workspace.paths.semantic_index.exists()
