"""What an agent is told is shared among those who wrote it, and repetition raises nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.hooks.events import context_for_call
from memento_tui.hooks.host_events import HookCall
from memento_tui.hooks.retrieval import memories_for_prompt, up_to_date_index
from memento_tui.hooks.scope import SessionScope
from memento_tui.hooks.settings import HookSettings
from memento_tui.operations.recall import recall
from memento_tui.operations.sessions import open_session
from memento_tui.search.fair_share import fair_entries, fair_places, fair_results
from memento_tui.storage.hook_store import HookStore

PROMPT = "how is the invoice export of the billing service deployed?"
SUBJECT = "The invoice export of the billing service is deployed"


def session(data_dir: Path, name: str, agent: str = "claude") -> Workspace:
    return Workspace(data_dir, actor="agent", channel="mcp", agent=agent, session=name)


@pytest.fixture
def reader(data_dir: Path) -> Iterator[Workspace]:
    with session(data_dir, "reader") as opened:
        yield opened


def told(workspace: Workspace, prompt: str = PROMPT) -> list[str]:
    workspace.search_engine.keyword.catch_up()
    store = HookStore(workspace.paths.database)
    index = up_to_date_index(workspace.paths, store)
    assert index is not None
    found = memories_for_prompt(store, index, prompt, SessionScope("s9", ""), HookSettings(threshold=0.3), clock.now())
    store.close()
    return [one.memory.id for one in found]


def flood(data_dir: Path, name: str, count: int, ending: str = "by hand, in step {} of the list") -> list[str]:
    with session(data_dir, name) as writer:
        return [writer.remember(f"{SUBJECT} {ending.format(number)}.").id for number in range(count)]


def test_one_session_has_half_of_a_prompt_where_another_wrote_too(data_dir: Path, reader: Workspace) -> None:
    with session(data_dir, "honest") as writer:
        honest = writer.remember(f"{SUBJECT} by the pipeline after a dump.").id
    flooded = flood(data_dir, "flood", 3)
    shown = told(reader)
    assert honest in shown
    assert sum(name in flooded for name in shown) == 1


def test_a_session_that_writes_many_memories_alike_silences_its_own_alone(data_dir: Path, reader: Workspace) -> None:
    flood(data_dir, "flood", 6)
    assert told(reader) == []
    with session(data_dir, "honest") as writer:
        honest = writer.remember(f"{SUBJECT} by the pipeline after a dump.").id
    assert told(reader) == [honest]


def test_results_are_shared_though_another_kind_is_found_far_below(data_dir: Path, reader: Workspace) -> None:
    flooded = flood(data_dir, "flood", 40)
    with session(data_dir, "honest") as writer:
        other = writer.remember(f"{SUBJECT} with care, says the long runbook of the team.", kind="instruction").id
    hits = [hit.memory.id for hit in reader.search(PROMPT, limit=5).results]
    assert len(hits) == 5
    assert other in hits
    assert set(hits) - {other} <= set(flooded)


def test_one_session_alone_may_fill_a_prompt(data_dir: Path, reader: Workspace) -> None:
    flood(data_dir, "only", 3)
    assert len(told(reader)) == 3


def test_what_a_person_wrote_or_verified_is_not_limited(data_dir: Path, reader: Workspace) -> None:
    flooded = flood(data_dir, "flood", 2)
    with Workspace(data_dir) as person:
        for name in flooded:
            person.verify(name)
        person.remember(f"{SUBJECT} by the pipeline after a dump.")
    assert len(told(reader)) == 3


def test_a_prompt_is_not_told_the_same_twice(data_dir: Path, reader: Workspace) -> None:
    for number, text in enumerate(
        (
            f"{SUBJECT} by hand.",
            "The invoice export, of the billing service, IS deployed by hand!",
            f"{SUBJECT}: by hand",
        )
    ):
        with session(data_dir, f"s{number}") as writer:
            writer.remember(text, namespace=f"n{number}")
    assert len(told(reader)) == 1


def test_what_differs_in_a_claim_is_told(data_dir: Path, reader: Workspace) -> None:
    for number, text in enumerate((f"{SUBJECT} on port 80.", f"{SUBJECT} on port 81.", f"{SUBJECT} not on port 80.")):
        with session(data_dir, f"s{number}") as writer:
            writer.remember(text)
    assert len(told(reader)) == 3


def test_a_search_of_an_agent_shares_its_results_and_a_persons_does_not(data_dir: Path, reader: Workspace) -> None:
    flooded = flood(data_dir, "flood", 12)
    with session(data_dir, "honest") as writer:
        honest = {writer.remember(f"{SUBJECT} {how}.").id for how in ("by the pipeline", "after a dump", "at night")}
    hits, _ = recall(reader, "invoice export billing service deployed", 6)
    assert len(hits) == 6
    assert sum(hit.id in flooded for hit in hits) == 3
    assert honest <= {hit.id for hit in hits}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    with Workspace(data_dir) as person:
        found = person.search("invoice export billing service deployed by hand", limit=6).results
        assert sum(hit.id in flooded for hit in found) > 3


def test_what_answers_much_worse_displaces_nothing(data_dir: Path, reader: Workspace) -> None:
    flood(data_dir, "flood", 12)
    with session(data_dir, "other") as writer:
        other = writer.remember("An invoice was lost in the post once.").id
    hits, _ = recall(reader, "invoice export billing service deployed hand step", 6)
    assert other not in {hit.id for hit in hits}


def test_the_start_of_a_session_shares_its_items_and_skips(data_dir: Path, reader: Workspace) -> None:
    with session(data_dir, "flood") as writer:
        for number in range(25):
            writer.items.create(f"Task {number} of the flood", priority=9)
            writer.skips.add(f"thing {number} of the flood", "it floods", "2d")
    with session(data_dir, "honest") as writer:
        item, skip = writer.items.create("The honest task"), writer.skips.add("the honest thing", "it is slow", "9d")
    start = open_session(reader, "", "")
    assert item.id in {one.id for one in start.items}
    assert skip.id in {one.id for one in start.skips}
    assert (len(start.items), len(start.skips)) == (11, 11)


def test_no_number_of_sessions_takes_the_persons_items_and_skips_from_the_start_of_a_session(
    data_dir: Path, workspace: Workspace, reader: Workspace
) -> None:
    item = workspace.items.create("Money is in cents", category="standing_decision")
    skip = workspace.skips.add("push to main", "it breaks the release", "300d")
    for number in range(25):
        with session(data_dir, f"flood-{number}", agent=f"agent-{number}") as writer:
            writer.items.create(f"Task {number} of the flood", priority=9)
            writer.skips.add(f"thing {number} of the flood", "it floods", "2d")
    start = open_session(reader, "", "")
    assert (item.id in {one.id for one in start.items}, skip.id in {one.id for one in start.skips}) == (True, True)
    call = HookCall("claude-code", "SessionStart", "start", "new", str(data_dir), "", is_fresh=True)
    told_by_hook = context_for_call(call, workspace.paths, HookSettings())
    assert "Money is in cents" in told_by_hook
    assert "push to main" in told_by_hook
    assert told_by_hook.count("of the flood") == 14


@pytest.mark.parametrize("sessions", [3, 6])
def test_no_number_of_sessions_silences_at_a_prompt_what_the_person_verified(
    data_dir: Path, workspace: Workspace, sessions: int
) -> None:
    verified = workspace.remember(f"{SUBJECT} by hand with deploy.sh after the smoke test.")
    workspace.verify(verified.id)
    for number in range(sessions):
        with session(data_dir, f"flood-{number}", agent=f"agent-{number}") as writer:
            writer.remember(f"{SUBJECT} by script number {number}. How is the invoice export of billing deployed?")
    assert verified.id in told(workspace)


@given(
    st.lists(st.sampled_from([("", True), ("", False), ("a", False), ("b", False), ("c", True)]), max_size=30),
    st.integers(1, 12),
)
def test_a_persons_entries_have_half_of_a_short_list_and_none_is_left_out_for_nothing(
    kinds: list[tuple[str, bool]], limit: int
) -> None:
    entries = list(enumerate(kinds))
    chosen = fair_entries(entries, limit, lambda one: one[1][0], lambda one: one[1][1])
    persons = sum(is_persons for _, is_persons in kinds)
    shared = fair_places(entries, limit, lambda one: one[1][0])
    assert chosen == sorted(set(chosen))
    assert min(limit, len(entries)) >= len(chosen) >= len(shared)
    assert sum(one[1][1] for one in chosen) >= min(persons, limit - max(1, limit // 2))


def test_the_same_text_written_again_and_again_raises_nothing(data_dir: Path, reader: Workspace) -> None:
    text = f"{SUBJECT} by hand, which takes an hour."
    with session(data_dir, "s0") as writer:
        first = writer.remember(text)
    before = reader.search(PROMPT).results[0].explain()
    for number in range(5):
        with session(data_dir, f"s{number}") as writer:
            for variant in (text, text.upper(), f"  {text}\n"):
                writer.remember(variant)
                writer.exposures.count_shown([first.id])
    after = reader.get(first.id)
    assert (after.certainty, after.used_count, after.last_used_at) == (first.certainty, 0, None)
    assert reader._store.usage.sessions([first.id]) == {}
    assert reader.search(PROMPT).results[0].explain()["life"] <= before["life"]


def test_the_session_that_wrote_a_memory_does_not_confirm_it(data_dir: Path) -> None:
    with session(data_dir, "s0") as writer:
        memory = writer.remember(f"{SUBJECT} by hand.")
        for _ in range(3):
            writer.used([memory.id])
        assert writer._store.usage.sessions([memory.id]) == {}
    with session(data_dir, "s1") as other:
        other.used([memory.id])
        assert other._store.usage.sessions([memory.id]) == {memory.id: (1, 0)}


WRITERS = st.lists(st.sampled_from(["", "a", "b", "c"]), max_size=30)


@given(WRITERS, st.integers(1, 12))
def test_no_writer_has_more_than_half_of_the_places_unless_it_is_alone(writers: list[str], limit: int) -> None:
    chosen = fair_places(list(enumerate(writers)), limit, lambda one: one[1])
    assert chosen == sorted(chosen)
    counts = Counter(name for _, name in chosen if name)
    if len(set(writers)) > 1:
        assert all(count <= max(1, limit // 2) for count in counts.values())
    else:
        assert len(chosen) == min(limit, len(writers))
    assert chosen[:1] == list(enumerate(writers))[:1]


@given(WRITERS, st.integers(1, 12))
def test_results_keep_their_number_and_their_best(writers: list[str], limit: int) -> None:
    ordered = [(str(place), 1.0 - place / 100) for place in range(len(writers))]
    known = {str(place): name for place, name in enumerate(writers) if name}
    found = fair_results(ordered[:limit], ordered, known)
    assert len(found) == min(limit, len(ordered))
    assert found[:1] == ordered[:1]
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    counts, share = Counter(known.get(name, "") for name, _ in found), max(1, len(found) // 2)
    left = [known.get(name, "") for name, _ in ordered if name not in dict(found)]
    # Where one has more than its share, nobody who is left out had room.
    is_over = any(name and count > share for name, count in counts.items())
    assert not is_over or all(name and counts[name] >= share for name in left)
