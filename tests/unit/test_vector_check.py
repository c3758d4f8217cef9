"""The index of vectors is compared with the database, after real changes of its files, and made anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from memento_tui.api import Workspace
from memento_tui.api.health import examine
from memento_tui.api.integrity import check_vectors, repair
from tests.made import edit

if TYPE_CHECKING:
    from memento_tui.embedding.vector_index import VectorIndex

pytestmark = pytest.mark.engine

_DIMENSION = 4


def _index(workspace: Workspace) -> VectorIndex:
    from memento_tui.embedding.vector_index import ModelSource, VectorIndex  # noqa: PLC0415 - takes a second

    identity = workspace._store.settings.identity()
    return VectorIndex(workspace.paths.semantic_index, _DIMENSION, identity, "digest", ModelSource("a small model"))


def _carry(workspace: Workspace, index: VectorIndex) -> None:
    """Bring the index up to date as the engine does, with vectors that no model made."""
    from memento_tui.embedding.vector_index import indexed_facts, is_indexed  # noqa: PLC0415 - as above

    memories = [one for batch in workspace._store.memories.batches() for one in batch if is_indexed(one)]
    vectors = [np.eye(_DIMENSION, dtype=np.float32)[place % _DIMENSION] for place in range(len(memories))]
    state = msgspec.structs.replace(index.state, seq=workspace._store.journal.head())
    index.write([{**indexed_facts(one), "after": None} for one in memories], vectors, state=state)


def _at_start(workspace: Workspace, index: VectorIndex) -> list[str]:
    """Return what the engine finds wrong when it starts."""
    from memento_tui.embedding.vector_check import compare_newest  # noqa: PLC0415 - as above

    return compare_newest(index.snapshot(), workspace._store, 1000)


@pytest.fixture
def indexed(workspace: Workspace) -> tuple[Workspace, VectorIndex]:
    for number in range(5):
        workspace.remember(f"Fact {number} of the index.", id=f"m{number}", tags=["Über"])
    workspace.forget("m4")
    index = _index(workspace)
    _carry(workspace, index)
    return workspace, index


def test_without_vectors_nothing_is_wrong(workspace: Workspace) -> None:
    finding = check_vectors(workspace)
    assert (finding.ok, finding.detail) == (True, "there are none yet; the engine makes them")


def test_an_index_that_is_in_order_says_what_was_compared(indexed: tuple[Workspace, VectorIndex]) -> None:
    workspace, index = indexed
    finding = check_vectors(workspace)
    assert (finding.ok, finding.detail) == (
        True,
        "4 memories have the vector of their text, made by a small model; 4 were read",
    )
    assert _at_start(workspace, index) == []
    assert "vectors" in [one.name for one in examine(workspace)]


def test_what_the_index_does_not_reflect_yet_is_no_fault(indexed: tuple[Workspace, VectorIndex]) -> None:
    workspace, index = indexed
    workspace.remember("Another.")
    edit(workspace, "m0", content="Fact 0 has changed.")
    workspace.forget("m1")
    finding = check_vectors(workspace)
    assert finding.ok
    assert "2 memories have" in finding.detail
    assert "3 changed since" in finding.detail
    assert _at_start(workspace, index) == []


def _of(row: dict[str, Any], vector: list[float]) -> Callable[[VectorIndex], None]:
    return lambda index: index.write([row], [np.array(vector, dtype=np.float32)])


def _row(index: VectorIndex, name: str) -> dict[str, Any]:
    row = index.snapshot().rows([name])[name]
    return {column: value for column, value in row.items() if column not in ("vector", "search_vector")}


DAMAGE: dict[str, tuple[Callable[[VectorIndex], None], str]] = {
    "missing": (lambda index: index.write([], [], gone=["m2"]), "1 memory is missing, such as m2"),
    "surplus": (
        lambda index: _of({**_row(index, "m0"), "id": "m9"}, [1, 0, 0, 0])(index),
        "1 memory is in it that does not exist, such as m9",
    ),
    "text": (
        lambda index: _of({**_row(index, "m1"), "digest": "0" * 32}, [1, 0, 0, 0])(index),
        "1 memory has the vector of another text, such as m1",
    ),
    "facts": (
        lambda index: _of({**_row(index, "m1"), "status": "archived"}, [1, 0, 0, 0])(index),
        "1 of 4 sampled memories are not as they are now, such as m1",
    ),
    "not finite": (
        lambda index: _of(_row(index, "m3"), [float("inf"), 0, 0, 0])(index),
        "1 of 4 sampled vectors are damaged, such as that of m3",
    ),
    "length": (
        lambda index: _of(_row(index, "m3"), [9, 0, 0, 0])(index),
        "1 of 4 sampled vectors are damaged, such as that of m3",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_an_index_that_differs_is_found_at_the_start_and_by_doctor_and_made_anew(
    indexed: tuple[Workspace, VectorIndex], kind: str
) -> None:
    workspace, index = indexed
    damage, expected = DAMAGE[kind]
    damage(index)
    finding = check_vectors(workspace)
    assert not finding.ok
    assert expected in finding.detail
    assert "--repair" in finding.hint
    assert _at_start(workspace, index)
    assert repair(workspace) == ["the vectors were deleted; the engine makes them anew"]
    assert not workspace.paths.semantic_index.exists()
    assert check_vectors(workspace).ok


def test_files_that_cannot_be_read_are_said(indexed: tuple[Workspace, VectorIndex]) -> None:
    workspace, _ = indexed
    files = [path for path in workspace.paths.semantic_index.rglob("*") if path.is_file()]
    for path in files:
        path.write_bytes(b"damaged")
    finding = check_vectors(workspace)
    assert not finding.ok
    assert "cannot be read" in finding.detail


def test_the_vectors_of_another_database_are_said(indexed: tuple[Workspace, VectorIndex]) -> None:
    workspace, _ = indexed
    with workspace._store.database.writing() as connection:
        connection.execute("UPDATE setting SET value = 'another' WHERE name = 'origin'")
    del workspace._store.database.__dict__["origin"]
    assert "of another database" in check_vectors(workspace).detail


def test_what_a_link_among_the_vectors_leads_to_is_neither_cleaned_away_nor_read(
    indexed: tuple[Workspace, VectorIndex], tmp_path: Path
) -> None:
    from memento_tui.embedding.vector_index import remove_vectors  # noqa: PLC0415 - as above

    workspace, _ = indexed
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "photo.jpg").write_text("Keep me.")
    places = ("data/more", "_indices/0cdf1dca-93c5-4b4e-b1a3-3a1d5d5b0f5c")
    for place in places:
        link = workspace.paths.semantic_index / "memory.lance" / place
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(mine)
        with pytest.raises(ValueError, match="is a link"):
            remove_vectors(workspace.paths.semantic_index, ["m1"])
        anew = _index(workspace)
        anew.optimize()
        assert not link.exists()
        assert anew.state.seq == 0
    assert (mine / "photo.jpg").read_text() == "Keep me."
