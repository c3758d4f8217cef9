"""Hold the memories that are about to be told against the notes on their repository. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from memento_tui.git_files import head_commit
from memento_tui.hooks.scope import RetrievedMemory
from memento_tui.hooks.worker_launcher import start_worker
from memento_tui.paths import DataPaths
from memento_tui.projects import find_project

__all__ = ["start_code_check", "with_code_notes"]


def with_code_notes(memories: Sequence[RetrievedMemory], paths: DataPaths, cwd: str | Path) -> list[RetrievedMemory]:
    """Return the memories without those whose code is gone, and with a word of caution where it changed.

    What a person made essential is told even so, with that word: they alone drop it.
    """
    project = find_project(cwd) if memories else None
    if project is None:
        return list(memories)
    from memento_tui.maintenance.code.notes import read_notes  # noqa: PLC0415 - most prompts call for no memory

    notes = read_notes(paths.code_notes(project.root))
    told = []
    for found in memories:
        note = notes.note(found.memory.id, found.memory.version, project.root)
        if note is None:
            told.append(found)
        elif not note.is_gone or found.memory.pinned:
            told.append(found._replace(caution=note.label))
    return told


def start_code_check(paths: DataPaths, cwd: str | Path, mark: str) -> None:
    """Start the worker that checks a project's memories, if its repository or the memories changed since it last did.

    ``mark`` is that of the newest entry of the journal.
    """
    project = find_project(cwd)
    if project is None or not (project.root / ".git").exists():
        return
    from memento_tui.maintenance.code.notes import read_notes  # noqa: PLC0415 - the start of a session alone

    known = read_notes(paths.code_notes(project.root))
    if (known.head, known.mark) != (head_commit(project.home, project.root), mark):
        start_worker(paths.root, "--code", f"--cwd={project.root}")
