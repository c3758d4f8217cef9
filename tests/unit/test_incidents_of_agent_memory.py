"""What went wrong in agent-memory, each incident as the behaviour that keeps it from happening here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.maintenance import maintain_workspace
from memento_tui.model import Memory, make_memory
from memento_tui.operations.sessions import brief
from tests.made import unguarded
from tests.unit.chat_server import ChatServer

NOTES = (
    "The deploy script needs the VPN and a fresh token.",
    "Deploys to production run on Monday mornings only.",
    "Deploys to production run on Monday mornings only. The deploy script needs the VPN and a fresh token from Anna.",
)
"""The last says all that the others say."""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as serving:
        yield serving


@pytest.fixture
def modelled(data_dir: Path, server: ChatServer) -> Iterator[Workspace]:
    """A workspace with three notes to consolidate and a language model that would write the summary."""
    with (data_dir / "config.toml").open("a") as config:
        config.write(f'[language_model]\nurl = "{server.url}"\nmodel = "test-model"\ntimeout_seconds = 10\n')
    with memento_tui.open(data_dir) as opened:
        for text in NOTES:
            opened.remember(text, tags=["deploy"])
        yield opened


def proposed_draft(workspace: Workspace) -> tuple[Memory, dict[str, Any]]:
    (pending,) = workspace.review.list()[0]
    assert pending.proposal.reasons == ("consolidation",)
    return pending.target, pending.proposal.evidence


# Reasoning text stored as a summary, and summaries cut or in another language

GOOD = "Deploys to production run on Monday mornings only and need the VPN and a fresh token."
BAD = {
    "reasoning": (f"<think>The user wants one note.</think>{GOOD}", "stop"),
    "unclosed reasoning": (f"{GOOD}\n<thinking>I should check whether", "stop"),
    "talk about the task": ("Okay, let me think about what these three notes say.", "stop"),
    "cut by the model": ("Deploys to production run on Monday mornings only and need the VPN and a fre", "length"),
    "cut in silence": ("Deploys to production run on Monday mornings only and need the VPN and a fre", "stop"),
    "another language": ("Die Verteilung in die Produktion erfolgt nur am Montagmorgen und braucht das VPN.", "stop"),
    "another script": ("本番へのデプロイは月曜日の朝だけで、VPNと新しいトークンが必要です。", "stop"),
    "a number of its own": ("Deploys to production run on Monday at 07:30 and need the VPN and a fresh token.", "stop"),
    "nothing": ("   ", "stop"),
}


def test_a_sound_summary_of_a_model_is_proposed_as_the_models(modelled: Workspace, server: ChatServer) -> None:
    server.says(GOOD)
    maintain_workspace(modelled, asked=["consolidate"])
    draft, evidence = proposed_draft(modelled)
    assert (draft.content, evidence["draft"], evidence["refused"]) == (GOOD, "model", "")


@pytest.mark.parametrize("fault", BAD)
def test_a_summary_that_is_reasoning_or_cut_or_foreign_is_refused_and_the_best_source_stands_in_its_place(
    modelled: Workspace, server: ChatServer, fault: str
) -> None:
    content, finish = BAD[fault]
    server.says(content, finish)
    report = maintain_workspace(modelled, asked=["consolidate"])
    draft, evidence = proposed_draft(modelled)
    assert evidence["draft"] == "extractive"
    assert evidence["refused"]
    assert evidence["refused"] in report.problems
    assert draft.content == NOTES[-1]


@pytest.mark.parametrize("language", ["English", "German", "Japanese"])
def test_a_draft_without_a_model_is_the_best_source_in_its_own_words(workspace: Workspace, language: str) -> None:
    sentence = {
        "English": "Part {n} of the plan says that the {n}th machine is moved before the snow comes to the hills.",
        "German": "Teil {n} des Plans sagt, dass die {n}. Maschine vor dem ersten Schnee in die Berge kommt.",
        "Japanese": "計画の第{n}部によれば、{n}号機は雪が山に降る前に必ず移動させなければならない。",
    }[language]
    texts = [" ".join(sentence.format(n=place) for place in places) for places in ((2, 3), (4, 5), (2, 3, 4, 5))]
    for text in texts:
        workspace.remember(text, tags=["plan"])
    maintain_workspace(workspace, asked=["consolidate"])
    (draft,) = (p.target for p in workspace.review.list()[0] if "consolidation" in p.proposal.reasons)
    assert draft.content == texts[-1]


# Seven of ten hits of one kind


def test_a_kind_that_is_written_often_does_not_crowd_the_others_out_of_the_first_ten(workspace: Workspace) -> None:
    for number in range(20):
        workspace.remember(f"Staging deploy number {number} went through without a hitch.", kind="observation")
    workspace.remember("We deploy staging from the main branch, and never by hand.", kind="decision")
    workspace.remember("Before a staging deploy, lock the queue of jobs.", kind="instruction")
    workspace.remember("A staging deploy takes eleven minutes on the new runner.", kind="fact")
    workspace.remember("Nobody likes a staging deploy after six in the evening.", kind="preference")
    hits = workspace.search("staging deploy", mode="keyword", limit=10).results
    kinds = Counter(hit.memory.kind for hit in hits)
    assert len(hits) == 10
    assert {"decision", "instruction", "fact", "preference"} <= set(kinds)
    assert kinds["observation"] < 7


# A done to-do reported as open


def test_a_working_item_that_is_done_is_not_told_as_open(workspace: Workspace, agent: Workspace) -> None:
    item = workspace.items.create("Migrate the billing tables", category="active_work", next_action="run the script")
    workspace.items.create("Ship the release")
    assert len(brief(agent, "what is open?", "", 5).items) == 2
    agent.items.update(
        getattr(item, "id", ""), status="completed", base_version=agent.items.get(getattr(item, "id", "")).version
    )
    assert [open_.title for open_ in brief(agent, "what is open?", "", 5).items] == ["Ship the release"]
    assert [open_.title for open_ in workspace.items.list(status="active")] == ["Ship the release"]


def test_a_to_do_in_a_memory_and_its_completion_in_another_are_shown_to_contradict_each_other(
    workspace: Workspace, agent: Workspace
) -> None:
    open_ = agent.remember("TODO: migrate the billing tables to the new schema.")
    done = agent.remember("The billing tables were migrated to the new schema.")
    maintain_workspace(workspace, asked=["contradictions"])
    (dispute,) = agent.contradictions.around([open_.id])
    assert (dispute.contradiction.older, dispute.contradiction.newer) == (open_.id, done.id)
    workspace.contradictions.resolve(dispute.contradiction.id, "newer_supersedes")
    hits = workspace.search("migrate billing tables").results
    assert [hit.id for hit in hits] == [done.id, open_.id]
    assert hits[1].memory.status == "superseded"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The pull request for the billing export is open.", "The pull request for the billing export is merged."),
        ("The billing export still needs a review by Ann.", "The billing export was reviewed by Ann."),
    ],
)
def test_what_was_open_and_what_is_done_are_not_joined_into_one_memory_that_says_both(
    workspace: Workspace, agent: Workspace, before: str, after: str
) -> None:
    agent.remember(before)
    agent.remember(after)
    maintain_workspace(workspace)
    joined = [p.proposal.payload["content"] for p in workspace.review.list()[0] if p.proposal.action == "merge"]
    assert not any(before in content and after in content for content in joined)


# Fragments above their own consolidation


def test_an_approved_consolidation_is_told_without_its_fragments_for_the_fragments_own_words(
    workspace: Workspace, agent: Workspace
) -> None:
    for text in NOTES:
        agent.remember(text, tags=["deploy"])
    maintain_workspace(workspace, asked=["consolidate"])
    (pending,) = workspace.review.list()[0]
    whole = pending.target.id
    assert whole not in {hit.id for hit in workspace.search("deploy").results}
    workspace.review.approve(pending.proposal.id, content="How we deploy: on Mondays, by VPN, and undo takes it back.")
    for text in NOTES:
        hits = workspace.search(text, mode="keyword", limit=20).results
        assert [hit.id for hit in hits] == [whole]
    kept = workspace.search(f"{NOTES[0]} is:consolidated", mode="keyword").results
    assert {hit.memory.status for hit in kept} == {"consolidated"}


# Clean-up that deletes what compaction left


def old(workspace: Workspace, identity: str, moment: datetime, **fields: Any) -> Memory:  # noqa: ANN401 - fields
    """Store a memory as if it had been written at a moment, in this store too."""
    memory = make_memory({"id": identity, "created_at": moment, **fields})
    with unguarded(workspace._store, workspace.author, "test", now=moment) as tx:
        return tx.put(memory, base=0)


WHOLE = "The first sentence says what it is about. The second holds the detail that matters in a year."


@pytest.mark.parametrize("preset", ["protocol", "vault", "bank", "balanced"])
def test_what_compaction_left_outlives_the_clean_up_of_the_same_night_and_of_those_after_it(
    data_dir: Path, preset: str
) -> None:
    with (data_dir / "config.toml").open("a") as config:
        config.write(f'[upkeep]\ndecay = "{preset}"\n')
    with memento_tui.open(data_dir) as workspace:
        old(workspace, "fading", clock.now() - timedelta(days=300), content=WHOLE, certainty=3)
        for _ in range(4):
            maintain_workspace(workspace)
        preview = workspace.get("fading")
        assert (preview.status, preview.content) == ("compacted", "The first sentence says what it is about.")
        assert workspace.search("first sentence", mode="keyword").results[0].id == "fading"
        assert workspace.restore("fading").content == WHOLE


def test_a_preview_that_is_archived_in_the_end_still_has_its_original(workspace: Workspace) -> None:
    old(workspace, "fading", clock.now() - timedelta(days=400), content=WHOLE)
    maintain_workspace(workspace)
    with unguarded(workspace._store, workspace.author, "test") as tx:
        preview = tx.require(Memory, "fading")
        compacted_at = f"{clock.now() - timedelta(days=100):%Y-%m-%dT%H:%M:%S+00:00}"
        extra = {**preview.extra, "compacted_at": compacted_at}
        tx.put(msgspec.structs.replace(preview, extra=extra), base=preview.version)
    maintain_workspace(workspace)
    assert workspace.get("fading").status == "archived"
    assert workspace.search("first sentence", mode="keyword").results == []
    # Out of the archive it comes as a preview, and from there as it was written.
    while (back := workspace.restore("fading")).content != WHOLE:
        assert back.status == "compacted"
    assert back.status == "active"


def test_nothing_that_a_sleep_made_of_others_is_removed_by_the_next_one(workspace: Workspace, agent: Workspace) -> None:
    for text in NOTES:
        agent.remember(text, tags=["deploy"])
    maintain_workspace(workspace, asked=["consolidate"])
    (pending,) = workspace.review.list()[0]
    workspace.review.approve(pending.proposal.id)
    before = {memory.id: memory.content for batch in workspace._store.memories.batches() for memory in batch}
    for _ in range(3):
        assert maintain_workspace(workspace).actions == ()
    assert {memory.id: memory.content for batch in workspace._store.memories.batches() for memory in batch} == before
