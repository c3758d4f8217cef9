"""An undo or a redo gives trust back to the text that had it, never to what somebody else wrote since."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memento_tui.api import Workspace
from memento_tui.errors import Conflict
from memento_tui.model import Memory, WorkingItem

_TEXT, _ATTACK = "The port is 8080.", "The port is 6666."

Deed = Callable[[Workspace, str], object]

_GIVEN: dict[str, Deed] = {
    "verified": lambda person, one: person.verify(one),
    "pinned": lambda person, one: person.update(one, pinned=True),
    "certain": lambda person, one: person.update(one, certainty=5),
    "shared": lambda person, one: person.update(one, tier="shared"),
}


def _standing(memory: Memory) -> tuple[object, ...]:
    trust = (memory.stability, memory.verified_at, memory.pinned, memory.certainty, memory.tier, memory.source_type)
    return (memory.content, memory.status, memory.sensitivity, *trust)


@pytest.mark.parametrize("deed", _GIVEN.values(), ids=_GIVEN)
@pytest.mark.parametrize("field", ["content", "title", "validity_context", "tags"])
def test_a_redo_gives_no_trust_to_what_an_agent_wrote_since_the_undo(
    workspace: Workspace, agent: Workspace, deed: Deed, field: str
) -> None:
    memory = agent.remember(_TEXT)
    deed(workspace, memory.id)
    workspace.undo()
    changes: dict[str, object] = {field: ["x1"] if field == "tags" else _ATTACK}
    agent.update(memory.id, base_version=workspace.get(memory.id).version, **changes)
    before = workspace.get(memory.id)
    with pytest.raises(Conflict, match=f"{field} of memory {memory.id} was changed by others since") as refused:
        workspace.redo()
    assert refused.value.current is not None
    assert refused.value.attempted is not None
    theirs = workspace.history(memory.id)[0].entry.seq
    assert f"decide anew, or undo entry {theirs} first" in refused.value.hint
    assert workspace.get(memory.id) == before


def test_an_undo_gives_no_trust_back_to_what_an_agent_wrote_after_it_was_taken(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = agent.remember(_TEXT)
    workspace.verify(memory.id)
    workspace.update(memory.id, stability="draft")
    assert workspace.get(memory.id).stability == "draft"
    agent.update(memory.id, base_version=workspace.get(memory.id).version, content=_ATTACK)
    with pytest.raises(Conflict, match="content of memory"):
        workspace.undo()
    assert workspace.get(memory.id).stability == "draft"


def test_trust_comes_back_where_what_others_wrote_was_taken_back_or_carries_none(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = agent.remember(_TEXT)
    workspace.verify(memory.id)
    workspace.undo()
    agent.update(memory.id, base_version=workspace.get(memory.id).version, content=_ATTACK)
    agent.update(memory.id, base_version=workspace.get(memory.id).version, content=_TEXT)
    workspace.redo()
    assert _standing(workspace.get(memory.id))[:3] == (_TEXT, "active", "normal")
    assert workspace.get(memory.id).stability == "verified"


def test_what_a_person_wrote_since_keeps_no_trust_from_coming_back(workspace: Workspace) -> None:
    memory = workspace.remember(_TEXT)
    workspace.update(memory.id, pinned=True)
    pinned = workspace.history(memory.id)[0].entry.seq
    workspace.undo(pinned)
    unpinned = workspace.history(memory.id)[0].entry.seq
    workspace.update(memory.id, content="The port is 8081.")
    workspace.undo(unpinned)
    assert (workspace.get(memory.id).content, workspace.get(memory.id).pinned) == ("The port is 8081.", True)


def test_a_redo_does_not_lower_the_sensitivity_of_what_an_agent_wrote_since(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = agent.remember(_TEXT, sensitivity="restricted")
    workspace.update(memory.id, sensitivity="normal")
    workspace.undo()
    agent.update(memory.id, base_version=workspace.get(memory.id).version, content="Kim's number is 555 0199.")
    with pytest.raises(Conflict, match="content of memory"):
        workspace.redo()
    assert workspace.get(memory.id).sensitivity == "restricted"


def test_a_redo_of_an_approval_does_not_let_in_what_its_agent_wrote_into_it_since(
    workspace: Workspace, agent: Workspace
) -> None:
    outcome = agent.remember(_TEXT, source_type="external")
    waiting = workspace.review.list()[0][0].proposal
    workspace.review.approve(waiting.id)
    workspace.undo()
    agent.update(outcome.id, base_version=workspace.get(outcome.id).version, content=_ATTACK)
    with pytest.raises(Conflict, match="content of memory"):
        workspace.redo()
    assert workspace.get(outcome.id).status == "pending"
    assert workspace.review.get(waiting.id).proposal.state == "pending"


def test_a_group_whose_one_memory_an_agent_rewrote_gets_none_of_its_trust_back(
    workspace: Workspace, agent: Workspace
) -> None:
    memories = [agent.remember(f"Fact {number} of the group.") for number in range(3)]
    with workspace.one_undo():
        for one in memories:
            workspace.verify(one.id)
    workspace.undo()
    agent.update(memories[1].id, base_version=workspace.get(memories[1].id).version, content=_ATTACK)
    with pytest.raises(Conflict, match=f"content of memory {memories[1].id}"):
        workspace.redo()
    assert [workspace.get(one.id).stability for one in memories] == ["draft"] * 3


def test_an_item_does_not_become_the_persons_by_a_redo_after_an_agent_changed_it(
    workspace: Workspace, agent: Workspace
) -> None:
    item = agent.items.create("Check the port", content="It is 8080.")
    assert isinstance(item, WorkingItem)
    workspace.items.update(item.id, priority=1, content="It is 8080 on stage.")
    workspace.undo()
    agent.items.update(item.id, title=_ATTACK)
    with pytest.raises(Conflict, match="title of item"):
        workspace.redo()
    assert workspace.items.get(item.id).extra == {"unverified": True}
