"""Whose vectors a machine gives to others, and when they are deleted: by its part in the hub, in a local folder."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from memento_tui.agreements import Destination, agree_to
from memento_tui.api import Workspace
from memento_tui.embedding.lance import lancedb
from memento_tui.embedding.shared_vectors import SharedVectors, VectorExchange
from memento_tui.model import Memory
from memento_tui.storage.hub_state import HUB_SETTING, HubMembership

SITE = "projects/site"
WIDTH = 8
VECTOR = np.eye(1, WIDTH, dtype=np.float32)[0]


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """Return where the vectors are that machines have in common, which the person agreed to."""
    agree_to(Destination.of_shared_vectors(str(tmp_path / "shared")))
    return tmp_path / "shared"


def join(workspace: Workspace, role: str = "owner", hub: str = "w1") -> None:
    part = HubMembership(
        url="postgresql://hub/memento",
        workspace=hub,
        workspace_name="home",
        member="m1",
        name="laptop",
        role=role,
        namespaces=("projects",),
    )
    workspace.settings.set(HUB_SETTING, msgspec.json.encode(part).decode())


def engine(workspace: Workspace, shared: Path, model: str = "letters") -> VectorExchange:
    """Return what the engine has when it starts."""
    return VectorExchange(str(shared), workspace._store, model, WIDTH)


def give(exchange: VectorExchange, *memories: Memory) -> None:
    exchange.put([(memory, (memory.content,), VECTOR) for memory in memories])


def count(shared: Path, hub: str = "w1") -> int:
    database = lancedb.connect(str(shared))
    names = [name for name in database.list_tables().tables if name.startswith(hub)]
    return sum(database.open_table(name).count_rows() for name in names)


def test_a_purge_before_the_first_exchange_with_a_hub_deletes_the_vectors_of_the_text(
    workspace: Workspace, shared: Path
) -> None:
    exchange = engine(workspace, shared)  # it ran before the machine took part in a hub
    join(workspace)
    memory = workspace.remember("The vault code is 1234.", namespace=SITE)
    give(exchange, memory)
    assert count(shared) == 1
    workspace.purge(memory.id, "leaked")
    exchange.forget_purged()
    assert count(shared) == 0
    give(exchange, workspace.remember("The vault is red.", namespace=SITE))
    engine(workspace, shared)
    assert count(shared) == 1  # once is enough


def test_a_purge_is_carried_out_at_each_hub_that_the_machine_is_in_later(workspace: Workspace, shared: Path) -> None:
    memory = workspace.remember("The vault code is 1234.", namespace=SITE)
    for hub in ("w1", "w2"):
        join(workspace, hub=hub)
        give(engine(workspace, shared), memory)
    workspace.purge(memory.id, "leaked")
    engine(workspace, shared)
    assert (count(shared, "w1"), count(shared, "w2")) == (1, 0)
    join(workspace, hub="w1")
    engine(workspace, shared)
    assert count(shared, "w1") == 0


def test_a_purge_deletes_the_vectors_of_every_model(workspace: Workspace, shared: Path) -> None:
    join(workspace)
    memory = workspace.remember("The vault code is 1234.", namespace=SITE)
    give(engine(workspace, shared, "former"), memory)
    give(engine(workspace, shared, "letters"), memory)
    workspace.purge(memory.id, "leaked")
    engine(workspace, shared)
    assert count(shared) == 0


def test_a_reader_finds_vectors_and_gives_none(workspace: Workspace, shared: Path) -> None:
    join(workspace, "reader")
    memory = workspace.remember("The hub is never given this.", namespace=SITE)
    known = workspace.remember("Others have this.", namespace=SITE)
    SharedVectors(str(shared), "w1", "letters", WIDTH).put({(known.content,): VECTOR})
    exchange = engine(workspace, shared)
    give(exchange, memory)
    assert count(shared) == 1
    assert list(exchange.find([(known, (known.content,)), (memory, (memory.content,))])) == [(known.content,)]


def test_an_agents_login_gives_vectors_of_what_its_agents_wrote_alone(
    workspace: Workspace, agent: Workspace, shared: Path
) -> None:
    join(workspace, "agent")
    mine = workspace.remember("A person wrote this.", namespace=SITE)
    theirs = agent.remember("An agent wrote this.", namespace=SITE)
    both = agent.remember("An agent began this.", namespace=SITE)
    edited = workspace.update(both.id, content="A person went on with this.").memory
    assert isinstance(edited, Memory)
    exchange = engine(workspace, shared)
    give(exchange, mine, theirs, edited)
    in_context = (edited.content, theirs.content)
    exchange.put([(theirs, in_context, VECTOR)])
    texts = [(theirs, in_context), *((one, (one.content,)) for one in (mine, theirs, edited))]
    assert list(exchange.find(texts)) == [(theirs.content,)]


@pytest.mark.parametrize("width", [1, WIDTH // 2, WIDTH + 1, 100_000])
def test_vectors_of_another_width_are_not_read(
    workspace: Workspace, shared: Path, caplog: pytest.LogCaptureFixture, width: int
) -> None:
    join(workspace)
    exchange = engine(workspace, shared)
    memory = workspace.remember("The port is 8080.", namespace=SITE)
    lying = SharedVectors(str(shared), "w1", "letters", width)
    lying.put({(memory.content,): np.eye(1, width, dtype=np.float32)[0]})
    assert exchange.find([(memory, (memory.content,))]) == {}
    assert "schema does not match" in caplog.text
    give(exchange, memory)
    assert count(shared) == 1


@pytest.mark.parametrize("odd", [np.inf, -np.inf, 0.0, 1e30])
def test_a_vector_of_no_length_and_one_of_a_text_that_nobody_asked_for_are_not_taken(
    workspace: Workspace, shared: Path, odd: float
) -> None:
    join(workspace)
    exchange = engine(workspace, shared)
    memory = workspace.remember("The port is 8080.", namespace=SITE)
    lying = SharedVectors(str(shared), "w1", "letters", WIDTH)
    lying.put({(memory.content,): np.full(WIDTH, odd, np.float32), ("Of nobody.",): VECTOR})
    assert exchange.find([(memory, (memory.content,))]) == {}
