"""Find the project that a directory belongs to, and the namespace of its memories. Standard library only.

A project is a Git repository, named by its common directory: all its worktrees share one memory. Imports nothing but
the standard library, because hooks ask before every prompt.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path

from memento_tui.git_files import common_directory
from memento_tui.named_tuple import NamedTuple

__all__ = ["Project", "claude_namespace", "find_project", "namespace_of_project"]

_UNSAFE_CHARS = re.compile(r"[^\w.+-]+")
_MAX_NAME_CHARS = 100
"""Characters of a project's name in a namespace."""


class Project(NamedTuple):
    """A project: ``root`` holds its files, ``home`` identifies it, and is the same for all its worktrees."""

    root: Path
    home: Path
    name: str


def find_project(directory: str | Path) -> Project | None:
    """Return the project of a directory; ``None`` for a home directory, the root, and a missing directory.

    Without a repository the directory itself is the project. A repository that is the home directory itself, as people
    keep their settings in one, is no project, and neither does what lies in it belong to it.
    """
    try:
        start = Path(os.path.realpath(directory))
        if not str(directory) or not start.is_dir():
            return None
    except (OSError, ValueError):  # no name that a directory can have
        return None
    no_projects = (Path(start.anchor), Path(os.path.realpath(os.path.expanduser("~"))))  # noqa: PTH111 - raises for no home
    for folder in (start, *start.parents):
        if folder in no_projects:
            break
        try:
            home = common_directory(folder / ".git")
        except OSError:  # a folder that may not be looked into
            continue
        if home is not None:
            return Project(folder, home, _safe_name(_name_folder(home).name.removesuffix(".git")))
    return None if start in no_projects else Project(start, start, _safe_name(start.name))


def _name_folder(home: Path) -> Path:
    """Return the folder whose name is the project's: not ``.git``, or ``.bare`` with the worktrees beside it."""
    return home.parent if home.name.startswith(".") and home.parent.name else home


def _safe_name(name: str) -> str:
    return _UNSAFE_CHARS.sub("-", name).strip("-. ").lower()[:_MAX_NAME_CHARS] or "project"


def namespace_of_project(
    project: Project, read: Callable[[str], str | None], write: Callable[[str, str], None] | None
) -> str:
    """Return the namespace of a project's memories, ``projects/<name>``.

    Two projects of one name do not share it: the first one keeps it for as long as its repository exists, and the other
    is named after its parent folder as well. ``read`` and ``write`` access the settings of the database, which record
    the project of each namespace; with ``None`` for ``write`` a new project does not claim one.
    """
    # Named by the folder that all worktrees share, or each would get a memory of its own.
    parent = _safe_name(_containing_folder(project.home).name)
    for namespace in (f"projects/{project.name}", f"projects/{parent}-{project.name}"):
        key = f"project {namespace}"
        holder = read(key)
        if holder == str(project.home):
            return namespace
        if holder is None or not Path(holder).exists():
            if write is not None:
                write(key, str(project.home))
            return namespace
    return f"projects/{project.name}-{zlib.crc32(os.fsencode(project.home)):08x}"


def claude_namespace(project: Project) -> str:
    """Return the namespace of what Claude Code's own memory of a project holds, a folder named after its path."""
    return f"claude/{''.join(letter if letter.isalnum() else '-' for letter in str(project.root))}"


def _containing_folder(home: Path) -> Path:
    """Return the folder that a project lies in; for a submodule the one that it is a part of."""
    above = _name_folder(home).parent
    git = next((folder for folder in (above, *above.parents) if folder.name == ".git"), None)
    return above if git is None else git.parent
