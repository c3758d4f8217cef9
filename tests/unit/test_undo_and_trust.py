"""An undo or a redo gives trust back to the text that had it, never to what somebody else wrote since."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from memento_tui.api import Workspace
from memento_tui.errors import Conflict
from memento_tui.model import Memory, WorkingItem
from memento_tui.storage.journal import Author
from tests.made import unguarded

_TEXT, _ATTACK = "The port is 8080.", "The port is 6666."

Action = Callable[[Workspace, str], object]

_GIVEN: dict[str, Action] = {
    "verified": lambda person, one: person.verify(one),
    "pinned": lambda person, one: person.update(one, pinned=True),
    "certain": lambda person, one: person.update(one, certainty=5),
    "shared": lambda person, one: person.update(one, tier="shared"),
}


def _standing(memory: Memory) -> tuple[object, ...]:
    trust = (memory.stability, memory.verified_at, memory.pinned, memory.certainty, memory.tier, memory.source_type)
    return (memory.content, memory.status, memory.sensitivity, *trust)


@pytest.mark.parametrize("action", _GIVEN.values(), ids=_GIVEN)
@pytest.mark.parametrize("field", ["content", "title", "validity_context", "tags"])
def test_a_redo_gives_no_trust_to_what_an_agent_wrote_since_the_undo(
    workspace: Workspace, agent: Workspace, action: Action, field: str
) -> None:
    memory = agent.remember(_TEXT)
    action(workspace, memory.id)
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
    agent.items.update(item.id, title=_ATTACK, base_version=agent.items.get(item.id).version)
    with pytest.raises(Conflict, match="title of item"):
        workspace.redo()
    assert workspace.items.get(item.id).extra == {"unverified": True}


def _newest(workspace: Workspace, memory_id: str) -> int:
    return workspace.history(memory_id)[0].entry.seq


def test_what_an_agent_wrote_into_a_memory_that_was_gone_between_gets_no_trust_by_a_redo(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = workspace.remember(_TEXT)
    workspace.update(memory.id, pinned=True)
    workspace.verify(memory.id)
    for _ in range(3):
        workspace.undo()
    workspace.redo()
    agent.update(memory.id, base_version=workspace.get(memory.id).version, content=_ATTACK)
    for _ in range(2):
        with pytest.raises(Conflict, match=f"content of memory {memory.id} was changed by others since"):
            workspace.redo()
    left = workspace.get(memory.id)
    assert (left.content, left.stability, left.pinned, left.verified_at) == (_ATTACK, "draft", False, None)


def test_what_the_person_made_and_took_back_until_it_was_gone_comes_back_with_its_trust(workspace: Workspace) -> None:
    memory = workspace.remember(_TEXT)
    workspace.update(memory.id, pinned=True)
    workspace.verify(memory.id)
    whole = _standing(workspace.get(memory.id))
    for _ in range(3):
        workspace.undo()
    for _ in range(3):
        workspace.redo()
    assert _standing(workspace.get(memory.id)) == whole


def test_an_item_that_was_gone_between_does_not_become_the_persons_after_an_agent_changed_it(
    workspace: Workspace, agent: Workspace
) -> None:
    item = agent.items.create("Check the port", content="It is 8080.")
    created = workspace._store.journal.head()
    workspace.items.update(item.id, priority=1, content="It is 8080 on stage.")
    workspace.undo()
    workspace.undo(created)
    workspace.redo()
    agent.items.update(item.id, title=_ATTACK, base_version=agent.items.get(item.id).version)
    with pytest.raises(Conflict, match="title of item"):
        workspace.redo()
    assert workspace.items.get(item.id).extra == {"unverified": True}


def test_a_memory_that_was_gone_between_stays_restricted_after_an_agent_rewrote_it(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = agent.remember(_TEXT, sensitivity="restricted")
    created = _newest(workspace, memory.id)
    workspace.update(memory.id, sensitivity="normal")
    workspace.undo()
    workspace.undo(created)
    workspace.redo()
    agent.update(memory.id, base_version=workspace.get(memory.id).version, content="Kim's number is 555 0199.")
    with pytest.raises(Conflict, match="content of memory"):
        workspace.redo()
    assert workspace.get(memory.id).sensitivity == "restricted"


def test_what_a_transcript_told_is_an_agents_and_gets_no_trust_by_a_redo(workspace: Workspace) -> None:
    memory = workspace.remember(_TEXT)
    workspace.verify(memory.id)
    workspace.undo()
    draft = workspace.get(memory.id)
    with unguarded(workspace._store, Author("system", "distill"), "edit") as tx:
        tx.put(msgspec.structs.replace(draft, content=_ATTACK), base=draft.version)
    with pytest.raises(Conflict, match="content of memory"):
        workspace.redo()
    assert workspace.get(memory.id).stability == "draft"


def test_a_correction_that_was_verified_is_not_undone_under_its_trust(workspace: Workspace, agent: Workspace) -> None:
    memory = agent.remember(_ATTACK)
    workspace.update(memory.id, content=_TEXT)
    correction = _newest(workspace, memory.id)
    workspace.verify(memory.id)
    verified = _newest(workspace, memory.id)
    with pytest.raises(Conflict, match=f"content of memory {memory.id} would get trust that was given to") as refused:
        workspace.undo(correction)
    assert f"undo entry {verified} first" in refused.value.hint
    assert refused.value.current is not None
    assert refused.value.current["content"] == _TEXT
    assert refused.value.attempted is not None
    assert refused.value.attempted["content"] == _ATTACK
    assert workspace.get(memory.id).content == _TEXT
    workspace.undo(verified)
    workspace.undo(correction)
    assert (workspace.get(memory.id).content, workspace.get(memory.id).stability) == (_ATTACK, "draft")


def test_an_undo_of_an_agents_text_is_not_undone_under_the_trust_given_since(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = agent.remember(_TEXT)
    agent.update(memory.id, base_version=memory.version, content=_ATTACK)
    workspace.undo(_newest(workspace, memory.id))
    undone = _newest(workspace, memory.id)
    workspace.verify(memory.id)
    with pytest.raises(Conflict, match="would get trust that was given to another text"):
        workspace.undo(undone)
    assert _standing(workspace.get(memory.id))[:1] == (_TEXT,)
    assert workspace.get(memory.id).stability == "verified"


def test_trust_that_was_taken_back_does_not_come_to_an_agents_text_that_an_undo_brought_back(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = agent.remember(_ATTACK)
    workspace.update(memory.id, content=_TEXT)
    workspace.verify(memory.id)
    workspace.undo()
    unverified = _newest(workspace, memory.id)
    workspace.undo()
    with pytest.raises(Conflict, match="would get trust that was given to another text"):
        workspace.undo(unverified)
    assert (workspace.get(memory.id).content, workspace.get(memory.id).stability) == (_ATTACK, "draft")


def test_an_item_keeps_the_persons_text_where_an_agents_would_come_back_as_theirs(
    workspace: Workspace, agent: Workspace
) -> None:
    item = agent.items.create("Check the port")
    agent.items.update(item.id, title=_ATTACK, base_version=agent.items.get(item.id).version)
    workspace.undo(workspace._store.journal.head())
    undone = workspace._store.journal.head()
    workspace.items.update(item.id, content="It is 8080.")
    with pytest.raises(Conflict, match="title of item"):
        workspace.undo(undone)
    assert workspace.items.get(item.id).title == "Check the port"


def test_an_edit_of_the_persons_own_text_is_undone_under_the_trust_given_since(workspace: Workspace) -> None:
    memory = workspace.remember("The port is 8081.")
    workspace.update(memory.id, content=_TEXT)
    edit = _newest(workspace, memory.id)
    workspace.verify(memory.id)
    workspace.undo(edit)
    assert workspace.get(memory.id).content == "The port is 8081."


def test_a_correction_of_a_text_that_was_verified_itself_is_undone(workspace: Workspace, agent: Workspace) -> None:
    memory = agent.remember(_TEXT)
    workspace.verify(memory.id)
    workspace.update(memory.id, content="The port is 8081.")
    edit = _newest(workspace, memory.id)
    workspace.update(memory.id, tags=["ports"])
    workspace.undo(edit)
    assert (workspace.get(memory.id).content, workspace.get(memory.id).stability) == (_TEXT, "verified")
