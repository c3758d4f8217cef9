"""A mirrored folder neither shows what is restricted nor takes from a person's memories what a person gave them."""

from __future__ import annotations

from pathlib import Path

import pytest

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import Conflict
from memento_tui.mirror.mirror import Mirror
from tests.unit.mirroring import put, step


def test_a_link_in_a_note_supersedes_no_essential_memory(workspace: Workspace, mirror: Mirror, folder: Path) -> None:
    memory = workspace.remember("Payments go to the bank.", title="Payments")
    workspace.update(memory.id, pinned=True)
    step(mirror)
    put(folder, "global/New.md", '---\nsupersedes: "[[Payments]]"\n---\nPayments go to the partner.\n')
    step(mirror)
    after = workspace.get(memory.id)
    assert (after.status, after.pinned) == ("active", True)
    assert [relation.type for relation in workspace.relations(memory.id) if relation.type == "supersedes"] == []


def test_what_became_restricted_is_not_written_into_a_note_that_is_there(
    workspace: Workspace, mirror: Mirror, folder: Path
) -> None:
    memory = workspace.remember("The plan is public.", title="Plan", stability="verified")
    step(mirror)
    (path,) = folder.rglob("Plan.md")
    workspace.update(memory.id, content="The plan is to sell in May.", sensitivity="restricted")
    step(mirror)
    assert "sell in May" not in path.read_text()
    path.write_text(path.read_text().replace("public", "mine to change"))
    step(mirror)
    (waiting,) = workspace.review.list()[0]
    workspace.review.reject(waiting.proposal.id)
    step(mirror)
    step(mirror)
    assert "sell in May" not in path.read_text()
    assert workspace.get(memory.id).content == "The plan is to sell in May."
    workspace.update(memory.id, sensitivity="normal")
    step(mirror)
    assert "sell in May" in path.read_text()


def test_a_proposal_that_its_note_rewrote_is_approved_only_by_who_names_the_version_seen(
    workspace: Workspace, mirror: Mirror, folder: Path
) -> None:
    """Whoever may write into the folder would else choose the text that the person approves."""
    memory = workspace.remember("The port is 8080.", title="Port", stability="verified")
    step(mirror)
    (path,) = folder.rglob("Port.md")
    path.write_text(path.read_text().replace("8080", "8081"))
    step(mirror)
    looked_at = workspace.review.get(memory.id).proposal
    path.write_text(path.read_text().replace("8081", "6666"))
    step(mirror)
    with pytest.raises(Conflict, match=f"name the version that you see: {looked_at.id}@2"):
        workspace.review.approve(looked_at.id)
    assert workspace.get(memory.id).content == "The port is 8080."
    workspace.review.approve(looked_at.id, seen=2)
    assert workspace.get(memory.id).content == "The port is 6666."


def test_notes_that_come_into_a_mirrored_folder_in_a_burst_wait_and_those_of_the_first_time_do_not(
    data_dir: Path, folder: Path
) -> None:
    with (data_dir / "config.toml").open("a") as settings:
        settings.write("burst = 3\n")

    def come(name: str) -> list[str]:
        for number in range(5):
            put(folder, f"{name}-{number}.md", f"The {name} has the number {number * 7919}.")
        with Mirror(workspace, folder, quiet_seconds=0) as mirror:
            step(mirror)
            put(folder, f"{name}-late.md", f"The {name} is late.")
            step(mirror)
        found = [one for one in workspace.list("status:active,pending").items if name in one.content]
        return sorted(one.status for one in found)

    with memento_tui.open(data_dir) as workspace:
        assert come("lift") == ["active"] * 6
        assert come("door") == ["active"] * 2 + ["pending"] * 4
        waiting = [pending.proposal for pending in workspace.review.list()[0]]
    assert {proposal.reasons for proposal in waiting} == {("burst",)}
    assert waiting[-1].evidence["burst"] == {"folder": str(folder), "writes": 7}
