"""Find the files that a memory cites, below the folder that a person works in and nowhere else."""

from __future__ import annotations

from pathlib import Path

from memento_tui.api.workspace import Workspace
from memento_tui.model import Memory
from memento_tui.text.code_citations import code_citations

__all__ = ["cited_files", "repository_of"]


def repository_of(folder: Path) -> Path:
    """Return the repository that a folder lies in; the folder itself where it is in none."""
    here = folder.resolve()
    return next((parent for parent in (here, *here.parents) if (parent / ".git").exists()), here)


def cited_files(workspace: Workspace, memory: Memory, root: Path) -> list[Path]:
    """Return the files below ``root`` that a memory cites or is related to, in order, each once.

    Whoever wrote the memory chose the paths: what leads out of ``root``, by ``..`` or a link, is left out, and so is
    what is no regular file.
    """
    related = [end for kind, direction, end in workspace.related(memory.id) if (kind, direction) == ("file", "out")]
    cited = [found.text for found in code_citations(f"{memory.title}\n{memory.content}") if found.kind == "path"]
    top, files = root.resolve(), dict[Path, None]()
    for path in (*related, *cited):
        try:
            file = (top / path).resolve()
            if file.is_relative_to(top) and file.is_file():
                files[file] = None
        except (OSError, ValueError):  # no path that this file system can have
            continue
    return list(files)
