"""``/v1/memories``: store, list, read, change, delete, and store many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.agent.http.call import Call, Shape, limited
from memento_tui.agent.http.linking import Linkage, add_linkages, check_linkages
from memento_tui.agent.http.replies import proposed, proposed_row, refused, replied, said
from memento_tui.agent.http.rows import memory_row
from memento_tui.agent.labels import is_readable
from memento_tui.agent.recall import count_used
from memento_tui.agent.waiting import reasons_of, rejection_note
from memento_tui.errors import InvalidField, InvalidInput, NotAllowed
from memento_tui.interchange.protocol_model import kind_fields, type_of
from memento_tui.records import Memory, Proposal
from memento_tui.records.memory import KINDS
from memento_tui.records.when import end_of
from memento_tui.store.filters import AllOf, AnyOf, Between, Filter, HasTag, NotThat, OneOf, Under
from memento_tui.store.slices import memory_slice

__all__ = ["delete", "find", "ingest", "listing", "store", "update"]

_MOST_INGESTED = 100
_MOST_LISTED = 100
_MOST_SKIPPED = 1_000_000_000
_ORDER_OF = {
    "created_at": "created",
    "relevance": "certainty",
    "access_count": "used",
    "last_accessed_at": "last_used",
}
_NO_IMAGES = "Images are not stored here: leave images out, and link to the file instead (linkages, type file)."


class _New(Shape):
    content: str
    tags: list[str] | None = None
    type: str | None = None
    expires: str | None = None
    linkages: list[Linkage] | None = None
    images: list[Any] | None = None


class _Many(Shape):
    memories: Annotated[list[_New], msgspec.Meta(min_length=1, max_length=_MOST_INGESTED)]
    source: str | None = None


class _Change(Shape):
    content: str | msgspec.UnsetType = msgspec.UNSET
    tags: list[str] | msgspec.UnsetType = msgspec.UNSET
    type: str | msgspec.UnsetType = msgspec.UNSET
    expires: str | msgspec.UnsetType | None = msgspec.UNSET
    linkages: list[Linkage] | msgspec.UnsetType = msgspec.UNSET
    base_version: int | None = None


class _Wanted(Shape):
    type: str = ""
    tags: str = ""
    status: Literal["active", "consolidated", "expired", "all"] = "active"
    sort: Literal["created_at", "relevance", "access_count", "last_accessed_at"] = "created_at"
    order: Literal["asc", "desc"] = "desc"
    limit: int = 50
    offset: Annotated[int, msgspec.Meta(ge=0, le=_MOST_SKIPPED)] = 0


def store(call: Call) -> Response:
    """Store a memory."""
    given = call.given(_New)
    if given.images:
        raise InvalidField("images", "cannot be stored", _NO_IMAGES)
    wanted = check_linkages(call, given.linkages or [])
    began = clock.now()
    memory = _remembered(call, given, ())
    head = f"{memory.id} ({type_of(memory)}){_tags_text(memory)}"
    if memory.status == "rejected":
        return _turned_down(call, memory)
    add_linkages(call, memory, wanted)
    if memory.status == "pending":
        why = reasons_of(call.workspace, memory)
        because = f", because {'; '.join(why)}" if why else ""
        text = f"Stored memory {head}, but it waits for a person's decision{because}. Do not store it again."
        return said(text, 202, id=memory.id, status="proposed", why=why)
    if memory.created_at < began:
        text = f"Known memory {head} says this already; nothing new was stored."
        return said(text, 200, id=memory.id, status="known")
    return said(f"Stored memory {head}", 201, id=memory.id, status="stored")


def _remembered(call: Call, given: _New, tags: Sequence[str]) -> Memory:
    """Store a memory under an id of 8 digits, or return the one that says the same already."""
    fields: dict[str, Any] = kind_fields(given.type or "")
    return call.workspace.remember(
        given.content,
        make_id=call.new_id,
        namespace=call.place.namespace,
        tags=[*(given.tags or []), *tags],
        expires_at=end_of(given.expires or ""),
        **fields,
    )


def _tags_text(memory: Memory) -> str:
    return f" [{', '.join(memory.tags)}]" if memory.tags else ""


def _turned_down(call: Call, memory: Memory) -> Response:
    note = rejection_note(call.workspace, memory)
    because = f": {note}" if note else "."
    return refused(f"Not stored: a person turned the same text down before{because} Do not store it again.", 409)


def ingest(call: Call) -> Response:
    """Store many memories at once; all of them are checked before the first is stored."""
    given = call.given(_Many)
    source = given.source or "bulk"
    for number, one in enumerate(given.memories):
        if not one.content.strip():
            raise InvalidField(f"memories[{number}].content", "is empty", "Write at least a word.")
    made: list[Memory] = []
    with call.workspace.store.together():
        for number, one in enumerate(given.memories):
            try:
                made.append(_remembered(call, one, [f"source:{source}"]))
            except (InvalidInput, NotAllowed) as error:
                stored = f" The {number} before it are stored." if number else ""
                raise InvalidInput(f"memories[{number}]: {error}{stored}") from error
    kept = [memory for memory in made if memory.status != "rejected"]
    waiting = [memory.id for memory in kept if memory.status == "pending"]
    body = {"ingested": len(kept), "ids": [memory.id for memory in kept], "source": source, "proposed": waiting}
    return replied(body, 202 if waiting and len(waiting) == len(kept) else 201)


def listing(call: Call) -> Response:
    """List the memories of a workspace."""
    wanted = call.asked(_Wanted)
    tree = _filter(call, wanted)
    limit = limited(wanted.limit, _MOST_LISTED)
    found = memory_slice(
        call.workspace.store,
        tree,
        order=_ORDER_OF[wanted.sort],
        ascending=wanted.order == "asc",
        limit=limit,
        skip=wanted.offset,
    )
    total = call.workspace.store.count(tree)
    rows = [memory_row(call, memory) for memory in found]
    return replied({"memories": rows, "total": total, "offset": wanted.offset, "limit": limit})


def _filter(call: Call, wanted: _Wanted) -> Filter:
    parts: list[Filter] = []
    if wanted.type:
        known = (OneOf("kind", (wanted.type,)), OneOf("kind_raw", ("",)))
        parts += known if wanted.type in KINDS else [OneOf("kind_raw", (wanted.type,))]
    if tags := [tag.strip() for tag in wanted.tags.split(",") if tag.strip()]:
        parts.append(AnyOf(tuple(HasTag(tag) for tag in tags)))
    place = (Under(call.place.namespace), NotThat(OneOf("sensitivity", ("restricted",))), *parts)
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


def find(call: Call) -> Response:
    """Read one memory, which counts as use."""
    memory = call.memory()
    if is_readable(memory):
        count_used(call.workspace, [memory.id])
    return replied(memory_row(call, call.memory()))


def update(call: Call) -> Response:
    """Change some fields of a memory; linkages are added to those that it has."""
    given = call.given(_Change)
    memory = call.memory()
    changes = _changes(given)
    wanted = [] if given.linkages is msgspec.UNSET else check_linkages(call, given.linkages)
    if not changes and not wanted:
        raise InvalidInput("No fields to update.", "Give at least one of content, type, tags, expires, linkages.")
    proposal: Proposal | None = None
    if changes:
        proposal = call.workspace.update(memory.id, base_version=given.base_version, **changes).proposal
    if proposal is not None:
        return proposed_row(proposal, memory_row(call, call.memory(memory.id)))
    add_linkages(call, memory, wanted)
    return replied(memory_row(call, call.memory(memory.id)))


def _changes(given: _Change) -> Mapping[str, Any]:
    changes: dict[str, Any] = {}
    if given.content is not msgspec.UNSET:
        changes["content"] = given.content
    if given.tags is not msgspec.UNSET:
        changes["tags"] = given.tags
    if given.type is not msgspec.UNSET:
        changes |= {"kind_raw": "", **kind_fields(given.type)}
    if given.expires is not msgspec.UNSET:
        changes["expires_at"] = end_of(given.expires or "")
    return changes


def delete(call: Call) -> Response:
    """Delete a memory; a person can bring it back."""
    memory = call.memory()
    outcome = call.workspace.forget(memory.id)
    if outcome.proposal is not None:
        return proposed(outcome.proposal, id=memory.id)
    return said(f"Memory {memory.id} deleted.", id=memory.id, status="deleted")
