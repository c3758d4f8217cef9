"""The namespaces whose memories concern a session (`SessionScope`), and a memory that was retrieved for one."""

from __future__ import annotations

from collections.abc import Mapping

from memento_tui.branches import SCOPED_NAMESPACE_ROOTS
from memento_tui.named_tuple import NamedTuple
from memento_tui.storage.hook_store import MemoryRow

__all__ = ["RetrievedMemory", "SessionScope", "limited_writer"]


class SessionScope(NamedTuple):
    """The namespaces that concern a session: all but those of other projects and branches."""

    session: str
    namespace: str
    """Of the project; empty outside of any."""
    also: tuple[str, ...] = ()
    """Further namespaces of the same project, that of the branch that is checked out among them."""

    def own_namespaces(self) -> list[str]:
        """Return the namespaces of the project."""
        return [name for name in (self.namespace, *self.also) if name]

    def concerns(self, namespace: str) -> bool:
        """Tell whether the records of a namespace concern the session."""
        is_own = any(namespace == own or namespace.startswith(f"{own}/") for own in self.own_namespaces())
        return is_own or namespace.partition("/")[0] not in SCOPED_NAMESPACE_ROOTS


class RetrievedMemory(NamedTuple):
    """One memory with its score, the numbers that made it, and the stems by which its passage is chosen."""

    memory: MemoryRow
    score: float
    why: dict[str, float]
    stems: frozenset[str]
    caution: str = ""
    """A word of caution about the code that it cites."""
    against: tuple[str, ...] = ()
    """The ids of the memories that contradict it, until a person resolves that."""


def limited_writer(memory: MemoryRow, writers: Mapping[str, str]) -> str:
    """Return who wrote a memory; empty for one that a person stands behind, which is not limited."""
    return writers.get(memory.id, "") if memory.stability == "draft" else ""
