"""Vectors that machines have in common on object storage: a text is embedded once, and nothing depends on them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import psycopg
import pytest

from memento_tui.agreements import Destination, agree_to
from memento_tui.api import Workspace
from memento_tui.embedding.engine_state import EngineState, ModelLock
from memento_tui.embedding.index_updater import IndexUpdater
from memento_tui.embedding.lance import lancedb
from memento_tui.embedding.shared_vectors import SharedVectors, VectorCompaction, VectorExchange, compact_shared_vectors
from memento_tui.embedding.vector_index import VectorIndex
from memento_tui.errors import DataDirectoryError, NotAllowed
from memento_tui.hub import vectors
from memento_tui.hub.server import HubServer
from tests.hub.conftest import MakeMachine
from tests.hub.machines import SITE, Machine, in_step
from tests.journeys.cli_shell import Console
from tests.made import without_engine
from tests.object_storage import running_object_storage

if TYPE_CHECKING:
    from memento_tui.embedding.models import Embedder, Vectors

ADDRESS = "s3://bucket/vectors"
WIDTH = 8


class CountingModel:
    """A model that makes a vector of the letters of a text, and keeps what it was asked for."""

    identity = "letters"
    dimension = WIDTH
    characters = 1_000

    def __init__(self) -> None:
        self.asked: list[str] = []

    def documents(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.stack([self._vector(text) for text in texts])

    def documents_in_context(self, texts: Sequence[tuple[str, str]]) -> Vectors:
        self.asked += ["|".join(both) for both in texts]
        return np.stack([self._vector("|".join(both)) for both in texts])

    @staticmethod
    def _vector(text: str) -> Vectors:
        made = np.frombuffer(hashlib.sha256(text.encode()).digest()[:WIDTH], dtype=np.uint8).astype(np.float32) + 1
        return np.asarray(made / np.linalg.norm(made), dtype=np.float32)


class Engine:
    """What the engine of one machine does with its texts, in this process."""

    def __init__(self, machine: Machine, address: str = ADDRESS) -> None:
        self.model = CountingModel()
        store = machine.workspace._store
        self.index = VectorIndex(machine.folder / "vectors", WIDTH, store.settings.identity(), CountingModel.identity)
        exchange = VectorExchange(address, store, CountingModel.identity, WIDTH)
        model, lock = cast("Embedder", self.model), ModelLock()
        self.updater = IndexUpdater(store, self.index, model, lock, EngineState(), threading.Event(), exchange)

    def run(self) -> list[str]:
        """Bring the index up to date; return the texts that were embedded for it."""
        self.model.asked.clear()
        while self.updater.step():
            pass
        return sorted(self.model.asked)

    def found(self, name: str) -> Vectors:
        return self.index.snapshot().rows([name])[name]["vector"]  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def storage() -> Iterator[dict[str, str]]:
    with running_object_storage("bucket") as variables:
        yield variables


@pytest.fixture(autouse=True)
def _reached(storage: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    agree_to(Destination.of_shared_vectors(ADDRESS))
    for name, value in storage.items():
        monkeypatch.setenv(name, value)


def rows_at(machine: Machine) -> int:
    """Return how many vectors object storage has of a machine's hub."""
    assert machine.hub.membership is not None
    database = lancedb.connect(ADDRESS)
    names = [name for name in database.list_tables().tables if name.startswith(machine.hub.membership.workspace)]
    return sum(database.open_table(name).count_rows() for name in names)


def compacted(machine: Machine) -> VectorCompaction:
    """Compact on a machine whose settings say where the vectors are."""
    machine.workspace.paths.config.write_text(f'[engine]\nshared_vectors = "{ADDRESS}"\n')
    with Workspace(machine.folder) as workspace:
        return vectors.compact_vectors(workspace)


def test_what_one_machine_has_embedded_another_does_not_embed_again(machine: MakeMachine) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    made = laptop.remember("The queue holds a million jobs.")
    with laptop.agent() as agent:
        agent.remember("The staging host is stage2.", namespace=SITE)
        agent.remember("It is deployed at night.", namespace=SITE)
    first, second = Engine(laptop), Engine(desktop)
    embedded = first.run()
    assert len([text for text in embedded if "|" not in text]) == 3
    assert len([text for text in embedded if "|" in text]) == 1  # what its session wrote before counts too
    in_step(laptop, desktop)
    own = desktop.remember("The desktop has two screens.")
    assert second.run() == [own.content]
    assert np.array_equal(second.found(made.id), first.found(made.id))
    assert second.index.snapshot().count() == 4
    assert rows_at(laptop) == 5


def test_what_the_hub_is_not_given_leaves_no_vector(machine: MakeMachine) -> None:
    laptop = machine("laptop")
    laptop.remember("Mine alone.", namespace="private")
    laptop.remember("Not to be told.", sensitivity="restricted")
    shared = laptop.remember("All may know.")
    assert len(Engine(laptop).run()) == 3
    assert rows_at(laptop) == 1
    assert laptop.hub.membership is not None
    table = SharedVectors(ADDRESS, laptop.hub.membership.workspace, CountingModel.identity, WIDTH)
    assert list(table.find([(shared.content,), ("Mine alone.",), ("Not to be told.",)])) == [(shared.content,)]


