"""Several writes that one undo takes back."""

from __future__ import annotations

import copy
from contextlib import AbstractContextManager
from typing import Any

from memento_tui.records.ids import new_id
from memento_tui.store.journal import Author
from memento_tui.store.store import Store
from memento_tui.store.transaction import Transaction
from memento_tui.workspace import Workspace

__all__ = ["joined"]


class _JoinedStore(Store):
    """The same database; the entries that are written through this belong together."""

    def __init__(self, store: Store) -> None:
        self.database = store.database
        self._batch = new_id()

    def transaction(self, author: Author, action: str, **options: Any) -> AbstractContextManager[Transaction]:  # noqa: ANN401 - the base class's
        return super().transaction(author, action, **{"batch": self._batch, **options})


def joined(workspace: Workspace) -> Workspace:
    """Return the same workspace, but that all which is written through it is undone together."""
    made = copy.copy(workspace)
    made.store = _JoinedStore(workspace.store)
    # What was made for the other store is made again when it is needed.
    for name in ("review", "skips", "items", "crystals"):
        made.__dict__.pop(name, None)
    return made
