"""The review queue: one proposal in focus, its evidence beside it, one key decides and goes on."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, ClassVar, Literal

import msgspec
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memento_tui.errors import MementoError
from memento_tui.records import Memory
from memento_tui.records.when import utc_now
from memento_tui.review.trusting import edited
from memento_tui.tui.commands import bindings
from memento_tui.tui.display import ago, literal
from memento_tui.tui.prose import difference, memory_body, memory_facts, memory_title
from memento_tui.tui.rows import proposal_line
from memento_tui.tui.screens.ask import AskLine, Confirm
from memento_tui.tui.sections.section import Section
from memento_tui.tui.sources import QueueRow, QueueSource
from memento_tui.tui.widgets.draft import Draft, EditorLeft, EditorSaved
from memento_tui.tui.widgets.record_list import RecordList
from memento_tui.workspace.queue import Pending

__all__ = ["ReviewSection"]

_DEAF_SECONDS = 0.5
"""How long decisions are refused after another item came under the cursor by itself."""

_QUESTIONS = {
    "create": "A new memory",
    "edit": "A change",
    "delete": "A deletion",
    "merge": "One memory of two near duplicates",
}


class ReviewSection(Section):
    """Decide what stays."""

    PLACE = "review"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("review"),
        Binding("J", "scroll_evidence(3)", show=False),
        Binding("K", "scroll_evidence(-3)", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="review")
        self._deaf_until = 0.0
        self._shown_id: str | None = None
        self._acted = False
        self._seen: dict[str, int] = {}

    def compose(self) -> ComposeResult:
        """Lay out the section."""
        yield Static(id="waiting")
        with Container(id="queue-panes"):
            with Vertical(classes="rows"):
                yield RecordList(proposal_line, id="queue")
                yield Static(classes="nothing")
            with Container(id="queue-side"), VerticalScroll(id="evidence", can_focus=False):
                yield Static(id="evidence-head")
                yield Static(id="evidence-body")

    @property
    def rows(self) -> RecordList[QueueRow]:
        """The list."""
        found: RecordList[QueueRow] = self.query_one("#queue", RecordList)
        return found

    def on_mount(self) -> None:
        """Show the queue."""
        source = QueueSource(self.memento.workspace.review)
        rows = source.page(0, 100)
        self.rows.set_rows(rows, source.total(), source)
        self._tell()

    def enter(self) -> None:
        """Go to the queue, or to the editor if one is open."""
        editors = self.query("Editor")
        self.screen.set_focus(editors.first().query_one("#editor-content") if editors else self.rows)

    def follow(self) -> None:
        """Read the queue again, keeping the place."""
        source = QueueSource(self.memento.workspace.review)
        if self.rows.total == 0:
            self.rows.set_rows(source.page(0, 100), source.total(), source)
            self._tell()
        else:
            self.rows.refresh_rows(source)

    @on(RecordList.Refreshed)
    def _refreshed(self) -> None:
        self._tell()

    def _tell(self) -> None:
        total = self.rows.total
        self.query_one(".rows").set_class(total == 0, "-empty")
        waiting = f"{total:,} wait for you" if total != 1 else "1 waits for you"
        if self.rows.marks:
            waiting += f"   {len(self.rows.marks):,} marked"
        self.query_one("#waiting", Static).update(Content(waiting if total else "Nothing waits for you"))
        self.query_one(".nothing", Static).update(
            Content(
                "All decided.\n\nWhat an agent proposes appears here.\n1 goes to the memories, z undoes a decision."
            )
        )
        self.memento.count(review=total)

    @on(RecordList.MarksChanged)
    def _marked(self) -> None:
        # What is decided later is what was marked: each mark keeps the version that was on the screen.
        marks = self.rows.marks
        fresh = self.memento.workspace.store.versions("proposal", sorted(marks - self._seen.keys()))
        self._seen = {mark: version for mark, version in {**self._seen, **fresh}.items() if mark in marks}
        self._tell()

    @on(RecordList.Highlighted)
    def _moved(self, event: RecordList.Highlighted[QueueRow]) -> None:
        row = event.row
        arrived_by_itself = row is not None and self._shown_id is not None and row.id != self._shown_id
        moved_by_person = self._acted or self.memento.key_was_pressed_since(self._deaf_until)
        if arrived_by_itself and not moved_by_person:
            self._deaf_until = monotonic() + _DEAF_SECONDS
        self._acted = False
        self._shown_id = row.id if row else None
        self._show(row.pending if row else None)

    def _show(self, pending: Pending | None) -> None:
        head, body = self.query_one("#evidence-head", Static), self.query_one("#evidence-body", Static)
        if pending is None:
            head.update("")
            body.update("")
            return
        head.update(_heading(pending))
        body.update(_evidence(pending))
        self.query_one("#evidence").scroll_home(animate=False)

    def action_scroll_evidence(self, lines: int) -> None:
        """Scroll the evidence."""
        self.query_one("#evidence").scroll_relative(y=lines, animate=False)

    # Deciding

    def _ready(self) -> bool:
        """Tell whether a key may decide: not just after another item came under the cursor by itself."""
        if self.rows.current is None:
            self.memento.say("Nothing waits for a decision.", problem=True)
            return False
        if monotonic() < self._deaf_until:
            self.memento.say("This item has just come up; the key was ignored. Press it again.", problem=True)
            return False
        return True

    def _decide(self, verb: str, act: Callable[[], Any]) -> None:
        self._acted = True
        self.do(lambda: (act(), f"{verb}. z undoes.")[1])

    @work(exclusive=True, group="decide")
    async def action_approve(self) -> None:
        """Approve the item, or the marked ones."""
        if not self._ready():
            return
        if self.rows.marks:
            await self._decide_marked("approve")
            return
        pending, queue = self._pending(), self.memento.workspace.review
        seen = pending.proposal.version
        self._decide("Approved", lambda: queue.approve(pending.proposal.id, seen=seen))

    @work(exclusive=True, group="decide")
    async def action_reject(self) -> None:
        """Ask why, and reject the item or the marked ones."""
        if not self._ready():
            return
        pending, queue = self._pending(), self.memento.workspace.review
        question = f"Why reject {len(self.rows.marks):,} marked?" if self.rows.marks else "Why reject it?"
        reason = await self.app.push_screen_wait(
            AskLine(question, hint="The agent can read it. Enter rejects, Escape leaves")
        )
        if reason is None:
            return
        if self.rows.marks:
            await self._decide_marked("reject", reason)
            return
        seen = pending.proposal.version
        self._decide("Rejected", lambda: queue.reject(pending.proposal.id, reason, seen=seen))

    @work(exclusive=True, group="decide")
    async def action_later(self) -> None:
        """Put the item or the marked ones off for a week."""
        if not self._ready():
            return
        if self.rows.marks:
            await self._decide_marked("later")
            return
        pending, queue = self._pending(), self.memento.workspace.review
        self._decide("Put off for 7 days", lambda: queue.later(pending.proposal.id, seen=pending.proposal.version))

    async def _decide_marked(self, decision: Literal["approve", "reject", "later"], reason: str = "") -> None:
        seen = {mark: self._seen.get(mark) for mark in sorted(self.rows.marks)}
        words = {"approve": "Approve", "reject": "Reject", "later": "Put off"}
        question = Content(f"{words[decision]} {len(seen):,} marked proposals?")
        if decision != "reject" and not await self.app.push_screen_wait(Confirm(question)):
            return
        outcomes = self.memento.workspace.review.decide_all(seen, decision, reason)
        failed = [outcome for outcome in outcomes if outcome.state == "failed"]
        self.rows.clear_marks()
        told = f"{words[decision]}: {len(seen) - len(failed):,} done."
        self.memento.say(
            f"{told} {len(failed):,} failed: {failed[0].error}" if failed else f"{told} z undoes the last.",
            problem=bool(failed),
        )
        self._acted = True
        self.memento.wrote()

    def _pending(self) -> Pending:
        row = self.rows.current
        if row is None:
            raise LookupError
        return row.pending

    # Editing

    @on(RecordList.Opened)
    def _opened(self) -> None:
        self.action_edit()

    def action_edit(self) -> None:
        """Edit what is proposed; saving approves it."""
        if not self._ready():
            return
        pending = self._pending()
        target = _proposed(pending)
        if target is None:
            self.memento.say("There is no text to edit here; approve or reject it.", problem=True)
            return
        if self.query("Editor"):
            self.enter()
            return
        from memento_tui.tui.widgets.editor import Editor  # noqa: PLC0415 - text areas are slow to load

        self._edited = pending
        self.query_one("#evidence").display = False
        self.add_class("-editing")
        draft = Draft(target.title, target.tags, target.content)
        self.query_one("#queue-side").mount(Editor("Edit, then approve: ^s saves and approves", draft))

    @on(EditorLeft)
    def _left(self) -> None:
        self._close_editor()

    @on(EditorSaved)
    def _saved(self, event: EditorSaved) -> None:
        pending, queue = self._edited, self.memento.workspace.review
        changes, seen = event.before.changes_to(event.draft), pending.proposal.version
        self._acted = True
        if self.do(
            lambda: (queue.approve(pending.proposal.id, seen=seen, **changes), "Edited and approved. z undoes.")[1]
        ):
            self._close_editor()

    def _close_editor(self) -> None:
        self.query("Editor").remove()
        self.remove_class("-editing")
        self.query_one("#evidence").display = True
        self.screen.set_focus(self.rows)

    def action_copy(self) -> None:
        """Copy the id of what the proposal is about."""
        if self.rows.current:
            target_id = self.rows.current.pending.proposal.target_id
            self.app.copy_to_clipboard(target_id)
            self.memento.say(f"Copied {target_id}.")

    def action_unmark(self) -> None:
        """Unmark all."""
        self.rows.clear_marks()

    def action_clear(self) -> None:
        """Unmark all."""
        self.rows.clear_marks()


def _heading(pending: Pending) -> Content:
    proposal = pending.proposal
    what = _QUESTIONS[proposal.action].replace("memory", proposal.target)
    who = f"{what} from {proposal.proposed_by or 'somebody'}, {_since(pending)}"
    lines = [literal(who, "bold")]
    if pending.why:
        lines.append(literal("You are asked because " + "; ".join(pending.why) + ".", "dim"))
    if proposal.state == "needs_review" or pending.moved:
        lines.append(
            Content.styled("! What it is about changed since. This is how it stands now.", "bold $text-warning")
        )
    lines += [literal(f"{name}: {text}", multiline=True) for name, text in pending.rests_on]
    return Content("\n").join(lines)


def _since(pending: Pending) -> str:
    span = ago(pending.proposal.created_at, utc_now())
    return "just now" if span == "now" else f"{span} ago"


def _proposed(pending: Pending) -> Memory | None:
    """Return the memory as it would be, or ``None`` where nothing would be left or it is no memory."""
    target, proposal = pending.target, pending.proposal
    if not isinstance(target, Memory) or proposal.action == "delete":
        return None
    if proposal.action == "create":
        return target
    try:
        return edited(target, proposal.payload, target.updated_at)
    except MementoError:
        return None


def _evidence(pending: Pending) -> Content:
    target, proposal = pending.target, pending.proposal
    if isinstance(target, Memory):
        after = _proposed(pending)
        parts = [memory_title(target), memory_facts(target), Content("")]
        if proposal.action in ("edit", "merge") and after is not None:
            parts.append(_field_changes(target, after))
            parts.append(difference(target.content, after.content) if after.content != target.content else Content(""))
        else:
            parts.append(memory_body(target, None))
        return Content("\n").join(parts)
    values = dict(proposal.payload)
    if target is not None and not values:
        values = {name: getattr(target, name) for name in target.__struct_fields__}
    lines = [
        Content.styled(f"{name}: ", "dim") + literal(_text(value), multiline=True)
        for name, value in msgspec.to_builtins(values).items()
        if value not in ("", None, [], {})
    ]
    return Content("\n").join(lines)


def _field_changes(before: Memory, after: Memory) -> Content:
    names = [
        name
        for name in Memory.__struct_fields__
        if name not in ("content", "updated_at", "version") and getattr(before, name) != getattr(after, name)
    ]
    lines = [
        Content.styled(f"{name}: ", "dim")
        + literal(f"- {_text(getattr(before, name))}", "$text-error")
        + literal(f"  + {_text(getattr(after, name))}", "$text-success")
        for name in names
    ]
    return Content("\n").join(lines)


def _text(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(str(part) for part in value) or "none"
    return str(value)
