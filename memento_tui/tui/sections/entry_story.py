"""Show the line that agents may be given about a skip or a working item, and the memories it rests on."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.model import Memory, Skip, WorkingItem
from memento_tui.model.filters import AllOf, AnyOf, HasTag, Under, with_default_statuses
from memento_tui.model.review import OPEN_PROPOSAL_STATES
from memento_tui.tui.views.record_story import RecordStory, StoryLine, StoryPart, memory_line

__all__ = ["ItemStory", "SkipStory"]

_MOST_MEMORIES = 8
"""Memories that are shown of each sort."""

_FEW_MEMORIES = 5
"""Memories about a record below which weaker matches are shown too."""

_MOST_WORDS = 24
"""Words of a title that memories are looked for by."""

_GONE_STATUSES = ("deleted", "rejected")
"""Statuses of memories that are told of no more."""

_MAY_BE_TOLD = "The line that agents may be told"
_IF_ROOM = "where it is among those that there is room for."


class SkipStory(RecordStory[Skip]):
    """The line that agents may be given about a skip, and the memories about its subject."""

    def read(self, workspace: Workspace, record: Skip) -> Sequence[StoryPart]:
        """Return the line that agents may be told, and the memories that say more."""
        from memento_tui.hooks.context_preview import sessions_in_scope, skip_preview  # noqa: PLC0415 - seldom needed

        told = ["Nothing any more: it is over."]
        if record.expires_at > clock.now():
            when = "when it begins or a prompt is about it"
            told = [skip_preview(record), f"In {sessions_in_scope(record.namespace)}, {when}, {_IF_ROOM}"]
        return [
            _waiting(workspace, record.id, "skip"),
            StoryPart(_MAY_BE_TOLD, told),
            *_about(workspace, (record.item, record.reason)),
        ]


class ItemStory(RecordStory[WorkingItem]):
    """The line that agents may be given about a working item, its memories, and others about the same subject."""

    def read(self, workspace: Workspace, record: WorkingItem) -> Sequence[StoryPart]:
        """Return the line that agents may be told, the linked memories, and those that say more."""
        from memento_tui.hooks.context_preview import item_preview, sessions_in_scope  # noqa: PLC0415 - seldom needed

        told = ["Nothing: only active items are told."]
        if record.status == "active":
            told = [item_preview(record), f"In {sessions_in_scope(record.namespace)}, when it begins, {_IF_ROOM}"]
        linked = _linked(workspace, record)
        tagged = [memory for memory in _tagged(workspace, record) if memory.id not in linked]
        return [
            _waiting(workspace, record.id, "item"),
            StoryPart(_MAY_BE_TOLD, told),
            StoryPart("Memories that belong to it", [memory_line(memory) for memory in linked.values()]),
            StoryPart("Memories with its tags", [memory_line(memory) for memory in tagged]),
            *_about(workspace, (record.title, record.content), {*linked, *(memory.id for memory in tagged)}),
        ]


def _linked(workspace: Workspace, item: WorkingItem) -> Mapping[str, Memory]:
    """Return the memories that are linked to an item, by id, but for those that were deleted or rejected."""
    relations = [one for one in workspace.relations(item.id, direction="in") if one.type == "item"]
    found = workspace.get_many([one.src for one in relations])
    living = ((name, memory) for name, memory in found.items() if memory.status not in _GONE_STATUSES)
    return dict(islice(living, _MOST_MEMORIES))


def _tagged(workspace: Workspace, item: WorkingItem) -> Sequence[Memory]:
    """Return the memories in an item's namespace, or below it, that have one of its tags, the last changed first."""
    if not item.tags:
        return []
    tagged = AnyOf(tuple(map(HasTag, item.tags)))
    own = with_default_statuses(AllOf((tagged, Under(item.namespace))))
    return workspace.list_where(own, limit=_MOST_MEMORIES).items


def _waiting(workspace: Workspace, record_id: str, kind: str) -> StoryPart:
    """Return the agents' proposals about a record that wait in Review."""
    open_ones = [one for one in workspace.review.about(record_id, kind) if one.state in OPEN_PROPOSAL_STATES]
    lines = [StoryLine(one.created_at, one.proposed_by, one.action, ", ".join(one.payload)) for one in open_ones]
    return StoryPart("Waits for you in Review (3)", lines)


def _about(workspace: Workspace, texts: Sequence[str], known: Collection[str] = ()) -> tuple[StoryPart, StoryPart]:
    """Return the memories about the subject of some texts, best first, with weaker matches where those are few.

    They are found by words alone: nothing waits for the engine. ``known`` are ids of memories that are shown anyway.
    """
    from memento_tui.operations.recall import relevant_hits  # noqa: PLC0415 - it needs the analyzers of the index

    good: dict[str, Memory] = {}
    found: dict[str, Memory] = {}
    for text in texts:
        if words := re.findall(r"\w+", text)[:_MOST_WORDS]:
            hits = workspace.search(" ".join(words), mode="keyword", limit=_MOST_MEMORIES).results
            found |= {hit.id: hit.memory for hit in hits if hit.id not in known}
            good |= {hit.id: hit.memory for hit in relevant_hits(workspace, hits) if hit.id not in known}
    weak = [memory for memory in found.values() if memory.id not in good][: max(_FEW_MEMORIES - len(good), 0)]
    return (
        StoryPart("Memories about it", [memory_line(memory) for memory in list(good.values())[:_MOST_MEMORIES]]),
        StoryPart("Memories with some of its words", [memory_line(memory) for memory in weak]),
    )
