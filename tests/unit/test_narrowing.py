from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.model.memory import KINDS, STABILITIES
from memento_tui.search.query_language import parse
from memento_tui.storage.statistics import FACETS, Facet
from memento_tui.tui.views.tree import FacetFilter, facet_nodes, is_expressible
from tests.made import NOW

TERMS = st.sampled_from(
    [
        *(
            "tag:api",
            "tag:API",
            'tag:"two words"',
            "tag:a,b",
            'tag:"a, b"',
            'ns:"a, b",work',
            "tag:#x",
            "-tag:web",
            "ns:work/api",
            "ns:work,home",
        ),
        *('tag:"a, b"', 'ns:"a, b",work', 'tag:"a, b",c'),
        *("kind:decision", "kind:fact,bugfix", "kind:Anti-Pattern", "kind:nonsense", "is:draft", "is:Draft"),
        *("is:pinned", "is:stable", "by:user", "by:claude", "by:a,b", "tier:long_term", "certainty:>=4"),
        *("word", '"a phrase"', "-not", '"tag:in a phrase"', 'odd"quote', "ns:", "tag:,"),
    ]
)


def meaning(query: str) -> tuple[object, ...]:
    """Return what a query selects, in whatever order its terms stand."""
    parsed = parse(query, now=NOW)
    return {repr(part).lower() for part in parsed.filter.parts}, parsed.words, parsed.excluded  # type: ignore[union-attr]


@given(st.lists(TERMS, max_size=6).map(" ".join))
def test_taking_a_query_apart_leaves_its_meaning(query: str) -> None:
    written = FacetFilter(query).query
    assert meaning(written) == meaning(query)
    assert FacetFilter(written).query == written


@given(st.lists(TERMS, max_size=4).map(" ".join), st.sampled_from(FACETS), st.sampled_from(["a", "b c", "d/e"]))
def test_what_is_chosen_and_let_go_again_leaves_the_query(query: str, facet: Facet, value: str) -> None:
    value = {"kind": KINDS[0], "tier": "working", "stability": STABILITIES[0], "source_type": "user"}.get(facet, value)
    narrowing = FacetFilter(query)
    if narrowing.has(facet, value) or (facet not in ("tag", "namespace", "kind", "tier") and narrowing.chosen[facet]):
        return
    before = narrowing.query
    narrowing.toggle(facet, value)
    assert narrowing.has(facet, value)
    assert FacetFilter(narrowing.query).has(facet, value)
    narrowing.toggle(facet, value)
    assert narrowing.query == before


def test_several_values_narrow_together() -> None:
    narrowing = FacetFilter("cache is:draft")
    for facet, value in (
        ("kind", "decision"),
        ("kind", "fact"),
        ("tag", "api"),
        ("tag", "two words"),
        ("namespace", "work/my app"),
        ("stability", "stable"),
        ("agent", "claude"),
    ):
        narrowing.toggle(facet, value)  # type: ignore[arg-type]
    assert narrowing.query == ('ns:"work/my app" kind:decision,fact tag:api tag:"two words" is:stable by:claude cache')
    narrowing.clear()
    assert narrowing.query == "cache"


@pytest.mark.parametrize(
    ("facet", "value", "can"),
    [
        ("tag", "plain", True),
        ("tag", "with space", True),
        ("tag", "a,b", True),
        ("tag", 'quo"te', False),
        ("tag", "#hash", False),
        ("tag", "colon:inside", True),
        ("agent", "user", False),
        ("agent", "claude code", True),
        ("namespace", "a, b", True),
    ],
)
def test_what_the_query_language_cannot_name_is_known(facet: Facet, value: str, *, can: bool) -> None:
    assert is_expressible(facet, value) is can


def test_namespaces_are_a_tree_that_counts_what_lies_below() -> None:
    counts: dict[Facet, list[tuple[str, int]]] = {
        "namespace": [("work/api", 5), ("work", 2), ("work-notes", 1), ("work/api/v2", 4), ("home/garden", 3)]
    }
    rows = [row for row in facet_nodes(counts, set(), lambda *_: False) if row.facet == "namespace"]
    assert [(row.name, row.depth, row.count, row.can_fold) for row in rows] == [
        ("NAMESPACES", 0, None, True),
        ("home", 1, 3, True),
        ("garden", 2, 3, False),
        ("work", 1, 11, True),
        ("api", 2, 9, True),
        ("v2", 3, 4, False),
        ("work-notes", 1, 1, False),
    ]
    folded = [
        row.value for row in facet_nodes(counts, {"namespace:work"}, lambda *_: False) if row.facet == "namespace"
    ]
    assert folded == ["", "home", "home/garden", "work", "work-notes"]


def test_what_is_known_is_named_before_it_is_counted() -> None:
    rows = facet_nodes({}, set(), lambda *_: False)
    assert ("kind", "anti_pattern", "anti pattern", None) in [(r.facet, r.value, r.name, r.count) for r in rows]
    counted = facet_nodes({"kind": [("fact", 2), ("bugfix", 7)]}, set(), lambda _, value: value == "tool")
    kinds = [(row.value, row.count) for row in counted if row.facet == "kind"]
    assert kinds == [("", None), ("bugfix", 7), ("fact", 2), ("tool", 0)]
    assert not [row for row in facet_nodes({"agent": []}, set(), lambda *_: False) if row.facet == "agent"]
