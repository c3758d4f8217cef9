"""The rules by which every interface shows memories to agents, warns of them, links them and counts them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.maintenance.aging import whole_text
from memento_tui.maintenance.code.notes import read_notes
from memento_tui.model import Crystal, Memory, Skip, WorkingItem
from memento_tui.model.filters import AllOf, Between, Filter, Not, OneOf, Under
from memento_tui.model.lists import is_unverified
from memento_tui.model.memory import RECALLED_STATUSES
from memento_tui.projects import find_project
from memento_tui.text.labels import bracketed, caution_labels, entry_labels

__all__ = [
    "UNCONSOLIDATED_STATUSES",
    "Link",
    "add_links",
    "code_labels",
    "count_memories",
    "format_time",
    "identity_text",
    "is_current",
    "is_readable",
    "is_recalled",
    "list_labels",
    "visible_memory",
    "without_identity_marks",
]


def code_labels(workspace: Workspace, memories: Iterable[Memory]) -> dict[str, list[str]]:
    """Return, by id, the outdated citations of code in some memories; none for those that were not checked.

    A server that an agent's host starts runs in the agent's directory; one that answers over HTTP runs anywhere, and
    says nothing. An agent that asks for a memory reads it even where its code is gone.
    """
    if workspace.author.channel != "mcp":
        return {}
    try:
        project = find_project(Path.cwd())
    except OSError:  # the directory was removed
        return {}
    if project is None:
        return {}
    notes = read_notes(workspace.paths.code_notes(project.root))
    found = ((memory.id, notes.note(memory.id, memory.version, project.root)) for memory in memories)
    return {memory_id: [note.label] for memory_id, note in found if note is not None}


UNCONSOLIDATED_STATUSES = tuple(status for status in RECALLED_STATUSES if status != "consolidated")
"""The statuses of memories that are recalled and for which no other memory stands."""


def is_readable(memory: Memory) -> bool:
    """Tell whether an agent may read the text by id: not while it waits for a person, nor once it was rejected."""
    return memory.status not in ("pending", "rejected", "deleted")


def is_recalled(memory: Memory) -> bool:
    """Tell whether a search may show the memory to an agent at all, by whatever query."""
    return memory.status in (*RECALLED_STATUSES, "archived") and memory.sensitivity != "restricted"


def format_time(moment: datetime) -> str:
    """Return a moment in UTC to the second: ``2026-12-31T18:00:00Z``."""
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def list_labels(record: Skip | WorkingItem | Crystal) -> list[str]:
    """Return the words of caution about a skip, a working item or an identity."""
    return entry_labels(is_unverified=is_unverified(record))


def identity_text(crystal: Crystal) -> str:
    """Return an identity's text for an agent, labelled where no person wrote or approved it."""
    marks = bracketed(list_labels(crystal)).strip()
    return f"{marks}\n{crystal.content}" if marks else crystal.content


def without_identity_marks(content: str) -> str:
    """Return an identity without the words of caution that `identity_text` puts above one."""
    marks = bracketed(entry_labels(is_unverified=True)).strip()
    return content.removeprefix(f"{marks}\n")


@dataclass(frozen=True)
class VisibleMemory:
    """A memory as an agent may read it: its texts are empty where they are withheld from the agent."""

    memory: Memory
    is_readable: bool
    title: str
    content: str
    tags: list[str]
    validity_context: str
    labels: list[str]
    """Words of caution, the gravest first."""


def visible_memory(memory: Memory, now: datetime) -> VisibleMemory:
    """Return a memory as an agent may read it at a moment, in full even where maintenance shortened it."""
    readable = is_readable(memory)
    return VisibleMemory(
        memory,
        readable,
        title=memory.title if readable else "",
        content=whole_text(memory) if readable else "",
        tags=list(memory.tags) if readable else [],
        validity_context=memory.validity_context if readable else "",
        labels=caution_labels(memory, now),
    )


def is_current(memory: Memory, now: datetime) -> bool:
    """Tell whether a memory holds at a moment: it has begun to, and has not ended."""
    ends = [moment for moment in (memory.expires_at, memory.valid_to) if moment is not None]
    return all(moment > now for moment in ends) and (memory.valid_from is None or memory.valid_from <= now)


class Link(NamedTuple):
    """A relation from a memory to another memory, a working item or a file."""

    type: str
    """The type of the relation."""
    target: str
    """The other memory's or the item's id, or the file's path."""
    label: str = ""


def add_links(workspace: Workspace, memory_id: str, links: Iterable[Link]) -> None:
    """Link a memory; links that it has already are left as they are. Raises like `Workspace.relate`."""
    relations = workspace.relations(memory_id, direction="out")
    known = {(relation.type, relation.dst, relation.label) for relation in relations}
    for link in dict.fromkeys(links):
        if tuple(link) not in known:
            workspace.relate(memory_id, link.target, link.type, link.label)


class MemoryCounts(NamedTuple):
    """The numbers of a namespace's memories, by how they stand."""

    active: int
    """The number that is recalled."""
    expired: int
    """The number that would be recalled if they had not ended."""
    consolidated: int
    """The number for which another memory stands."""
    pending: int
    """The number that waits for a person."""


def count_memories(workspace: Workspace, namespace: str, *, with_restricted: bool = True) -> MemoryCounts:
    """Count the memories of a namespace and those below it; without restricted ones among the active, if so asked."""

    def count(*parts: Filter) -> int:
        return workspace.count(AllOf((Under(namespace), *parts)))

    ended = Between("expires_at", None, clock.now())
    recalled = OneOf("status", UNCONSOLIDATED_STATUSES)
    shown = AllOf(() if with_restricted else (Not(OneOf("sensitivity", ("restricted",))),))
    return MemoryCounts(
        active=count(recalled, Not(ended), shown),
        expired=count(recalled, ended),
        consolidated=count(OneOf("status", ("consolidated",))),
        pending=count(OneOf("status", ("pending",))),
    )
