"""Read what the files of a Git repository say of it, without starting git. Standard library only: hooks ask here."""

from __future__ import annotations

import os
from pathlib import Path

from memento_tui.regular_files import read_regular

__all__ = ["USUAL_DEFAULT_BRANCHES", "checked_out_branch", "common_directory", "head_commit"]

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
