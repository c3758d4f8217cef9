"""What a person does to chosen memories, one or many: delete, restore, verify, pin, tag."""

from __future__ import annotations

from collections.abc import Sequence

from textual import work

from memento_tui.errors import Conflict
from memento_tui.records import Memory
from memento_tui.store.reads import Glance
from memento_tui.tui.screens.ask import AskLine
from memento_tui.tui.sections.editing_section import EditingSection
from memento_tui.tui.widgets.preview import Preview

__all__ = ["MemoryDeeds"]

_OF_ONE = {"memories.edit", "memories.history", "memories.links", "memories.why"}
_OF_WHAT_IS_THERE = {"memories.edit", "memories.tags", "memories.verify", "memories.pin", "memories.delete"}
_OF_A_MEMORY = _OF_ONE | _OF_WHAT_IS_THERE
"""Commands that need a memory under the cursor; one that is not deleted; either."""


class MemoryDeeds(EditingSection[Glance]):
    """A list of memories with the deeds that need no editor. Each is one journal entry a memory, and can be undone.

    A deed is done to what the person saw: a memory that an agent has changed since is left as it is.
    """

    def __init__(self) -> None:
        super().__init__()
        self._marked: dict[str, int] = {}
        """The version of each marked memory as it was when it was marked."""

    def marks_changed(self) -> None:
        """Keep for each mark the version that was there to be seen: what changes afterwards is left alone."""
        marks = self.rows.marks
        fresh = sorted(marks - self._marked.keys())
        versions = self.memento.workspace.store.versions("memory", fresh) if fresh else {}
        versions |= {row.id: row.version for row in self.rows.at_hand(fresh)} | self._seen_here()
        self._marked = {name: version for name, version in {**versions, **self._marked}.items() if name in marks}

    def _seen_here(self) -> dict[str, int]:
        """Return the version of the memory under the cursor as it is shown: in the preview, else in its row."""
        shown = (self.rows.current, self.query_one(Preview).memory)
        return {one.id: one.version for one in shown if one is not None}

    def seen(self, memory_id: str) -> int | None:
        """Return the version of a chosen memory that the person saw; ``None`` where it is not known."""
        return self._marked.get(memory_id) or self._seen_here().get(memory_id)

    def memory_of(self, row: Glance | None) -> Memory | None:
        """Return the whole memory of a row."""
        found: Memory | None = None if row is None else self.memento.workspace.store.find("memory", row.id)
        return found

    def can(self, command: str) -> bool:
        """Tell whether a command can act on the memory under the cursor, or on the marked ones."""
        if command not in _OF_A_MEMORY:
            return True
        row = self.rows.current
        if row is None:
            return bool(self.rows.marks) and command not in _OF_ONE
        return row.status != "deleted" or command not in _OF_WHAT_IS_THERE or bool(self.rows.marks)

    def named(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the headlines of some memories."""
        return [row.headline for row in self.memento.workspace.store.glances_by_id(ids)]

    @work(exclusive=True, group="change")
    async def action_delete(self) -> None:
        """Delete what is chosen; each can be restored."""
        workspace = self.memento.workspace
        await self.for_each("Delete", "Deleted", lambda name: workspace.forget(name, base_version=self.seen(name)))

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
        await self.for_each("Verify", "Verified", self._verify)

    def _verify(self, memory_id: str) -> None:
        workspace, seen = self.memento.workspace, self.seen(memory_id)
        if workspace.get(memory_id).status != "pending":
            workspace.verify(memory_id, base_version=seen)
            return
        waiting = workspace.review.about(memory_id)
        if seen not in (None, waiting.target.version):
            raise Conflict(f"The memory {memory_id} changed while you looked at it.", "Look at it again, then decide.")
        # Whoever rewrites what waits makes another version of the proposal too.
        workspace.review.approve(waiting.proposal.id, seen=waiting.proposal.version)

    @work(exclusive=True, group="change")
    async def action_pin(self) -> None:
        """Pin what is chosen, or unpin it if all of it is pinned."""
        workspace = self.memento.workspace
        pin = not all(row.pinned for row in workspace.store.glances_by_id(self.chosen()))
        doing, done = ("Pin", "Pinned") if pin else ("Unpin", "Unpinned")
        await self.for_each(doing, done, lambda name: workspace.update(name, base_version=self.seen(name), pinned=pin))

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
                self.do(lambda: _say_tags(workspace.update(rows[0].id, base_version=rows[0].version, tags=tags).memory))
            return
        asked = await self.app.push_screen_wait(
            AskLine(f"Tags of {len(rows):,} memories", hint="+api -old: adds and removes. Enter goes on, Escape leaves")
        )
        if not asked:
            return
        added = [word[1:] for word in asked.split() if word.startswith("+")]
        removed = {word[1:].casefold() for word in asked.split() if word.startswith("-")}

        def retag(memory_id: str) -> None:
            memory = workspace.get(memory_id)
            tags = [tag for tag in memory.tags if tag.casefold() not in removed]
            workspace.update(memory_id, base_version=memory.version, tags=[*tags, *added])

        await self.for_each("Change the tags of", "Changed the tags of", retag)


def _say_tags(memory: Memory) -> str:
    return f"Tags: {', '.join(memory.tags) or 'none'}. z undoes."
