"""What a hook reads of the database: by an index, whatever it asks, and what it writes about sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.storage.connection import open_for_writing
from memento_tui.storage.hook_store import HookStore, ShownMemory
from memento_tui.storage.statements import OPEN_PROPOSALS, RECALLED
from tests.journeys.mcp_agent import NO_ENGINE


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "config.toml").write_text(NO_ENGINE)
    with memento_tui.open(tmp_path) as workspace:
        yield workspace


@pytest.fixture
def store(person: Workspace) -> Iterator[HookStore]:
    opened = HookStore(person.paths.database)
    yield opened
    opened.close()


QUERIES: dict[str, Callable[[HookStore], object]] = {
    "mark": lambda store: store.mark(1),
    "has_more_changes": lambda store: store.has_more_changes(0, 100),
    "memories": lambda store: store.memories(["a"]),
    "essentials": lambda store: store.essentials(),
    "superseded": lambda store: store.superseded(["a"]),
    "lessons_of": lambda store: store.lessons_of("s", 10),
    "related_to_file": lambda store: store.related_to_file(["a"]),
    "unresolved_contradictions": lambda store: store.unresolved_contradictions(["a"]),
    "skips": lambda store: store.skips(),
    "already_shown": lambda store: store.already_shown("s"),
    "named_alone": lambda store: store.named_alone("s"),
    "shown_and_unused": lambda store: store.shown_and_unused("s"),
    "learned_bytes": lambda store: store.learned_bytes("s"),
    "is_reminded": lambda store: store.is_reminded("s"),
}


@pytest.mark.parametrize("name", QUERIES)
def test_no_question_of_a_hook_reads_a_whole_table(
    person: Workspace, store: HookStore, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    person.remember("One memory, so that no table is empty.", pinned=True)
    asked: list[tuple[str, Any]] = []

    def trace(_: object, query: str, given: Any) -> bool:  # noqa: ANN401 - the values of a query
        asked.append((query, given))
        return True

    connection = open_for_writing(person.paths.database, busy_seconds=0)
    connection.exec_trace = trace
    monkeypatch.setattr(store, "_connection", connection)
    QUERIES[name](store)
    connection.exec_trace = None
    plans = [row[3] for query, given in asked for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", given)]
    connection.close()
    assert plans
    allowed = ("json_each", "memory_pinned", "memory_essential")
    assert not [step for step in plans if step.startswith("SCAN ") and not any(name in step for name in allowed)]


def show(store: HookStore, session: str, memory_id: str) -> None:
    store.record_shown(session, [ShownMemory(store.memories([memory_id])[memory_id], 1, 0.7, 20, {})])


def test_a_session_that_no_hook_saw_begin_keeps_what_it_was_told(person: Workspace, store: HookStore) -> None:
    memory = person.remember("Deploys go to fly.io.")
    show(store, "s", memory.id)
    store.set_learned_bytes("s", 1_000)
    assert store.already_shown("s") == {memory.id: 1}
    store.begin_session("s", "codex", "", "", fresh=False)
    assert store.already_shown("s") == {memory.id: 1}
    store.begin_session("s", "codex", "", "", fresh=True)
    assert store.already_shown("s") == {}
    assert store.learned_bytes("s") == 1_000


def test_a_memory_whose_title_alone_was_shown_is_known_by_its_title(person: Workspace, store: HookStore) -> None:
    memory = person.remember("Deploys go to fly.io.")
    entry = ShownMemory(store.memories([memory.id])[memory.id], 2, 0.7, 20, {"keyword": 0.7}, is_named_alone=True)
    store.record_shown("s", [entry])
    assert (store.already_shown("s"), store.named_alone("s")) == ({}, {memory.id: 1})
    show(store, "s", memory.id)
    assert store.already_shown("s") == {memory.id: 1}


def test_what_was_seen_to_be_used_is_not_looked_for_again(person: Workspace, store: HookStore) -> None:
    first, second = person.remember("Deploys go to fly.io."), person.remember("The lamp burns.")
    for memory in (first, second, second):
        show(store, "s", memory.id)
    person.exposures.mark_used("s", [first.id])
    assert list(store.shown_and_unused("s")) == [second.id]


@pytest.mark.parametrize(("stored", "behind"), [(100, False), (101, True)])
def test_work_is_counted_in_changes_and_not_in_entries(
    person: Workspace,
    store: HookStore,
    stored: int,
    behind: bool,  # noqa: FBT001 - a table
) -> None:
    seq, _ = store.head()
    person.remember_many({"content": f"The lamp in room {number} burns."} for number in range(stored))
    assert store.head()[0] - seq < 10
    assert store.has_more_changes(seq, 100) is behind


def test_essentials_are_pinned_and_verified_or_shared_and_stable(person: Workspace, store: HookStore) -> None:
    pinned = person.remember("Every migration is reversible.", pinned=True, stability="verified")
    person.remember("Pinned, and nobody verified it.", pinned=True)
    shared = person.remember("We squash.", tier="shared", stability="stable")
    person.remember("Shared, and only verified.", tier="shared", stability="verified")
    person.remember("Stable, and not shared.", stability="stable")
    person.remember("Pinned and restricted.", pinned=True, sensitivity="restricted")
    assert {memory.id for memory in store.essentials()} == {pinned.id, shared.id}


def test_the_statuses_in_statements_are_those_of_what_is_recalled_and_of_proposals_that_are_open() -> None:
    assert f"({', '.join(map(repr, RECALLED_STATUSES))})" == RECALLED
    assert f"({', '.join(map(repr, OPEN_PROPOSAL_STATES))})" == OPEN_PROPOSALS
