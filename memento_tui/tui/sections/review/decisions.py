"""Decide in the review: one item in focus or all that are marked, edited first where the person wants that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import work
from textual.binding import BindingType
from textual.content import Content

from memento_tui.api.drafts import UnsavedText, UnsavedTextFile
from memento_tui.api.inbox import MAX_BULK_EDIT_ITEMS, Decision, DecisionOutcome, DecisionVerb, InboxItem
from memento_tui.api.review import (
    ContradictionWithSides,
    PendingProposal,
    changes_between,
    editable_texts,
    proposed_record,
)
from memento_tui.errors import Conflict, InvalidInput, MementoError, NotAllowed
from memento_tui.model import Crystal, Memory
from memento_tui.tui.display import cells
from memento_tui.tui.screens.dialogs import AskLine
from memento_tui.tui.section import in_thread
from memento_tui.tui.sections.list_section import EditingSection
from memento_tui.tui.sections.review.evidence import FocusedItem, read_focused_item
from memento_tui.tui.widgets.text_draft import TextDraft

__all__ = ["ReviewDecisions"]

if TYPE_CHECKING:
    from memento_tui.tui.screens.form import Field


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
_NEEDS_TEXT = {"review.both", "review.merge"}
_SIDE_ANSWERS = {"review.newer", "review.older"}
_DECISION_COMMANDS = _SIDE_ANSWERS | {"review.approve", "review.reject", "review.later"}
"""Commands that take words for one contradiction; that answer several; that decide, one or all that are marked."""

_EDITOR_HEADINGS = {
    "approve": "Edit, then approve: ^s saves and approves",
    "merged": "The one text that holds: ^s saves it and settles the contradiction",
}


class ReviewEditing(EditingSection[InboxItem]):
    """Edits what is in focus. A subclass decides (`carry_out`)."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        super().__init__()
        self.focused: FocusedItem | None = None
        """What is in focus, as it is shown."""
        self._edited: tuple[FocusedItem, DecisionVerb] | None = None
        """What the editor is open on, and the decision that saving makes."""

    def carry_out(self, focus: FocusedItem, verb: DecisionVerb, *, reason: str = "", **changes: Any) -> None:  # noqa: ANN401 - fields
        """Decide about what is in focus, at the version that is looked at, and say so. Raises `MementoError`."""
        raise NotImplementedError

    def action_edit(self) -> None:
        """Edit what is proposed; saving approves it."""
        if self.query("Editor"):
            self.focus_content()
            return
        if not self.check_can_act() or self.focused is None:
            return
        focus = self.focused
        if problem := _why_not_editable(focus):
            self.memento.show_status(problem, problem=True)
        elif focus.is_contradiction:
            self.edit_merged_text(focus)
        elif (draft := _proposed_draft(focus)) is not None:
            self._open(focus, "approve", draft)
        else:
            self._open_form(focus)

    def is_available(self, command: str) -> bool:
        """Tell whether a command can decide what is in focus, or what is marked: each kind has answers of its own."""
        focus, marked = self.focused, bool(self.rows.marks)
        if command in _NEEDS_TEXT:
            sides = None if focus is None or marked else focus.dispute
            both = sides is not None and sides.older is not None and sides.newer is not None
            return both if command == "review.merge" else sides is not None
        if marked and command in _DECISION_COMMANDS:
            return True
        if command == "review.edit":
            return focus is not None and not _why_not_editable(focus)
        if command in _SIDE_ANSWERS:
            return focus is not None and focus.dispute is not None
        if command == "review.approve":
            return focus is not None and focus.record != "contradiction"
        return focus is not None or command not in _DECISION_COMMANDS

    def edit_merged_text(self, focus: FocusedItem) -> None:
        """Write the one text that holds for both sides of a contradiction, beginning with what both say."""
        if focus.dispute is None or focus.dispute.older is None or focus.dispute.newer is None:
            self.memento.show_status("One of the two memories is gone, so there is nothing to merge.", problem=True)
            return
        suggested = (
            ""
            if isinstance(focus.item, ContradictionWithSides)
            else str(focus.item.proposal.payload.get("content", ""))
        )
        from memento_tui.maintenance.duplicates import merged_content  # noqa: PLC0415 - when a text is merged

        text = suggested or merged_content(focus.dispute.older.content, focus.dispute.newer.content)
        self._open(focus, "merged", TextDraft(None, None, text))

    def _open(self, focus: FocusedItem, verb: DecisionVerb, before: TextDraft, now: TextDraft | None = None) -> None:
        self._edited = (focus, verb)
        unsaved = UnsavedTextFile(self.memento.workspace.paths, "proposal", focus.name, focus.version)
        self.open_editor(_EDITOR_HEADINGS[verb], before, unsaved, now)

    async def store(self, before: TextDraft, draft: TextDraft) -> bool:
        """Approve with the person's changes, or settle the contradiction with the text written."""
        if self._edited is None:
            return True
        focus, verb = self._edited
        stored = before if verb == "merged" else _proposed_draft(focus) or before
        changes = {"content": draft.content} if verb == "merged" else stored.changes_to(draft)
        try:
            self.carry_out(focus, verb, **changes)
        except Conflict as conflict:
            return await self._settle(focus, verb, conflict, draft)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return False
        return True

    async def _settle(self, focus: FocusedItem, verb: DecisionVerb, conflict: Conflict, draft: TextDraft) -> bool:
        """Let the person choose where what is edited, or what it is about, changed meanwhile."""
        try:
            fresh = read_focused_item(self.memento.workspace, focus.kind, focus.name)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return False
        self._edited = (fresh, verb)
        theirs = _proposed_draft(fresh)
        if verb == "merged" or theirs is None:
            self.memento.show_status(f"{conflict.message} ^s again settles it as it stands now.", problem=True)
            return False
        choice = await self.choose(theirs, draft, "Somebody")
        if choice == "mine":
            return await self.store(theirs, draft)
        if choice == "theirs":
            self.memento.show_status("Yours was not saved; nothing is decided.")
            return True
        return False

    def reopen_unsaved(self, kept: UnsavedText) -> None:
        """Open the editor on a text that was left behind."""
        waiting = self.memento.workspace.waiting
        found = waiting.rows([kept.record_id])
        if not found:
            raise NotAllowed("What this text belongs to waits no more.", "Copy what you need of it, then drop it.")
        focus = read_focused_item(self.memento.workspace, found[0].kind, kept.record_id)
        now = TextDraft(kept.title, kept.tags, kept.content)
        if focus.is_contradiction:
            self._open(focus, "merged", TextDraft(None, None, ""), now)
        elif (draft := _proposed_draft(focus)) is not None:
            self._open(focus, "approve", draft, now)

    # Forms

    def _open_form(self, focus: FocusedItem) -> None:
        from memento_tui.tui.screens.form import FormScreen  # noqa: PLC0415 - seldom needed

        if isinstance(focus.item, ContradictionWithSides):
            return
        fields, before = _form_fields(focus.item), editable_texts(focus.item)

        def save(values: Mapping[str, str]) -> None:
            changes = changes_between(before, values)
            self.carry_out(focus, "approve", **changes)

        self._push(FormScreen(Content("Edit, then approve: ^s saves and approves"), fields, save))

    def _push(self, form: Any) -> None:  # noqa: ANN401 - a screen that is imported when it is needed
        self.app.push_screen(form, lambda saved: self.memento.refresh_after_write() if saved else None)

    async def ask_contexts(self, focus: FocusedItem) -> None:
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


