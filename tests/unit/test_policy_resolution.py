"""Resolving contradictions: what each answer does, who may give it, and that one undo takes it back."""

from __future__ import annotations

from typing import Any

import pytest

from memento_tui.api import Workspace
from memento_tui.errors import Conflict, InvalidField, NotAllowed
from memento_tui.model import Contradiction, Memory, Proposal, make_contradiction
from tests.made import unguarded


@pytest.fixture
def sides(agent: Workspace) -> tuple[Memory, Memory]:
    older = agent.remember("The API listens on port 8080.", certainty=3)
    newer = agent.remember("The API listens on port 9090.", certainty=3)
    return older, newer


@pytest.fixture
def found(workspace: Workspace, sides: tuple[Memory, Memory]) -> Contradiction:
    """A contradiction that cost both sides a grade of certainty."""
    older, newer = sides
    with unguarded(workspace._store, workspace.author, "test") as tx:
        for side in sides:
            plain = {name: getattr(side, name) for name in Memory.__struct_fields__}
            tx.put(Memory(**{**plain, "certainty": 2}), base=side.version)
        fields: dict[str, Any] = {
            "older": older.id,
            "newer": newer.id,
            "older_spans": [(24, 28)],
            "newer_spans": [(24, 28)],
            "why": "one says port 8080, the other 9090",
            "score": 0.9,
            "lowered": [older.id, newer.id],
        }
        return tx.put(make_contradiction(fields), base=0)


def test_an_open_contradiction_is_listed_with_both_sides_until_it_is_resolved(
    workspace: Workspace, found: Contradiction, sides: tuple[Memory, Memory]
) -> None:
    (dispute,), _ = workspace.contradictions.list()
    assert dispute.contradiction == found
    assert (dispute.older and dispute.older.id, dispute.newer and dispute.newer.id) == (sides[0].id, sides[1].id)
    assert workspace.contradictions.count() == 1
    assert [d.contradiction.id for d in workspace.contradictions.around([sides[0].id])] == [found.id]
    workspace.contradictions.resolve(found.id, "not_a_contradiction")
    assert workspace.contradictions.count() == 0
    assert workspace.contradictions.around([sides[0].id]) == []
    (resolved,), _ = workspace.contradictions.list(resolved=True)
    assert resolved.contradiction.resolution == "not_a_contradiction"
    assert resolved.contradiction.resolved_by == "person"


@pytest.mark.parametrize(("answer", "winner"), [("newer_supersedes", 1), ("older_stands", 0)])
def test_the_side_that_holds_is_verified_and_stands_above_the_other(
    workspace: Workspace, found: Contradiction, sides: tuple[Memory, Memory], answer: str, winner: int
) -> None:
    workspace.contradictions.resolve(found.id, answer)
    kept, lost = workspace.get(sides[winner].id), workspace.get(sides[1 - winner].id)
    assert (kept.status, kept.stability, kept.certainty) == ("active", "verified", 3)
    assert (lost.status, lost.certainty) == ("superseded", 2)
    assert workspace.related(kept.id) == [("supersedes", "out", lost.id)]
    hits = workspace.search("API port", mode="keyword").results
    assert [hit.id for hit in hits] == [kept.id, lost.id]


def test_both_may_hold_each_in_its_own_case(
    workspace: Workspace, found: Contradiction, sides: tuple[Memory, Memory]
) -> None:
    workspace.contradictions.resolve(found.id, "both_valid", older_context="staging", newer_context="production")
    assert [workspace.get(side.id).validity_context for side in sides] == ["staging", "production"]
    assert [workspace.get(side.id).stability for side in sides] == ["verified", "verified"]


@pytest.mark.parametrize(
    ("resolution", "details", "field"),
    [
        ("both_valid", {"older_context": "staging"}, "older_context"),
        ("both_valid", {"older_context": "x", "newer_context": " x "}, "newer_context"),
        ("merged", {}, "content"),
        ("burn", {}, "resolution"),
    ],
)
def test_an_answer_that_lacks_what_it_needs_changes_nothing(
    workspace: Workspace, found: Contradiction, resolution: str, details: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidField) as caught:
        workspace.contradictions.resolve(found.id, resolution, **details)
    assert caught.value.field == field
    assert workspace.contradictions.count() == 1


def test_a_merge_leaves_one_text_and_its_secrets_are_removed(
    workspace: Workspace, found: Contradiction, sides: tuple[Memory, Memory]
) -> None:
    key = "AKIA" + "Q3EGMDPRTV5WXY2Z"
    workspace.contradictions.resolve(found.id, "merged", content=f"Port 9090; 8080 until March. {key}")
    kept, lost = workspace.get(sides[1].id), workspace.get(sides[0].id)
    assert kept.content.startswith("Port 9090; 8080 until March. [secret removed")
    assert (kept.stability, lost.status) == ("verified", "superseded")


@pytest.mark.parametrize(
    ("resolution", "details"),
    [
        ("newer_supersedes", {}),
        ("older_stands", {}),
        ("both_valid", {"older_context": "a", "newer_context": "b"}),
        ("merged", {"content": "Both ports."}),
        ("not_a_contradiction", {}),
    ],
)
def test_one_undo_takes_back_every_answer(
    workspace: Workspace,
    found: Contradiction,
    sides: tuple[Memory, Memory],
    resolution: str,
    details: dict[str, Any],
) -> None:
    before = [workspace.get(side.id) for side in sides]
    workspace.contradictions.resolve(found.id, resolution, **details)
    workspace.undo()
    for side, after in zip(before, [workspace.get(side.id) for side in sides], strict=True):
        assert {n: getattr(after, n) for n in Memory.__struct_fields__ if n != "version"} == {
            n: getattr(side, n) for n in Memory.__struct_fields__ if n != "version"
        }
    assert workspace.contradictions.get(found.id).contradiction.status == "open"
    assert all(workspace.related(side.id) == [] for side in sides)


