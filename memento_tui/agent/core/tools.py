"""Storing, searching, reading and deleting memories in memento-core's words."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult
from pydantic import Field

from memento_tui import clock
from memento_tui.agent.arguments import UNCHANGED, given
from memento_tui.agent.core.names import find_in, own_id
from memento_tui.agent.core.shapes import (
    Deleted,
    Found,
    FoundMemory,
    NamespaceCount,
    Namespaces,
    Recalled,
    Stored,
    WholeMemory,
    listed,
    moment_of,
    said,
)
from memento_tui.agent.fence import one_line
from memento_tui.agent.labels import is_readable, labels_of
from memento_tui.agent.recall import MOST_HITS, count_used, place_query, plain_query, recall
from memento_tui.agent.seats import Seats
from memento_tui.agent.waiting import check_not_rejected, why_it_waits, why_proposed
from memento_tui.errors import InvalidField, NotFound
from memento_tui.interchange.memento_core import KEPT
from memento_tui.records import Memory
from memento_tui.records.accounts import account_of
from memento_tui.records.rules import check_namespace
from memento_tui.records.when import end_of, parse_moment
from memento_tui.workspace import Outcome, Workspace

__all__ = ["CoreTools"]

_SNIPPET = 150
_MOST_IDS = 50
_SECONDS = re.compile(r"-?[0-9]{1,20}")
_LONGEST_SECONDS = 3_153_600_000
"""A hundred years."""


class CoreTools:
    """The five tools."""

    def __init__(self, seats: Seats) -> None:
        self._seats = seats

    def memory_store(
        self,
        ctx: Context,
        content: Annotated[str, Field(description="what to do next time, and why; not a log")],
        namespace: Annotated[str, Field(description="a path, e.g. projects/site")] = "global",
        *,
        tags: list[str] = UNCHANGED,
        id: Annotated[str, Field(description="one that exists: its memory is changed")] = UNCHANGED,  # noqa: A002 - the client's own
        relations: Annotated[list[str], Field(description="ids of related memories")] = UNCHANGED,
        ttl: Annotated[str | int, Field(description="2026-12-31, 30d, never, or seconds")] = UNCHANGED,
    ) -> Annotated[CallToolResult, Stored]:
        """Store a memory, or change the one with this id. Search first. pending: a person decides about it."""
        workspace = self._seats.of(ctx)
        fields = given(tags=tags)
        if ttl is not UNCHANGED:
            fields["expires_at"] = _end(ttl)
        known = find_in(workspace, check_namespace(namespace), id) if id else None
        with workspace.store.together():
            if known is None:
                stored, memory_id = _new(workspace, content, namespace, id or "", fields)
            else:
                stored, memory_id = _changed(workspace.update(known.id, content=content, **fields)), known.id
            stored.unresolved = _relate(workspace, namespace, memory_id, relations or []) or None
        return said(stored)

    def memory_search(
        self,
        ctx: Context,
        query: Annotated[str, Field(max_length=20_000)],
        namespace: Annotated[str, Field(description="this one and those below it")] = UNCHANGED,
        tags: Annotated[list[str], Field(description="all of them")] = UNCHANGED,
        limit: Annotated[int, Field(ge=1, le=MOST_HITS)] = 10,
    ) -> Annotated[CallToolResult, Found]:
        """Find memories before you act and before you store. Text labelled UNTRUSTED came from outside."""
        workspace = self._seats.of(ctx)
        place = place_query(namespace, tags or [])
        hits, _ = recall(workspace, f"{place} {plain_query(query)}".strip(), limit)
        now = clock.now()
        return listed(
            [
                FoundMemory(
                    id=hit.id,
                    namespace=hit.memory.namespace,
                    tags=list(hit.memory.tags),
                    snippet=one_line(hit.snippet, _SNIPPET),
                    score=round(min(hit.score, 1.0), 4),
                    updated=moment_of(hit.memory.updated_at),
                    labels=labels_of(hit.memory, now),
                )
                for hit in hits
            ]
        )

    def memory_recall(
        self, ctx: Context, ids: Annotated[list[str], Field(min_length=1, max_length=_MOST_IDS)]
    ) -> Annotated[CallToolResult, Recalled]:
        """Read memories in full by id, as memory_search gives it."""
        workspace = self._seats.of(ctx)
        memories = [_read(workspace, memory_id) for memory_id in ids]
        count_used(workspace, [memory.id for memory in memories if isinstance(memory, Memory)])
        return listed([_whole(workspace, one) if isinstance(one, Memory) else one for one in memories])

    def memory_delete(
        self,
        ctx: Context,
        id: str,  # noqa: A002 - the client's own
        namespace: str,
    ) -> Annotated[CallToolResult, Deleted]:
        """Delete a memory that is wrong or of no more use. A person can restore it."""
        workspace = self._seats.of(ctx)
        memory = find_in(workspace, namespace, id)
        if memory is None:
            raise NotFound(f"There is no memory {id!r:.80} in {namespace!r:.80}.", "Look for it with memory_search.")
        outcome = workspace.forget(memory.id)
        reason = None if outcome.proposal is None else why_proposed(outcome.proposal)
        pending = None if reason is None else True
        return said(Deleted(id=id, namespace=namespace, deleted=reason is None, pending=pending, reason=reason))

    def memory_list_namespaces(self, ctx: Context) -> Annotated[CallToolResult, Namespaces]:
        """List the namespaces with the number of memories in each."""
        counts = [row for row in self._seats.of(ctx).store.namespaces() if not account_of(row[0])]
        return listed([NamespaceCount(namespace=name, count=count) for name, count in counts])


def _end(ttl: str | int) -> datetime | None:
    """Return when a memory ends that lives for ``ttl``: a moment, a span, seconds, or never."""
    written = end_of(str(ttl).strip())
    if written is None:
        return None
    if not _SECONDS.fullmatch(written):
        return parse_moment(written, "ttl")
    if not 0 < int(written) <= _LONGEST_SECONDS:
        raise InvalidField("ttl", f"must be a number of seconds from 1 to {_LONGEST_SECONDS:,}; not {ttl!r:.40}")
    return clock.now() + timedelta(seconds=int(written))


def _new(workspace: Workspace, content: str, namespace: str, named: str, fields: dict[str, Any]) -> tuple[Stored, str]:
    """Store a new memory under the id that was named for it, if any; return what is told, and its id here."""
    began = clock.now()
    if named:
        fields["id"] = own_id(workspace, namespace, named)
        if fields["id"] != named:
            fields["extra"] = {KEPT: {"id": named}}
    memory = check_not_rejected(workspace, workspace.remember(content, namespace=namespace, **fields))
    stored = Stored(
        id=memory.id,
        namespace=memory.namespace,
        created=memory.created_at >= began,
        pending=True if memory.status == "pending" else None,
        reason=why_it_waits(workspace, memory) or None,
    )
    return stored, memory.id


def _changed(outcome: Outcome) -> Stored:
    reason = None if outcome.proposal is None else why_proposed(outcome.proposal)
    return Stored(
        id=outcome.memory.id,
        namespace=outcome.memory.namespace,
        created=False,
        pending=None if reason is None else True,
        reason=reason,
    )


def _relate(workspace: Workspace, namespace: str, memory_id: str, wanted: list[str]) -> list[str]:
    """Relate a memory to others; return the ids that mean none."""
    drawn = {relation.dst for relation in workspace.store.relations_of(memory_id)}
    unresolved = []
    for named in dict.fromkeys(wanted):
        other = find_in(workspace, namespace, named) or workspace.store.find("memory", named)
        if not isinstance(other, Memory) or other.id == memory_id:
            unresolved.append(named)
        elif other.id not in drawn:
            workspace.relate(memory_id, other.id)
    return unresolved


def _read(workspace: Workspace, memory_id: str) -> Memory | WholeMemory:
    """Return a memory that may be read, or what is told of one that may not."""
    try:
        memory = workspace.get(memory_id)
    except NotFound as error:
        return WholeMemory(id=memory_id, error=str(error))
    if not is_readable(memory):
        return WholeMemory(id=memory_id, error=f"It is {memory.status}; its text is withheld.")
    return memory


def _whole(workspace: Workspace, memory: Memory) -> WholeMemory:
    arrows = [one for one in workspace.store.relations_of(memory.id) if one.src == memory.id]
    ends = workspace.store.memories([one.dst for one in arrows])
    return WholeMemory(
        id=memory.id,
        namespace=memory.namespace,
        content=memory.content,
        tags=list(memory.tags),
        created=moment_of(memory.created_at),
        updated=moment_of(memory.updated_at),
        source=memory.source.agent or memory.source_type,
        relations=list(ends),
        ttl=None if memory.expires_at is None else moment_of(memory.expires_at),
        labels=labels_of(memory, clock.now()),
    )
