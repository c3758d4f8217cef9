"""Ids of new records: short ones, as this system's clients know them."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from memento_tui.workspace import Workspace

__all__ = ["free_hex_id", "fresh_id"]

_RECORDS = ("memory", "item", "skip")


def fresh_id(workspace: Workspace) -> Callable[[], str]:
    """Return what makes ids that no memory, working item or skip has."""

    def is_taken(made: str) -> bool:
        return any(workspace.store.find(record, made) is not None for record in _RECORDS)

    return lambda: free_hex_id(is_taken)


def free_hex_id(is_taken: Callable[[str], bool]) -> str:
    """Return 8 random hexadecimal digits that are not taken: among 100,000 records one new id in 40,000 is."""
    while is_taken(made := secrets.token_hex(4)):
        pass
    return made