def _why_not_editable(focus: FocusedItem) -> str:
    """Return why there is nothing to edit, or nothing where there is."""
    item = focus.item
    if isinstance(item, ContradictionWithSides):
        return "m writes one text for both; n, o, b or x settle it without one."
    proposal = item.proposal
    if proposal.action == "delete":
        return "A deletion cannot be edited; approve it or reject it."
    if focus.is_contradiction and not proposal.payload.get("content"):
        return "This answer has no text to edit; a takes it, n, o, b or m give another."
    if proposal.target != "contradiction" and proposed_record(item) is None:
        return "What is proposed breaks a rule, so it cannot be edited; x rejects it."
    return ""


def _proposed_draft(focus: FocusedItem) -> TextDraft | None:
    """Return what an editor begins with, or ``None`` for a record that is edited in a form."""
    after = None if isinstance(focus.item, ContradictionWithSides) else proposed_record(focus.item)
    if isinstance(after, Memory):
        return TextDraft(after.title, after.tags, after.content)
    return TextDraft(None, None, after.content) if isinstance(after, Crystal) else None


def _form_fields(item: PendingProposal) -> list[Field]:
    from memento_tui.tui.screens.form import Field  # noqa: PLC0415 - seldom needed

    texts = editable_texts(item)
    return [
        Field(name, label, texts[name], hint, multiline=name == "content")
        for name, label, hint in _FORM_FIELDS[item.proposal.target]
    ]


_DECISION_WORDS: Mapping[str, tuple[str, str]] = {
    "approve": ("Approve", "Approved"),
    "reject": ("Reject", "Rejected"),
    "later": ("Put off", "Put off for 7 days"),
    "newer_supersedes": ("Let the newer hold in", "The newer holds"),
    "older_stands": ("Let the older hold in", "The older holds"),
    "both_valid": ("Let both hold in", "Both hold"),
    "merged": ("Write one text for", "One text holds"),
    "not_a_contradiction": ("Call no contradiction", "No contradiction"),
}
"""Each decision as it is asked about and as it is told."""

