"""Name the namespaces of what was learned on a branch of Git. Standard library only: hooks ask here.

What was learned for ``projects/site`` on ``feature/login`` lies in ``branches/site/feature:login``: no branch has a
colon in its name. Like another project's, such a memory is told nowhere else.
"""

from __future__ import annotations

__all__ = ["BRANCHES_NAMESPACE", "branch_namespace", "branch_of", "namespace_without_branch", "parts_of_branch"]

BRANCHES_NAMESPACE = "branches"
"""The namespace below which the memories of branches lie, by project."""

_PROJECTS_NAMESPACE = "projects"


def branch_namespace(namespace: str, branch: str) -> str:
    """Return the namespace of a branch for one of a project, ``projects/NAME`` or one below it."""
    project, _, below = namespace.removeprefix(f"{_PROJECTS_NAMESPACE}/").partition("/")
    parts = (BRANCHES_NAMESPACE, project, branch.replace("/", ":"), below)
    return "/".join(part for part in parts if part)


def parts_of_branch(namespace: str) -> tuple[str, str, str] | None:
    """Return the project's name, the branch and what lies below it of a branch's namespace; ``None`` for another."""
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
