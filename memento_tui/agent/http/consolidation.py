"""``/v1/consolidate``: one memory that stands for several, proposed to a person. Its sources stay."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from memento_tui.agent.http.call import Call, Shape
from memento_tui.agent.http.replies import proposed, refused, said
from memento_tui.agent.labels import is_recalled
from memento_tui.errors import InvalidField
from memento_tui.interchange.protocol_model import kind_fields
from memento_tui.records.memory import RECALLED
from memento_tui.store.filters import OneOf
from memento_tui.store.slices import memory_slice
from memento_tui.upkeep.grouping import groups_of
from memento_tui.workspace.consolidating import Consolidated
from memento_tui.workspace.consolidating import consolidate as consolidated

__all__ = ["consolidate", "consolidate_group"]

_MOST_LOOKED_AT = 5_000


class _Group(Shape):
    source_ids: list[str] | None = None
    ids: list[str] | None = None
    content: str = ""
    type: str | None = None
    tags: list[str] | None = None


def consolidate(call: Call) -> Response:
    """Look for groups of three or more memories that share a subject's tags, and draft one memory for each."""
    tree = call.here(OneOf("status", ("active",)))
    store = call.workspace.store
    memories = memory_slice(store, tree, order="created", ascending=False, limit=_MOST_LOOKED_AT, skip=0)
    made_before = store.proposals.sources_used("consolidation")
    groups = [group for group in groups_of(memories, []) if frozenset(group.ids) not in made_before]
    made = [_made(call, list(group.ids), _Group()) for group in groups]
    fresh = [one for one in made if one.memory.status != "rejected"]
    waiting = [one.memory.id for one in fresh if one.proposal is not None]
    sources = sum(len(one.sources) for one in fresh)
    count = f"{len(fresh)} group{'' if len(fresh) == 1 else 's'} from {sources} source memories"
    if not fresh:
        return said("No consolidation candidates found (need 3+ memories sharing tags).", consolidated=0)
    if waiting:
        text = f"Proposed one memory for each of {count}; a person decides, and the sources stay."
        return said(text, 202, status="proposed", consolidated=len(fresh) - len(waiting), ids=waiting)
    text = f"Consolidated {count} into {len(fresh)} new memor{'y' if len(fresh) == 1 else 'ies'}."
    return said(text, consolidated=len(fresh), ids=[one.memory.id for one in fresh])


def consolidate_group(call: Call) -> Response:
    """Join the memories that the agent names, in its own words or in whole sentences of theirs."""
    given = call.given(_Group)
    ids = list(dict.fromkeys(given.source_ids or given.ids or []))
    for name in ids:
        memory = call.memory(name)
        if not is_recalled(memory) or memory.status not in RECALLED:
            raise InvalidField("source_ids", f"names what is not recalled: {name!r:.80}", "Leave it out.")
    outcome = _made(call, ids, given)
    if outcome.memory.status == "rejected":
        because = f": {outcome.proposal.note}" if outcome.proposal is not None and outcome.proposal.note else "."
        return refused(f"Not consolidated: a person turned the same down before{because}", 409)
    if outcome.proposal is not None:
        return proposed(outcome.proposal, id=outcome.memory.id, sources=ids)
    text = f"Consolidated {len(ids)} memories into {outcome.memory.id}. Sources: [{', '.join(ids)}]"
    return said(text, id=outcome.memory.id, sources=ids, status="stored")


def _made(call: Call, ids: list[str], given: _Group) -> Consolidated:
    fields: dict[str, Any] = {"namespace": call.place.namespace, "tags": given.tags or []}
    if given.type:
        fields |= kind_fields(given.type)
    return consolidated(call.workspace, ids, given.content, fields=fields, make_id=call.new_id)