_CANNOT_APPROVE_CONTRADICTION = "A contradiction has no plain yes; n, o, b, m or x settle it."


def _why_not_applicable(verb: DecisionVerb, kinds: set[str]) -> str:
    """Return why a decision answers none of some kinds of things that wait; nothing where it answers any."""
    if verb == "approve" and kinds == {"contradiction"}:
        return _CANNOT_APPROVE_CONTRADICTION
    if verb in ("newer_supersedes", "older_stands") and kinds and kinds.isdisjoint({"contradiction", "suggestion"}):
        return "None of the marked is a contradiction: a approves them, x rejects them."
    return ""


class ReviewDecisions(ReviewEditing):
    """The decisions. A subclass says what is in focus."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[str, int] = {}
        """The version of each marked thing as it was on the screen."""
        self._deciding = False

    @property
    def kind(self) -> str:
        """The kind that the list shows; empty for all."""
        raise NotImplementedError

    def check_can_act(self) -> bool:
        """Tell whether a key may decide; if not, say why."""
        if self._deciding:
            self.memento.show_status("The last decision is still being carried out.", problem=True)
            return False
        if self.rows.total == 0 and not self.rows.marks:
            self.memento.show_status("Nothing waits for a decision.", problem=True)
            return False
        return super().check_can_act()

    def marks_changed(self) -> None:
        """Keep for each mark the version that was on the screen: what changes afterwards is not decided."""
        marks = self.rows.marks
        new = sorted(marks - self._seen.keys())
        fresh = {row.id: row.version for row in self.memento.workspace.waiting.rows(new)}
        fresh |= {row.id: row.version for row in self.rows.at_hand(new)}
        self._seen = {name: version for name, version in {**self._seen, **fresh}.items() if name in marks}
        self.memento.focus_changed()

    def _focus(self) -> FocusedItem | None:
        if not self.check_can_act():
            return None
        if self.focused is None:
            self.memento.show_status("This is gone by now; the list is being read again.", problem=True)
            self.memento.refresh_after_write()
        return self.focused

    # One

    @work(group="decide")
    async def action_approve(self) -> None:
        """Approve what is in focus, or the marked."""
        if self.rows.marks:
            await self._decide_marked("approve")
            return
        focus = self._focus()
        if focus is None:
            return
        if focus.record == "contradiction":
            self.memento.show_status(_CANNOT_APPROVE_CONTRADICTION, problem=True)
            return
        self.decide_focused(focus, "approve")

    @work(group="decide")
    async def action_reject(self) -> None:
        """Ask why, and reject what is in focus or the marked; a contradiction is none."""
        marked = len(self.rows.marks)
        focus = None if marked else self._focus()
        if not marked and focus is None:
            return
        if focus is not None and focus.record == "contradiction":
            self.decide_focused(focus, "not_a_contradiction")
            return
        if marked and not self.check_can_act():
            return
        reason = await self.app.push_screen_wait(
            AskLine(
                f"Why reject {marked:,} marked?" if marked else "Why reject it?",
                hint="The agent can read it. Enter goes on, Escape leaves"
                if marked
                else "The agent can read it. Enter rejects, Escape leaves",
            )
        )
        if reason is None:
            return
        if focus is not None:
            self.decide_focused(focus, "reject", reason=reason)
        else:
            await self._decide_marked("reject", reason)

    @work(group="decide")
    async def action_later(self) -> None:
        """Put what is in focus, or the marked, off for a week."""
        if self.rows.marks:
            await self._decide_marked("later")
        elif (focus := self._focus()) is not None:
            self.decide_focused(focus, "later")

    @work(group="decide")
    async def action_resolve(self, resolution: str) -> None:
        """Settle the contradiction in focus, or the marked ones where no words of the person's own are needed."""
        verb = cast("DecisionVerb", resolution)
        own_words = verb in ("both_valid", "merged")
        if self.rows.marks:
            if own_words:
                told = "That takes words for each contradiction: settle them one by one; u unmarks."
                self.memento.show_status(told, problem=True)
            else:
                await self._decide_marked(verb)
            return
        focus = self._focus()
        if focus is None:
            return
        if focus.dispute is None:
            self.memento.show_status("This is no contradiction: a approves it, x rejects it.", problem=True)
        elif verb == "both_valid":
            await self.ask_contexts(focus)
        elif verb == "merged":
            self.edit_merged_text(focus)
        else:
            self.decide_focused(focus, verb)

    def decide_focused(self, focus: FocusedItem, verb: DecisionVerb, *, reason: str = "", **changes: Any) -> bool:  # noqa: ANN401 - fields
        """Decide about what is in focus and go on to the next; where that fails, say why."""
        try:
            self.carry_out(focus, verb, reason=reason, **changes)
        except MementoError as error:
            # A refused decision may have been written down: its proposal then needs another look.
            self.memento.refresh_after_write()
            self.memento.show_status(str(error), problem=True)
            return False
        self.memento.refresh_after_write()
        return True

    def carry_out(self, focus: FocusedItem, verb: DecisionVerb, *, reason: str = "", **changes: Any) -> None:  # noqa: ANN401 - fields
        """Decide about what is in focus, at the version that is looked at, and say so. Raises `MementoError`."""
        decision = Decision(id=focus.name, verb=verb, seen=focus.version, reason=reason, changes=changes)
        self.memento.workspace.waiting.decide_one(decision)
        self.acted()
        done = "Edited and approved" if verb == "approve" and changes else _DECISION_WORDS[verb][1]
        row = self.rows.current
        about = f": {cells(row.headline, 40).rstrip(' .')}" if row is not None and row.id == focus.name else ""
        self.memento.show_status(f"{done}{about}. z undoes.")

    # Many

    @work(group="decide")
    async def action_edit_outside(self) -> None:
        """Open the marked, or else what the list holds, in the person's editor, and do what the edited text says."""
        if not self.check_can_act():
            return
        from memento_tui.tui.sections.review.bulk_edit import edit_decisions  # noqa: PLC0415 - seldom needed

        workspace = self.memento.workspace
        marks = sorted(self.rows.marks)
        rows = (
            workspace.waiting.rows(marks) if marks else workspace.waiting.list(self.kind, limit=MAX_BULK_EDIT_ITEMS)[0]
        )
        outcome = await edit_decisions(self.memento, rows)
        if outcome is None:
            return
        kept, wanted = outcome
        failed = await self.decide_many(wanted.decisions, "Decided")
        self.rows.clear_marks()
        if failed or wanted.unclear:
            self.memento.show_status(f"Not all of it was decided; your text is in {kept.path}.", problem=True)
        else:
            kept.discard()

    async def _decide_marked(self, verb: DecisionVerb, reason: str = "") -> None:
        if not self.check_can_act():
            return
        # What is decided is what was marked, as it was when it was marked.
        marks = self.rows.marks
        rows = self.memento.workspace.waiting.rows(sorted(marks))
        waiting = [row.id for row in rows]
        names = [*waiting, *sorted(marks.difference(waiting))]
        if problem := _why_not_applicable(verb, {row.kind for row in rows}):
            self.memento.show_status(problem, problem=True)
            return
        decisions = [Decision(id=name, verb=verb, seen=self._seen.get(name, 0), reason=reason) for name in names]
        doing, done = _DECISION_WORDS[verb]
        if not await self._is_sure(doing, names):
            return
        await self.decide_many(decisions, done)
        self.rows.clear_marks()

    async def decide_many(self, decisions: Sequence[Decision], done: str) -> int:
        """Carry several decisions out on a thread, tell the outcome of each that failed, and return how many did."""
        waiting = self.memento.workspace.waiting
        headlines = {row.id: row.headline for row in waiting.rows([decision.id for decision in decisions])}

        def progress(number: int, total: int) -> None:
            if number % 50 == 49:  # noqa: PLR2004 - often enough to be seen, seldom enough to cost nothing
                self.app.call_from_thread(self.memento.show_status, f"{number:,} of {total:,} decided ...")

        self._deciding = True
        try:
            outcomes = await in_thread(self, waiting.decide, decisions, progress=progress)
        finally:
            self._deciding = False
        # Only then the list moves on because of this decision.
        if self.focused is not None and self.focused.name in {o.id for o in outcomes if o.state != "failed"}:
            self.acted()
        self.memento.refresh_after_write()
        self._tell_outcomes(outcomes, done, headlines)
        return sum(outcome.state == "failed" for outcome in outcomes)

    def _tell_outcomes(self, outcomes: Sequence[DecisionOutcome], done: str, headlines: Mapping[str, str]) -> None:
        failed = [outcome for outcome in outcomes if outcome.state == "failed"]
        worked = len(outcomes) - len(failed)
        undo = f"z takes {'all of it' if worked > 1 else 'it'} back." if worked else ""
        if not failed:
            self.memento.show_status(f"{done}: {worked:,}. {undo}")
            return
        told = f"{done}: {worked:,}." if worked else "Nothing was decided."
        self.memento.show_status(f"{told} {len(failed):,} failed. {undo}".rstrip(), problem=True)
        from memento_tui.tui.screens.write_problems import OutcomesScreen  # noqa: PLC0415 - seldom needed

        title = Content(f"{worked:,} decided, {len(failed):,} could not be")
        listed = [(headlines.get(outcome.id, outcome.id), outcome.error) for outcome in failed]
        self.app.push_screen(OutcomesScreen(title, listed, undo))
