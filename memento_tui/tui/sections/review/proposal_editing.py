"""Edit a proposal before it is decided: its text, the merged text of a contradiction, a form, or two contexts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from textual.content import Content

from memento_tui.api.drafts import UnsavedText, UnsavedTextFile
from memento_tui.api.inbox import DecisionVerb
from memento_tui.api.review import (
    ContradictionWithSides,
    PendingProposal,
    changes_between,
    editable_texts,
    proposed_record,
)
from memento_tui.errors import Conflict, InvalidInput, MementoError, NotAllowed
from memento_tui.model import Crystal, Memory
from memento_tui.tui.edit_conflict import CurrentText, save_with_conflicts
from memento_tui.tui.screens.dialogs import accepted_risk
from memento_tui.tui.section import in_worker
from memento_tui.tui.sections.review.evidence import FocusedItem, read_focused_item
from memento_tui.tui.sections.review.groups import QueueRow
from memento_tui.tui.widgets.text_draft import TextDraft

if TYPE_CHECKING:
    from memento_tui.tui.sections.list_section import ListSection
    from memento_tui.tui.widgets.text_draft import Field

__all__ = ["ProposalEditing", "why_not_editable"]

_FORM_FIELDS = {
    "skip": (
        ("item", "Do not", ""),
        ("reason", "Because", ""),
        ("expires_at", "Until", "a date such as 2026-12-31, or a span such as 7d"),
    ),
    "item": (
        ("title", "Title", ""),
        ("category", "Kind", "active_work, standing_decision, waiting_for or session_note"),
        ("status", "Status", "active, paused, completed or archived"),
        ("priority", "Priority", "a whole number; the highest comes first"),
        ("next_action", "Next action", ""),
        ("tags", "Tags", "with commas between"),
        ("content", "Text", ""),
    ),
}
_EDITOR_HEADINGS = {
    "approve": "Edit, then approve: ^s saves and approves",
    "merged": "The one text that holds: ^s saves it and settles the contradiction",
}


class Decide(Protocol):
    """Carries out a decision about an item, with the fields that the person changed. Raises `MementoError`."""

    def __call__(self, focused: FocusedItem, verb: DecisionVerb, *, despite: str = "", **changes: Any) -> None:  # noqa: ANN401 - fields
        """Decide."""


@dataclass
class _OpenEdit:
    """The item that the editor is open on, as it was read last, and the decision that saving makes."""

    focused: FocusedItem
    verb: DecisionVerb


class ProposalEditing:
    """Opens the editor or a form over an item of the review; saving it decides."""

    def __init__(self, section: ListSection[QueueRow], decide: Decide) -> None:
        self._section = section
        self._decide = decide

    def edit(self, focused: FocusedItem) -> None:
        """Edit a proposal; saving approves it."""
        if problem := why_not_editable(focused):
            self._section.memento.show_status(problem, problem=True)
        elif focused.is_contradiction:
            self.edit_merged_text(focused)
        elif (draft := _proposed_draft(focused)) is not None:
            self._open(focused, "approve", draft)
        else:
            in_worker(self._section, partial(self._open_form, focused), "decide")

    def edit_merged_text(self, focused: FocusedItem) -> None:
        """Write the one text that holds for both sides of a contradiction, beginning with both texts."""
        sides = focused.contradiction
        if sides is None or sides.older is None or sides.newer is None:
            message = "One of the two memories is gone, so there is nothing to merge."
            self._section.memento.show_status(message, problem=True)
            return
        item = focused.item
        suggested = "" if isinstance(item, ContradictionWithSides) else str(item.proposal.payload.get("content", ""))
        from memento_tui.maintenance.duplicates import merged_content  # noqa: PLC0415 - when a text is merged

        text = suggested or merged_content(sides.older.content, sides.newer.content)
        self._open(focused, "merged", TextDraft(None, None, text))

    def reopen(self, kept: UnsavedText) -> None:
        """Open the editor on a text that was left behind."""
        workspace = self._section.memento.workspace
        rows = workspace.inbox.rows([kept.record_id])
        if not rows:
            raise NotAllowed("What this text belongs to waits no more.", "Copy what you need of it, then drop it.")
        focused = read_focused_item(workspace, rows[0].kind, kept.record_id)
        now = TextDraft(kept.title, kept.tags, kept.content)
        if focused.is_contradiction:
            self._open(focused, "merged", TextDraft(None, None, ""), now)
        elif (draft := _proposed_draft(focused)) is not None:
            self._open(focused, "approve", draft, now)

    def _open(self, focused: FocusedItem, verb: DecisionVerb, before: TextDraft, now: TextDraft | None = None) -> None:
        edit = _OpenEdit(focused, verb)
        paths = self._section.memento.workspace.paths
        unsaved = UnsavedTextFile(paths, "proposal", focused.name, focused.version)

        async def save(before: TextDraft, draft: TextDraft) -> bool:
            return await self._save(edit, before, draft)

        self._section.side_pane.open(_EDITOR_HEADINGS[verb], before, unsaved, save, now=now)

    async def _save(self, edit: _OpenEdit, before: TextDraft, draft: TextDraft) -> bool:
        """Approve with the person's changes, or settle the contradiction with the text written."""
        app = self._section.memento
        despite = await accepted_risk(self._section, edit.focused.name)
        if despite is None:
            return False

        def write(base: FocusedItem) -> None:
            if edit.verb == "merged":
                self._decide(base, "merged", despite=despite, content=draft.content)
            else:
                self._decide(base, edit.verb, despite=despite, **(_proposed_draft(base) or before).changes_to(draft))

        def read_current() -> tuple[FocusedItem, CurrentText] | None:
            edit.focused = read_focused_item(app.workspace, edit.focused.kind, edit.focused.name)
            theirs = _proposed_draft(edit.focused)
            if edit.verb == "merged" or theirs is None:
                return None
            return edit.focused, CurrentText(theirs, "Somebody")

        try:
            outcome = await save_with_conflicts(
                self._section.app, edit.focused, draft, write=write, read_current=read_current
            )
        except Conflict as conflict:
            app.show_status(f"{conflict.message} ^s again settles it as it stands now.", problem=True)
            return False
        except MementoError as error:
            app.show_status(str(error), problem=True)
            return False
        if outcome == "theirs":
            app.show_status("Yours was not saved; nothing is decided.")
        return outcome != "edit"

    # Forms

    async def _open_form(self, focused: FocusedItem) -> None:
        from memento_tui.tui.screens.form import FormScreen  # noqa: PLC0415 - seldom needed

        if isinstance(focused.item, ContradictionWithSides):
            return
        despite = await accepted_risk(self._section, focused.name)
        if despite is None:
            return
        fields, before = _form_fields(focused.item), editable_texts(focused.item)

        def save(values: Mapping[str, str]) -> None:
            self._decide(focused, "approve", despite=despite, **changes_between(before, values))

        self._push(FormScreen(Content("Edit, then approve: ^s saves and approves"), fields, save))

    def ask_contexts(self, focused: FocusedItem) -> None:
        """Ask when each side of a contradiction applies, and let both hold."""
        from memento_tui.tui.screens.form import FormScreen  # noqa: PLC0415 - seldom needed
        from memento_tui.tui.widgets.text_draft import Field  # noqa: PLC0415 - as above

        sides = focused.contradiction
        older, newer = (None, None) if sides is None else (sides.older, sides.newer)
        hint = "such as: on Linux, before 2.0, in the staging project"
        fields = [
            Field("older_context", "The older one applies", older.validity_context if older else "", hint),
            Field("newer_context", "The newer one applies", newer.validity_context if newer else "", hint),
        ]

        def save(values: Mapping[str, str]) -> None:
            if not all(text.strip() for text in values.values()):
                raise InvalidInput("Two that both hold need a case each.", "Say of each when it applies.")
            self._decide(focused, "both_valid", **values)

        self._push(FormScreen(Content("Both hold, each in its own case"), fields, save))

    def _push(self, form: Any) -> None:  # noqa: ANN401 - a screen that is imported when it is needed
        app = self._section.memento
        self._section.app.push_screen(form, lambda saved: app.refresh_after_write() if saved else None)


