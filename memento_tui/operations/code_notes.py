"""Words of caution about memories that cite code, for an agent that works in the repository."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from memento_tui.api import Workspace
from memento_tui.maintenance.code.notes import read_notes
from memento_tui.model import Memory
from memento_tui.projects import find_project

__all__ = ["code_labels"]


def code_labels(workspace: Workspace, memories: Iterable[Memory]) -> dict[str, list[str]]:
    """Return by id what no longer is in the code as memories say; nothing for those of which nothing is known.

    A server that an agent's host starts runs in the agent's directory; one that answers over HTTP runs anywhere, and
    says nothing. An agent that asks for a memory reads it even where its code is gone.
    """
    if workspace.author.channel != "mcp":
        return {}
    try:
        project = find_project(Path.cwd())
    except OSError:  # the directory was removed
        return {}
    if project is None:
        return {}
    notes = read_notes(workspace.paths.code_notes(project.root))
    found = ((memory.id, notes.note(memory.id, memory.version, project.root)) for memory in memories)
    return {memory_id: [note.label] for memory_id, note in found if note is not None}
