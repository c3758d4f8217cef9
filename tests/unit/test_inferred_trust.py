"""Tier, confidence and surprise are inferred at every way in, and an agent's own word of its trust is a claim."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.consolidation import consolidate
from memento_tui.api.distillation import distill_transcript
from memento_tui.formats.import_export import run_import
from memento_tui.maintenance.aging import due_change
from memento_tui.mirror.mirror import Mirror
from memento_tui.model import Memory
from memento_tui.model.claims import claims_of
from memento_tui.text.novelty import Novelty
from tests.unit.profile_agent import seated

FACT = "The invoices of October are kept in the blue folder."


def trust(memory: Memory) -> tuple[str, float]:
    return memory.tier, memory.confidence


@pytest.mark.parametrize(
    ("fields", "tier"),
    [
        ({}, "short_term"),
        ({"kind": "observation"}, "short_term"),
        ({"kind": "decision"}, "long_term"),
        ({"kind": "instruction"}, "long_term"),
        ({"kind": "preference"}, "long_term"),
        ({"kind": "pattern"}, "long_term"),
        ({"kind": "anti_pattern"}, "long_term"),
        ({"kind": "heuristic"}, "long_term"),
        ({"kind": "daily"}, "working"),
        ({"kind": "decision", "expires_at": "7d"}, "short_term"),
        ({"kind": "decision", "expires_at": "90d"}, "long_term"),
        ({"kind": "decision", "source_type": "external"}, "short_term"),
        ({"kind": "decision", "tier": "short_term"}, "short_term"),
        ({"tier": "long_term"}, "long_term"),
    ],
)
def test_the_tier_follows_from_what_it_is_unless_it_is_given(
    workspace: Workspace, fields: dict[str, Any], tier: str
) -> None:
    assert workspace.remember(FACT, **fields).tier == tier
    (bulk,) = workspace.remember_many([{"content": f"{FACT} So it is.", **fields}])
    assert bulk.tier == tier


def test_the_confidence_follows_from_who_knows_it(workspace: Workspace) -> None:
    assert workspace.remember(FACT).confidence == 0.9
    assert workspace.remember("From a page.", source_type="external").confidence == 0.3
    assert workspace.remember("Worked out.", source_type="derived").confidence == 0.6
    assert workspace.remember("Said so.", confidence=0.2).confidence == 0.2


def test_what_an_agent_says_of_its_own_confidence_is_a_claim_until_a_person_accepts_it(
    workspace: Workspace, data_dir: Path
) -> None:
    with memento_tui.open(data_dir, actor="agent", channel="mcp", agent="codex", session="s1") as agent:
        sure = agent.remember(FACT, confidence=1.0)
        unsure = agent.remember("The invoices of May are lost.", confidence=0.1)
        outside = agent.remember("A page says so.", source_type="external", confidence=0.6)
    assert (sure.confidence, claims_of(sure)) == (0.6, {"confidence": 1.0})
    assert (unsure.confidence, claims_of(unsure)) == (0.1, {})
    assert (outside.confidence, claims_of(outside)) == (0.3, {"confidence": 0.6})
    workspace.verify(sure.id)
    accepted = workspace.get(sure.id)
    assert (accepted.confidence, claims_of(accepted)) == (1.0, {})


def test_how_new_a_memory_is_is_measured_one_by_one_and_in_bulk(workspace: Workspace) -> None:
    first = workspace.remember(FACT)
    again, other = workspace.remember_many(
        [{"content": "The invoices of October are kept in the green folder."}, {"content": "Deploys run from main."}]
    )
    assert first.surprise == 1.0
    assert again.surprise is not None
    assert again.surprise < 0.5
    assert other.surprise == 1.0


def test_many_at_once_are_measured_beside_what_was_stored_before(workspace: Workspace) -> None:
    workspace.remember(FACT)
    others = [{"content": f"Release number {number} went out on a {day}."} for number in range(15) for day in ("day",)]
    many = [{"content": f"{word} is a word."} for word in ("Ant", "Bee", "Cat", "Dog", "Eel", "Fox")]
    again, *_ = workspace.remember_many([{"content": f"{FACT} Still."}, *others, *many])
    assert again.surprise is not None
    assert again.surprise < 0.2


def test_an_import_is_measured_beside_what_was_stored_before(workspace: Workspace, tmp_path: Path) -> None:
    workspace.remember(FACT)
    vault = tmp_path / "vault" / "notes"
    vault.mkdir(parents=True)
    (vault / "a.md").write_text(f"---\ntitle: The folder\n---\n{FACT} Still.\n")
    (vault / "b.md").write_text("---\ntitle: Deploys\n---\nDeploys run from main, never from a laptop.\n")
    run_import(workspace, "vault", tmp_path / "vault")
    found = {memory.title: memory.surprise for memory in workspace.list().items}
    assert found["The folder"] is not None
    assert found["The folder"] < 0.5
    assert found["Deploys"] == 1.0


def test_a_note_of_a_mirrored_folder_says_how_new_it_is(mirror: Mirror, folder: Path, workspace: Workspace) -> None:
    workspace.remember(FACT)
    list(mirror.step())
    (folder / "again.md").write_text(f"---\ntitle: Again\n---\n{FACT} Still.\n")
    list(mirror.step())
    (surprise,) = (memory.surprise for memory in workspace.list().items if memory.title == "Again")
    assert surprise is not None
    assert surprise < 0.5


def test_what_is_made_of_others_has_the_trust_of_the_least_sure(workspace: Workspace) -> None:
    sure = workspace.remember("Deploys run from CI since March.", kind="decision", confidence=0.9)
    unsure = workspace.remember("Never deploy from a laptop of ours.", kind="decision", confidence=0.4)
    made = consolidate(workspace, [sure.id, unsure.id]).memory
    assert trust(made) == ("long_term", 0.4)
    assert made.surprise == max(sure.surprise or 0, unsure.surprise or 0)


def test_an_import_infers_what_the_source_does_not_say(workspace: Workspace, tmp_path: Path) -> None:
    source = tmp_path / "vault" / "notes"
    source.mkdir(parents=True)
    (source / "a.md").write_text("---\ntitle: A\ntype: decision\n---\nWe keep invoices in the blue folder.\n")
    (source / "b.md").write_text("---\ntitle: B\ntype: discovery\n---\nWe keep invoices in the blue folder too.\n")
    run_import(workspace, "vault", tmp_path / "vault")
    found = {memory.title: memory for memory in workspace.list().items}
    assert trust(found["A"]) == ("long_term", 0.5)
    assert trust(found["B"]) == ("short_term", 0.5)
    assert found["A"].surprise == 1.0
    assert found["B"].surprise is not None
    assert found["B"].surprise < 0.5


def test_an_export_of_its_own_comes_back_as_it_was(workspace: Workspace, tmp_path: Path) -> None:
    line = {"record": "memory", "id": "m1", "content": FACT, "kind": "decision"}
    path = tmp_path / "own.jsonl"
    header = {"record": "header", "format": "memento-jsonl", "version": 1}
    path.write_text(f"{json.dumps(header)}\n{json.dumps(line)}\n")
    run_import(workspace, "memento", path)
    assert workspace.get("m1").tier == "short_term"


def test_what_a_transcript_teaches_has_the_trust_of_an_agent(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text(json.dumps({"role": "user", "content": "Always run the linter before you push to main."}))
    assert distill_transcript(workspace, path).learned
    (memory,) = workspace.list("status:active,pending").items
    assert trust(memory) == ("long_term", 0.6)
    assert memory.surprise == 1.0


@pytest.mark.parametrize(
    ("profile", "tool", "arguments"),
    [
        ("native", "remember", {"content": FACT, "kind": "decision"}),
        ("bank", "retain", {"bank_id": "global", "content": FACT, "kind": "decision"}),
        ("core", "memory_store", {"content": FACT}),
        ("vault", "memento_store", {"title": "Folder", "body": FACT, "note_type": "decision"}),
        ("protocol", "memento_remember", {"content": FACT, "type": "decision"}),
    ],
)
def test_every_profile_infers_it(workspace: Workspace, profile: str, tool: str, arguments: dict[str, object]) -> None:
    with seated(workspace.paths.root, profile) as agent:
        agent.send(tool, arguments)
    (memory,) = workspace.list("status:active,pending").items
    assert trust(memory) == ("short_term" if profile == "core" else "long_term", 0.6)
    assert memory.surprise == 1.0


def test_memories_are_selected_by_each_of_the_three(workspace: Workspace) -> None:
    made = [
        workspace.remember(FACT, kind="decision", confidence=0.8),
        workspace.remember("The invoices of October are kept in the green folder.", confidence=0.4),
    ]
    for query, selected in (
        ("tier:long_term", made[:1]),
        ("confidence:>=.6", made[:1]),
        ("confidence:<.6", made[1:]),
        ("surprise:>=.7", made[:1]),
        ("surprise:<.7", made[1:]),
    ):
        assert {memory.id for memory in workspace.list(query).items} == {memory.id for memory in selected}
        assert {hit.id for hit in workspace.search(f"invoices {query}", mode="keyword").results} == {
            memory.id for memory in selected
        }


def test_of_two_that_answer_alike_the_one_of_the_better_source_comes_first(workspace: Workspace) -> None:
    text = "The invoices of {} are kept in a folder."
    low = workspace.remember(text.format("May"), confidence=0.1)
    high = workspace.remember(text.format("June"), confidence=0.9)
    hits = workspace.search("invoices folder", mode="keyword").results
    assert [hit.id for hit in hits] == [high.id, low.id]
    assert hits[0].explain()["confidence"] == 0.9


def test_a_text_is_as_new_as_the_pairs_of_its_words_that_no_other_holds() -> None:
    novelty = Novelty()
    assert novelty.measure("the red fox runs") == 1.0
    assert novelty.measure("the red fox sleeps") == pytest.approx(1 / 3, abs=1e-3)
    assert novelty.measure("the red fox runs") == 0.0
    assert novelty.measure("") == 1.0
    assert Novelty(["the red fox runs"]).measure("the red fox sleeps") == pytest.approx(1 / 3, abs=1e-3)


def test_a_lasting_memory_is_demoted_before_it_is_shortened(workspace: Workspace) -> None:
    memory = workspace.remember(f"{FACT} Nobody knows why.", kind="decision")
    change = due_change(memory, clock.now() + timedelta(days=200))
    assert change is not None
    assert (change.action, change.memory.tier) == ("demote", "short_term")
