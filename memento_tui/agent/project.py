"""Which project a directory belongs to, and the namespace of its memories.

A project is a Git repository, named by its common directory: all its worktrees share one memory. Imports nothing but
the standard library, because hooks ask before every prompt.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple, Protocol

__all__ = ["Project", "namespace_of_project", "project_of"]

_ODD = re.compile(r"[^\w.+-]+")
_LONGEST_NAME = 100
_LONGEST_POINTER = 10_000
"""Bytes of a ``.git`` or ``commondir`` file that are read; each holds one path."""


class Project(NamedTuple):
    """A project: ``root`` is where its files are, ``home`` what tells it from every other (of a worktree as well)."""

    root: Path
    home: Path
    name: str


class Settings(Protocol):
    """Where a store keeps values about itself: a `Store` has it, and so has a `HookStore`."""

    def setting(self, name: str) -> str | None:
        """Return a value, or ``None``."""

    def keep_setting(self, name: str, value: str) -> None:
        """Write a value."""


def project_of(directory: str | Path) -> Project | None:
    """Return the project of a directory; ``None`` for a home directory, the root, and what is not there.

    Without a repository the directory itself is the project.
    """
    try:
        start = Path(os.path.realpath(directory))
        if not str(directory) or not start.is_dir():
            return None
    except (OSError, ValueError):  # no name that a directory can have
        return None
    for folder in (start, *start.parents):
        home = _common_directory(folder / ".git")
        if home is not None:
            return Project(folder, home, _name(home))
    if start in (Path(start.anchor), Path(os.path.realpath(Path.home()))):
        return None
    return Project(start, start, _named(start.name))


def _common_directory(git: Path) -> Path | None:
    """Return the repository that a ``.git`` folder or file belongs to, or ``None`` if it is neither."""
    if git.is_dir():
        found = git
    elif git.is_file():
        pointer = _first_line(git)
        if not pointer.startswith("gitdir:"):
            return None
        found = git.parent / pointer.removeprefix("gitdir:").strip()
    else:
        return None
    shared = found / "commondir"
    if shared.is_file():
        found = found / _first_line(shared)
    return Path(os.path.realpath(found))


def _first_line(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(_LONGEST_POINTER).decode(errors="replace").partition("\n")[0].strip()
    except OSError:
        return ""


def _name(home: Path) -> str:
    return _named(home.parent.name if home.name == ".git" else home.name.removesuffix(".git"))


def _named(name: str) -> str:
    return _ODD.sub("-", name).strip("-. ").lower()[:_LONGEST_NAME] or "project"


def namespace_of_project(project: Project, settings: Settings, *, claim: bool = True) -> str:
    """Return the namespace of a project's memories, ``projects/<name>``.

    Two projects of one name do not share it: the first to ask keeps it for as long as its repository is there, and the
    other is named after its parent folder as well. ``claim`` writes down who has which.
    """
    parent = _named(project.root.parent.name)
    for namespace in (f"projects/{project.name}", f"projects/{parent}-{project.name}"):
        key = f"project {namespace}"
        holder = settings.setting(key)
        if holder == str(project.home):
            return namespace
        if holder is None or not Path(holder).exists():
            if claim:
                settings.keep_setting(key, str(project.home))
            return namespace
    return f"projects/{_named(str(project.root))}"
