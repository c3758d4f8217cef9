"""Consolidating at an agent's request: the gate, what is handed on, and what may not be joined."""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.api.consolidation import consolidate
from memento_tui.errors import InvalidField
from tests.made import note, put, without_engine

TEXT = "Deploys need the VPN and a fresh token."


@pytest.fixture
def sources(agent: Workspace) -> list[str]:
    texts = ("Deploys need the VPN.", "Deploys need a fresh token.")
    return [agent.remember(text, tags=["deploy", text.split()[-1]]).id for text in texts]


def test_an_agents_consolidation_is_proposed_with_its_sources(
    workspace: Workspace, agent: Workspace, sources: list[str]
) -> None:
    made = consolidate(agent, sources, TEXT)
    assert made.proposal is not None
    assert (made.memory.status, made.memory.tags) == ("pending", ("deploy", "VPN.", "token."))
    assert made.proposal.reasons == ("consolidation",)
    assert workspace.review.get(made.proposal.id).proposal.evidence["about"] == sources
    assert sorted(workspace.related(made.memory.id)) == sorted(("consolidated_from", "out", one) for one in sources)


def test_the_same_is_proposed_once_and_after_a_rejection_not_again(
    workspace: Workspace, agent: Workspace, sources: list[str]
) -> None:
    first = consolidate(agent, sources, TEXT)
    again = consolidate(agent, sources[::-1], TEXT.upper())
    assert (again.memory.id, workspace.review.count()) == (first.memory.id, 1)
    assert first.proposal is not None
    workspace.review.reject(first.proposal.id, "They are two things.")
    third = consolidate(agent, sources, TEXT)
    assert third.memory.status == "rejected"
    assert third.proposal is not None
    assert third.proposal.note == "They are two things."
    assert workspace.review.count() == 0


def test_one_undo_takes_an_approved_consolidation_back(
    workspace: Workspace, agent: Workspace, sources: list[str]
) -> None:
    made = consolidate(agent, sources, TEXT)
    assert made.proposal is not None
    workspace.review.approve(made.proposal.id)
    assert {workspace.get(source).status for source in sources} == {"consolidated"}
    workspace.undo()
    assert {workspace.get(source).status for source in sources} == {"active"}


def test_it_is_as_sensitive_and_as_foreign_as_its_worst_source(workspace: Workspace, agent: Workspace) -> None:
    put(
        workspace._store,
        note("The gate code is changed on Mondays.", id="a", sensitivity="confidential", certainty=5),
        note("The page says that the gate is green.", id="b", source_type="external", certainty=1),
    )
    made = consolidate(agent, ["a", "b"], "The gate is green; its code changes on Mondays.").memory
    assert (made.sensitivity, made.source_type, made.certainty) == ("confidential", "external", 3)


def test_what_an_arrow_led_to_from_a_source_it_leads_to_from_the_new_memory(
    workspace: Workspace, agent: Workspace, sources: list[str]
) -> None:
    other = workspace.remember("The VPN is slow.").id
    for source in sources:
        workspace.relate(source, other, "related", "see")
    workspace.relate(sources[0], sources[1])
    workspace.relate(sources[0], "deploy.sh", "file")
    made = consolidate(agent, sources, TEXT).memory
    led = {(kind, end) for kind, way, end in workspace.related(made.id) if way == "out" and kind != "consolidated_from"}
    assert led == {("related", other), ("file", "deploy.sh")}


def test_a_secret_and_orders_in_the_text_are_caught(agent: Workspace, sources: list[str]) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    made = consolidate(agent, sources, f"Deploy with {secret} over the VPN.")
    assert made.proposal is not None
    assert secret not in made.memory.content
    assert "secret_found" in made.proposal.reasons


def test_sources_that_do_not_hold_are_refused(workspace: Workspace, agent: Workspace, sources: list[str]) -> None:
    put(workspace._store, note("Waiting.", id="p", status="pending"), note("Gone.", id="d", status="deleted"))
    for named in ([sources[0]], [*sources, "p"], [*sources, "d"], []):
        with pytest.raises(InvalidField, match="source_ids"):
            consolidate(agent, named, TEXT)
    many = [agent.remember(f"Note number {n} of many.").id for n in range(13)]
    with pytest.raises(InvalidField, match="2 to 12"):
        consolidate(agent, many, TEXT)


def test_under_an_open_gate_a_draft_is_made_and_a_verified_source_is_not_demoted(tmp_path: Path) -> None:
    house = without_engine(tmp_path / "open", "open")
    with (
        memento_tui.open(house) as person,
        memento_tui.open(house, actor="agent", channel="mcp", agent="claude") as agent,
    ):
        kept = person.remember("Deploys need the VPN.").id
        person.verify(kept)
        other = agent.remember("Deploys need a fresh token.").id
        made = consolidate(agent, [kept, other], TEXT)
        assert (made.memory.status, made.memory.stability, made.proposal) == ("active", "draft", None)
        assert person.get(kept).status == "active"
        assert set(person._store.memories.successors([kept, other])) == {other}


def test_what_is_made_of_several_kinds_has_the_kind_of_most_or_is_a_fact(workspace: Workspace) -> None:
    decision, instruction, another = (
        workspace.remember(text, kind=kind).id
        for text, kind in (
            ("Deploys run from CI since March.", "decision"),
            ("Run the deploys from CI.", "instruction"),
            ("Never deploy from a laptop.", "instruction"),
        )
    )
    assert consolidate(workspace, [decision, instruction]).memory.kind == "fact"
    assert consolidate(workspace, [decision, instruction, another]).memory.kind == "instruction"
