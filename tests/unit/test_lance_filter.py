"""The condition for LanceDB selects what the one for SQL selects."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memento_tui.embedding.lance import lancedb
from memento_tui.embedding.vector_index import indexed_facts
from memento_tui.model import Memory, make_memory
from memento_tui.model.filters import AllOf, AnyOf, Between, Filter, HasTag, Not, OneOf, Under
from memento_tui.search.lance_filter import compile_lance_filter, microseconds, quoted
from memento_tui.storage.journal import Author
from memento_tui.storage.store import Store
from tests.depth import examples
from tests.filter_leaves import field_leaves
from tests.made import unguarded

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOSTILE = ["it's", "a''b", 'say "x"', "back\\slash", "'; DROP TABLE memory; --", "%_*", "snow ☃", "') OR ('1'='1"]


def memories() -> list[Memory]:
    made = []
    for number in range(24):
        values: dict[str, Any] = {
            "id": f"m{number}" if number % 3 else f"id {HOSTILE[number % 8]} {number}",
            "content": f"memory {number}",
            "namespace": ["global", "a", "a/b", "a0", "ab", "it's", "a/b'c"][number % 7],
            "kind": ["fact", "decision", "bugfix"][number % 3],
            "tags": [["Api", "db"], [], [HOSTILE[number % 8]], ["é", "API"]][number % 4],
            "certainty": 1 + number % 5,
            "stability": ["draft", "verified"][number % 2],
            "source": [{}, {"agent": "it's me"}, {"agent": "bot", "session": "s1"}][number % 3],
            "pinned": number % 5 == 0,
            "created_at": NOON + timedelta(hours=number),
            "updated_at": NOON + timedelta(days=number, microseconds=number),
            "valid_from": [None, NOON - timedelta(days=1), NOON + timedelta(days=number)][number % 3],
            "valid_to": [None, None, NOON + timedelta(days=40)][number % 3],
            "validity_context": ["", "on Staging", HOSTILE[number % 8]][number % 3],
            "confidence": [0.5, 0.125, 0.005, 1.0][number % 4],
            "surprise": [None, 0.675, 0.0][number % 3],
            "expires_at": [None, NOON + timedelta(days=number)][number % 2],
        }
        made.append(make_memory(values))
    return made


class Both:
    """The same memories in a store and in a LanceDB table."""

    def __init__(self, store: Store, table: Any) -> None:  # noqa: ANN401 - LanceDB has no types
        self.store = store
        self.table = table

    def sql(self, tree: Filter) -> set[str]:
        return {memory.id for memory in self.store.memories.page(tree, limit=1000).items}

    def lance(self, tree: Filter) -> set[str]:
        found = self.table.search().where(compile_lance_filter(tree)).select(["id"]).limit(1000).to_arrow()
        return set(found.column("id").to_pylist())


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("both")
    store = Store(folder / "memento.db")
    made = memories()
    with unguarded(store, Author(), "remember") as tx:
        tx.add_all(made)
    rows = pa.Table.from_pylist([{k: v for k, v in indexed_facts(m).items() if k != "state"} for m in made])
    yield Both(store, lancedb.connect(folder / "lance").create_table("memory", rows))
    store.close()


VALUES = {
    "validity_context": ["stage", "on", "x", "snow"],
    "id": [memory.id for memory in memories()],
    "agent": ["it's me", "bot"],
    "session": ["s1"],
}
MOMENTS = [NOON + timedelta(days=days, microseconds=days) for days in range(-3, 31)]
LEAVES: st.SearchStrategy[Filter] = st.one_of(
    *field_leaves(VALUES, [*HOSTILE, ""], MOMENTS),
    st.builds(HasTag, st.sampled_from(["api", "API", "Db", "é", "none", *HOSTILE])),
    st.builds(Under, st.sampled_from(["global", "a", "a/b", "it's", "b", *HOSTILE])),
)
TREES: st.SearchStrategy[Filter] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(Not, inner),
        st.builds(AllOf, st.lists(inner, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(inner, max_size=3).map(tuple)),
    ),
    max_leaves=5,
)


@given(tree=TREES)
@settings(max_examples=examples(150))
def test_it_selects_what_the_sql_condition_selects(both: Both, tree: Filter) -> None:
    assert both.lance(tree) == both.sql(tree)


def test_the_memories_under_test_are_told_apart_by_the_conditions(both: Both) -> None:
    everything = both.lance(AllOf())
    assert len(everything) == 24
    some: list[Filter] = [Under("a"), HasTag("API"), OneOf("agent", ("it's me",)), Between("expires_at", NOON, None)]
    for tree in some:
        assert set() < both.lance(tree) < everything
        assert both.lance(Not(tree)) == everything - both.lance(tree)


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=examples(80))
def test_any_text_within_a_literal_stays_within_it(both: Both, text: str) -> None:
    condition = f"'x' <> {quoted('x' + text)} OR id IS NULL"
    found = both.table.search().where(condition).select(["id"]).limit(1000).to_arrow()
    assert found.num_rows == (24 if text else 0)


def test_moments_are_exact_to_the_microsecond() -> None:
    moment = datetime(2026, 11, 21, 8, 15, 0, 1, tzinfo=UTC)
    assert microseconds(moment) == 1795248900000001
    assert (
        compile_lance_filter(Between("created_at", moment, None))
        == "(created_at IS NOT NULL AND created_at >= 1795248900000001)"
    )


@pytest.mark.parametrize("tree", [OneOf("content", ("x",)), OneOf("note_path", ("x",)), Between("version", 1, 2)])
def test_a_field_that_nothing_is_filtered_by_is_refused(tree: Filter) -> None:
    with pytest.raises(ValueError, match=r"content|note_path|version"):
        compile_lance_filter(tree)
