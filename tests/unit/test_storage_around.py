from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memento_tui.api import Workspace
from memento_tui.errors import NotFound
from memento_tui.model.filters import AllOf
from memento_tui.storage.statistics import FACETS
from tests.depth import examples
from tests.made import NOW, note, put


def test_the_timeline_follows_when_a_memory_was_made_and_not_when_it_arrived(workspace: Workspace) -> None:
    for name, days in (("b", 2), ("d", 4), ("a", 1), ("c", 3)):
        put(workspace._store, note(name, id=name, created_at=NOW + timedelta(days=days), namespace=f"space/{name}"))
    assert [one.id for one in workspace._store.timeline.window("b")] == ["d", "c", "b", "a"]
    assert [one.id for one in workspace._store.timeline.window("b", later=1, earlier=0)] == ["c", "b"]


def test_of_memories_with_one_moment_the_last_to_arrive_comes_first(workspace: Workspace) -> None:
    put(workspace._store, *(note(name, id=name, created_at=NOW) for name in "xyz"))
    assert [one.id for one in workspace._store.timeline.window("y")] == ["z", "y", "x"]


def test_deleted_memories_are_left_out_but_for_the_one_asked_about(workspace: Workspace) -> None:
    put(workspace._store, *(note(name, id=name, created_at=NOW) for name in "xyz"))
    workspace.forget("y")
    assert [one.id for one in workspace._store.timeline.window("z")] == ["z", "x"]
    assert [one.id for one in workspace._store.timeline.window("y")] == ["z", "y", "x"]


def test_a_memory_that_is_not_there_has_no_timeline(workspace: Workspace) -> None:
    with pytest.raises(NotFound):
        workspace._store.timeline.window("nothing")


def test_the_timeline_is_read_by_its_index_and_counts_are_not(workspace: Workspace) -> None:
    plan = workspace._store.database.connection.execute
    asked = "EXPLAIN QUERY PLAN SELECT id FROM memory WHERE {} ORDER BY created_at, number LIMIT 5"
    keyset = "number > 0 AND (created_at, number) > ('2026', 5)"
    assert "memory_created" in plan(asked.format(keyset)).fetchone()[3]
    count = "EXPLAIN QUERY PLAN SELECT count(*) FROM memory WHERE created_at < '2026' AND status IN ('active')"
    assert "memory_created" not in plan(count).fetchone()[3]


def test_a_page_by_creation_is_read_by_that_index_and_sorts_nothing(workspace: Workspace) -> None:
    put(workspace._store, *(note(name, id=name, created_at=NOW) for name in "xyz"))
    connection, asked = workspace._store.database.connection, list[tuple[str, Any]]()

    def note_query(_: object, query: str, given: Any) -> bool:  # noqa: ANN401 - whatever was bound
        asked.append((query, given))
        return True

    connection.exec_trace = note_query
    found = workspace.slice(AllOf(), order="created", ascending=False, limit=2, skip=1)
    connection.exec_trace = None
    assert [memory.id for memory in found] == ["y", "x"]
    query, given = next((query, given) for query, given in asked if "ORDER BY" in query)
    steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", given)]
    assert "memory_created" in steps[0]
    assert not any("TEMP B-TREE" in step for step in steps)


def test_the_relations_around_some_memories_are_those_of_each(workspace: Workspace) -> None:
    put(workspace._store, *(note(name, id=name) for name in "wxyz"))
    for src, dst in (("x", "y"), ("z", "x"), ("w", "z")):
        workspace.relate(src, dst, "related")
    assert [(found.src, found.dst) for found in workspace.relations_around(["x", "y"])] == [("x", "y"), ("z", "x")]
    assert list(workspace.relations_around([])) == []


@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(days=st.lists(st.integers(0, 6), min_size=1, max_size=12), data=st.data())
def test_a_window_is_a_part_of_the_whole_timeline(
    tmp_path_factory: pytest.TempPathFactory, days: list[int], data: st.DataObject
) -> None:
    with Workspace(tmp_path_factory.mktemp("around"), create=True) as workspace:
        made = [note(str(n), id=f"m{n}", created_at=NOW + timedelta(days=day)) for n, day in enumerate(days)]
        put(workspace._store, *made)
        order = [m.id for m in sorted(made, key=lambda m: (m.created_at, int(m.id[1:])), reverse=True)]
        chosen = data.draw(st.sampled_from(order))
        later, earlier = data.draw(st.integers(0, 13)), data.draw(st.integers(0, 13))
        place = order.index(chosen)
        window = workspace._store.timeline.window(chosen, later=later, earlier=earlier)
        assert [one.id for one in window] == order[max(place - later, 0) : place + earlier + 1]


def test_facets_count_what_is_recalled(workspace: Workspace) -> None:
    for number in range(3):
        workspace.remember(f"fact {number}", tags=["api"], namespace="work/api", source={"agent": "claude"})
    workspace.remember("a decision", kind="decision", tags=["API", "web"])
    workspace.forget(workspace.remember("gone", kind="tool").id)
    counts = {facet: workspace._store.facets.counts(facet) for facet in FACETS}
    assert counts["namespace"] == [("work/api", 3), ("global", 1)]
    assert counts["kind"] == [("fact", 3), ("decision", 1)]
    assert dict(counts["tag"]) == {"API": 4, "web": 1}
    assert counts["tier"] == [("short_term", 3), ("long_term", 1)]
    assert counts["stability"] == [("draft", 4)]
    assert counts["source_type"] == [("user", 4)]
    assert counts["agent"] == [("claude", 3)]
