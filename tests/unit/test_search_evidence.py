"""How a memory holds the words of a query helps to rank it: in its heading, near each other, in parts of a name."""

from __future__ import annotations

from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.search.keyword_query import read_evidence
from memento_tui.search.query_language import parse
from tests.made import edit, note, put

FILLER = " ".join(f"filler{number}" for number in range(30))


def explained(workspace: Workspace, query: str) -> dict[str, dict[str, Any]]:
    return {hit.id: hit.explain() for hit in workspace.search(query, mode="keyword").results}


def test_words_in_the_heading_count_more_than_the_same_words_below_it(workspace: Workspace) -> None:
    put(
        workspace._store,
        note(f"# Cache eviction\n\n{FILLER}", id="heading"),
        note(f"# Something else\n\n{FILLER} cache eviction", id="below"),
        note(f"cache eviction {FILLER}", id="sentence"),
        note(FILLER, title="Cache eviction", id="title"),
    )
    numbers = explained(workspace, "cache eviction")
    assert {name: found["heading"] for name, found in numbers.items()} == {
        "heading": 1,
        "title": 1,
        "below": 0,
        "sentence": 0,
    }
    assert set(list(numbers)[:2]) == {"heading", "title"}


def test_words_that_stand_close_in_their_order_count_more(workspace: Workspace) -> None:
    put(
        workspace._store,
        note(f"cache of eviction {FILLER}", id="near"),
        note(f"eviction {FILLER} cache", id="far"),
    )
    numbers = explained(workspace, "cache eviction")
    assert (numbers["near"]["nearby"], numbers["far"]["nearby"]) == (1, 0)
    assert list(numbers) == ["near", "far"]


def test_the_parts_of_a_name_count_apart_but_are_no_match_by_themselves(workspace: Workspace) -> None:
    put(
        workspace._store,
        note("deploy by a hook that does forwarding", id="parts"),
        note("deploy by a person who does it by hand", id="neither"),
        note("a hook", id="part"),
    )
    assert list(explained(workspace, "hook-forwarding deploy")) == ["parts", "neither"]
    assert explained(workspace, "hook-forwarding") == {}


def test_a_memory_that_only_its_meaning_proposed_has_the_evidence_of_its_words_too(workspace: Workspace) -> None:
    put(workspace._store, *(note(f"cache number {number}", id=f"m{number}") for number in range(9)))
    put(workspace._store, note("eviction", id="rare"))
    query = parse("cache eviction")
    found = workspace.search_engine.keyword.search(query, query.filter, 1, beside=["m3", "gone"])
    assert set(found.evidence) == {found.hits[0][0], "m3"}
    assert found.evidence["m3"].score > 0
    assert 0 < found.evidence["m3"].coverage < 1


def test_a_word_that_more_replaced_versions_hold_than_there_are_memories_is_still_searched_for(
    workspace: Workspace,
) -> None:
    put(workspace._store, note("alpha beta", id="a"))
    for number in range(9):
        edit(workspace, "a", content=f"alpha beta {number}")
        assert list(explained(workspace, "alpha beta")) == ["a"]
    assert explained(workspace, "alpha beta")["a"]["coverage"] == 1


@pytest.mark.parametrize("shares", [(0, 0, 0), (255, 255, 255), (255, 0, 1), (0, 255, 0), (7, 8, 9)])
def test_three_shares_fit_into_one_score(shares: tuple[int, int, int]) -> None:
    coverage, heading, nearby = shares
    score = float(coverage + 256 * heading + 65_536 * nearby)
    assert read_evidence(score) == tuple(share / 255 for share in shares)
