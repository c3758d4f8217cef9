"""The identity through time: the order of the crystals, what each changed, and who waits."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from memento_tui.api import Workspace, identity
from memento_tui.errors import NotFound
from memento_tui.model import make_crystal
from tests.made import PERSON, unguarded
from tests.unit.cli_program import Program


def test_every_crystal_is_in_the_timeline_newest_first(workspace: Workspace) -> None:
    made = [workspace.crystals.write(f"I am number {number}.") for number in range(120)]
    assert [c.id for c in workspace.crystals.timeline()] == [c.id for c in reversed(made)]


def test_a_crystal_came_after_its_parent_even_where_another_lies_between_in_time(workspace: Workspace) -> None:
    first = workspace.crystals.write("I am one.")
    workspace.crystals.write("I am two.")
    third = make_crystal({"content": "I am three.", "parent": first.id, "status": "past"})
    with unguarded(workspace._store, PERSON, "crystal write") as tx:
        tx.put(third, base=0)
    found = identity.crystal_before(third, workspace.crystals.timeline())
    assert found is not None
    assert found.id == first.id


def test_without_a_known_parent_it_came_after_the_latest_that_held(workspace: Workspace) -> None:
    moments = [datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3, 4)]
    statuses = ("past", "rejected", "proposed", "current")
    made = [
        make_crystal({"content": f"In {moment:%B}.", "status": status, "created_at": moment, "parent": "elsewhere"})
        for moment, status in zip(moments, statuses, strict=True)
    ]
    with unguarded(workspace._store, PERSON, "import") as tx:
        for crystal in made:
            tx.put(crystal, base=0)
    history = workspace.crystals.timeline()
    found = identity.crystal_before(made[3], history)
    assert found is not None
    assert found.content == "In January."
    assert identity.crystal_before(made[0], history) is None


def test_what_is_proposed_is_compared_with_what_approving_would_replace(workspace: Workspace, agent: Workspace) -> None:
    workspace.crystals.write("You are careful.")
    proposed = agent.crystals.write("I am fast.")
    mine = workspace.crystals.write("You are careful and fast.")
    step = agent.crystals.compare(proposed.id[:8])
    assert step.before is not None
    assert step.before.id == mine.id
    assert step.unified.split("\n")[-2:] == ["-You are careful and fast.", "+I am fast."]


def test_only_a_crystal_that_waits_has_a_proposal_to_decide(workspace: Workspace, agent: Workspace) -> None:
    mine = workspace.crystals.write("You are careful.")
    proposed = agent.crystals.write("I am fast.")
    waiting = workspace.crystals.open_proposal(proposed.id)
    assert (waiting.target_id, waiting.state) == (proposed.id, "pending")
    workspace.review.reject(waiting.id, "Speed is not all.", seen=waiting.version)
    for crystal in (mine, proposed):
        with pytest.raises(NotFound, match="does not wait"):
            workspace.crystals.open_proposal(crystal.id)


def test_the_command_shows_what_changed_since_the_one_before_and_between_any_two(data_dir: Path) -> None:
    memento = Program(data_dir)
    ids = [
        memento.json("crystal", "write", "-", stdin=text.encode())["id"]
        for text in ("I am careful.\nI ask.", "I am careful.\nI act.", "I am bold.\nI act.")
    ]
    told = memento.json("crystal", "diff", ids[1])
    assert (told["before"]["id"], told["after"]["id"]) == (ids[0], ids[1])
    assert told["unified"].split("\n")[2:] == ["@@ -1,2 +1,2 @@", " I am careful.", "-I ask.", "+I act."]
    between = memento.run("crystal", "diff", ids[0], ids[2]).out
    assert "-I am careful.\n-I ask.\n+I am bold.\n+I act." in between
    assert memento.json("crystal", "diff", ids[0])["before"] is None
    assert "(none before)" in memento.run("crystal", "diff", ids[0]).out
    assert "They are the same." in memento.run("crystal", "diff", ids[2], ids[2]).out
    assert memento.run("crystal", "diff", "zzzz", "--json").code == 3


def test_hostile_prose_reaches_the_terminal_only_as_placeholders(data_dir: Path) -> None:
    memento = Program(data_dir)
    written = memento.json("crystal", "write", "I am \x1b]52;c;aGk=\x07 kind.\u202e")
    out = memento.run("crystal", "diff", written["id"]).out
    assert "<ESC>" in out
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.parametrize("decided", [False, True], ids=["written by the person", "approved by the person"])
def test_after_the_persons_identity_was_purged_the_next_one_of_an_agent_waits(
    workspace: Workspace,
    agent: Workspace,
    decided: bool,  # noqa: FBT001 - a case
) -> None:
    if decided:
        workspace.crystals.write("I am careful.")
        proposed = agent.crystals.write("I am careful and quick.")
        workspace.review.approve(workspace.crystals.open_proposal(proposed.id).id)
    for crystal in [workspace.crystals.write("I am careless.")] if not decided else workspace.crystals.timeline():
        workspace.purge(crystal.id, "it named a person", kind="crystal")
    assert workspace.crystals.current() is None
    assert agent.crystals.write("I obey.").status == "proposed"
    assert workspace.crystals.current() is None
