"""Writing in the review: editing what is proposed, then approving it; and the words that a resolution needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType
from textual.content import Content

from memento_tui.errors import Conflict, InvalidInput, MementoError, NotAllowed
from memento_tui.records import Crystal, Memory
from memento_tui.tui.sections.editing_section import EditingSection
from memento_tui.tui.sections.review.focus import Focus, focus_on
from memento_tui.tui.widgets.draft import Draft
from memento_tui.workspace.contradictions import Dispute
from memento_tui.workspace.deciding import Verb
from memento_tui.workspace.proposed import changes_between, proposed, written
from memento_tui.workspace.queue import Pending
from memento_tui.workspace.unsaved import KeptText, Unsaved
from memento_tui.workspace.waiting import Waiting

if TYPE_CHECKING:
    from memento_tui.tui.screens.form import Field

__all__ = ["ChangingSection"]

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
_OWN_WORDS = {"review.both", "review.merge"}
_ANSWERS = {"review.newer", "review.older"}
_DECIDING = _ANSWERS | {"review.approve", "review.reject", "review.later"}
"""Commands that take words for one contradiction; that answer several; that decide, one or all that are marked."""

_HEADINGS = {
    "approve": "Edit, then approve: ^s saves and approves",
    "merged": "The one text that holds: ^s saves it and settles the contradiction",
}


class ChangingSection(EditingSection[Waiting]):
    """Edits what is in focus. A subclass decides (`carry_out`)."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        super().__init__()
        self.focused: Focus | None = None
        """What is in focus, as it is shown."""
        self._edited: tuple[Focus, Verb] | None = None
        """What the editor is open on, and the decision that saving makes."""

    def carry_out(self, focus: Focus, verb: Verb, *, reason: str = "", **changes: Any) -> None:  # noqa: ANN401 - fields
        """Decide about what is in focus, at the version that is looked at, and say so. Raises `MementoError`."""
        raise NotImplementedError

    def action_edit(self) -> None:
        """Edit what is proposed; saving approves it."""
        if self.query("Editor"):
            self.enter()
            return
        if not self.may_act() or self.focused is None:
            return
        focus = self.focused
        if problem := _why_not(focus):
            self.memento.say(problem, problem=True)
        elif focus.is_contradiction:
            self.edit_merged(focus)
        elif (draft := _draft_of(focus)) is not None:
            self._open(focus, "approve", draft)
        else:
            self._open_form(focus)

    def can(self, command: str) -> bool:
        """Tell whether a command can decide what is in focus, or what is marked: each kind has answers of its own."""
        focus, marked = self.focused, bool(self.rows.marks)
        if command in _OWN_WORDS:
            sides = None if focus is None or marked else focus.dispute
            both = sides is not None and sides.older is not None and sides.newer is not None
            return both if command == "review.merge" else sides is not None
        if marked and command in _DECIDING:
            return True
        if command == "review.edit":
            return focus is not None and not _why_not(focus)
        if command in _ANSWERS:
            return focus is not None and focus.dispute is not None
        if command == "review.approve":
            return focus is not None and focus.record != "contradiction"
        return focus is not None or command not in _DECIDING

    def edit_merged(self, focus: Focus) -> None:
        """Write the one text that holds for both sides of a contradiction, beginning with what both say."""
        if focus.dispute is None or focus.dispute.older is None or focus.dispute.newer is None:
            self.memento.say("One of the two memories is gone, so there is nothing to merge.", problem=True)
            return
        suggested = "" if isinstance(focus.item, Dispute) else str(focus.item.proposal.payload.get("content", ""))
        from memento_tui.upkeep.duplicates import merged_content  # noqa: PLC0415 - when a text is merged

        text = suggested or merged_content(focus.dispute.older.content, focus.dispute.newer.content)
        self._open(focus, "merged", Draft(None, None, text))

    def _open(self, focus: Focus, verb: Verb, before: Draft, now: Draft | None = None) -> None:
        self._edited = (focus, verb)
        unsaved = Unsaved(self.memento.workspace.paths, "proposal", focus.name, focus.version)
        self.open_editor(_HEADINGS[verb], before, unsaved, now)

    async def store(self, before: Draft, draft: Draft) -> bool:
        """Approve with the person's changes, or settle the contradiction with the text written."""
        if self._edited is None:
            return True
        focus, verb = self._edited
        stored = before if verb == "merged" else _draft_of(focus) or before
        changes = {"content": draft.content} if verb == "merged" else stored.changes_to(draft)
        try:
            self.carry_out(focus, verb, **changes)
        except Conflict as conflict:
            return await self._settle(focus, verb, conflict, draft)
        except MementoError as error:
            self.memento.say(str(error), problem=True)
            return False
        return True

    async def _settle(self, focus: Focus, verb: Verb, conflict: Conflict, draft: Draft) -> bool:
        """Let the person choose where what is edited, or what it is about, changed meanwhile."""
        try:
            fresh = focus_on(self.memento.workspace, focus.kind, focus.name)
        except MementoError as error:
            self.memento.say(str(error), problem=True)
            return False
        self._edited = (fresh, verb)
        theirs = _draft_of(fresh)
        if verb == "merged" or theirs is None:
            self.memento.say(f"{conflict.message} ^s again settles it as it stands now.", problem=True)
            return False
        choice = await self.choose(theirs, draft, "Somebody")
        if choice == "mine":
            return await self.store(theirs, draft)
        if choice == "theirs":
            self.memento.say("Yours was not saved; nothing is decided.")
            return True
        return False

    def resume(self, kept: KeptText) -> None:
        """Open the editor on a text that was left behind."""
        waiting = self.memento.workspace.waiting
        found = waiting.rows([kept.record_id])
        if not found:
            raise NotAllowed("What this text belongs to waits no more.", "Copy what you need of it, then drop it.")
        focus = focus_on(self.memento.workspace, found[0].kind, kept.record_id)
        now = Draft(kept.title, kept.tags, kept.content)
        if focus.is_contradiction:
            self._open(focus, "merged", Draft(None, None, ""), now)
        elif (draft := _draft_of(focus)) is not None:
            self._open(focus, "approve", draft, now)

    # Forms

    def _open_form(self, focus: Focus) -> None:
        from memento_tui.tui.screens.form import FormScreen  # noqa: PLC0415 - seldom needed

        if isinstance(focus.item, Dispute):
            return
        fields, before = _fields_of(focus.item), written(focus.item)

        def save(values: Mapping[str, str]) -> None:
            changes = changes_between(before, values)
            self.carry_out(focus, "approve", **changes)

        self._push(FormScreen(Content("Edit, then approve: ^s saves and approves"), fields, save))

    def _push(self, form: Any) -> None:  # noqa: ANN401 - a screen that is imported when it is needed
        self.app.push_screen(form, lambda saved: self.memento.wrote() if saved else None)

    async def ask_contexts(self, focus: Focus) -> None:
        """Ask when each side of a contradiction applies, and let both hold."""
        from memento_tui.tui.screens.form import Field, FormScreen  # noqa: PLC0415 - seldom needed

        dispute = focus.dispute
        older, newer = (None, None) if dispute is None else (dispute.older, dispute.newer)
        hint = "such as: on Linux, before 2.0, in the staging project"
        fields = [
            Field("older_context", "The older one applies", older.validity_context if older else "", hint),
            Field("newer_context", "The newer one applies", newer.validity_context if newer else "", hint),
        ]

        def save(values: Mapping[str, str]) -> None:
            if not all(text.strip() for text in values.values()):
                raise InvalidInput("Two that both hold need a case each.", "Say of each when it applies.")
            self.carry_out(focus, "both_valid", **values)

        self._push(FormScreen(Content("Both hold, each in its own case"), fields, save))


