"""What an agent does that would hide a text of the person waits for them, though nobody verified the text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.errors import NotAllowed
from memento_tui.model import Proposal, Skip, WorkingItem

LONG_AGO, FAR_OFF = datetime(2001, 1, 1, tzinfo=UTC), datetime(2090, 1, 1, tzinfo=UTC)

HIDES: dict[str, dict[str, Any]] = {
    "restricted": {"sensitivity": "restricted"},
    "only of the future": {"valid_from": FAR_OFF},
    "over": {"valid_to": LONG_AGO},
    "with an end": {"expires_at": FAR_OFF},
    "told elsewhere": {"namespace": "projects/other"},
    "another kind": {"kind": "observation"},
}
KEEPS: dict[str, dict[str, Any]] = {
    "began to hold": {"valid_from": LONG_AGO},
    "confidential": {"sensitivity": "confidential"},
    "a tag": {"tags": ["payments"]},
    "another text": {"content": "Payments go to the partner."},
}


@pytest.mark.parametrize("changes", HIDES.values(), ids=HIDES)
def test_a_change_of_an_agent_that_hides_an_unverified_text_of_the_person_waits(
    workspace: Workspace, agent: Workspace, changes: dict[str, Any]
) -> None:
    memory = workspace.remember("Payments go to the bank.", kind="decision")
    outcome = agent.update(memory.id, base_version=memory.version, **changes)
    assert outcome.status == "proposed"
    assert outcome.proposal is not None
    assert outcome.proposal.reasons == ("hides_persons",)
    assert workspace.get(memory.id) == memory
    workspace.review.approve(outcome.proposal.id)
    after = workspace.get(memory.id)
    assert {name: getattr(after, name) for name in changes} == changes


@pytest.mark.parametrize("changes", KEEPS.values(), ids=KEEPS)
def test_a_change_of_an_agent_that_leaves_the_persons_text_told_is_made_at_once(
    workspace: Workspace, agent: Workspace, changes: dict[str, Any]
) -> None:
    memory = workspace.remember("Payments go to the bank.")
    assert agent.update(memory.id, base_version=memory.version, **changes).status == "applied"


def test_an_agent_deletes_no_text_of_the_person_by_itself_and_its_own_at_once(
    workspace: Workspace, agent: Workspace
) -> None:
    persons, own = workspace.remember("Payments go to the bank."), agent.remember("The lift is slow.")
    assert agent.forget(persons.id, base_version=persons.version).status == "proposed"
    assert agent.forget(own.id, base_version=own.version).status == "applied"
    assert (workspace.get(persons.id).status, workspace.get(own.id).status) == ("active", "deleted")


def test_a_text_of_the_person_that_an_agent_rewrote_first_is_not_hidden_by_the_next_change(
    workspace: Workspace, agent: Workspace
) -> None:
    memory = workspace.remember("Payments go to the bank.")
    rewritten = agent.update(memory.id, base_version=memory.version, content="Payments go to the bank!").memory
    assert agent.update(memory.id, base_version=rewritten.version, sensitivity="restricted").status == "proposed"


def test_an_end_that_the_person_set_may_be_put_off_and_not_brought_nearer(
    workspace: Workspace, agent: Workspace
) -> None:
    def with_end(end: datetime) -> str:
        memory = workspace.remember(f"The lift is slow until {end:%B %d}.", expires_at=clock.now() + timedelta(days=9))
        return agent.update(memory.id, base_version=memory.version, expires_at=end).status

    assert with_end(clock.now() + timedelta(days=30)) == "applied"
    assert with_end(clock.now() + timedelta(days=3)) == "proposed"


def test_a_writer_that_asks_nobody_hides_no_text_of_the_person(workspace: Workspace, agent: Workspace) -> None:
    memory = workspace.remember("Payments go to the bank.")
    with pytest.raises(NotAllowed, match="you wrote it"), agent.gate.transaction("edit") as tx:
        tx.put(msgspec.structs.replace(memory, sensitivity="restricted"), base=memory.version)
    assert workspace.get(memory.id) == memory


def test_an_agent_puts_nothing_in_the_place_of_a_text_of_the_person_unless_the_person_is_asked(
    workspace: Workspace, agent: Workspace
) -> None:
    memory, told = workspace.remember("Payments go to the bank."), agent.remember("Payments go to the partner.")
    with pytest.raises(NotAllowed, match="A person wrote"):
        agent.relate(told.id, memory.id, "supersedes")
    waits = agent.remember("A page says that payments go to the partner.", source_type="external")
    agent.relate(waits.id, memory.id, "supersedes")
    assert memory.id in workspace.review.get(waits.id).takes_place_of


SOON, LATE = timedelta(days=3), timedelta(days=300)

LOSES: dict[str, dict[str, Any]] = {
    "other words": {"item": "push to nain"},
    "another reason": {"reason": "it is slow on Mondays"},
    "an earlier end": {"expires_at": SOON},
    "told elsewhere": {"namespace": "projects/other"},
}


@pytest.mark.parametrize("changes", LOSES.values(), ids=LOSES)
def test_a_skip_of_the_person_is_neither_changed_nor_removed_by_an_agent_alone(
    workspace: Workspace, agent: Workspace, changes: dict[str, Any]
) -> None:
    skip = workspace.skips.add("push to main", "it breaks the release", clock.now() + LATE)
    assert isinstance(skip, Skip)
    moment = {"expires_at": clock.now() + SOON} if "expires_at" in changes else {}
    change = agent.skips.update(skip.id, base_version=1, **{**changes, **moment})
    removal = agent.skips.remove(skip.id, base_version=1)
    assert isinstance(change, Proposal)
    assert isinstance(removal, Proposal)
    assert change.reasons == removal.reasons == ("hides_persons",)
    assert workspace.skips.get(skip.id) == skip
    workspace.review.approve(removal.id)
    assert workspace.skips.find(skip.id) is None


@pytest.mark.parametrize(
    "changes", [{"content": "Floats will do."}, {"title": "Money"}, {"status": "archived"}, {"category": "active_work"}]
)
def test_a_standing_decision_of_the_person_is_neither_changed_nor_removed_by_an_agent_alone(
    workspace: Workspace, agent: Workspace, changes: dict[str, Any]
) -> None:
    fields = {"content": "Never use floats.", "category": "standing_decision"}
    item = workspace.items.create("Money is in cents", **fields)
    assert isinstance(agent.items.update(item.id, base_version=1, **changes), Proposal)
    assert isinstance(agent.items.remove(item.id, base_version=1), Proposal)
    assert workspace.items.get(item.id) == item


def test_an_agent_does_the_persons_work_and_ends_what_it_wrote_itself(workspace: Workspace, agent: Workspace) -> None:
    work = workspace.items.create("Move to /v3", category="active_work")
    done = agent.items.update(work.id, base_version=1, status="completed", next_action="")
    assert isinstance(done, WorkingItem)
    assert isinstance(agent.items.remove(work.id, base_version=done.version), Proposal)
    own = agent.skips.add("the slow tests", "they are slow", clock.now() + LATE)
    later = agent.skips.update(own.id, base_version=1, reason="they take an hour")
    assert agent.skips.remove(own.id, base_version=later.version) is None


def test_a_skip_that_an_agent_wrote_over_what_the_person_wrote_is_the_persons_to_end(
    workspace: Workspace, agent: Workspace
) -> None:
    skip = workspace.skips.add("push to main", "it breaks the release", clock.now() + LATE)
    change = agent.skips.update(skip.id, base_version=1, item="push to main or release")
    assert isinstance(change, Proposal)
    workspace.review.approve(change.id)
    now = workspace.skips.get(skip.id)
    assert isinstance(agent.skips.remove(now.id, base_version=now.version), Proposal)
    longer = agent.skips.extend(now.id, clock.now() + 2 * LATE, base_version=now.version)
    assert isinstance(longer, Skip)