def why_not_editable(focused: FocusedItem) -> str:
    """Return why an item cannot be edited; an empty text where it can."""
    item = focused.item
    if isinstance(item, ContradictionWithSides):
        return "m writes one text for both; n, o, b or x settle it without one."
    proposal = item.proposal
    if proposal.action == "delete":
        return "A deletion cannot be edited; approve it or reject it."
    if focused.is_contradiction and not proposal.payload.get("content"):
        return "This answer has no text to edit; a takes it, n, o, b or m give another."
    if proposal.target != "contradiction" and proposed_record(item) is None:
        return "What is proposed breaks a rule, so it cannot be edited; x rejects it."
    return ""


def _proposed_draft(focused: FocusedItem) -> TextDraft | None:
    """Return the text that an editor begins with, or ``None`` for a record that is edited in a form."""
    after = None if isinstance(focused.item, ContradictionWithSides) else proposed_record(focused.item)
    if isinstance(after, Memory):
        return TextDraft(after.title, after.tags, after.content)
    return TextDraft(None, None, after.content) if isinstance(after, Crystal) else None


def _form_fields(item: PendingProposal) -> list[Field]:
    from memento_tui.tui.widgets.text_draft import Field  # noqa: PLC0415 - seldom needed

    texts = editable_texts(item)
    return [
        Field(name, label, texts[name], hint, multiline=name == "content")
        for name, label, hint in _FORM_FIELDS[item.proposal.target]
    ]