def test_a_contradiction_that_was_put_off_returns_in_time_and_is_recalled_meanwhile(
    workspace: Workspace, found: Contradiction, sides: tuple[Memory, Memory]
) -> None:
    put_off = workspace.contradictions.later(found.id, "3d")
    assert put_off.status == "later"
    assert workspace.contradictions.count() == 0
    assert len(workspace.contradictions.around([sides[0].id])) == 1


def test_an_agents_answer_waits_for_a_person_and_carries_it_out_when_approved(
    workspace: Workspace, agent: Workspace, found: Contradiction, sides: tuple[Memory, Memory]
) -> None:
    proposal = agent.contradictions.resolve(found.id, "newer_supersedes")
    assert isinstance(proposal, Proposal)
    assert proposal.reasons == ("resolution",)
    assert workspace.contradictions.count() == 1
    workspace.review.approve(proposal.id)
    assert workspace.get(sides[0].id).status == "superseded"
    assert workspace.contradictions.count() == 0


def test_an_agent_puts_nothing_off(agent: Workspace, found: Contradiction) -> None:
    with pytest.raises(NotAllowed):
        agent.contradictions.later(found.id)


def test_what_is_resolved_or_has_lost_a_side_is_not_resolved_again(
    workspace: Workspace, found: Contradiction, sides: tuple[Memory, Memory]
) -> None:
    workspace.forget(sides[0].id)
    assert workspace.contradictions.count() == 0
    with pytest.raises(Conflict, match="deleted"):
        workspace.contradictions.resolve(found.id, "older_stands")
    workspace.restore(sides[0].id)
    workspace.contradictions.resolve(found.id, "older_stands", seen=found.version)
    with pytest.raises(NotAllowed, match="resolved already"):
        workspace.contradictions.resolve(found.id, "newer_supersedes")


def test_one_that_changed_since_it_was_looked_at_is_not_resolved(workspace: Workspace, found: Contradiction) -> None:
    workspace.contradictions.later(found.id, "3d")
    with pytest.raises(Conflict, match="changed while you looked"):
        workspace.contradictions.resolve(found.id, "older_stands", seen=found.version)


@pytest.mark.parametrize("change", [{"title": "Nobody saw this"}, {"certainty": 5}, {"tags": ["unseen"]}])
def test_what_an_agent_changed_in_a_side_is_looked_at_before_an_answer_verifies_it(
    workspace: Workspace, agent: Workspace, found: Contradiction, sides: tuple[Memory, Memory], change: dict[str, Any]
) -> None:
    newer = agent.get(sides[1].id)
    agent.update(newer.id, base_version=newer.version, **change)
    with pytest.raises(Conflict, match="changed since this was asked"):
        workspace.contradictions.resolve(found.id, "newer_supersedes", seen=found.version)
    assert workspace.get(newer.id).stability != "verified"
    assert workspace.contradictions.count() == 1
    again = workspace.contradictions.get(found.id).contradiction
    workspace.contradictions.resolve(found.id, "newer_supersedes", seen=again.version)
    assert workspace.get(newer.id).stability == "verified"


@pytest.mark.parametrize(
    "changes", [{"title": "Mail the keys"}, {"validity_context": "always"}, {"kind": "instruction"}]
)
def test_a_side_that_its_agent_changed_is_not_verified_by_an_answer_that_names_no_version(
    workspace: Workspace, agent: Workspace, found: Contradiction, sides: tuple[Memory, Memory], changes: dict[str, str]
) -> None:
    side = workspace.get(sides[1].id)
    agent.update(side.id, base_version=side.version, **changes)
    with pytest.raises(Conflict, match="changed since"):
        workspace.contradictions.resolve(found.id, "newer_supersedes")
    assert workspace.get(side.id).stability == "draft"
    workspace.contradictions.resolve(found.id, "newer_supersedes")
    assert workspace.get(side.id).stability == "verified"


def test_a_suggested_answer_about_a_side_that_its_agent_changed_is_looked_at_again(
    workspace: Workspace, agent: Workspace, found: Contradiction, sides: tuple[Memory, Memory]
) -> None:
    suggestion = agent.contradictions.resolve(found.id, "newer_supersedes")
    newer = agent.get(sides[1].id)
    agent.update(newer.id, base_version=newer.version, title="Nobody saw this")
    with pytest.raises(Conflict, match="changed since this was asked"):
        workspace.review.approve(suggestion.id, seen=suggestion.version)
    assert workspace.get(newer.id).stability != "verified"
    again = workspace.review.get(suggestion.id).proposal
    assert again.state == "needs_review"
    workspace.review.approve(suggestion.id, seen=again.version)
    assert workspace.get(newer.id).stability == "verified"


def test_a_side_that_was_only_used_or_changed_by_the_person_is_answered_about_at_once(
    workspace: Workspace, found: Contradiction, sides: tuple[Memory, Memory]
) -> None:
    newer = workspace.get(sides[1].id)
    workspace.update(newer.id, base_version=newer.version, title="The port")
    workspace.contradictions.resolve(found.id, "newer_supersedes", seen=found.version)
    assert workspace.get(newer.id).title == "The port"


def test_a_purge_of_a_side_takes_the_contradiction_that_quotes_it(
    workspace: Workspace, found: Contradiction, sides: tuple[Memory, Memory]
) -> None:
    workspace.purge(sides[1].id, "leaked")
    assert workspace._store.find(Contradiction, found.id) is None
