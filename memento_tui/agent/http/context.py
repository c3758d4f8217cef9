"""``/v1/context``: in one answer what concerns a message, as a hook asks for it before every prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from starlette.responses import Response

from memento_tui import clock
from memento_tui.agent.http.call import Call, Place, Shape
from memento_tui.agent.http.lists import items_of, skips_about
from memento_tui.agent.http.recalling import Found, Recalled, recalled, search
from memento_tui.agent.http.replies import replied
from memento_tui.agent.http.rows import item_row, linkages
from memento_tui.agent.labels import labels_of, moment_text
from memento_tui.interchange.protocol_model import type_of

__all__ = ["context"]

_MATCHES = 10

_Part = Literal["working_memory", "memories", "skip_list", "identity"]


class _Message(Shape):
    message: str = ""
    include: tuple[_Part, ...] = ("working_memory", "memories", "skip_list", "identity")
    track_access: bool = True
    peek_workspaces: tuple[str, ...] = ()
    images: bool | None = None
    include_graph: bool = False


def context(call: Call) -> Response:
    """Return the parts that are asked for: working items, memories and skips that a message touches, and identity."""
    given = call.given(_Message)
    peeked = call.peeked(given.peek_workspaces)
    meta: dict[str, Any] = {"workspace": call.place.workspace, "last_updated": moment_text(clock.now())}
    if peeked:
        meta["peeked_workspaces"] = [place.workspace for place in peeked]
    body: dict[str, Any] = {"meta": meta}
    if "working_memory" in given.include:
        body["working_memory"] = _working(call, peeked)
    if "memories" in given.include and given.message.strip():
        answer = search(call, given.message, _MATCHES, peeked=peeked)
        if given.track_access:
            recalled(call, answer.found)
        body["memories"] = _memories(call, answer, with_links=given.include_graph)
        meta["memory_count"] = call.workspace.store.count(call.here())
    if "skip_list" in given.include and given.message.strip():
        skips = skips_about(call, given.message, counted=given.track_access)
        body["skip_matches"] = [
            {"item": skip.item, "reason": skip.reason, "expires": moment_text(skip.expires_at)} for skip in skips
        ]
    if "identity" in given.include:
        crystal = None if call.caller.account else call.workspace.crystals.current()
        body["identity"] = None if crystal is None else crystal.content
    return replied(body)


def _working(call: Call, peeked: Sequence[Place]) -> dict[str, Any]:
    found = [
        (item, place)
        for place in (call.place, *peeked)
        for item in items_of(call, place)
        if item.status in ("active", "paused")
    ]
    found.sort(key=lambda one: (-one[0].priority, -one[0].created_at.timestamp()))
    rows = [item_row(item) | ({} if place == call.place else {"workspace": place.workspace}) for item, place in found]
    return {"items": rows, "total_active": sum(place == call.place for _, place in found)}


def _memories(call: Call, answer: Recalled, *, with_links: bool) -> dict[str, Any]:
    matches = [_match(call, one, hybrid=answer.is_hybrid, with_links=with_links) for one in answer.found]
    return {
        "matches": matches,
        "query_terms": answer.terms,
        "ranking": "hybrid" if answer.is_hybrid else "keyword",
    }


def _match(call: Call, one: Found, *, hybrid: bool, with_links: bool) -> dict[str, Any]:
    memory, relevance = one.memory, one.hit.relevance
    match: dict[str, Any] = {
        "id": memory.id,
        "content": memory.content,
        "type": type_of(memory),
        "tags": list(memory.tags),
        "score": round(one.score, 3),
        "created_at": moment_text(memory.created_at),
        "labels": labels_of(memory, clock.now()),
    }
    if hybrid:
        match["keyword_score"] = round(one.keyword, 3)
        match["vector_score"] = round(relevance.semantic or 0.0, 3)
    if with_links:
        match["linkages"] = linkages(call, memory)
    return {**match, "workspace": one.workspace} if one.workspace else match