def _why_not(focus: Focus) -> str:
    """Return why there is nothing to edit, or nothing where there is."""
    item = focus.item
    if isinstance(item, Dispute):
        return "m writes one text for both; n, o, b or x settle it without one."
    proposal = item.proposal
    if proposal.action == "delete":
        return "A deletion cannot be edited; approve it or reject it."
    if focus.is_contradiction and not proposal.payload.get("content"):
        return "This answer has no text to edit; a takes it, n, o, b or m give another."
    if proposal.target != "contradiction" and proposed(item) is None:
        return "What is proposed breaks a rule, so it cannot be edited; x rejects it."
    return ""


def _draft_of(focus: Focus) -> Draft | None:
    """Return what an editor begins with, or ``None`` for a record that is edited in a form."""
    after = None if isinstance(focus.item, Dispute) else proposed(focus.item)
    if isinstance(after, Memory):
        return Draft(after.title, after.tags, after.content)
    return Draft(None, None, after.content) if isinstance(after, Crystal) else None


def _fields_of(item: Pending) -> list[Field]:
    from memento_tui.tui.screens.form import Field  # noqa: PLC0415 - seldom needed

    texts = written(item)
    return [
        Field(name, label, texts[name], hint, multiline=name == "content")
        for name, label, hint in _FORM_FIELDS[item.proposal.target]
    ]
