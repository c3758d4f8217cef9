"""Memento Protocol's known faults, each as the behaviour that memento has in its place.

That a hit by meaning obeys expiry, and that an edit is embedded anew, is tested where there is an engine.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.errors import InvalidField
from memento_tui.operations.recall import recall
from memento_tui.operations.sessions import brief
from tests.made import edit, note, put
from tests.unit.cli_program import Program, without_engine


@pytest.fixture
def memento(tmp_path: Path) -> Program:
    return Program(without_engine(tmp_path / "program"))


def found(workspace: Workspace, query: str) -> list[str]:
    return [hit.memory.content for hit in workspace.search(query, mode="keyword").results]


# Words


def test_a_keyword_does_not_match_a_longer_word_that_it_begins(workspace: Workspace) -> None:
    workspace.remember("The keynote was long.")
    workspace.remember("The monkey has a keyboard.")
    assert found(workspace, "key") == []


def test_a_keyword_matches_its_plural_and_the_plural_matches_it(workspace: Workspace) -> None:
    workspace.remember("The key is in the vault.")
    workspace.remember("All keys were replaced.")
    expected = {"The key is in the vault.", "All keys were replaced."}
    assert (set(found(workspace, "keys")), set(found(workspace, "key"))) == (expected, expected)


@pytest.mark.parametrize("query", ["Navier-Stokes", "navier-stokes", "Navier Stokes", '"Navier-Stokes"', "stokes"])
def test_a_hyphenated_name_is_found_as_it_is_written_and_in_parts(workspace: Workspace, query: str) -> None:
    workspace.remember("The solver handles Navier-Stokes with a coarse grid.")
    workspace.remember("Stocks and navies are something else.")
    assert found(workspace, query) == ["The solver handles Navier-Stokes with a coarse grid."]


# Age


@pytest.mark.parametrize("preset", ["protocol", "vault", "bank", "balanced"])
def test_an_exact_match_of_sixty_days_scores_far_above_a_fresh_irrelevant_memory(tmp_path: Path, preset: str) -> None:
    folder = without_engine(tmp_path / "data")
    with (folder / "config.toml").open("a") as config:
        config.write(f'[maintenance]\ndecay = "{preset}"\n')
    with Workspace(folder) as workspace:
        sixty = clock.now() - timedelta(days=60)
        put(workspace._store, note("Rotate the staging database password on Mondays.", id="exact", created_at=sixty))
        put(workspace._store, note("The password of the wireless network is on the board.", id="fresh"))
        exact, fresh = workspace.search("rotate staging database password", mode="keyword").results
    assert (exact.id, fresh.id) == ("exact", "fresh")
    assert exact.score > 2 * fresh.score


# Expiry


@pytest.mark.parametrize("expires", ["never", "", "none", "0", "2020-01-01", "-7d"])
def test_a_skip_without_a_real_end_in_the_future_is_refused(workspace: Workspace, expires: str) -> None:
    with pytest.raises(InvalidField, match="expires_at"):
        workspace.skips.add("vendor/", "not ours", expires)
    assert workspace.skips.list(ended=True) == []


def test_a_skip_that_never_ends_is_refused_on_the_command_line_too(memento: Program) -> None:
    ended = memento.run("skip", "add", "vendor/", "--reason", "not ours", "--until", "never", "--json")
    assert ended.code != 0
    assert ended.error["code"] == "invalid_field"
    assert memento.json("skip", "list")["items"] == []


def test_a_memory_that_has_expired_is_not_found_from_that_moment_on_without_any_sleep(workspace: Workspace) -> None:
    soon = clock.now() + timedelta(hours=1)
    workspace.remember("The guest network is called Otter.", expires_at=soon.isoformat())
    assert len(workspace.search("guest network").results) == 1
    assert workspace.search("guest network", now=soon + timedelta(seconds=1)).results == []


# Consolidation


def test_memories_that_share_only_a_tag_of_provenance_are_never_merged(workspace: Workspace, agent: Workspace) -> None:
    texts = (
        "The oven needs ten minutes to heat up before the bread goes in.",
        "Tax returns are due at the end of July, or later with an adviser.",
        "Tomatoes want more water in the first two weeks after planting.",
        "A rook behind a passed pawn is worth more than one beside it.",
    )
    made = [agent.remember(text, tags=["source:distill:2026-01-02"]) for text in texts]
    assert maintain_workspace(workspace).actions == ()
    assert [workspace.get(memory.id) for memory in made] == made
    assert workspace._store.memories.count_all() == 4


def test_what_shares_a_subject_stays_apart_and_what_says_the_same_is_proposed_on_request(
    workspace: Workspace, agent: Workspace
) -> None:
    texts = [
        "The deploy script needs the VPN and a fresh token.",
        "Deploys to production run on Monday mornings only.",
        "A failed deploy is rolled back with make undo.",
    ]
    made = [agent.remember(text, tags=["deploy", "source:distill:2026-01-02"]) for text in texts]
    assert maintain_workspace(workspace, asked=["consolidate"]).actions == ()
    made.append(agent.remember(" ".join(texts[:2]), tags=["deploy"]))
    assert maintain_workspace(workspace).actions == ()
    (deed,) = maintain_workspace(workspace, asked=["consolidate"]).actions
    assert (deed.action, deed.waits) == ("consolidate", True)
    assert [workspace.get(memory.id) for memory in made] == made


# Use


def test_being_found_and_shown_counts_as_no_use(workspace: Workspace, agent: Workspace) -> None:
    memory = agent.remember("The staging proxy listens on port 8080.")
    workspace.search("staging proxy")
    recall(agent, "staging proxy", 5)
    brief(agent, "where does the staging proxy listen", "", 5)
    shown = workspace.get(memory.id)
    assert (shown.shown_count, shown.used_count, shown.last_used_at) == (2, 0, None)
    assert maintain_workspace(workspace).actions == ()


def test_what_was_found_but_not_put_before_the_agent_is_not_even_counted_as_shown(
    workspace: Workspace, agent: Workspace
) -> None:
    kept = workspace.remember("The staging proxy is restricted.", sensitivity="restricted")
    rest = [agent.remember(f"The staging proxy of rack {n} is old.") for n in range(3)]
    hits, _ = recall(agent, "staging proxy", 2)
    shown = {memory.id for memory in (kept, *rest) if workspace.get(memory.id).shown_count}
    assert shown == {hit.id for hit in hits}
    assert kept.id not in shown


def test_a_check_of_the_skip_list_counts_a_hit_for_what_matched_and_for_nothing_else(workspace: Workspace) -> None:
    workspace.skips.add("vendor folder", "not ours", "7d", id="vendor")
    workspace.skips.add("issue 4711", "waits for upstream", "7d", id="issue")
    assert [skip.id for skip in workspace.skips.check("read the vendor folder")] == ["vendor"]
    assert workspace.skips.check("write a test") == []
    assert (workspace.skips.get("vendor").hits, workspace.skips.get("issue").hits) == (1, 0)


# Doubles, a way out and a way back


@pytest.mark.parametrize("again", ["The API lives at /v2.", "The API  lives at /v2.", "The API lives\nat /v2."])
def test_the_same_text_is_stored_once(workspace: Workspace, agent: Workspace, again: str) -> None:
    first = agent.remember("The API lives at /v2.")
    assert agent.remember(again).id == first.id
    assert workspace._store.memories.count_all() == 1
    # What a person says is theirs, though an agent had written it down as a draft.
    own = workspace.remember(again)
    assert (own.id != first.id, own.source_type) == (True, "user")
    assert workspace.remember("The API lives at /v2.").id == own.id


def test_the_same_text_is_stored_once_when_it_comes_in_bulk(workspace: Workspace) -> None:
    first = workspace.remember("The API lives at /v2.")
    again = workspace.remember_many([{"content": "The API lives at /v2."}, {"content": "New."}, {"content": "New."}])
    assert again[0].id == first.id
    assert again[1].id == again[2].id
    assert workspace._store.memories.count_all() == 2


def test_everything_can_be_exported_and_brought_into_an_empty_store(memento: Program, tmp_path: Path) -> None:
    memento.add("The API lives at /v2.", "--tag", "api")
    memento.json("skip", "add", "vendor/", "--reason", "not ours", "--until", "30d")
    memento.json("item", "add", "Ship it")
    memento.json("crystal", "write", "I am careful.")
    memento.run("export", str(tmp_path / "all.jsonl"))
    other = Program(without_engine(tmp_path / "other"))
    other.json("import", "auto", str(tmp_path / "all.jsonl"))
    for listing in (("list",), ("skip", "list"), ("item", "list")):
        (ours,), (theirs,) = (program.json(*listing)["items"] for program in (memento, other))
        moved: dict[str, object] = {"version": 0}
        if "source_type" in ours:
            claims = {"source_type": "user", "confidence": 0.9}
            moved |= {"source_type": "derived", "confidence": 0.6, "extra": {"claims": claims}}
        else:
            moved |= {"extra": {"unverified": True}} | ({"created_by": ""} if "created_by" in ours else {})
        assert {**ours, **moved} == {**theirs, "version": 0}
    (identity,) = other.json("review", "list")["items"]
    other.json("review", "approve", identity["id"])
    assert other.json("crystal", "show")["content"] == "I am careful."


def test_a_deletion_and_an_edit_can_be_undone_whoever_made_them(workspace: Workspace, agent: Workspace) -> None:
    memory = agent.remember("The API lives at /v2.", tags=["api"])
    edit(agent, memory.id, content="The API is gone.")
    agent.forget(memory.id, base_version=agent.get(memory.id).version)
    for seq in (workspace._store.journal.head(), workspace._store.journal.head() - 1):
        workspace.undo(seq)
    back = workspace.get(memory.id)
    assert (back.content, back.tags, back.status) == (memory.content, memory.tags, "active")
