"""``/v1/workspaces`` and ``/v1/health``: which workspaces there are, and what one of them holds."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from memento_tui import clock
from memento_tui.agent.http.call import Call, Place, Shape
from memento_tui.agent.http.lists import items_of
from memento_tui.agent.http.replies import said
from memento_tui.agent.labels import moment_text
from memento_tui.errors import NotAllowed, NotFound
from memento_tui.records import Memory, Proposal
from memento_tui.records.when import to_text
from memento_tui.store.filters import AllOf, Between, OneOf, Under
from memento_tui.store.slices import memory_slice

__all__ = ["create", "health", "listing", "remove"]

_KEPT = "http.workspaces"
_DEFAULT = "default"
_MOST_BEGUN = 1_000
_MOST_REMOVED = 1_000
"""Memories. A workspace that holds more is for a person to clear."""

_decode = msgspec.json.Decoder(dict[str, str]).decode
"""When each workspace was begun, by namespace; those that hold memories need not be here."""


class _New(Shape):
    name: str = _DEFAULT


def _known(call: Call) -> dict[str, str]:
    """Return the caller's workspaces by name, with when they were begun where that is known."""
    kept = call.workspace.store.setting(_KEPT)
    begun = {} if kept is None else _decode(kept)
    found = [name for name, _ in call.workspace.store.namespaces()]
    own = [name for name in (*begun, *found) if call.caller.sees(name)]
    return {_DEFAULT: "", **{call.caller.workspace_of(name): begun.get(name, "") for name in own}}


def create(call: Call) -> Response:
    """Begin a workspace; the one that the request itself is in begins with that, as with any other request."""
    name = call.given(_New).name.strip() or _DEFAULT
    namespace = call.caller.namespace_of(name)
    if name in _known(call) or namespace == call.place.namespace:
        return said(f'Workspace "{name}" already exists (id: {name}).', id=name)

    def add(kept: str | None) -> str:
        begun = {} if kept is None else _decode(kept)
        if sum(call.caller.owns(other) for other in begun) >= _MOST_BEGUN:
            raise NotAllowed(f"{_MOST_BEGUN:,} workspaces were begun, which is the most.", "Delete some of them.")
        return msgspec.json.encode({**begun, namespace: to_text(clock.now())}).decode()

    call.workspace.store.change_setting(_KEPT, add)
    return said(f'Workspace "{name}" created (id: {name}).', 201, id=name)


def listing(call: Call) -> Response:
    """List the workspaces that the caller sees."""
    rows = [{"id": name, "name": name, "created_at": at, "updated_at": at} for name, at in sorted(_known(call).items())]
    return said(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode(), workspaces=rows)


def remove(call: Call) -> Response:
    """Delete what a workspace holds, as one change that a person can take back; what is verified is proposed."""
    name = call.path["id"]
    if name not in _known(call):
        raise NotFound("Workspace not found.", "GET /v1/workspaces lists them.")
    if name == _DEFAULT:
        raise NotAllowed("The workspace default cannot be deleted.", "Delete its memories one by one.")
    place = Place(name, call.caller.namespace_of(name))
    memories = _memories(call, place)
    if len(memories) > _MOST_REMOVED:
        raise NotAllowed(
            f"The workspace holds more than {_MOST_REMOVED:,} memories.", "Ask the person to look through it first."
        )
    with call.workspace.store.together():
        waiting = _emptied(call, place, memories)

    def drop(kept: str | None) -> str:
        begun = {} if kept is None else _decode(kept)
        return msgspec.json.encode({other: at for other, at in begun.items() if other != place.namespace}).decode()

    if waiting:
        text = f'{waiting} of what workspace "{name}" holds waits for a person\'s decision; the rest is deleted.'
        return said(text, 202, status="proposed", proposed=waiting)
    call.workspace.store.change_setting(_KEPT, drop)
    return said(f'Workspace "{name}" deleted.', id=name)


def _memories(call: Call, place: Place) -> list[Memory]:
    standing = OneOf("status", ("pending", "active", "consolidated", "superseded", "compacted", "archived"))
    tree = AllOf((standing, Under(place.namespace)))
    store = call.workspace.store
    return list(memory_slice(store, tree, order="created", ascending=True, limit=_MOST_REMOVED + 1, skip=0))


def _emptied(call: Call, place: Place, memories: list[Memory]) -> int:
    """Delete memories, items and skips; return how many deletions wait for a person."""
    workspace, waiting = call.workspace, 0
    for memory in memories:
        try:
            waiting += workspace.forget(memory.id).status != "applied"
        except NotAllowed:  # it waits for a decision that somebody else asked for
            waiting += 1
    items = [item.id for item in workspace.items.list() if place.holds(item.namespace)]
    skips = [skip.id for skip in workspace.skips.list() if place.holds(skip.namespace)]
    gone: list[Proposal | None] = [workspace.items.remove(name) for name in items]
    gone += [workspace.skips.remove(name) for name in skips]
    return waiting + sum(one is not None for one in gone)


def health(call: Call) -> Response:
    """Tell what the workspace holds, in words and in numbers."""
    store, namespace = call.workspace.store, Under(call.place.namespace)
    recalled = OneOf("status", ("active", "superseded", "compacted"))
    counts = {
        "active": store.count(call.here(recalled)),
        "expired": store.count(AllOf((namespace, recalled, Between("expires_at", None, clock.now())))),
        "consolidated": store.count(AllOf((namespace, OneOf("status", ("consolidated",))))),
        "pending": store.count(AllOf((namespace, OneOf("status", ("pending",))))),
    }
    items = items_of(call, call.place)
    skips = [skip for skip in call.workspace.skips.list() if call.place.holds(skip.namespace)]
    touched = max((item.updated_at for item in items), default=None)
    numbers: dict[str, Any] = {**counts, "items": len(items), "skips": len(skips)}
    lines = [
        "**Memento Health Report**",
        f"Workspace: {call.place.workspace}",
        "",
        "**Working Memory**",
        f"  Items: {len(items)}",
        f"  Last updated: {'never' if touched is None else moment_text(touched)}",
        "",
        "**Stored Memories**",
        f"  Total: {sum(counts.values())} ({', '.join(f'{count} {name}' for name, count in counts.items())})",
        "",
        "**Skip List**",
        f"  Total: {len(skips)} ({len(skips)} active, 0 expired)",
    ]
    return said("\n".join(lines), workspace=call.place.workspace, **numbers)
