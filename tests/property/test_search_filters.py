from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import memento_tui
from memento_tui.api.search import recallable_filter
from memento_tui.model.filters import AllOf, AnyOf, Between, Filter, HasTag, Not, OneOf, Under, with_default_statuses
from memento_tui.model.memory_fields import FIELDS
from memento_tui.search.keyword_index import KeywordIndex
from memento_tui.search.query_language import Query
from memento_tui.storage.store import Store
from tests.depth import examples
from tests.filter_leaves import field_leaves
from tests.made import NOW, note, put, without_engine

TAGS = ("api", "API", "Über", "über", "straße", "STRASSE", "a b", "x:y", "日本", "it's")
NAMESPACES = ("global", "a", "a/b", "a/b/c", "ab", "a0", "a.b", "A", "a/b0", "a!", "日本/東京")
AGENTS = ("", "claude", "claude:2", "Ünïcode", "it's", "pinned")
CONTEXTS = ("", "", "on Staging", "staging, in the EU", "PostgreSQL 15+", "auf der Straße")
SHARES = (0.0, 0.004, 0.005, 0.125, 0.5, 0.675, 0.995, 1.0)
STEPS = (0, 1, 999_999, 1_000_000, 86_400_000_000, -1, -86_400_000_000)
MOMENTS = [NOW + timedelta(microseconds=step) for step in STEPS]
CHOICES = {field.name: field.choices for field in FIELDS if field.choices}
NO_WORDS = Query("", (), (), AllOf())


def _fields(rng: random.Random, number: int) -> dict[str, Any]:
    fields: dict[str, Any] = {name: rng.choice(values) for name, values in CHOICES.items()}
    if fields["source_type"] == "external":
        fields["tier"] = "short_term"
    return {
        **fields,
        "id": f"m{number}",
        "namespace": rng.choice(NAMESPACES),
        "tags": rng.sample(TAGS, rng.randrange(4)),
        "certainty": rng.randint(1, 5),
        "pinned": rng.random() < 0.3,
        "source": {"agent": rng.choice(AGENTS), "session": rng.choice(AGENTS)},
        "created_at": rng.choice(MOMENTS),
        "updated_at": rng.choice(MOMENTS),
        "expires_at": rng.choice([None, None, *MOMENTS]),
        "valid_from": rng.choice([None, None, *MOMENTS[-2:]]),
        "valid_to": rng.choice([None, None, *MOMENTS[:5]]),
        "validity_context": rng.choice(CONTEXTS),
        "confidence": rng.choice(SHARES),
        "surprise": rng.choice([None, *SHARES]),
    }


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, KeywordIndex]]:
    rng = random.Random(11)  # noqa: S311 - not for secrets
    with memento_tui.open(without_engine(tmp_path_factory.mktemp("filters") / "data")) as workspace:
        put(workspace._store, *(note(f"memory {number}", **_fields(rng, number)) for number in range(200)))
        yield workspace._store, workspace.search_engine.keyword


VALUES = {
    "validity_context": ("stage", "eu", "15", "strass", "in"),
    "agent": AGENTS[1:],
    "session": AGENTS[1:],
    "id": tuple(f"m{number}" for number in range(0, 200, 9)),
}
LEAF: st.SearchStrategy[Filter] = st.one_of(
    *field_leaves(VALUES, ["none such"], MOMENTS),
    st.sampled_from([*TAGS, "none such", "ÜBER", "strasse"]).map(HasTag),
    st.sampled_from([*NAMESPACES, "a/", "b", ""]).map(Under),
)
TREES = st.recursive(
    LEAF,
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, max_size=3).map(lambda parts: AllOf(tuple(parts))),
        st.lists(inner, max_size=3).map(lambda parts: AnyOf(tuple(parts))),
    ),
    max_leaves=6,
)


@given(TREES)
@example(Not(AnyOf(())))
@example(AnyOf((OneOf("agent", ()), Under("a"))))
@example(Between("expires_at", None, None))
@example(Between("created_at", NOW, None))
@settings(max_examples=examples(200))
def test_the_database_and_the_index_select_the_same_memories(filled: tuple[Store, KeywordIndex], tree: Filter) -> None:
    store, index = filled
    ids = {memory.id for memory in store.memories.page(tree, limit=1000).items}
    assert store.memories.count(tree) == len(ids)
    found = index.search(NO_WORDS, tree, 1000)
    assert {identity for identity, _ in found.hits} == ids
    assert found.total == len(ids)
    assert index.matching(NO_WORDS, tree, [f"m{number}" for number in range(200)]) == ids
    assert set(store.memories.get_many([f"m{number}" for number in range(200)], tree)) == ids


@given(TREES)
@settings(max_examples=examples(200))
def test_a_filter_and_its_opposite_part_everything(filled: tuple[Store, KeywordIndex], tree: Filter) -> None:
    store, _ = filled
    chosen, others = (set(store.memories.ids(t, 0, 1000)) for t in (tree, Not(tree)))
    assert chosen.isdisjoint(others)
    assert len(chosen) + len(others) == 200


@given(TREES, st.sampled_from(MOMENTS))
@settings(max_examples=examples(300))
def test_what_is_not_recalled_comes_back_only_if_it_is_asked_for_by_name(
    filled: tuple[Store, KeywordIndex], tree: Filter, now: Any  # noqa: ANN401 - a moment
) -> None:  # fmt: skip
    store, _ = filled
    named = str(tree)
    for memory in store.memories.page(recallable_filter(tree, now), limit=1000).items:
        if "field='status'" not in named:
            assert memory.status not in ("pending", "archived", "rejected", "deleted")
        if "field='expires_at'" not in named:
            assert memory.expires_at is None or memory.expires_at >= now
        if "field='sensitivity'" not in named and "field='id'" not in named:
            assert memory.sensitivity != "restricted"
    excluded = Not(tree)
    assert all(
        memory.status != "deleted" for memory in store.memories.page(with_default_statuses(excluded), limit=1000).items
    )
