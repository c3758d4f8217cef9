"""The table of vectors: exact after a kill, disposable, and as good when it is large."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest

from memento_tui.embedding import lance
from memento_tui.embedding.vector_index import VectorIndex, VectorIndexState, indexed_facts
from memento_tui.model import make_memory
from tests.journeys.engine_house import until

if TYPE_CHECKING:
    from memento_tui.embedding.models import Vectors

WIDTH = 16


def opened(folder: Path, *, store: str = "store", model: str = "model", width: int = WIDTH) -> VectorIndex:
    return VectorIndex(folder / "index" / "semantic", width, store, model)


def row(name: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - the fields of a memory
    return indexed_facts(make_memory({"id": name, "content": f"text of {name}", **fields}))


def vectors(count: int, seed: int = 1) -> Vectors:
    made = np.random.default_rng(seed).standard_normal((count, WIDTH)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype=np.float32)


def reached(index: VectorIndex, seq: int) -> VectorIndexState:
    return msgspec.structs.replace(index.state, seq=seq, entry=f"hash {seq}")


def filled(folder: Path) -> VectorIndex:
    index = opened(folder)
    index.write([row("a", tags=["X", "y"]), row("b")], list(vectors(2)), state=reached(index, 7))
    return index


def test_what_was_written_is_found_after_opening_again_with_the_entry_it_reflects(tmp_path: Path) -> None:
    filled(tmp_path)
    index = opened(tmp_path)
    assert index.state.seq == 7
    assert index.state.entry == "hash 7"
    assert index.snapshot().count() == 2
    found = index.snapshot().search(vectors(2)[1], "", 10)
    assert [name for name, _ in found] == ["b", "a"]
    assert found[0][1] == pytest.approx(1.0, abs=1e-5)


def test_similarities_lie_between_zero_and_one(tmp_path: Path) -> None:
    index = filled(tmp_path)
    similarities = [similarity for _, similarity in index.snapshot().search(-vectors(2)[0], "", 10)]
    assert len(similarities) == 2
    assert all(0.0 <= similarity <= 1.0 for similarity in similarities)


def test_rows_are_given_back_as_they_were_written(tmp_path: Path) -> None:
    index = filled(tmp_path)
    stored = index.snapshot().rows(["a", "nobody"])
    assert list(stored) == ["a"]
    vector, search_vector = stored["a"].pop("vector"), stored["a"].pop("search_vector")
    assert stored["a"].pop("after") is None
    expected = row("a", tags=["X", "y"])
    moments = {name: stored["a"][name] for name in ("created_at", "updated_at")}
    assert stored["a"] == {**expected, **moments}
    assert np.array_equal(vector, vectors(2)[0])
    assert np.array_equal(search_vector, vector)


def test_a_write_replaces_and_removes(tmp_path: Path) -> None:
    index = filled(tmp_path)
    changed = vectors(1, seed=9)
    index.write([row("b", certainty=5)], list(changed), gone=["a"], state=reached(index, 8))
    assert index.snapshot().count() == 1
    assert [name for name, _ in index.snapshot().search(changed[0], "certainty >= 5", 10)] == ["b"]
    assert np.array_equal(index.snapshot().rows(["b"])["b"]["vector"], changed[0])
    assert opened(tmp_path).state.seq == 8


def test_the_row_that_holds_the_state_is_never_a_result(tmp_path: Path) -> None:
    index = filled(tmp_path)
    beside_state = np.eye(WIDTH, dtype=np.float32)[0]
    assert {name for name, _ in index.snapshot().search(beside_state, "", 10)} == {"a", "b"}
    assert {name for name, _ in index.snapshot().search(beside_state, "id IS NOT NULL", 1)} <= {"a", "b"}
    assert index.snapshot().search(beside_state, "false", 10) == []


@pytest.mark.parametrize("other", [{"store": "another"}, {"model": "another"}, {"width": 8}])
def test_an_index_of_another_store_or_model_is_begun_again(tmp_path: Path, other: dict[str, Any]) -> None:
    filled(tmp_path)
    index = opened(tmp_path, **other)
    assert index.snapshot().count() == 0
    assert index.state.seq == 0
    assert opened(tmp_path, **other).snapshot().count() == 0


@pytest.mark.parametrize("part", ["data", "_versions"])
def test_a_damaged_index_is_noticed_and_begun_again(tmp_path: Path, part: str) -> None:
    index = filled(tmp_path)
    index.optimize()
    for path in (tmp_path / "index").rglob(f"*.lance/{part}/*"):
        path.write_bytes(path.read_bytes()[:40])
    again = opened(tmp_path)
    if again.snapshot().count():
        assert not again.is_sound()
        again.rebuild("it is damaged")
    assert again.snapshot().count() == 0
    assert again.is_sound()
    again.write([row("c")], list(vectors(1)))
    assert again.snapshot().count() == 1


def test_a_deleted_index_is_noticed(tmp_path: Path) -> None:
    index = filled(tmp_path)
    assert index.is_present()
    for path in sorted((tmp_path / "index").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    assert not index.is_present()


def test_a_condition_that_cannot_be_read_is_a_value_error(tmp_path: Path) -> None:
    index = filled(tmp_path)
    for condition in ("no such thing", "missing = 1", "(" * 500):
        with pytest.raises(ValueError, match=r"."):
            index.snapshot().search(vectors(1)[0], condition, 5)


def test_optimizing_until_it_is_optimized_takes_removed_vectors_off_the_disk(tmp_path: Path) -> None:
    index = filled(tmp_path)
    secret = vectors(2)[0].tobytes()

    def on_disk() -> bool:
        return any(secret in path.read_bytes() for path in (tmp_path / "index").rglob("*") if path.is_file())

    def optimized() -> bool:
        index.optimize(keep=timedelta(milliseconds=50))
        return index.is_optimized()

    assert on_disk()
    index.write([], [], gone=["a"], state=reached(index, 8))
    assert not index.is_optimized()
    until(optimized, "the old versions are gone")
    assert not on_disk()
    assert index.snapshot().count() == 1
    assert opened(tmp_path).state.seq == 8


def test_a_large_index_is_partitioned_and_still_finds_what_is_near(tmp_path: Path) -> None:
    index = opened(tmp_path)
    many = vectors(20_000)
    template = row("x", namespace="common")
    rows = [{**template, "id": f"m{number}"} for number in range(len(many))]
    for number in (5, 17, 4000):
        rows[number]["namespace"] = "rare"
    index.write(rows, list(many), state=reached(index, 3))
    index.optimize()
    assert index.state.trained == 20_000
    late = vectors(1, seed=5)
    index.write([row("late")], list(late))
    # Partitions are begun at random, so one query may miss a few of what lies at the border of two.
    recalled = []
    for number in range(0, 20_000, 1000):
        wanted = [f"m{place}" for place in np.argsort(-(many @ many[number]))[:10]]
        found = [name for name, _ in index.snapshot().search(many[number], "", 10)]
        assert found[0] == f"m{number}"
        recalled.append(len({*found} & {*wanted}) / 10)
    assert np.mean(recalled) >= 0.9
    assert index.snapshot().search(late[0], "", 1)[0][0] == "late"
    for most_meet in (False, True):
        rare = index.snapshot().search(many[9], "namespace = 'rare'", 10, most_meet=most_meet)
        assert {name for name, _ in rare} == {"m5", "m17", "m4000"}
    alike = []
    for number in range(0, 20_000, 1000):
        first, second = (
            index.snapshot().search(many[number], "namespace = 'common'", 50, most_meet=most_meet)
            for most_meet in (False, True)
        )
        alike.append(len({name for name, _ in first} & {name for name, _ in second}) / 50)
    assert np.mean(alike) >= 0.96
    assert opened(tmp_path).state == index.state


def _said_by(program: str) -> list[str]:
    """Return the lines that a program prints, run in a process of its own: modules are imported once in each."""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)  # noqa: S603 - ours
    return ran.stdout.splitlines()


def test_no_client_of_remote_catalogues_is_loaded() -> None:
    (said,) = _said_by("import sys, json, memento_tui.embedding.lance; print(json.dumps(sorted(sys.modules)))")
    loaded = {name for name in json.loads(said) if name.startswith("lance_namespace_urllib3_client.")}
    assert "lance_namespace_urllib3_client.models.list_tables_response" in loaded, (
        "LanceDB has another client now, which may be dear too"
    )
    assert "lance_namespace_urllib3_client.api" not in loaded
    assert "lance_namespace_urllib3_client.models.create_table_request" not in loaded


def test_whoever_uses_catalogues_beside_memento_has_them_whole() -> None:
    assert _said_by(
        "import memento_tui.embedding.lance as ours\n"
        "from lance_namespace import LanceNamespace, TableNotFoundError, ListTablesResponse, connect\n"
        "import lancedb.db\n"
        "try: ours._connect('theirs.Catalogue', {})\n"
        "except ValueError as error: print('theirs.Catalogue' in str(error))\n"
        "print(LanceNamespace is not object, TableNotFoundError is lancedb.db.TableNotFoundError,"
        " ListTablesResponse is lancedb.db.ListTablesResponse)"
    ) == ["True", "True True True"]


def test_where_lancedb_cannot_be_imported_nothing_is_left_in_its_place() -> None:
    assert _said_by(
        "import sys\n"
        "before = set(sys.modules); sys.modules['lancedb'] = None\n"
        "try: import memento_tui.embedding.lance\n"
        "except ImportError as error: print(error.name)\n"
        "print(sorted({'overrides', 'lance_namespace', 'lance_namespace_urllib3_client'} & set(sys.modules)))\n"
    ) == ["lancedb", "[]"]


def test_a_package_that_somebody_has_loaded_before_stays_theirs() -> None:
    assert _said_by(
        "import sys, types\n"
        "theirs = sys.modules['overrides'] = types.ModuleType('overrides')\n"
        "theirs.EnforceOverrides, theirs.override = type('EnforceOverrides', (), {}), lambda method: method\n"
        "import lance_namespace, memento_tui.embedding.lance\n"
        "print(sys.modules['overrides'] is theirs, sys.modules['lance_namespace'] is lance_namespace)"
    ) == ["True True"]


def test_what_lancedb_names_of_a_catalogue_is_there() -> None:
    tables = lance._model("ListTablesResponse")(tables=["a"])
    assert vars(tables)["tables"] == ["a"]
    with pytest.raises(AttributeError):
        lance._model("SomethingElse")


def test_the_vectors_in_memory_follow_what_is_written_removed_purged_and_rebuilt(tmp_path: Path) -> None:
    index = opened(tmp_path)
    assert index.resident is None, "nothing was read yet"
    index.write([row("a"), row("b", namespace="projects/x")], list(vectors(2)), state=reached(index, 1))
    index.load_resident()

    def near(seed: int, count: int = 1) -> list[str]:
        assert index.resident is not None
        return [name for name, _ in index.resident.nearest(vectors(count, seed)[-1], lambda _: True, 5)]

    assert near(1)[0] == "a"
    index.write([row("c"), row("a", status="archived")], list(vectors(2, 9)), state=reached(index, 2))
    assert sorted(near(9)) == ["b", "c"], "one that is archived is not told"
    index.write([], [], gone=["b"], state=reached(index, 3))
    assert near(9) == ["c"]
    index.write([row("d")], list(vectors(1, 4)), state=reached(index, 4))
    index.purge(["c"])
    assert near(9) == ["d"]
    again = opened(tmp_path)
    again.load_resident()
    assert again.resident is not None
    assert len(again.resident) == 1
    index.rebuild("a test wants it")
    assert near(9) == []
