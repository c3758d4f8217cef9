"""Tell below the evidence what hangs on the item in focus: its writer's earlier proposals, its session, its sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memento_tui.api import Workspace
from memento_tui.api.review import ContradictionWithSides, PendingProposal
from memento_tui.model import Memory, Skip, WorkingItem
from memento_tui.tui.sections.review.evidence import FocusedItem
from memento_tui.tui.views.record_story import RecordStory, StoryLine, StoryPart, memory_parts, session_part

__all__ = ["QueueItemStory"]

_MOST_DECIDED = 8
"""Earlier decisions about the same writer that are shown."""


class QueueItemStory(RecordStory[FocusedItem]):
    """What a person would look up before a decision."""

    def read(self, workspace: Workspace, record: FocusedItem) -> Sequence[StoryPart]:
        """Return the history of its sides, what was decided about its writer, and what else its session wrote."""
        if isinstance(record.item, ContradictionWithSides):
            return list(_sides(workspace, record.item))
        proposal = record.item.proposal
        is_new = proposal.action == "create" or proposal.target != "memory"
        return [
            *([] if is_new else memory_parts(workspace, proposal.target_id)),
            _decided(workspace, proposal.proposed_by),
            session_part(workspace, proposal.session, without={proposal.target_id, proposal.id}),
        ]


def _sides(workspace: Workspace, found: ContradictionWithSides) -> Iterator[StoryPart]:
    for name, side in (("older", found.older), ("newer", found.newer)):
        if side is not None:
            # That each is linked to the other is what the card itself says.
            parts = [part for part in memory_parts(workspace, side.id) if part.title != "Links"]
            parts.append(session_part(workspace, side.source.session, without={side.id}))
            yield from (StoryPart(f"The {name}: {part.title.lower()}", part.lines) for part in parts)


def _decided(workspace: Workspace, writer: str) -> StoryPart:
    """Return what the person decided last about proposals of a writer."""
    found = workspace.review.made_by(writer, ("approved", "rejected"), limit=_MOST_DECIDED)[0] if writer else []
    return StoryPart(f"You decided about {writer}", [_decision(pending) for pending in found])


def _decision(pending: PendingProposal) -> StoryLine:
    proposal = pending.proposal
    what = f"{'new' if proposal.action == 'create' else proposal.action} {proposal.target}"
    return StoryLine(proposal.decided_at, proposal.state, what, _subject(pending), proposal.note)


def _subject(pending: PendingProposal) -> str:
    match target := pending.target:
        case Memory():
            return target.headline
        case Skip():
            return target.item
        case WorkingItem():
            return target.title
    return pending.proposal.target_id