def test_object_storage_that_does_not_answer_costs_nothing_but_the_embedding(
    machine: MakeMachine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    laptop = machine("laptop")
    made = laptop.remember("One.")
    monkeypatch.setenv("AWS_ENDPOINT", "http://127.0.0.1:9")
    engine = Engine(laptop)
    assert engine.run() == ["One."]
    assert engine.index.snapshot().count() == 1
    laptop.remember("Two.")
    assert engine.run() == ["Two."]
    assert made.id in engine.index.snapshot().rows([made.id])
    said = [one for one in caplog.records if "texts are embedded here" in one.message]
    assert len(said) == 1  # it is not asked again for a while


def test_a_vector_that_is_none_is_not_taken(machine: MakeMachine) -> None:
    laptop = machine("laptop")
    assert laptop.hub.membership is not None
    table = SharedVectors(ADDRESS, laptop.hub.membership.workspace, CountingModel.identity, WIDTH)
    table.put({("One.",): np.zeros(WIDTH, np.float32), ("Two.",): np.ones(WIDTH, np.float32)})
    laptop.remember("One.")
    laptop.remember("Two.")
    assert Engine(laptop).run() == ["One.", "Two."]


@pytest.mark.parametrize("runs", [True, False])
def test_a_purge_deletes_the_shared_vectors_with_an_engine_and_without_one(machine: MakeMachine, *, runs: bool) -> None:
    laptop = machine("laptop")
    made = laptop.remember("The door code is forty-one.")
    kept = laptop.remember("The door is red.")
    engine = Engine(laptop)
    engine.run()
    assert rows_at(laptop) == 2
    laptop.workspace.purge(made.id, "a door code")
    if not runs:
        engine = Engine(laptop)
    exchange = engine.updater._exchange
    assert exchange is not None
    exchange.forget_purged()
    assert rows_at(laptop) == 0
    laptop.workspace.update(kept.id, content="The door is blue.")
    assert engine.run() == ["The door is blue."]  # and it goes on
    assert rows_at(laptop) == 1


def test_one_machine_compacts_at_a_time_and_the_others_read_on(machine: MakeMachine, address: str) -> None:
    laptop, desktop = machine("laptop"), machine("desktop")
    engine = Engine(laptop)
    for number in range(4):
        laptop.remember(f"Fact {number}.")
        engine.run()
    reader = Engine(desktop)
    in_step(laptop, desktop)
    assert laptop.hub.membership is not None
    workspace = laptop.hub.membership.workspace
    with HubServer(address) as other, other.alone(workspace, "vectors") as is_alone:
        assert is_alone
        with pytest.raises(NotAllowed, match="Another machine compacts"):
            compacted(desktop)
    done = compacted(desktop)
    assert (done.files_before, done.files, done.vectors) == (4, 1, 4)
    assert reader.run() == []
    assert rows_at(laptop) == 4


def test_the_lock_of_a_machine_that_died_is_free(machine: MakeMachine, address: str) -> None:
    machine("laptop")
    with HubServer(address) as dead, dead.alone("w", "vectors") as was_alone:
        assert was_alone
        dead.close()
        # The server notices the end of a connection in a process of its own: this waits until it let go of the lock.
        with psycopg.connect(address, autocommit=True, options="-c lock_timeout=60s") as waiting:
            waiting.execute("SELECT pg_advisory_xact_lock(hashtextextended('memento vectors w', 0))")
        with HubServer(address) as other, other.alone("w", "vectors") as is_alone, other.alone("w", "other") as too:
            assert is_alone
            assert too


def end_whoever_holds_a_lock(address: str) -> None:
    """Cut the connections that hold a lock of `HubServer.alone` in a hub's database."""
    with psycopg.connect(address, autocommit=True) as administrator:
        ended = administrator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        ).fetchall()
    assert ended == [(True,)]


def test_a_compaction_that_is_done_says_so_though_the_hub_was_lost_meanwhile(
    machine: MakeMachine, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop = machine("laptop")
    engine = Engine(laptop)
    for number in range(2):
        laptop.remember(f"Fact {number}.")
        engine.run()

    def lose_the_hub(storage: str, workspace: str) -> VectorCompaction:
        end_whoever_holds_a_lock(address)
        return compact_shared_vectors(storage, workspace)

    monkeypatch.setattr("memento_tui.embedding.shared_vectors.compact_shared_vectors", lose_the_hub)
    assert compacted(laptop) == VectorCompaction(files_before=2, files=1, vectors=2)


def test_a_compaction_that_fails_says_why_though_the_hub_was_lost_meanwhile(
    machine: MakeMachine, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop = machine("laptop")

    def lose_both(_storage: str, _workspace: str) -> VectorCompaction:
        end_whoever_holds_a_lock(address)
        raise OSError("no such bucket")

    monkeypatch.setattr("memento_tui.embedding.shared_vectors.compact_shared_vectors", lose_both)
    with pytest.raises(DataDirectoryError, match="cannot be compacted: no such bucket"):
        compacted(laptop)


def test_who_shares_no_vectors_or_is_in_no_hub_is_told_how(machine: MakeMachine, tmp_path: Path) -> None:
    laptop = machine("laptop")
    with pytest.raises(NotAllowed, match="shares no vectors"):
        vectors.compact_vectors(laptop.workspace)
    console = Console(without_engine(tmp_path / "alone"))
    console.json("add", "One.")
    done = console.run("hub", "compact")
    assert "in no hub" in done.stderr.decode()
