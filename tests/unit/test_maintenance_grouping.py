"""Which memories are grouped for consolidation, and which must never be."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.maintenance.consolidation.grouping import (
    LARGEST_GROUP,
    SYNTHESIZED_CERTAINTY,
    Group,
    group_score,
    groups_of,
    is_known_title,
    tag_groups,
)
from memento_tui.model import Memory
from tests.made import NOW, note
from tests.steps import count_steps, grows_in_proportion


def made(name: str, *tags: str, **fields: Any) -> Memory:  # noqa: ANN401 - the fields of a memory
    return note(f"text of {name}", id=name, tags=tags, **{"created_at": NOW, **fields})


def several(count: int, *tags: str, prefix: str = "m", **fields: Any) -> list[Memory]:  # noqa: ANN401 - as above
    return [made(f"{prefix}{number:04}", *tags, **fields) for number in range(count)]


def ids(groups: list[Group]) -> list[tuple[str, ...]]:
    return [group.ids for group in groups]


def test_three_memories_that_share_a_tag_are_a_group_and_two_are_not() -> None:
    memories = [*several(3, "postgres"), *several(2, "redis", prefix="r"), made("alone", "other")]
    assert tag_groups(memories) == [["m0000", "m0001", "m0002"]]


def test_the_case_of_a_tag_does_not_matter() -> None:
    assert tag_groups([made("a", "Straße"), made("b", "STRASSE"), made("c", "strasse")]) == [["a", "b", "c"]]


@pytest.mark.parametrize(
    "tag",
    [
        "source:distill:2026-01-02",
        "session:42",
        "agent/claude",
        "import=vault",
        "date:monday",
        "2026-01-15",
        "Source:x",
    ],
)
def test_a_shared_tag_of_provenance_does_not_merge_unrelated_memories(tag: str) -> None:
    memories = [made(name, name, tag) for name in ("cooking", "tax", "gardening", "chess")]
    assert tag_groups(memories) == []
    assert groups_of(memories) == []


def test_system_tags_never_group() -> None:
    assert tag_groups(several(5, system_tags=["postgres"])) == []


def test_the_names_of_the_agent_the_session_and_the_project_are_provenance() -> None:
    where: dict[str, Any] = {"namespace": "projects/shop", "source": {"agent": "Claude", "session": "s-9"}}
    for tag in ("claude", "S-9", "shop"):
        assert tag_groups(several(4, tag, **where)) == []
    assert len(tag_groups(several(4, "claude", namespace="projects/shop"))) == 1


def test_a_tag_on_a_large_share_of_the_memories_does_not_group_by_itself() -> None:
    special = several(3, "work", "invoices", prefix="i")
    memories = [*special, *several(27, "work"), *several(20, prefix="untagged")]
    assert tag_groups(memories) == [[memory.id for memory in special]]


def test_a_chain_of_tags_does_not_make_one_group() -> None:
    chain = [made(f"c{number:02}", f"t{number}", f"t{number + 1}") for number in range(40)]
    assert tag_groups(chain) == []
    bridged = [*several(4, "left", prefix="l"), made("bridge", "left", "right"), *several(6, "right", prefix="r")]
    assert tag_groups([*bridged, *chain]) == [
        ["bridge", "r0000", "r0001", "r0002", "r0003", "r0004", "r0005"],
        ["l0000", "l0001", "l0002", "l0003"],
    ]


def test_a_large_group_is_parted_by_the_other_tags_that_its_members_share() -> None:
    colours = ("red", "green", "blue")
    memories = [made(f"m{number:02}", "paint", colours[number % 3]) for number in range(30)]
    groups = tag_groups([*memories, *several(100, prefix="other")])
    assert sorted(map(len, groups)) == [10, 10, 10]
    for group in groups:
        assert len({int(name[1:]) % 3 for name in group}) == 1


def test_a_large_group_without_other_tags_is_parted_by_time() -> None:
    memories = [made(f"m{number:02}", "log", created_at=NOW - timedelta(days=number)) for number in range(24)]
    groups = tag_groups([*memories, *several(100, prefix="other")])
    assert sorted(sorted(group) for group in groups) == [
        [f"m{number:02}" for number in range(12)],
        [f"m{number:02}" for number in range(12, 24)],
    ]


@pytest.mark.parametrize(
    "fields",
    [
        *(
            {"status": status}
            for status in ("pending", "consolidated", "superseded", "compacted", "archived", "deleted")
        ),
        {"sensitivity": "confidential"},
        {"sensitivity": "restricted"},
    ],
)
def test_what_is_not_active_or_not_normal_is_in_no_group(fields: dict[str, str]) -> None:
    memories = [*several(2, "postgres"), made("third", "postgres", **fields)]
    assert tag_groups(memories) == []
    assert groups_of(memories) == []


def test_memories_of_two_namespaces_are_not_joined_but_the_parts_of_one_project_are() -> None:
    apart = [made("a", "api", namespace="home"), made("b", "api", namespace="work"), made("c", "api")]
    assert groups_of(apart) == []
    parts = [
        made("a", "http", namespace="projects/shop/api"),
        made("b", "http", namespace="projects/shop/web"),
        made("c", "http", namespace="projects/shop"),
        made("d", "http", namespace="projects/shopping"),
    ]
    assert ids(groups_of(parts)) == [("a", "b", "c")]


def test_unverified_text_from_outside_is_not_joined_with_the_users_own() -> None:
    outside = {"source_type": "external"}
    memories = [*several(2, "x"), made("e1", "x", **outside), made("e2", "x", stability="verified", **outside)]
    assert ids(groups_of(memories)) == [("e2", "m0000", "m0001")]
    assert ids(groups_of(several(3, "x", **outside))) == [("m0000", "m0001", "m0002")]


def test_a_group_says_which_tags_at_least_half_of_it_carry() -> None:
    memories = [made("a", "Disk", "ssd"), made("b", "disk", "ssd"), made("c", "disk", "raid"), made("d", "disk")]
    (group,) = groups_of(memories)
    assert group.tags == ("Disk", "ssd")
    assert group.why == "4 memories share the tags 'Disk', 'ssd'."


def test_the_best_ten_come_first() -> None:
    memories = [memory for size in range(3, 18) for memory in several(size, f"tag{size}", prefix=f"g{size:02}-")]
    groups = groups_of(memories, largest=20)
    assert [len(group.ids) for group in groups] == list(range(17, 7, -1))
    assert [group.score for group in groups] == sorted((group.score for group in groups), reverse=True)
    assert len(groups_of(memories, most=3)) == 3


def test_the_score_is_memento_vaults_formula() -> None:
    # log2(4) + 0.8 * 3/5 + 0.6 * 15/30 + 0 + 0.3 * 2.5/5, by hand: 2 + 0.48 + 0.3 + 0.15
    four = [
        made("a", "x", "y", certainty=1),
        made("b", "x", certainty=2, created_at=NOW + timedelta(days=15, hours=23)),
        made("c", "z", certainty=3),
        made("d", "x", certainty=4),
    ]
    assert group_score(four) == pytest.approx(2.93)
    # A logarithm, and every bonus in full: 0.8 + 0.6 + 0.25 + 0.3.
    three = [
        made("a", "t", namespace="projects/shop/api", certainty=5),
        made("b", namespace="projects/shop/web", certainty=5, created_at=NOW + timedelta(days=400)),
        made("c", namespace="projects/shop/web", certainty=5),
    ]
    assert group_score(three) == pytest.approx(math.log2(3) + 1.95)
    # log2(3) + nothing but certainty 3 of 5: no tags, one moment, no project
    assert group_score(several(3)) == pytest.approx(1.584962500721156 + 0.18)


def test_tags_of_provenance_are_no_diversity() -> None:
    assert group_score(several(3, "date:today")) == group_score(several(3))


def test_what_is_made_of_others_is_at_most_fairly_certain() -> None:
    assert SYNTHESIZED_CERTAINTY == 3


def test_a_title_that_shares_more_than_seven_words_of_ten_is_known() -> None:
    ten = "one two three four five six seven eight nine ten"
    assert is_known_title("one two three four five six seven eight", [ten])  # 8 of 10
    assert not is_known_title("one two three four five six seven", [ten])  # 7 of 10 is not more than 0.70
    assert is_known_title("Retry, the UPLOAD!", ["something else", "the upload: retry"])
    assert not is_known_title("", ["", ten])
    assert not is_known_title("?!", [""])


@pytest.mark.parametrize("unit", ["a", "-:/", "\u0301", " "])
def test_hostile_titles_take_steps_in_proportion_to_their_length(unit: str) -> None:
    grows_in_proportion(lambda size: is_known_title(unit * size, [unit * size, "x"]), 400)


def test_hostile_tags_take_few_steps() -> None:
    memories = [made(name, ":" * 100, "/" * 99, "source" * 16, "2026-" * 20) for name in "abc"]
    assert max(count_steps(lambda: tag_groups(memories))) < 10_000


@pytest.mark.parametrize("tags", [0, 199], ids="with {} tags that all carry".format)
def test_many_alike_memories_are_grouped_in_steps_in_proportion_to_their_number(tags: int) -> None:
    common = [f"tag{number}" for number in range(tags)]
    memories = [made(f"m{number:04}", f"subject{number // 8}", *common) for number in range(800)]

    def group(count: int) -> None:
        groups = groups_of(memories[:count])
        assert len(groups) == 10
        assert all(3 <= len(group.ids) <= LARGEST_GROUP for group in groups)

    grows_in_proportion(group, 400)


def test_memories_in_one_chain_of_tags_are_grouped_in_steps_in_proportion_to_their_number() -> None:
    memories = [made(f"m{number:04}", *(f"t{number // 7 + near}" for near in range(3))) for number in range(2_000)]

    def group(count: int) -> None:
        groups = tag_groups(memories[:count])
        assert len(groups) > count // 50
        assert all(3 <= len(group) <= LARGEST_GROUP for group in groups)

    grows_in_proportion(group, 400)


@st.composite
def stores(draw: st.DrawFn) -> list[Memory]:
    count = draw(st.integers(0, 40))
    return [
        made(
            f"m{number:02}",
            *draw(st.lists(st.sampled_from(["a", "B", "b", "c", "source:x", "d"]), max_size=3)),
            namespace=draw(st.sampled_from(["global", "projects/x", "projects/x/y", "projects/z"])),
            status=draw(st.sampled_from(["active", "active", "active", "superseded"])),
            source_type=draw(st.sampled_from(["user", "user", "external"])),
            created_at=NOW + timedelta(days=draw(st.integers(0, 60))),
        )
        for number in range(count)
    ]


@given(stores(), st.integers(3, 12), st.randoms())
def test_groups_are_within_their_bounds_and_do_not_depend_on_the_order(
    memories: list[Memory],
    largest: int,
    chance: Any,  # noqa: ANN401 - a random.Random
) -> None:
    groups = groups_of(memories, largest=largest)
    by_id = {memory.id: memory for memory in memories}
    members = [name for group in groups for name in group.ids]
    assert len(members) == len(set(members))
    for group in groups:
        found = [by_id[name] for name in group.ids]
        assert 3 <= len(found) <= largest
        assert all(memory.status == "active" for memory in found)
        assert len({"/".join(memory.namespace.split("/")[:2]) for memory in found}) == 1
        assert len({memory.source_type for memory in found}) == 1
        assert group.score == pytest.approx(group_score(found))
    assert [group.score for group in groups] == sorted((group.score for group in groups), reverse=True)
    shuffled = chance.sample(memories, len(memories))
    assert groups_of(shuffled, largest=largest) == groups
