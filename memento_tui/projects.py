"""Find the project that a directory belongs to, and the namespace of its memories. Standard library only.

A project is a Git repository, named by its common directory: all its worktrees share one memory. Imports nothing but
the standard library, because hooks ask before every prompt.

What Git knows is read from the files of its repository, without starting it.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path

from memento_tui.named_tuple import NamedTuple
from memento_tui.regular_files import read_regular

__all__ = [
    "USUAL_DEFAULT_BRANCHES",
    "Project",
    "checked_out_branch",
    "claude_namespace",
    "common_directory",
    "find_project",
    "head_commit",
    "namespace_of_project",
]


_MAX_POINTER_BYTES = 10_000
"""Bytes of a ``.git``, ``commondir`` or ``HEAD`` file that are read; each holds one line."""

_MAX_PACKED_BYTES = 16_000_000
"""Bytes of a ``packed-refs`` file that are read: about 200,000 branches and tags, the branches first."""

_BRANCH_PREFIX = "refs/heads/"

USUAL_DEFAULT_BRANCHES = ("main", "master", "trunk")
"""The default branch of a repository that was cloned from nowhere has one of these names, or is not known."""

_REBASED_NAMES = ("rebase-merge/head-name", "rebase-apply/head-name")
"""The files that name the branch which is being rebased: ``HEAD`` names none meanwhile."""


def common_directory(git: Path) -> Path | None:
    """Return the repository that a ``.git`` folder or file belongs to, or ``None`` if it belongs to none."""
    found = _own_directory(git)
    return None if found is None else _shared_directory(found)


def checked_out_branch(root: Path) -> str:
    """Return the branch of a working tree, such as ``feature/login``; empty for the default branch.

    Empty too where nothing tells: outside of a repository, at a commit without a branch, and where the default branch
    is not known, because it was cloned from nowhere and has none of the usual names.
    """
    try:
        own = _own_directory(root / ".git")
        shared = None if own is None else _shared_directory(own)
        if own is None or shared is None:
            return ""
        named = _first_line(own / "HEAD").removeprefix("ref:").lstrip(" \t")
        for name in _REBASED_NAMES if not named.startswith(_BRANCH_PREFIX) else ():
            named = _first_line(own / name) or named
        branch = named.removeprefix(_BRANCH_PREFIX)
        if branch in ("", named) or branch.startswith("."):  # a commit, or a repository whose files do not say
            return ""
        return "" if _is_default(shared, branch) else branch
    except (OSError, ValueError):
        return ""


def head_commit(home: Path, root: Path) -> str:
    """Return the present commit of a working tree; empty where its files do not say.

    ``home`` is the repository's common directory, ``root`` the working tree.
    """
    try:
        own = _own_directory(root / ".git")
    except (OSError, ValueError):
        return ""
    head = "" if own is None else _first_line(own / "HEAD")
    name = head.removeprefix("ref:").lstrip(" \t")
    if own is None or not head.startswith("ref:"):
        return head
    if not name.startswith("refs/") or ".." in name:
        return ""
    loose = _first_line(own / name) or _first_line(home / name)
    return loose or _packed_commit(_content(home / "packed-refs", _MAX_PACKED_BYTES), name)


def _own_directory(git: Path) -> Path | None:
    """Return the directory of one working tree's own files, such as its ``HEAD``."""
    if git.is_dir():
        return git
    if not git.is_file():
        return None
    pointer = _first_line(git)
    return git.parent / pointer.removeprefix("gitdir:").lstrip(" \t") if pointer.startswith("gitdir:") else None


def _shared_directory(own: Path) -> Path | None:
    shared = own / "commondir"
    found = own / _first_line(shared) if shared.is_file() else own
    # A repository has a HEAD, if only a link to a branch that does not exist yet.
    return Path(os.path.realpath(found)) if os.path.lexists(found / "HEAD") else None


def _is_default(shared: Path, branch: str) -> bool:
    """Tell whether a branch is the repository's default one, or nothing says which that is."""
    if branch in USUAL_DEFAULT_BRANCHES:
        return True
    upstream = _first_line(shared / "refs/remotes/origin/HEAD")
    if upstream:
        return upstream.removeprefix("ref:").lstrip(" \t") == f"refs/remotes/origin/{branch}"
    if any((shared / _BRANCH_PREFIX / name).is_file() for name in USUAL_DEFAULT_BRANCHES):
        return False
    packed = _content(shared / "packed-refs", _MAX_PACKED_BYTES)
    return not any(_packed_commit(packed, f"{_BRANCH_PREFIX}{name}") for name in USUAL_DEFAULT_BRANCHES)


def _packed_commit(packed: bytes, name: str) -> str:
    """Return the commit that a ``packed-refs`` file has for a reference; empty for none."""
    before, found, _ = (packed + b"\n").partition(b" " + os.fsencode(name) + b"\n")
    return before.rpartition(b"\n")[2].decode(errors="replace") if found else ""


def _first_line(path: Path) -> str:
    # The name of a branch may end in what Unicode calls white space: only bytes are taken off.
    return _content(path, _MAX_POINTER_BYTES).partition(b"\n")[0].strip().decode(errors="replace")


def _content(path: Path, limit: int) -> bytes:
    """Return the beginning of a file; nothing where it is none, such as a pipe, which would wait for its writer."""
    try:
        return read_regular(path, limit)
    except (OSError, ValueError):
        return b""


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
    """Return the namespace of Claude Code's own memory of a project, a folder named after its path."""
    return f"claude/{''.join(letter if letter.isalnum() else '-' for letter in str(project.root))}"


def _containing_folder(home: Path) -> Path:
    """Return the folder that a project lies in; for a submodule the one that it is a part of."""
    above = _name_folder(home).parent
    git = next((folder for folder in (above, *above.parents) if folder.name == ".git"), None)
    return above if git is None else git.parent
