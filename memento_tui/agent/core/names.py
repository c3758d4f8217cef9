"""Which memory a namespace and an id mean: memento-core tells memories apart by both, memento by the id alone.

An id that is taken in another namespace is stored as ``id@namespace``, as the import does it, and told as that: it
must lead back to its memory.
"""

from __future__ import annotations

from memento_tui.records import Memory
from memento_tui.workspace import Workspace

__all__ = ["find_in", "own_id"]


def find_in(workspace: Workspace, namespace: str, memory_id: str) -> Memory | None:
    """Return the memory that has an id in a namespace, ``None`` where there is none, deleted ones included."""
    for name in (memory_id, _elsewhere(memory_id, namespace)):
        found = workspace.store.find("memory", name)
        if isinstance(found, Memory) and found.namespace == namespace:
            return found
    return None


def own_id(workspace: Workspace, namespace: str, memory_id: str) -> str:
    """Return the id under which a new memory of a namespace is stored."""
    return memory_id if workspace.store.find("memory", memory_id) is None else _elsewhere(memory_id, namespace)


def _elsewhere(memory_id: str, namespace: str) -> str:
    return f"{memory_id}@{namespace}"
