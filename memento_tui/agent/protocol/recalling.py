"""What a recall finds: memories by words, tags and type in some workspaces, and those with a certain picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memento_tui import clock
from memento_tui.agent.labels import is_recalled
from memento_tui.agent.protocol.images import IMAGE
from memento_tui.agent.protocol.place import is_within
from memento_tui.agent.recall import count_shown, plain_query, recall
from memento_tui.errors import InvalidField
from memento_tui.records import Memory
from memento_tui.records.memory import RECALLED
from memento_tui.workspace import Workspace

__all__ = ["Asked", "Found", "find"]

_HELD = tuple(status for status in RECALLED if status != "consolidated")
"""What another memory stands for is not recalled beside it."""

_WARMING = "(Only words were compared so far; meaning counts once the engine is ready.)"
_BY_PATH = "(Pictures are not compared: those memories were found to which this very file is attached.)"


class Asked(NamedTuple):
    """What a caller wants."""

    query: str
    tags: tuple[str, ...]
    """Of which a memory has at least one."""
    kind: str
    limit: int
    namespaces: tuple[str, ...]
    image: str = ""
    """The whole path of a picture."""


class Found(NamedTuple):
    """The memories, best first, and a sentence for each thing that the caller should know of them."""

    memories: list[Memory]
    notes: list[str]


def find(workspace: Workspace, asked: Asked) -> Found:
    """Return what a recall finds, counted as shown and entered in the ledger.

    Raises:
        InvalidField: a tag or namespace cannot be asked for.

    """
    notes: list[str] = []
    memories: list[Memory] = []
    if asked.image:
        memories = _with_image(workspace, asked)[: asked.limit]
        count_shown(workspace, [memory.id for memory in memories])
        notes.append(_BY_PATH)
    words = plain_query(asked.query)
    if asked.query.strip() and not words:
        return Found(memories, notes)  # nothing but punctuation, which no memory answers
    if words or not asked.image:
        hits, answer = recall(workspace, " ".join([*_filters(asked), words]), asked.limit)
        seen = {memory.id for memory in memories}
        memories += [hit.memory for hit in hits if hit.id not in seen]
        notes += [*answer.problems, *([_WARMING] if answer.semantic == "warming" else [])]
    return Found(memories[: asked.limit], notes)


def _filters(asked: Asked) -> Iterator[str]:
    yield f"ns:{_listed(asked.namespaces, 'workspace')} status:{','.join(_HELD)}"
    if asked.tags:
        yield f"tag:{_listed(asked.tags, 'tags')}"
    if asked.kind:
        yield f"kind:{asked.kind}"


def _listed(names: Sequence[str], field: str) -> str:
    for name in names:
        if '"' in name or "," in name:
            raise InvalidField(field, f"cannot be asked for with a quotation mark or a comma in it: {name!r:.60}")
    return f'"{",".join(names)}"'


def _with_image(workspace: Workspace, asked: Asked) -> list[Memory]:
    relations = workspace.store.relations_of(asked.image)
    names = [one.src for one in relations if (one.dst, one.type, one.label) == (asked.image, "file", IMAGE)]
    now = clock.now()
    return [
        memory
        for memory in workspace.store.memories(names).values()
        if is_recalled(memory)
        and memory.status in _HELD
        and is_within(memory.namespace, asked.namespaces)
        and (memory.expires_at is None or memory.expires_at > now)
        and (not asked.kind or memory.kind == asked.kind)
        and (not asked.tags or {tag.casefold() for tag in asked.tags} & {tag.casefold() for tag in memory.tags})
    ]
