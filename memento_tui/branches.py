"""Name the namespaces of memories learned on a Git branch. Standard library only, because hooks use it.

What was learned for ``projects/site`` on ``feature/login`` lies in ``branches/site/feature:login``: no branch has a
colon in its name. Like another project's, such a memory is told nowhere else.

A name that cannot stand there, because it is too long, reads as a secret or holds what nobody sees, is coded: by a
tilde, which no branch has in its name either, and a digest. Whoever reads looks in both places.
"""

from __future__ import annotations

__all__ = [
    "BRANCHES_NAMESPACE",
    "SCOPED_NAMESPACE_ROOTS",
    "branch_namespace",
    "branch_namespaces",
    "branch_of",
    "is_name_of_branch",
    "is_taken_from_branch",
    "namespace_without_branch",
    "parts_of_branch",
]

BRANCHES_NAMESPACE = "branches"
"""The namespace below which the memories of branches lie, by project."""

SCOPED_NAMESPACE_ROOTS = ("projects", "claude", "accounts", BRANCHES_NAMESPACE)
"""The namespaces below which each name is a project, or an account of `memento serve`, of any person."""

_PROJECTS_NAMESPACE = "projects"

_MAX_NAME_CHARS = 100
"""Characters of a branch's name in a namespace, which may have 300 in all."""

_CODE_DIGITS = 16
"""Hexadecimal digits of a coded name."""


def branch_namespace(namespace: str, branch: str) -> str:
    """Return the namespace of a branch for one of a project, ``projects/NAME`` or one below it."""
    project, _, below = namespace.removeprefix(f"{_PROJECTS_NAMESPACE}/").partition("/")
    parts = (BRANCHES_NAMESPACE, project, branch.replace("/", ":"), below)
    return "/".join(part for part in parts if part)


def branch_namespaces(namespace: str, branch: str) -> tuple[str, ...]:
    """Return the namespaces in which memories of a branch may lie: by its name, unless that cannot stand, and coded."""
    is_usable = len(branch) <= _MAX_NAME_CHARS and branch.isprintable() and branch == branch.strip()
    is_usable = is_usable and "\\" not in branch and all(name not in ("", ".", "..") for name in branch.split("/"))
    names = (branch, _coded(branch)) if is_usable else (_coded(branch),)
    return tuple(branch_namespace(namespace, name) for name in names)


def is_taken_from_branch(before: str, after: str) -> bool:
    """Tell whether a memory would be told elsewhere than on the branch of its namespace so far."""
    parts = parts_of_branch(before)
    moved = parts_of_branch(after)
    return parts is not None and (moved is None or moved[:2] != parts[:2])


def is_name_of_branch(name: str, branch: str) -> bool:
    """Tell whether the name in a namespace is that of a branch, as it is or coded."""
    return name in (branch, _coded(branch))


def _coded(branch: str) -> str:
    import hashlib  # noqa: PLC0415 - it loads OpenSSL, 3 ms of a hook, and most names need no digest

    return f"~{hashlib.sha256(branch.encode(errors='surrogateescape')).hexdigest()[:_CODE_DIGITS]}"


def parts_of_branch(namespace: str) -> tuple[str, str, str] | None:
    """Split a branch's namespace into the project, the branch and the rest below it; ``None`` for another namespace."""
    root, _, rest = namespace.partition("/")
    project, _, rest = rest.partition("/")
    branch, _, below = rest.partition("/")
    return (project, branch.replace(":", "/"), below) if root == BRANCHES_NAMESPACE and branch else None


def branch_of(namespace: str) -> str:
    """Return the branch that a namespace is of; empty for none."""
    parts = parts_of_branch(namespace)
    return "" if parts is None else parts[1]


def namespace_without_branch(namespace: str) -> str:
    """Return the namespace of the project to which a branch's belongs; any other as it is."""
    parts = parts_of_branch(namespace)
    if parts is None:
        return namespace
    return "/".join(part for part in (_PROJECTS_NAMESPACE, parts[0], parts[2]) if part)
