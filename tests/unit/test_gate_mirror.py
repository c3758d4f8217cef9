"""A mirrored folder neither shows what is restricted nor takes from a person's memories what a person gave them."""

from __future__ import annotations

from pathlib import Path

from memento_tui.api import Workspace
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
