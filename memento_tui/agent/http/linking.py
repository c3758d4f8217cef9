"""Linkages between memories: checked and added, walked as a graph, and listed for one memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from starlette.responses import Response

from memento_tui.agent.http.call import Call, Shape, limited
from memento_tui.agent.http.replies import replied
from memento_tui.agent.labels import is_recalled
from memento_tui.errors import InvalidField, NotFound
from memento_tui.interchange.protocol_model import RELATION_OF_LINKAGE, linkage_of, type_of
from memento_tui.records import Memory, Relation

__all__ = ["Linkage", "add_linkages", "check_linkages", "graph", "related"]

_DEEPEST = 5
_MOST_NODES = 500
"""Memories in one graph. What lies beyond is left out, and the answer says so."""


class Linkage(Shape):
    """A link from a memory to another, to a working item or to a file."""

    type: Literal["memory", "item", "file"]
    id: str = ""
    path: str = ""
    label: str = ""


class _Depth(Shape):
    depth: int = 2


def check_linkages(call: Call, given: Sequence[Linkage]) -> Sequence[Linkage]:
    """Return linkages whose ends all exist in this workspace. Raises `InvalidField` for the first that does not."""
    for number, linkage in enumerate(given):
        field = f"linkages[{number}].{'path' if linkage.type == 'file' else 'id'}"
        end = linkage.path if linkage.type == "file" else linkage.id
        if not end:
            raise InvalidField(field, "is missing", "A memory or item is linked by its id, a file by its path.")
        if linkage.type == "file":
            continue
        found: Any = call.workspace.store.find(linkage.type, end)
        if found is None or not call.place.holds(found.namespace):
            raise InvalidField(
                field, f"no {linkage.type} of this workspace has the id {end!r:.80}", "Nothing was done."
            )
    return given


def add_linkages(call: Call, memory: Memory, wanted: Sequence[Linkage]) -> None:
    """Add the linkages that a memory does not have yet."""
    known = {(one.type, one.dst, one.label) for one in call.workspace.store.relations_of(memory.id)}
    for linkage in wanted:
        relation = RELATION_OF_LINKAGE[linkage.type]
        end = linkage.path if linkage.type == "file" else linkage.id
        if (relation, end, linkage.label) not in known:
            call.workspace.relate(memory.id, end, relation, linkage.label)


def graph(call: Call) -> Response:
    """Return what a memory is connected with, in both directions, nearest first."""
    depth = limited(call.asked(_Depth).depth, _DEEPEST)
    walk = _Walk(call)
    start = call.memory()
    walk.from_(start, depth)
    body: dict[str, Any] = {"nodes": walk.nodes, "edges": list(walk.edges.values())}
    if walk.is_cut:
        body["notice"] = f"Only the nearest {_MOST_NODES} memories are shown."
    return replied(body)


class _Walk:
    """A breadth-first walk through the memories of a workspace that an agent may see."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.nodes: list[dict[str, Any]] = []
        self.edges: dict[tuple[str, str, str], dict[str, str]] = {}
        self.is_cut = False

    def from_(self, start: Memory, depth: int) -> None:
        seen, level = {start.id}, [start]
        for distance in range(depth + 1):
            following: list[Memory] = []
            for memory in level:
                self.nodes.append(_node(memory, distance))
                for other in self._neighbours(memory, reached=distance == depth):
                    if other.id in seen:
                        continue
                    if len(seen) >= _MOST_NODES:
                        self.is_cut = True
                        return
                    seen.add(other.id)
                    following.append(other)
            level = following

    def _neighbours(self, memory: Memory, *, reached: bool) -> Iterator[Memory]:
        """Yield the memories at the other ends; at the last level only what leads out is noted."""
        for relation in _relations(self._call, memory):
            label = linkage_of(relation.type, relation.dst, relation.label).get("label", "")
            if relation.type == "file":
                self._edge(memory.id, f"file:{relation.dst}", label or "source")
            elif relation.type != "item":
                other = _end(self._call, relation, memory)
                if other is not None and (not reached or relation.src == memory.id):
                    self._edge(relation.src, relation.dst, label or "related")
                    if not reached:
                        yield other

    def _edge(self, start: str, end: str, label: str) -> None:
        self.edges.setdefault((start, end, label), {"from": start, "to": end, "label": label})


def _relations(call: Call, memory: Memory) -> list[Relation]:
    """Return a memory's relations. That somebody's file or item is named like it relates it to nothing."""
    found = call.workspace.store.relations_of(memory.id)
    return [one for one in found if one.src == memory.id or one.type not in ("file", "item")]


def _end(call: Call, relation: Relation, memory: Memory) -> Memory | None:
    """Return the memory at the other end of a relation, or ``None`` where an agent here may not see it."""
    try:
        other = call.memory(relation.dst if relation.src == memory.id else relation.src)
    except NotFound:
        return None
    return other if is_recalled(other) else None


def _node(memory: Memory, depth: int) -> dict[str, Any]:
    visible = is_recalled(memory)
    return {
        "id": memory.id,
        "content": memory.content if visible else "",
        "type": type_of(memory),
        "tags": list(memory.tags) if visible else [],
        "depth": depth,
    }


def related(call: Call) -> Response:
    """Return the direct connections of a memory, by direction."""
    memory = call.memory()
    outgoing, incoming = [], []
    for relation in _relations(call, memory):
        linkage = linkage_of(relation.type, relation.dst, relation.label)
        kind = linkage["type"]
        if kind == "memory" and _end(call, relation, memory) is None:
            continue
        label = linkage.get("label") or ("source" if kind == "file" else "related")
        if relation.src == memory.id:
            outgoing.append({"id": relation.dst, "type": kind, "label": label})
        else:
            incoming.append({"id": relation.src, "type": "memory", "label": label})
    return replied({"outgoing": outgoing, "incoming": incoming})
