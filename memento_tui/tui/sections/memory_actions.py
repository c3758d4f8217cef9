"""The actions on selected memories that need no editor: delete, restore, verify, pin, retag."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from memento_tui.errors import Conflict
from memento_tui.tui.row_actions import UNCHANGED
from memento_tui.tui.screens.dialogs import AskLine, accepted_risk
from memento_tui.tui.sections.tag_line import TagCompleter, parse_tag_changes

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.api.types import MemorySummary
    from memento_tui.model import Memory
    from memento_tui.tui.sections.list_section import ListSection

__all__ = ["MemoryActions", "update"]


_EACH_ALONE = "a on each alone shows what speaks against it."


class MemoryActions:
    """Changes the memories that are selected in a section; each change is one journal entry, and can be undone.

    An action is for the version that the person saw: a memory that an agent has changed since is left as it is. The
    methods must run in a worker of the section.
    """

    def __init__(self, section: ListSection[MemorySummary]) -> None:
        self._section = section

    @property
    def _workspace(self) -> Workspace:
        return self._section.memento.workspace

    async def delete(self) -> None:
        """Delete the selected memories; each can be restored."""
        workspace = self._workspace
        await self._section.actions.run_on_chosen(
            "Delete", "Deleted", lambda memory_id, seen: workspace.forget(memory_id, base_version=seen)
        )

    async def restore(self) -> None:
        """Bring the selected memories back."""
        row, workspace = self._section.rows.current, self._workspace
        if not self._section.rows.marks and row is not None and row.status not in ("deleted", "rejected", "archived"):
            self._section.memento.show_status(
                "This memory is not deleted. is:deleted in the search finds those that are.", problem=True
            )
            return
        await self._section.actions.run_on_chosen(
            "Restore", "Restored", lambda memory_id, _seen: workspace.restore(memory_id)
        )

    async def verify(self) -> None:
        """Mark the selected memories as verified by the person; approve those that were waiting."""
        section = self._section
        chosen = section.actions.choose()
        risky = self._risky(chosen)
        if len(chosen) == 1:
            despite = "".join([await accepted_risk(section, proposal) or "" for proposal in risky.values()])
            if despite or not risky:
                await section.actions.run_on(chosen, "Verify", "Verified", partial(self._verify, despite=despite))
            return
        rest = {memory_id: seen for memory_id, seen in chosen.items() if memory_id not in risky}
        note = f"{len(risky):,} marked red in Review left out: {_EACH_ALONE}" if risky else ""
        if risky and not rest:
            section.memento.show_status(f"All of these are marked red in Review: {_EACH_ALONE}", problem=True)
        else:
            await section.actions.run_on(rest, "Verify", "Verified", self._verify, note=note)

    def _risky(self, ids: Collection[str]) -> Mapping[str, str]:
        """Return those memories whose approval is a risk, each with the proposal that waits about it."""
        review = self._workspace.review
        pending = [row.id for row in self._workspace.summaries(list(ids)) if row.status == "pending"]
        waiting = {memory_id: review.open_about(memory_id).proposal.id for memory_id in pending}
        risks = {row.id for row in self._workspace.inbox.rows(list(waiting.values())) if row.risk}
        return {memory_id: proposal for memory_id, proposal in waiting.items() if proposal in risks}

    def _verify(self, memory_id: str, seen: int | None, despite: str = "") -> None:
        workspace = self._workspace
        if workspace.get(memory_id).status != "pending":
            workspace.verify(memory_id, base_version=seen)
            return
        pending = workspace.review.open_about(memory_id)
        if seen not in (None, pending.target.version):
            raise Conflict(f"The memory {memory_id} changed while you looked at it.", "Look at it again, then decide.")
        # Whoever rewrites a pending memory makes another version of the proposal too.
        workspace.review.approve(pending.proposal.id, seen=pending.proposal.version, despite=despite)

    async def pin(self) -> None:
        """Pin the selected memories, or unpin them if all of them are pinned."""
        workspace = self._workspace
        pin = not all(row.pinned for row in workspace.summaries(self._section.selection.ids()))
        doing, done = ("Pin", "Pinned") if pin else ("Unpin", "Unpinned")
        await self._section.actions.run_on_chosen(
            doing, done, lambda memory_id, seen: update(workspace, workspace.get(memory_id), seen, pinned=pin)
        )

    async def retag(self) -> None:
        """Ask for the tags of one memory, or for those to add to and remove from several."""
        chosen = self._section.actions.choose()
        rows = self._workspace.summaries(list(chosen))
        if len(rows) == 1:
            await self._retag_one(rows[0])
        elif rows:
            await self._retag_many(chosen, rows)

    async def _retag_one(self, row: MemorySummary) -> None:
        hint = "Commas between; +api -old adds and removes. Tab completes"
        completer = TagCompleter(self._workspace, [row])
        question = AskLine("Tags", ", ".join(row.tags), hint=hint, complete=completer.complete)
        answer = await self._section.app.push_screen_wait(question)
        if answer is None:
            return
        tags = parse_tag_changes(answer).applied_to(row.tags, listed=True)
        workspace = self._workspace
        if tags == list(row.tags):
            self._section.memento.show_status("Its tags are so already.")
            return
        self._section.run_write(
            lambda: _tags_sentence(workspace.update(row.id, base_version=row.version, tags=tags).memory)
        )

    async def _retag_many(self, chosen: Mapping[str, int | None], rows: Sequence[MemorySummary]) -> None:
        hint = "api, gate or +api +gate adds, -old removes. Tab completes"
        completer = TagCompleter(self._workspace, rows)
        question = AskLine(f"Tags of {len(chosen):,} memories", hint=hint, complete=completer.complete)
        answer = await self._section.app.push_screen_wait(question)
        if not answer:
            return
        changes, workspace = parse_tag_changes(answer), self._workspace
        if not any(changes):
            self._section.memento.show_status("No tag was named: api adds one, -old removes one.", problem=True)
            return

        def retag(memory_id: str, _seen: int | None) -> object:
            memory = workspace.get(memory_id)
            return update(workspace, memory, memory.version, tags=changes.applied_to(memory.tags, listed=False))

        await self._section.actions.run_on(chosen, "Change the tags of", "Changed the tags of", retag)


def update(workspace: Workspace, memory: Memory, seen: int | None, **changes: object) -> object:
    """Change fields of a memory of which a version was ``seen``; return `UNCHANGED` where they are so already."""
    outcome = workspace.update(memory.id, base_version=seen, **changes)
    return UNCHANGED if outcome.memory.version == memory.version else outcome


def _tags_sentence(memory: Memory) -> str:
    return f"Tags: {', '.join(memory.tags) or 'none'}. z undoes."
