"""The actions on selected memories that need no editor: delete, restore, verify, pin, retag."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memento_tui.errors import Conflict
from memento_tui.tui.screens.dialogs import AskLine

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.api.types import MemorySummary
    from memento_tui.model import Memory
    from memento_tui.tui.sections.list_section import ListSection

__all__ = ["MemoryActions"]


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
        await self._section.run_on_chosen(
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
        await self._section.run_on_chosen("Restore", "Restored", lambda memory_id, _seen: workspace.restore(memory_id))

    async def verify(self) -> None:
        """Mark the selected memories as verified by the person; approve those that were waiting."""
        await self._section.run_on_chosen("Verify", "Verified", self._verify)

    def _verify(self, memory_id: str, seen: int | None) -> None:
        workspace = self._workspace
        if workspace.get(memory_id).status != "pending":
            workspace.verify(memory_id, base_version=seen)
            return
        pending = workspace.review.open_about(memory_id)
        if seen not in (None, pending.target.version):
            raise Conflict(f"The memory {memory_id} changed while you looked at it.", "Look at it again, then decide.")
        # Whoever rewrites a pending memory makes another version of the proposal too.
        workspace.review.approve(pending.proposal.id, seen=pending.proposal.version)

    async def pin(self) -> None:
        """Pin the selected memories, or unpin them if all of them are pinned."""
        workspace = self._workspace
        pin = not all(row.pinned for row in workspace.summaries(self._section.selection.ids()))
        doing, done = ("Pin", "Pinned") if pin else ("Unpin", "Unpinned")
        await self._section.run_on_chosen(
            doing, done, lambda memory_id, seen: workspace.update(memory_id, base_version=seen, pinned=pin)
        )

    async def retag(self) -> None:
        """Ask for the tags of one memory, or for those to add to and remove from several."""
        if not self._section.check_can_act():
            return
        rows = self._workspace.summaries(self._section.selection.ids())
        if len(rows) == 1:
            await self._retag_one(rows[0])
        else:
            await self._retag_many(len(rows))

    async def _retag_one(self, row: MemorySummary) -> None:
        question = AskLine("Tags, with commas between", ", ".join(row.tags))
        answer = await self._section.app.push_screen_wait(question)
        if answer is None:
            return
        tags = [tag.strip().lstrip("#") for tag in answer.split(",") if tag.strip(" #")]
        workspace = self._workspace
        self._section.run_write(
            lambda: _tags_sentence(workspace.update(row.id, base_version=row.version, tags=tags).memory)
        )

    async def _retag_many(self, count: int) -> None:
        hint = "+api -old: adds and removes. Enter goes on, Escape leaves"
        answer = await self._section.app.push_screen_wait(AskLine(f"Tags of {count:,} memories", hint=hint))
        if not answer:
            return
        added = [word[1:] for word in answer.split() if word.startswith("+")]
        removed = {word[1:].casefold() for word in answer.split() if word.startswith("-")}
        workspace = self._workspace

        def retag(memory_id: str, _seen: int | None) -> None:
            memory = workspace.get(memory_id)
            tags = [tag for tag in memory.tags if tag.casefold() not in removed]
            workspace.update(memory_id, base_version=memory.version, tags=[*tags, *added])

        await self._section.run_on_chosen("Change the tags of", "Changed the tags of", retag)


def _tags_sentence(memory: Memory) -> str:
    return f"Tags: {', '.join(memory.tags) or 'none'}. z undoes."
