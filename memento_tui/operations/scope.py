"""Decide which records concern a caller: those of its namespaces, or those that matter in its project."""

from __future__ import annotations

from memento_tui.api import Workspace
from memento_tui.model import Skip, WorkingItem
from memento_tui.model.validation import account_of, is_under

__all__ = [
    "is_relevant_namespace",
    "is_within_namespaces",
    "matching_skips",
    "relevant_items",
    "relevant_skips",
]


def is_within_namespaces(namespace: str, namespaces: tuple[str, ...]) -> bool:
    """Tell whether a namespace is one of several or lies below one of them."""
    return any(is_under(namespace, other) for other in namespaces)


def is_relevant_namespace(current: str, namespace: str) -> bool:
    """Tell whether a record of ``namespace`` matters in the ``current`` one: it is the same, above or below, or global.

    Where ``current`` is empty, all matter. Records of an account matter only in that account's own namespaces.
    """
    if account_of(namespace) != account_of(current):
        return False
    return not current or namespace == "global" or is_under(namespace, current) or is_under(current, namespace)


def relevant_items(
    workspace: Workspace, current: str, *, category: str | None = None, status: str | None = "active"
) -> list[WorkingItem]:
    """Return the working items that matter in a namespace, highest priority first."""
    items = workspace.items.list(category=category, status=status)
    return [item for item in items if is_relevant_namespace(current, item.namespace)]


def relevant_skips(workspace: Workspace, current: str) -> list[Skip]:
    """Return the skips that hold and matter in a namespace, soonest to end first."""
    return [skip for skip in workspace.skips.list() if is_relevant_namespace(current, skip.namespace)]


def matching_skips(workspace: Workspace, current: str, message: str) -> list[Skip]:
    """Return the skips that a message touches and that matter in a namespace; each counts a hit."""
    return list(workspace.skips.check(message, among=lambda skip: is_relevant_namespace(current, skip.namespace)))
