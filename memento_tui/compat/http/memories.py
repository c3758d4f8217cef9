"""``/v1/memories``: store, list, read, change, delete and link memories, and store many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.api.types import MemoryOrder
from memento_tui.compat.http.request import ApiRequest, RequestSchema, clamp_limit
from memento_tui.compat.http.responses import (
    error_response,
    json_response,
    memory_row,
    proposal_response,
    proposal_row_response,
    text_response,
)
from memento_tui.errors import InvalidField, InvalidInput, NotAllowed, NotFound
from memento_tui.formats.protocol.vocabulary import RELATION_OF_LINKAGE, kind_fields, linkage_from_relation, memory_type
from memento_tui.model import Memory, Proposal, Relation
from memento_tui.model.filters import AllOf, AnyOf, Between, Filter, HasTag, Not, OneOf, Under
from memento_tui.model.memory import KINDS
from memento_tui.moments import parse_optional_end
from memento_tui.operations.memory_status import is_readable, is_recalled, pending_reasons, rejection_note
from memento_tui.operations.recall import count_used
from memento_tui.storage.store import memory_slice

__all__ = ["get_memory"]

_MAX_DEPTH = 5
_MAX_NODES = 500
"""Memories in one graph. What lies beyond is left out, and the answer says so."""


class LinkageInput(RequestSchema):
    """A link from a memory to another, to a working item or to a file."""

    type: Literal["memory", "item", "file"]
    id: str = ""
    path: str = ""
    label: str = ""


class _GraphQuery(RequestSchema):
    depth: int = 2


def check_linkages(call: ApiRequest, given: Sequence[LinkageInput]) -> Sequence[LinkageInput]:
    """Return linkages whose ends all exist in this workspace. Raises `InvalidField` for the first that does not."""
    for number, linkage in enumerate(given):
        field = f"linkages[{number}].{'path' if linkage.type == 'file' else 'id'}"
        end = linkage.path if linkage.type == "file" else linkage.id
        if not end:
            raise InvalidField(field, "is missing", "A memory or item is linked by its id, a file by its path.")
        if linkage.type == "file":
            continue
        found: Any = call.workspace.store.find_named(linkage.type, end)
        if found is None or not call.place.holds(found.namespace):
            raise InvalidField(
                field, f"no {linkage.type} of this workspace has the id {end!r:.80}", "Nothing was done."
            )
    return given


def add_linkages(call: ApiRequest, memory: Memory, wanted: Sequence[LinkageInput]) -> None:
    """Add the linkages that a memory does not have yet."""
    known = {(one.type, one.dst, one.label) for one in call.workspace.store.relations_of(memory.id)}
    for linkage in wanted:
        relation = RELATION_OF_LINKAGE[linkage.type]
        end = linkage.path if linkage.type == "file" else linkage.id
        if (relation, end, linkage.label) not in known:
            call.workspace.relate(memory.id, end, relation, linkage.label)


def get_graph(call: ApiRequest) -> Response:
    """Return what a memory is connected with, in both directions, nearest first."""
    depth = clamp_limit(call.asked(_GraphQuery).depth, _MAX_DEPTH)
    walk = _GraphWalk(call)
    start = call.memory()
    walk.from_(start, depth)
    body: dict[str, Any] = {"nodes": walk.nodes, "edges": list(walk.edges.values())}
    if walk.is_cut:
        body["notice"] = f"Only the nearest {_MAX_NODES} memories are shown."
    return json_response(body)


class _GraphWalk:
    """A breadth-first walk through the memories of a workspace that an agent may see."""

    def __init__(self, call: ApiRequest) -> None:
        self._call = call
        self.nodes: list[dict[str, Any]] = []
        self.edges: dict[tuple[str, str, str], dict[str, str]] = {}
        self.is_cut = False

    def from_(self, start: Memory, depth: int) -> None:
        seen, level = {start.id}, [start]
        for distance in range(depth + 1):
            following: list[Memory] = []
            for memory in level:
                self.nodes.append(_graph_node(memory, distance))
                for other in self._neighbours(memory, reached=distance == depth):
                    if other.id in seen:
                        continue
                    if len(seen) >= _MAX_NODES:
                        self.is_cut = True
                        return
                    seen.add(other.id)
                    following.append(other)
            level = following

    def _neighbours(self, memory: Memory, *, reached: bool) -> Iterator[Memory]:
        """Yield the memories at the other ends; at the last level only what leads out is noted."""
        for relation in _workspace_relations(self._call, memory):
            label = linkage_from_relation(relation.type, relation.dst, relation.label).get("label", "")
            if relation.type == "file":
                self._edge(memory.id, f"file:{relation.dst}", label or "source")
            elif relation.type != "item":
                other = _other_end(self._call, relation, memory)
                if other is not None and (not reached or relation.src == memory.id):
                    self._edge(relation.src, relation.dst, label or "related")
                    if not reached:
                        yield other

    def _edge(self, start: str, end: str, label: str) -> None:
        self.edges.setdefault((start, end, label), {"from": start, "to": end, "label": label})


def _workspace_relations(call: ApiRequest, memory: Memory) -> list[Relation]:
    """Return a memory's relations. That somebody's file or item is named like it relates it to nothing."""
    found = call.workspace.store.relations_of(memory.id)
    return [one for one in found if one.src == memory.id or one.type not in ("file", "item")]


def _other_end(call: ApiRequest, relation: Relation, memory: Memory) -> Memory | None:
    """Return the memory at the other end of a relation, or ``None`` where an agent here may not see it."""
    try:
        other = call.memory(relation.dst if relation.src == memory.id else relation.src)
    except NotFound:
        return None
    return other if is_recalled(other) else None


def _graph_node(memory: Memory, depth: int) -> dict[str, Any]:
    visible = is_recalled(memory)
    return {
        "id": memory.id,
        "content": memory.content if visible else "",
        "type": memory_type(memory),
        "tags": list(memory.tags) if visible else [],
        "depth": depth,
    }


def get_related(call: ApiRequest) -> Response:
    """Return the direct connections of a memory, by direction."""
    memory = call.memory()
    outgoing, incoming = [], []
    for relation in _workspace_relations(call, memory):
        linkage = linkage_from_relation(relation.type, relation.dst, relation.label)
        kind = linkage["type"]
        if kind == "memory" and _other_end(call, relation, memory) is None:
            continue
        label = linkage.get("label") or ("source" if kind == "file" else "related")
        if relation.src == memory.id:
            outgoing.append({"id": relation.dst, "type": kind, "label": label})
        else:
            incoming.append({"id": relation.src, "type": "memory", "label": label})
    return json_response({"outgoing": outgoing, "incoming": incoming})


_MAX_INGESTED = 100
_MAX_LISTED = 100
_MAX_OFFSET = 1_000_000_000
_SORT_FIELD: Mapping[str, MemoryOrder] = {
    "created_at": "created",
    "relevance": "certainty",
    "access_count": "used",
    "last_accessed_at": "last_used",
}
_NO_IMAGES_MESSAGE = "Images are not stored here: leave images out, and link to the file instead (linkages, type file)."


class _NewMemory(RequestSchema):
    content: str
    tags: list[str] | None = None
    type: str | None = None
    expires: str | None = None
    linkages: list[LinkageInput] | None = None
    images: list[Any] | None = None


class _NewMemories(RequestSchema):
    memories: Annotated[list[_NewMemory], msgspec.Meta(min_length=1, max_length=_MAX_INGESTED)]
    source: str | None = None


class _MemoryChange(RequestSchema):
    content: str | msgspec.UnsetType = msgspec.UNSET
    tags: list[str] | msgspec.UnsetType = msgspec.UNSET
    type: str | msgspec.UnsetType = msgspec.UNSET
    expires: str | msgspec.UnsetType | None = msgspec.UNSET
    linkages: list[LinkageInput] | msgspec.UnsetType = msgspec.UNSET
    base_version: int | None = None


class _ListQuery(RequestSchema):
    type: str = ""
    tags: str = ""
    status: Literal["active", "consolidated", "expired", "all"] = "active"
    sort: Literal["created_at", "relevance", "access_count", "last_accessed_at"] = "created_at"
    order: Literal["asc", "desc"] = "desc"
    limit: int = 50
    offset: Annotated[int, msgspec.Meta(ge=0, le=_MAX_OFFSET)] = 0


def store_memory(call: ApiRequest) -> Response:
    """Store a memory."""
    given = call.given(_NewMemory)
    if given.images:
        raise InvalidField("images", "cannot be stored", _NO_IMAGES_MESSAGE)
    wanted = check_linkages(call, given.linkages or [])
    began = clock.now()
    memory = _store_or_existing(call, given, ())
    head = f"{memory.id} ({memory_type(memory)}){_tags_text(memory)}"
    if memory.status == "rejected":
        return _rejected_response(call, memory)
    add_linkages(call, memory, wanted)
    if memory.status == "pending":
        why = pending_reasons(call.workspace, memory)
        because = f", because {'; '.join(why)}" if why else ""
        text = f"Stored memory {head}, but it waits for a person's decision{because}. Do not store it again."
        return text_response(text, 202, id=memory.id, status="proposed", why=why)
    if memory.created_at < began:
        text = f"Known memory {head} says this already; nothing new was stored."
        return text_response(text, 200, id=memory.id, status="known")
    return text_response(f"Stored memory {head}", 201, id=memory.id, status="stored")


def _store_or_existing(call: ApiRequest, given: _NewMemory, tags: Sequence[str]) -> Memory:
    """Store a memory under an id of 8 digits, or return the one that says the same already."""
    fields: dict[str, Any] = kind_fields(given.type or "")
    return call.workspace.remember(
        given.content,
        make_id=call.new_id,
        namespace=call.place.namespace,
        tags=[*(given.tags or []), *tags],
        expires_at=parse_optional_end(given.expires or ""),
        **fields,
    )


def _tags_text(memory: Memory) -> str:
    return f" [{', '.join(memory.tags)}]" if memory.tags else ""


def _rejected_response(call: ApiRequest, memory: Memory) -> Response:
    note = rejection_note(call.workspace, memory)
    because = f": {note}" if note else "."
    return error_response(f"Not stored: a person turned the same text down before{because} Do not store it again.", 409)


def ingest_memories(call: ApiRequest) -> Response:
    """Store many memories at once; all of them are checked before the first is stored."""
    given = call.given(_NewMemories)
    source = given.source or "bulk"
    for number, one in enumerate(given.memories):
        if not one.content.strip():
            raise InvalidField(f"memories[{number}].content", "is empty", "Write at least a word.")
    made: list[Memory] = []
    with call.workspace.store.together():
        for number, one in enumerate(given.memories):
            try:
                made.append(_store_or_existing(call, one, [f"source:{source}"]))
            except (InvalidInput, NotAllowed) as error:
                stored = f" The {number} before it are stored." if number else ""
                raise InvalidInput(f"memories[{number}]: {error}{stored}") from error
    kept = [memory for memory in made if memory.status != "rejected"]
    waiting = [memory.id for memory in kept if memory.status == "pending"]
    body = {"ingested": len(kept), "ids": [memory.id for memory in kept], "source": source, "proposed": waiting}
    return json_response(body, 202 if waiting and len(waiting) == len(kept) else 201)


def list_memories(call: ApiRequest) -> Response:
    """List the memories of a workspace."""
    wanted = call.asked(_ListQuery)
    tree = _list_filter(call, wanted)
    limit = clamp_limit(wanted.limit, _MAX_LISTED)
    found = memory_slice(
        call.workspace.store,
        tree,
        order=_SORT_FIELD[wanted.sort],
        ascending=wanted.order == "asc",
        limit=limit,
        skip=wanted.offset,
    )
    total = call.workspace.store.count(tree)
    rows = [memory_row(call, memory) for memory in found]
    return json_response({"memories": rows, "total": total, "offset": wanted.offset, "limit": limit})


def _list_filter(call: ApiRequest, wanted: _ListQuery) -> Filter:
    parts: list[Filter] = []
    if wanted.type:
        known = (OneOf("kind", (wanted.type,)), OneOf("kind_raw", ("",)))
        parts += known if wanted.type in KINDS else [OneOf("kind_raw", (wanted.type,))]
    if tags := [tag.strip() for tag in wanted.tags.split(",") if tag.strip()]:
        parts.append(AnyOf(tuple(HasTag(tag) for tag in tags)))
    place = (Under(call.place.namespace), Not(OneOf("sensitivity", ("restricted",))), *parts)
    readable = OneOf("status", ("active", "consolidated", "superseded", "compacted", "archived"))
    match wanted.status:
        case "active":
            return call.here(AllOf((OneOf("status", ("active", "superseded", "compacted")), *parts)))
        case "consolidated":
            return AllOf((OneOf("status", ("consolidated",)), *place))
        case "expired":
            return AllOf((Between("expires_at", None, clock.now()), readable, *place))
        case "all":
            return AllOf((readable, *place))


def get_memory(call: ApiRequest) -> Response:
    """Read one memory, which counts as use."""
    memory = call.memory()
    if is_readable(memory):
        count_used(call.workspace, [memory.id])
    return json_response(memory_row(call, call.memory()))


def update_memory(call: ApiRequest) -> Response:
    """Change some fields of a memory; linkages are added to those that it has."""
    given = call.given(_MemoryChange)
    memory = call.memory()
    changes = _changed_fields(given)
    wanted = [] if given.linkages is msgspec.UNSET else check_linkages(call, given.linkages)
    if not changes and not wanted:
        raise InvalidInput("No fields to update.", "Give at least one of content, type, tags, expires, linkages.")
    proposal: Proposal | None = None
    if changes:
        proposal = call.workspace.update(memory.id, base_version=given.base_version, **changes).proposal
    if proposal is not None:
        return proposal_row_response(proposal, memory_row(call, call.memory(memory.id)))
    add_linkages(call, memory, wanted)
    return json_response(memory_row(call, call.memory(memory.id)))


def _changed_fields(given: _MemoryChange) -> Mapping[str, Any]:
    changes: dict[str, Any] = {}
    if given.content is not msgspec.UNSET:
        changes["content"] = given.content
    if given.tags is not msgspec.UNSET:
        changes["tags"] = given.tags
    if given.type is not msgspec.UNSET:
        changes |= {"kind_raw": "", **kind_fields(given.type)}
    if given.expires is not msgspec.UNSET:
        changes["expires_at"] = parse_optional_end(given.expires or "")
    return changes


def delete_memory(call: ApiRequest) -> Response:
    """Delete a memory; a person can bring it back."""
    memory = call.memory()
    outcome = call.workspace.forget(memory.id)
    if outcome.proposal is not None:
        return proposal_response(outcome.proposal, id=memory.id)
    return text_response(f"Memory {memory.id} deleted.", id=memory.id, status="deleted")
