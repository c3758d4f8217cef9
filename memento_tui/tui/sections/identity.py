"""The section of identity: every identity crystal as a timeline, and the text of one or its changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from memento_tui.api import identity
from memento_tui.api.drafts import UnsavedText, UnsavedTextFile
from memento_tui.api.review import PendingProposal
from memento_tui.errors import Conflict, MementoError, NotFound
from memento_tui.model import Crystal
from memento_tui.tui.commands import bindings
from memento_tui.tui.edit_conflict import CurrentText, save_with_conflicts
from memento_tui.tui.sections.identity_text import (
    CRYSTAL_BELOW,
    CRYSTAL_COLUMNS,
    CRYSTAL_ORDERS,
    CrystalSource,
    IdentityStory,
    crystal_changes,
    crystal_facts,
    crystal_line,
    crystal_prose,
    first_lines,
    local_day,
    other_writer_name,
)
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.views.record_story import StoryScroll
from memento_tui.tui.widgets.record_list import Line
from memento_tui.tui.widgets.text_draft import TextDraft

__all__ = ["IdentitySection"]

_EMPTY_TEXT = """Nobody has said yet who the agent is.

e        write it here
E        write it in your editor
         or let an agent write it: memento mcp"""

_EXPLANATION = (
    "An identity crystal is a page of prose: who the agent is, how it works with you, what it has learned about itself."
    " Agents are given it together with what they ask for at the beginning of a task.\n\n"
    "A new one never overwrites the one before. All of them stay here, each can be compared with any other, and any can"
    " be restored. Once you have written or approved one, what an agent writes waits for you."
)


class IdentitySection(ListSection[Crystal]):
    """The timeline of the identity, with the text or the changes of the crystal under the cursor beside it."""

    NEEDS_SHOWN_ROW: ClassVar[bool] = True
    SCOPE = "identity"
    FILTER_HINT = "filter: words, is:proposed, is:rejected"
    ORDERS: ClassVar[Mapping[str, str]] = CRYSTAL_ORDERS
    COLUMNS = CRYSTAL_COLUMNS
    BELOW = CRYSTAL_BELOW
    RECENT_ACTIVITY_OF: ClassVar[tuple[str, ...]] = ("crystal",)
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("identity")]
    DEFAULT_CSS = """
    IdentitySection .side-text { max-width: 88; }
    """

    def __init__(self) -> None:
        super().__init__()
        self._source: CrystalSource | None = None
        self._was_read = False
        self._shown: tuple[object, ...] = ()
        """The content of the side pane, so that it is not drawn again from the same."""
        self._pending: PendingProposal | None = None
        """The proposal that is shown beside the crystal under the cursor."""
        self._base: Crystal | None = None
        """The crystal that the others are compared with; ``None`` for the one before each."""
        self._as_prose: bool | None = None
        """Whether the text is shown; ``None`` until chosen: the present one as text, the others as changes."""
        self.told = StoryScroll(self.side_text, IdentityStory())
        """The text of a crystal, and below it how it came to be."""
        self.side_scroll = self.told

    # What the list and the side show

    def compose_side(self) -> ComposeResult:
        """Make the content of the side pane."""
        yield self.told

    def make_source(self) -> CrystalSource:
        """Return the crystals that the filter selects."""
        self._source = CrystalSource(self.memento.workspace.crystals, self.filter, self.order)
        return self._source

    def row_lines(self, row: Crystal, width: int) -> Sequence[Line]:
        """Return the row of a crystal; ``c`` marks the one that the others are compared with."""
        return crystal_line(row, width, self.columns.names, is_base=self._base is not None and row.id == self._base.id)

    def filter_fields(self) -> Mapping[str, Iterable[tuple[str, str]]]:
        """Return the fields that the timeline can be filtered by."""
        return {"is": [("proposed", ""), ("rejected", "")]}

    def head_text(self) -> Content:
        """Return how many crystals there are, and which one they are compared with."""
        counted = self.counted()
        proposed = sum(crystal.status == "proposed" for crystal in self._history())
        if proposed:
            counted = f"{counted}  {proposed:,} proposed"
        if self._base is None:
            return Content(counted)
        return Content(f"{counted}  compared with the one of {local_day(self._base.created_at)}")

    def empty_text(self) -> str:
        """Return the text of an empty list: how an identity comes about."""
        if self.filter:
            return "No identity holds these words.\n\nEscape in the box clears it."
        return _EMPTY_TEXT

    def describe_rows(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the first words of some crystals."""
        return [" ".join(c.content[:200].split()) for c in self._history() if c.id in ids]

    def _history(self) -> Sequence[Crystal]:
        return [] if self._source is None else self._source.all

    def read(self, *, select: str | None = None) -> None:
        """Show the crystals of another filter; at first, with the cursor on the present identity."""
        current = None if self._was_read else self.memento.workspace.crystals.current()
        self._was_read = True
        super().read(select=select or (current.id if current is not None else None))
        if self.rows.total == 0:
            self.show(None)

    def reload(self) -> None:
        """Read again, keeping the position in the list."""
        super().reload()
        if self.rows.current is not None:
            self.show(self.rows.current)

    def show(self, row: Crystal | None) -> None:
        """Show the text of a crystal, or its changes."""
        present = None if row is None else self._read_crystal(row.id)
        self.told.tell(present)
        self._pending = None if present is None or present.status != "proposed" else self._pending_of(present.id)
        if present is None:
            self._shown = ()
            self.set_side_text(Content.styled("" if self.filter else _EXPLANATION, "$quiet"))
            return
        other = self._other(present)
        as_prose = self._shows_prose(present) or other is None
        proposal = None if self._pending is None else (self._pending.proposal, self._pending.moved)
        self.memento.focus_changed()
        content = (present, proposal, None if as_prose else other, as_prose)
        if content == self._shown:
            return
        same = bool(self._shown) and content[0] == self._shown[0] and content[2:] == self._shown[2:]
        self._shown = content
        facts = crystal_facts(present, self._pending)
        if as_prose or other is None:
            self.set_side_text(Content("\n\n").join([facts, crystal_prose(present)]), same=same)
        else:
            self.set_side_text(Content("\n\n").join([facts, crystal_changes(other, present)]), same=same)

    def _read_crystal(self, crystal_id: str) -> Crystal | None:
        return self.memento.workspace.crystals.find(crystal_id)

    def _pending_of(self, crystal_id: str) -> PendingProposal | None:
        workspace = self.memento.workspace
        try:
            return workspace.review.get(workspace.crystals.open_proposal(crystal_id).id)
        except NotFound:
            return None

    def _other(self, row: Crystal) -> Crystal | None:
        """Return the crystal that a row is compared with."""
        if self._base is not None and self._base.id != row.id:
            return self._base
        return identity.crystal_before(row, self._history())

    def _shows_prose(self, row: Crystal) -> bool:
        if self._as_prose is None:
            return row.status == "current" and self._base is None
        return self._as_prose

    def action_markdown(self) -> None:
        """Show texts, or changes; the choice holds for every crystal."""
        row = self.rows.current
        if row is None:
            self.memento.show_status("There is no identity here.", problem=True)
            return
        self._as_prose = not self._shows_prose(row)
        self.show(row)
        if not self._as_prose and self._other(row) is None:
            self.memento.show_status("There is none before it to compare with.", problem=True)
        else:
            self.memento.show_status("Prose." if self._as_prose else "What changed: - was taken out, + was added.")

    def action_compare(self) -> None:
        """Compare all with the crystal under the cursor; on that crystal again, each with the one before it."""
        row = self.rows.current
        if row is None:
            self.memento.show_status("There is no identity here.", problem=True)
        elif self._base is not None and self._base.id == row.id:
            self._base = None
            self.memento.show_status("Each is compared with the one before it.")
        else:
            self._base, self._as_prose = row, None
            self.memento.show_status(
                f"The others are compared with the one of {local_day(row.created_at)}. c here ends it."
            )
        self.rows.refresh()
        self.update_head()
        self.show(row)

    def show_query(self, query: str) -> None:
        """Go to the crystal of that id; anything else becomes the filter."""
        if self._read_crystal(query) is None:
            super().show_query(query)
            return
        self.filter_box.value = ""
        self.filter = ""
        self.read(select=query)

    def action_proposed(self) -> None:
        """Show the proposed identities alone, or all."""
        self.step_filter(["is:proposed"], self.filter)

    # Writing

    def action_edit(self) -> None:
        """Write a new identity, from the one under the cursor."""
        row = self.rows.current
        text = "" if row is None else row.content
        current = self.memento.workspace.crystals.current()
        paths = self.memento.workspace.paths
        # The text is kept with the crystal that it is to follow.
        unsaved = UnsavedTextFile(paths, "crystal", current.id if current else "", current.version if current else 0)
        self._open_editor("A new identity; the one before stays in the history", text, unsaved)

    def _open_editor(self, heading: str, text: str, unsaved: UnsavedTextFile, now: str | None = None) -> None:
        async def save(before: TextDraft, draft: TextDraft) -> bool:
            current = self.memento.workspace.crystals.current()
            if before == draft and current is not None and draft.content == current.content:
                self.memento.show_status("Nothing was changed.")
                return True
            return await self._write(draft, unsaved.record_id)

        typed = None if now is None else TextDraft(None, None, now)
        self.side_pane.open(heading, TextDraft(None, None, text), unsaved, save, now=typed)

    def reopen_unsaved(self, kept: UnsavedText) -> None:
        """Open the editor on a text that was left behind. A newer identity is reported when it is saved."""
        base = self._read_crystal(kept.record_id) if kept.record_id else None
        unsaved = UnsavedTextFile(self.memento.workspace.paths, "crystal", kept.record_id, kept.base_version)
        self._open_editor("A new identity, as you left it", base.content if base else "", unsaved, kept.content)

    async def _write(self, draft: TextDraft, base_id: str) -> bool:
        """Write a crystal that follows ``base_id``; return whether nothing is left to do with the text."""
        crystals = self.memento.workspace.crystals
        made: list[Crystal] = []

        def write(base_id: str) -> None:
            try:
                made.append(crystals.write(draft.content, base_id=base_id))
            except Conflict:
                if crystals.current() is not None:
                    raise
                # The one that it was to follow was taken back; there is nothing that it could overwrite.
                made.append(crystals.write(draft.content, base_id=""))

        def read_current() -> tuple[str, CurrentText] | None:
            current = crystals.current()
            if current is None:
                return None
            return current.id, CurrentText(TextDraft(None, None, current.content), other_writer_name(current))

        try:
            outcome = await save_with_conflicts(self.app, base_id, draft, write=write, read_current=read_current)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return False
        if outcome == "saved":
            self._report_written(made[-1], draft.content)
        else:
            self.memento.show_status(
                "Theirs stays; yours was not saved." if outcome == "theirs" else "Not saved: another writer was faster."
            )
        return outcome != "edit"

    def _report_written(self, made: Crystal, text: str) -> None:
        cut = "" if made.content == text else " What looked like a secret was taken out."
        waits = " It waits for your decision." if made.status == "proposed" else ""
        self.memento.show_status(f"Saved as the present identity.{cut}{waits} z undoes.", problem=bool(cut or waits))
        self._as_prose = None
        self.guard.moved_by_person()
        self.rows.refresh_rows(self.make_source(), select=made.id)

    @work(exclusive=True, group="change")
    async def action_edit_outside(self) -> None:
        """Write a new identity in the person's own editor, from the one under the cursor."""
        if self.side_pane.is_editing:
            self.focus_content()
            return
        from memento_tui.tui.external_editor import edit_in_external_editor  # noqa: PLC0415 - seldom needed

        workspace = self.memento.workspace
        current, row = workspace.crystals.current(), self.rows.current
        before = "" if row is None else row.content
        try:
            kept, text = edit_in_external_editor(self.app, workspace.paths, "identity", before)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        if text == before:
            kept.discard()
            self.memento.show_status("Nothing was changed.")
        elif await self._write(TextDraft(None, None, text), "" if current is None else current.id):
            kept.discard()
            self.memento.refresh_after_write()
        else:
            self.memento.show_status(f"Not saved. Your text is in {kept.path}.", problem=True)

    @work(exclusive=True, group="change")
    async def action_restore(self) -> None:
        """Write the text of an old crystal as a new one."""
        row = self.rows.current
        if row is None or not self.actions.check_can_act():
            return
        if row.status in ("current", "proposed"):
            reason = "the present identity already" if row.status == "current" else "only proposed: a approves it"
            self.memento.show_status(f"This one is {reason}.", problem=True)
            return
        from memento_tui.tui.screens.dialogs import Confirm  # noqa: PLC0415 - seldom needed

        question = Content(f"Make the identity of {local_day(row.created_at)} the present one again, as a new entry?")
        if not await self.app.push_screen_wait(Confirm(question, first_lines(row))):
            return
        workspace = self.memento.workspace
        self.guard.moved_by_person()
        self.run_write(
            lambda: f"The identity of {local_day(workspace.crystals.restore(row.id).created_at)} holds. z undoes."
        )

    # Deciding

    def is_available(self, command: str) -> bool:
        """Return whether a command fits: only proposals are decided, only past crystals restored."""
        row = self.rows.current
        if command in ("identity.approve", "identity.reject"):
            return self._pending is not None
        if command == "identity.restore":
            return row is not None and row.status not in ("current", "proposed")
        if command == "identity.compare":
            return row is not None
        return command != "identity.markdown" or (row is not None and self._other(row) is not None)

    @work(exclusive=True, group="change")
    async def action_approve(self) -> None:
        """Approve the proposal, at the version that is shown."""
        seen = self._decidable()
        if seen is None:
            return
        from memento_tui.tui.screens.dialogs import accepted_risk  # noqa: PLC0415 - seldom needed

        despite = await accepted_risk(self, seen.proposal.id)
        if despite is None:
            return
        workspace = self.memento.workspace

        def approve() -> str:
            workspace.review.approve(seen.proposal.id, seen=seen.proposal.version, despite=despite)
            return "Approved: it is the present identity. z undoes."

        self.guard.moved_by_person()
        self.run_write(approve)

    @work(exclusive=True, group="change")
    async def action_reject(self) -> None:
        """Reject the proposal, with a reason that the agent can read."""
        seen = self._decidable()
        if seen is None:
            return
        from memento_tui.tui.screens.dialogs import AskLine  # noqa: PLC0415 - seldom needed

        hint = "The agent can read it. Enter rejects, Escape leaves"
        reason = await self.app.push_screen_wait(AskLine("Why is this identity rejected?", hint=hint))
        if reason is None:
            return
        workspace = self.memento.workspace

        def reject() -> str:
            workspace.review.reject(seen.proposal.id, reason.strip(), seen=seen.proposal.version)
            return "Rejected. z undoes."

        self.guard.moved_by_person()
        self.run_write(reject)

    def _decidable(self) -> PendingProposal | None:
        """Return the proposal that is shown; where there is none, say why nothing can be decided."""
        if self.rows.current is None:
            self.memento.show_status("There is nothing here to decide.", problem=True)
        elif not self.actions.check_can_act():
            return None
        elif self._pending is None:
            self.memento.show_status(
                "This identity does not wait for a decision; those that do are marked ~.", problem=True
            )
        return self._pending
