"""What a person does to chosen memories, one or many: delete, restore, verify, pin, tag."""

from __future__ import annotations

from collections.abc import Sequence

from textual import work

from memento_tui.records import Memory
from memento_tui.store.reads import Glance
from memento_tui.tui.screens.ask import AskLine
from memento_tui.tui.sections.editing_section import EditingSection

__all__ = ["MemoryDeeds"]


class MemoryDeeds(EditingSection[Glance]):
    """A list of memories with the deeds that need no editor. Each is one journal entry a memory, and can be undone."""

    def named(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the headlines of some memories."""
        return [row.headline for row in self.memento.workspace.store.glances_by_id(ids)]

    @work(exclusive=True, group="change")
    async def action_delete(self) -> None:
        """Delete what is chosen; each can be restored."""
        await self.for_each("Delete", "Deleted", self.memento.workspace.forget)

    @work(exclusive=True, group="change")
    async def action_restore(self) -> None:
        """Bring back what is chosen."""
        row = self.rows.current
        if not self.rows.marks and row is not None and row.status not in ("deleted", "rejected", "archived"):
            self.memento.say("This memory is not deleted. is:deleted in the search finds those that are.", problem=True)
            return
        await self.for_each("Restore", "Restored", self.memento.workspace.restore)

    @work(exclusive=True, group="change")
    async def action_verify(self) -> None:
        """Mark what is chosen as verified by the person; approve it if it was waiting."""
        workspace = self.memento.workspace

        def verify(memory_id: str) -> None:
            if workspace.get(memory_id).status == "pending":
                workspace.review.approve(memory_id)
            else:
                workspace.verify(memory_id)

        await self.for_each("Verify", "Verified", verify)

    @work(exclusive=True, group="change")
    async def action_pin(self) -> None:
        """Pin what is chosen, or unpin it if all of it is pinned."""
        workspace = self.memento.workspace
        pin = not all(row.pinned for row in workspace.store.glances_by_id(self.chosen()))
        doing, done = ("Pin", "Pinned") if pin else ("Unpin", "Unpinned")
        await self.for_each(doing, done, lambda memory_id: workspace.update(memory_id, pinned=pin))

    @work(exclusive=True, group="change")
    async def action_tags(self) -> None:
        """Change the tags of what is chosen: of one all, of several those named with + and -."""
        if not self.may_act():
            return
        rows = self.memento.workspace.store.glances_by_id(self.chosen())
        workspace = self.memento.workspace
        if len(rows) == 1:
            asked = await self.app.push_screen_wait(AskLine("Tags, with commas between", ", ".join(rows[0].tags)))
            if asked is not None:
                tags = [tag.strip().lstrip("#") for tag in asked.split(",") if tag.strip(" #")]
                self.do(lambda: _say_tags(workspace.update(rows[0].id, tags=tags).memory))
            return
        asked = await self.app.push_screen_wait(
            AskLine(f"Tags of {len(rows):,} memories", hint="+api -old: adds and removes. Enter goes on, Escape leaves")
        )
        if not asked:
            return
        added = [word[1:] for word in asked.split() if word.startswith("+")]
        removed = {word[1:].casefold() for word in asked.split() if word.startswith("-")}

        def retag(memory_id: str) -> None:
            tags = [tag for tag in workspace.get(memory_id).tags if tag.casefold() not in removed]
            workspace.update(memory_id, tags=[*tags, *added])

        await self.for_each("Change the tags of", "Changed the tags of", retag)


def _say_tags(memory: Memory) -> str:
    return f"Tags: {', '.join(memory.tags) or 'none'}. z undoes."
