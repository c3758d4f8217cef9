"""What many memories teach together, and what must not be learned from."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.maintenance.consolidation.grouping import LARGEST_GROUP
from memento_tui.maintenance.consolidation.step import HIGHER_PATTERN, Lesson, lessons
from memento_tui.model import Memory
from tests.made import NOW, note
from tests.steps import grows_in_proportion

Near = dict[str, list[tuple[str, float]]]


def made(name: str, kind: str, *tags: str, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
    return note(f"text of {name}", id=name, kind=kind, tags=tags, **{"created_at": NOW, **fields})


def near(similarity: float, *names: str) -> Near:
    """Return neighbours that are all as near to each other."""
    return {one: [(other, similarity) for other in names if other != one] for one in names}


def learned(memories: list[Memory], neighbours: Near, made_before: Collection[frozenset[str]] = ()) -> list[Lesson]:
    return lessons(memories, neighbours, made_before)


def shapes(found: list[Lesson]) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(lesson.kind, lesson.purpose, lesson.ids) for lesson in found]


def test_two_decisions_or_anti_patterns_near_in_meaning_become_a_heuristic() -> None:
    memories = [made("a", "decision"), made("b", "anti_pattern", created_at=NOW - timedelta(days=1))]
    (lesson,) = learned(memories, near(0.6, "a", "b"))
    assert lesson == Lesson(
        "heuristic", "heuristic", ("b", "a"), "2 decisions and anti-patterns are near each other in meaning."
    )
    assert learned(memories, near(0.59, "a", "b")) == []


def test_memories_that_share_a_tag_alone_teach_nothing() -> None:
    for kind in ("decision", "fact", "observation", "pattern"):
        assert learned([made(name, kind, "caching") for name in "abcd"], near(0.5, *"abcd")) == []


def test_three_facts_that_say_the_same_are_merged_and_two_are_not() -> None:
    facts = [made(name, "fact") for name in "abc"]
    assert shapes(learned(facts, near(0.85, "a", "b", "c"))) == [("fact", "merge_facts", ("a", "b", "c"))]
    assert learned(facts, near(0.84, "a", "b", "c")) == []
    assert learned(facts, near(0.99, "a", "b")) == []


def test_a_chain_of_like_facts_is_not_merged() -> None:
    chain: Near = {"a": [("b", 0.9)], "b": [("c", 0.9), ("a", 0.9)], "c": [("b", 0.9)]}
    assert learned([made(name, "fact") for name in "abc"], chain) == []


def test_three_observations_become_a_pattern_and_two_do_not() -> None:
    memories = [made(name, "observation") for name in "abc"]
    # That b is near a follows from a's list: b's own may have been cut off.
    assert shapes(learned(memories, {"a": [("b", 0.7), ("c", 0.65)]})) == [("pattern", "pattern", ("a", "b", "c"))]
    assert learned(memories[:2], near(0.9, "a", "b")) == []


def test_what_is_near_the_same_memory_belongs_together_and_what_a_chain_leads_to_does_not() -> None:
    names = "abcdefg"
    chain: Near = {one: [(other, 0.7)] for one, other in pairwise(names)}
    found = learned([made(name, "observation") for name in names], chain)
    assert [lesson.ids for lesson in found] == [("a", "b", "c"), ("d", "e", "f")]


def test_two_patterns_become_a_higher_pattern() -> None:
    memories = [made("a", "pattern"), made("b", "pattern")]
    assert shapes(learned(memories, near(0.7, "a", "b"))) == [("pattern", "higher_pattern", ("a", "b"))]


def test_a_pattern_made_from_patterns_is_a_source_of_no_other() -> None:
    higher = made("h", "pattern", system_tags=[HIGHER_PATTERN])
    assert learned([made("a", "pattern"), higher], near(0.9, "a", "h")) == []


def test_higher_patterns_never_consume_what_they_were_made_of() -> None:
    memories = [made(f"p{number}", "pattern") for number in range(6)]
    before: set[frozenset[str]] = set()
    for night in range(8):
        found = learned(memories, near(0.9, *(memory.id for memory in memories)), before)
        for number, lesson in enumerate(found):
            assert not any(len(used & set(lesson.ids)) > 1 for used in before)
            before.add(frozenset(lesson.ids))
            memories.append(made(f"h{night}-{number}", "pattern"))
    assert before == {frozenset(f"p{number}" for number in range(6))}


def test_a_set_that_was_used_before_is_never_proposed_again_nor_with_one_more() -> None:
    memories = [made(name, "observation") for name in "abcd"]
    three, four = near(0.8, *"abc"), near(0.8, *"abcd")
    assert learned(memories[:3], three, [frozenset("abc")]) == []
    assert learned(memories, four, [frozenset("abc")]) == []
    assert learned(memories[:3], three, [frozenset("abcd")]) == []
    assert len(learned(memories, four, [frozenset("xyz"), frozenset("ayz")])) == 1


def test_many_new_observations_beside_old_ones_are_proposed_again() -> None:
    memories = [made(name, "observation") for name in "abcdefg"]
    assert len(learned(memories, near(0.8, *"abcdefg"), [frozenset("abc")])) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "pending"},
        {"status": "superseded"},
        {"sensitivity": "confidential"},
        {"sensitivity": "restricted"},
        {"namespace": "elsewhere"},
        {"source_type": "external"},
        {"kind_raw": "Session-Note"},
        {"kind": "daily"},
    ],
    ids=str,
)
def test_what_may_not_be_joined_is_no_source(fields: dict[str, str]) -> None:
    odd = otherwise(made("c", "observation"), **fields)
    memories = [made("a", "observation", "t"), made("b", "observation", "t"), odd]
    assert learned(memories, near(0.9, *"abc")) == []


def otherwise(memory: Memory, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
    return note(memory.content, **{"id": memory.id, "kind": memory.kind, "tags": ["t"], "created_at": NOW, **fields})


def test_the_sources_of_a_lesson_are_of_one_namespace_below_a_project_too() -> None:
    memories = [
        *(made(f"a{number}", "observation", namespace="projects/x/api") for number in range(3)),
        *(made(f"w{number}", "observation", namespace="projects/x/web") for number in range(3)),
    ]
    found = learned(memories, near(0.9, *(memory.id for memory in memories)))
    assert [lesson.ids for lesson in found] == [("a0", "a1", "a2"), ("w0", "w1", "w2")]


def test_the_passes_come_in_their_order() -> None:
    kinds = ("pattern", "observation", "fact", "decision")
    memories = [made(f"{kind}{number}", kind) for kind in kinds for number in range(3)]
    neighbours = {name: hits for kind in kinds for name, hits in near(0.9, *(f"{kind}{n}" for n in range(3))).items()}
    purposes = [lesson.purpose for lesson in learned(memories, neighbours)]
    assert purposes == ["heuristic", "merge_facts", "pattern", "higher_pattern"]


def test_many_alike_memories_are_learned_from_in_steps_in_proportion_to_their_number() -> None:
    def learn(count: int) -> None:
        names = [f"m{number:04}" for number in range(count)]
        memories = [made(name, "observation", "alike") for name in names]
        neighbours = {
            name: [(names[(place + step) % count], 0.95) for step in range(1, 13)] for place, name in enumerate(names)
        }
        before = {frozenset(names[start : start + 3]) for start in range(0, count // 2, 3)}
        found = learned(memories, neighbours, before)
        assert len(found) > count // 50
        assert all(3 <= len(lesson.ids) <= LARGEST_GROUP for lesson in found)

    grows_in_proportion(learn, 500)


@st.composite
def stores(draw: st.DrawFn) -> tuple[list[Memory], Near, list[frozenset[str]]]:
    names = [f"m{number:02}" for number in range(draw(st.integers(0, 16)))]
    kinds = ["decision", "anti_pattern", "fact", "observation", "pattern", "daily", "tool"]
    memories = [
        made(
            name,
            draw(st.sampled_from(kinds)),
            *draw(st.lists(st.sampled_from(["x", "y", "source:z"]), max_size=2)),
            namespace=draw(st.sampled_from(["global", "projects/x", "projects/x/y"])),
        )
        for name in names
    ]
    neighbours: Near = {name: [] for name in names}
    for one, other in draw(st.lists(st.sampled_from(list(combinations(names, 2)) or [("", "")]), max_size=40)):
        neighbours.setdefault(one, []).append((other, draw(st.sampled_from([0.5, 0.65, 0.9]))))
    used = draw(st.lists(st.frozensets(st.sampled_from([*names, "gone", "lost"]), min_size=2, max_size=5), max_size=3))
    return memories, neighbours, used


@given(stores(), st.randoms())
def test_lessons_keep_their_rules_and_do_not_depend_on_the_order(
    store: tuple[list[Memory], Near, list[frozenset[str]]],
    chance: Any,  # noqa: ANN401 - a random.Random
) -> None:
    memories, neighbours, used = store
    found = learned(memories, neighbours, used)
    by_id = {memory.id: memory for memory in memories}
    needed = {"heuristic": 2, "merge_facts": 3, "pattern": 3, "higher_pattern": 2}
    for lesson in found:
        sources = [by_id[name] for name in lesson.ids]
        assert len(lesson.ids) == len(set(lesson.ids)) >= needed[lesson.purpose]
        assert len({memory.namespace for memory in sources}) == 1
        assert frozenset(lesson.ids) not in used
    members = [name for lesson in found for name in lesson.ids]
    assert len(members) == len(set(members))
    assert learned(chance.sample(memories, len(memories)), neighbours, used) == found
    # What was proposed once is settled: the same night again proposes none of it.
    again = learned(memories, neighbours, [*used, *(frozenset(lesson.ids) for lesson in found)])
    assert not {lesson.ids for lesson in again} & {lesson.ids for lesson in found}
