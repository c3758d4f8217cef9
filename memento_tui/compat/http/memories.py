"""``/v1/memories``: store, list, read, change, delete and link memories, and store many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.api.types import MemoryOrder
from memento_tui.compat.http.exchange import (
    LINK_LABELS,
    ApiRequest,
    RequestSchema,
    clamp_limit,
    error_response,
    json_response,
    memory_row,
    memory_rows,
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
from memento_tui.operations.memories import Link, add_links, is_readable, is_recalled
from memento_tui.operations.outcome import StoreOutcome, because, rejection_reason, store_memory
from memento_tui.operations.recall import count_used
from memento_tui.text.labels import caution_labels, condition_labels

__all__ = [
    "delete_memory",
    "get_graph",
    "get_memory",
    "get_related",
    "ingest_memories",
    "list_memories",
    "post_memory",
    "update_memory",
]

_MAX_DEPTH = 5
_MAX_NODES = 500
"""Memories in one graph. Others are left out, and the answer has a notice."""


class LinkageInput(RequestSchema):
    """A link from a memory to another, to a working item or to a file."""

    type: Literal["memory", "item", "file"]
    id: str = ""
    path: str = ""
    label: str = ""


class _GraphQuery(RequestSchema):
    depth: int = 2


def _read_links(request: ApiRequest, linkages: Sequence[LinkageInput]) -> list[Link]:
    """Return links whose ends all exist in this workspace. Raises `InvalidField` for the first that does not."""
    links = []
    for number, linkage in enumerate(linkages):
        field = f"linkages[{number}].{'path' if linkage.type == 'file' else 'id'}"
        end = linkage.path if linkage.type == "file" else linkage.id
        if not end:
            raise InvalidField(field, "is missing", "A memory or item is linked by its id, a file by its path.")
        if linkage.type != "file":
            target: Any = request.workspace.find_record(linkage.type, end)
            if target is None or not request.scope.holds(target):
                raise InvalidField(
                    field, f"no {linkage.type} of this workspace has the id {end!r:.80}", "Nothing was done."
                )
        links.append(Link(RELATION_OF_LINKAGE[linkage.type], end, linkage.label))
    return links


def get_graph(request: ApiRequest) -> Response:
    """Return the memories and files connected with a memory, in both directions, nearest first."""
    depth = clamp_limit(request.read_query(_GraphQuery).depth, _MAX_DEPTH)
    walk = _GraphWalk(request)
    start = request.memory()
    walk.from_(start, depth)
    body: dict[str, Any] = {"nodes": walk.nodes, "edges": list(walk.edges.values()), "labels": LINK_LABELS}
    if walk.is_cut:
        body["notice"] = f"Only the nearest {_MAX_NODES} memories are shown."
    return json_response(body)


class _GraphWalk:
    """A breadth-first walk through the memories of a workspace that an agent may see."""

    def __init__(self, request: ApiRequest) -> None:
        self._request = request
        self.nodes: list[dict[str, Any]] = []
        self.edges: dict[tuple[str, str, str], dict[str, str]] = {}
        self.is_cut = False

    def from_(self, start: Memory, depth: int) -> None:
        seen, level = {start.id}, [start]
        for distance in range(depth + 1):
            next_level: list[Memory] = []
            for memory in level:
                self.nodes.append(_graph_node(memory, distance))
                for other in self._neighbours(memory, is_last=distance == depth):
                    if other.id in seen:
                        continue
                    if len(seen) >= _MAX_NODES:
                        self.is_cut = True
                        return
                    seen.add(other.id)
                    next_level.append(other)
            level = next_level

    def _neighbours(self, memory: Memory, *, is_last: bool) -> Iterator[Memory]:
        """Yield the memories at the other ends; at the last level only outgoing edges are recorded."""
        for relation in _workspace_relations(self._request, memory):
            label = linkage_from_relation(relation.type, relation.dst, relation.label).get("label", "")
            if relation.type == "file":
                self._edge(memory.id, f"file:{relation.dst}", label or "source")
            elif relation.type != "item":
                other = _other_end(self._request, relation, memory)
                if other is not None and (not is_last or relation.src == memory.id):
                    self._edge(relation.src, relation.dst, label or "related")
                    if not is_last:
                        yield other

    def _edge(self, start: str, end: str, label: str) -> None:
        self.edges.setdefault((start, end, label), {"from": start, "to": end, "label": label})


def _workspace_relations(request: ApiRequest, memory: Memory) -> list[Relation]:
    """Return a memory's relations. That somebody's file or item is named like it relates it to nothing."""
    relations = request.workspace.relations(memory.id)
    return [relation for relation in relations if relation.src == memory.id or relation.type not in ("file", "item")]


def _other_end(request: ApiRequest, relation: Relation, memory: Memory) -> Memory | None:
    """Return the memory at the other end of a relation, or ``None`` where an agent here may not see it."""
    try:
        other = request.memory(relation.dst if relation.src == memory.id else relation.src)
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
        "labels": [*caution_labels(memory, clock.now()), *(condition_labels(memory) if visible else ())],
        "depth": depth,
    }


def get_related(request: ApiRequest) -> Response:
    """Return the direct connections of a memory, by direction."""
    memory = request.memory()
    outgoing, incoming = [], []
    for relation in _workspace_relations(request, memory):
        linkage = linkage_from_relation(relation.type, relation.dst, relation.label)
        kind = linkage["type"]
        if kind == "memory" and _other_end(request, relation, memory) is None:
            continue
        label = linkage.get("label") or ("source" if kind == "file" else "related")
        if relation.src == memory.id:
            outgoing.append({"id": relation.dst, "type": kind, "label": label})
        else:
            incoming.append({"id": relation.src, "type": "memory", "label": label})
    return json_response({"outgoing": outgoing, "incoming": incoming, "labels": LINK_LABELS})


_MAX_INGESTED = 100
_MAX_LISTED = 100
_MAX_OFFSET = 1_000_000_000
_ORDER_OF_SORT: Mapping[str, MemoryOrder] = {
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


def post_memory(request: ApiRequest) -> Response:
    """Store a memory."""
    body = request.read_body(_NewMemory)
    if body.images:
        raise InvalidField("images", "cannot be stored", _NO_IMAGES_MESSAGE)
    links = _read_links(request, body.linkages or [])
    outcome = _store(request, body, ())
    memory = outcome.memory
    if outcome.is_rejected:
        reason = rejection_reason(outcome.note)
        sentence = f"Not stored: a person turned the same text down before{reason} Do not store it again."
        return error_response(sentence, 409)
    add_links(request.workspace, memory.id, links)
    tags = f" [{', '.join(memory.tags)}]" if memory.tags else ""
    head = f"{memory.id} ({memory_type(memory)}){tags}"
    if outcome.is_pending:
        why = because(outcome.reasons)
        text = f"Stored memory {head}, but it waits for a person's decision{why}. Do not store it again."
        return text_response(text, 202, id=memory.id, status="proposed", why=outcome.reasons)
    if outcome.is_known:
        text = f"Known memory {head} says this already; nothing new was stored."
        return text_response(text, 200, id=memory.id, status="known")
    return text_response(f"Stored memory {head}\n{outcome.hint}".rstrip(), 201, id=memory.id, status="stored")


def _store(request: ApiRequest, body: _NewMemory, tags: Sequence[str]) -> StoreOutcome:
    """Store a memory under an id of 8 digits, or return the one with the same text."""
    fields: dict[str, Any] = kind_fields(body.type or "")
    return store_memory(
        request.workspace,
        body.content,
        make_id=request.new_id,
        namespace=request.scope.namespace,
        tags=[*(body.tags or []), *tags],
        expires_at=parse_optional_end(body.expires or ""),
        **fields,
    )


def ingest_memories(request: ApiRequest) -> Response:
    """Store many memories at once; all of them are checked before the first is stored."""
    batch = request.read_body(_NewMemories)
    source = batch.source or "bulk"
    for number, entry in enumerate(batch.memories):
        if not entry.content.strip():
            raise InvalidField(f"memories[{number}].content", "is empty", "Write at least a word.")
    stored: list[Memory] = []
    with request.workspace.one_undo():
        for number, entry in enumerate(batch.memories):
            try:
                stored.append(_store(request, entry, [f"source:{source}"]).memory)
            except (InvalidInput, NotAllowed) as error:
                progress = f" The {number} before it are stored." if number else ""
                raise InvalidInput(f"memories[{number}]: {error}{progress}") from error
    accepted = [memory for memory in stored if memory.status != "rejected"]
    waiting = [memory.id for memory in accepted if memory.status == "pending"]
    body = {"ingested": len(accepted), "ids": [memory.id for memory in accepted], "source": source, "proposed": waiting}
    return json_response(body, 202 if waiting and len(waiting) == len(accepted) else 201)


def list_memories(request: ApiRequest) -> Response:
    """List the memories of a workspace."""
    query = request.read_query(_ListQuery)
    among = _list_filter(request, query)
    limit = clamp_limit(query.limit, _MAX_LISTED)
    memories = request.workspace.slice(
        among,
        order=_ORDER_OF_SORT[query.sort],
        ascending=query.order == "asc",
        limit=limit,
        skip=query.offset,
    )
    total = request.workspace.count(among)
    rows = memory_rows(request, memories)
    return json_response({"memories": rows, "total": total, "offset": query.offset, "limit": limit})


def _list_filter(request: ApiRequest, query: _ListQuery) -> Filter:
    parts: list[Filter] = []
    if query.type:
        is_own = query.type in KINDS  # any other type is a foreign one, kept as it was written
        parts.append(OneOf("kind_raw", ("" if is_own else query.type,)))
        if is_own:
            parts.append(OneOf("kind", (query.type,)))
    if tags := [tag.strip() for tag in query.tags.split(",") if tag.strip()]:
        parts.append(AnyOf(tuple(HasTag(tag) for tag in tags)))
    among = (Under(request.scope.namespace), Not(OneOf("sensitivity", ("restricted",))), *parts)
    readable = OneOf("status", ("active", "consolidated", "superseded", "compacted", "archived"))
    match query.status:
        case "active":
            return request.here(AllOf((OneOf("status", ("active", "superseded", "compacted")), *parts)))
        case "consolidated":
            return AllOf((OneOf("status", ("consolidated",)), *among))
        case "expired":
            return AllOf((Between("expires_at", None, clock.now()), readable, *among))
        case "all":
            return AllOf((readable, *among))


def get_memory(request: ApiRequest) -> Response:
    """Read one memory, which counts as use."""
    memory = request.memory()
    if is_readable(memory):
        count_used(request.workspace, [memory.id])
    return json_response(memory_row(request, request.memory()))


def update_memory(request: ApiRequest) -> Response:
    """Change some fields of a memory; linkages are added to those that it has."""
    body = request.read_body(_MemoryChange)
    memory = request.memory()
    changes = _changed_fields(body)
    links = [] if body.linkages is msgspec.UNSET else _read_links(request, body.linkages)
    if not changes and not links:
        raise InvalidInput("No fields to update.", "Give at least one of content, type, tags, expires, linkages.")
    proposal: Proposal | None = None
    if changes:
        base = memory.version if body.base_version is None else body.base_version
        proposal = request.workspace.update(memory.id, base_version=base, **changes).proposal
    if proposal is not None:
        return proposal_row_response(proposal, memory_row(request, request.memory(memory.id)))
    add_links(request.workspace, memory.id, links)
    return json_response(memory_row(request, request.memory(memory.id)))


def _changed_fields(body: _MemoryChange) -> Mapping[str, Any]:
    changes: dict[str, Any] = {}
    if body.content is not msgspec.UNSET:
        changes["content"] = body.content
    if body.tags is not msgspec.UNSET:
        changes["tags"] = body.tags
    if body.type is not msgspec.UNSET:
        changes |= {"kind_raw": "", **kind_fields(body.type)}
    if body.expires is not msgspec.UNSET:
        changes["expires_at"] = parse_optional_end(body.expires or "")
    return changes


def delete_memory(request: ApiRequest) -> Response:
    """Delete a memory; a person can bring it back."""
    memory = request.memory()
    outcome = request.workspace.forget(memory.id, base_version=memory.version)
    if outcome.proposal is not None:
        return proposal_response(outcome.proposal, id=memory.id)
    return text_response(f"Memory {memory.id} deleted.", id=memory.id, status="deleted")
