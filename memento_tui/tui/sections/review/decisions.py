"""Decide about the item in focus, what is marked, a group, what a filter finds, or a text in the person's editor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from textual.content import Content

from memento_tui.api.inbox import KIND_NAMES, MAX_BULK_EDIT_ITEMS, Decision, DecisionOutcome, DecisionVerb, InboxItem
from memento_tui.errors import MementoError
from memento_tui.model.review import RISKY_KINDS
from memento_tui.tui.display import cells, literal
from memento_tui.tui.external_editor import edit_in_external_editor
from memento_tui.tui.row_actions import MAX_ROWS_NAMED
from memento_tui.tui.screens.dialogs import AskLine, Confirm
from memento_tui.tui.section import app_of, in_thread
from memento_tui.tui.sections.review.evidence import FocusedItem
from memento_tui.tui.sections.review.groups import GROUP_PREFIX, Grouping, InboxGroup, QueueRow, approvable, group_key
from memento_tui.tui.sections.review.line_view import texts_of_change
from memento_tui.tui.sections.review.proposal_editing import why_not_editable

if TYPE_CHECKING:
    from textual.widget import Widget

    from memento_tui.api.bulk_edit import RequestedDecisions
    from memento_tui.api.drafts import EditorFile
    from memento_tui.api.review import PendingProposal
    from memento_tui.tui.sections.list_section import ListSection
    from memento_tui.tui.sections.review.section import ReviewSection

__all__ = ["CANNOT_APPROVE_CONTRADICTION", "BulkDecisions", "ChosenTogether", "DecisionRunner", "can_decide"]

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
"""Each decision as a question about it and as the report of it begin."""

CANNOT_APPROVE_CONTRADICTION = "A contradiction has no plain yes; n, o, b, m or x settle it."


def _why_not_applicable(verb: DecisionVerb, kinds: set[str]) -> str:
    """Return why a decision answers no item of these kinds; an empty text where it answers some."""
    if verb == "approve" and kinds == {"contradiction"}:
        return CANNOT_APPROVE_CONTRADICTION
    if verb in ("newer_supersedes", "older_stands") and kinds and kinds.isdisjoint({"contradiction", "suggestion"}):
        return "None of the marked is a contradiction: a approves them, x rejects them."
    return ""


_NOTHING_TOGETHER = "There is nothing here to approve together."


def _with_risk(left: str, risks: Iterable[str]) -> str:
    """Return the note of a question about several approvals: the risky ones among them, then those left out."""
    counts = Counter(filter(None, risks))
    told = [f"! {count:,} {KIND_NAMES[risk][count != 1]}: agents would be told it." for risk, count in counts.items()]
    return " ".join(filter(None, [*told, left]))


_DECISIONS_PER_PROGRESS = 50
"""Decisions between two reports of progress: often enough to be seen, seldom enough to cost nothing."""


def _new_text(focused: FocusedItem, changes: Mapping[str, Any]) -> str:
    """Return the title or text that approving an item brings, empty where it changes none."""
    if focused.record_kind == "contradiction":
        return ""
    written = {**cast("PendingProposal", focused.item).proposal.payload, **changes}
    return str(written.get("title") or written.get("content") or "")


class ChosenTogether(NamedTuple):
    """Items that are decided together: all of one group, or all that a filter finds, as they are shown."""

    name: str
    items: Sequence[InboxItem]
    grouping: Grouping
    kind: str
    """The kind that the filter names; empty where it names none."""


class DecisionRunner:
    """Decides for the section of the review."""

    def __init__(self, section: ListSection[QueueRow]) -> None:
        self._section = section
        self.is_running = False
        """Whether several decisions are being carried out."""

    def decide(
        self,
        focused: FocusedItem,
        verb: DecisionVerb,
        *,
        reason: str = "",
        despite: str = "",
        **changes: Any,  # noqa: ANN401 - fields
    ) -> None:
        """Decide about an item, at the version that is looked at, and report it. Raises `MementoError`."""
        decision = Decision(
            id=focused.name, verb=verb, seen=focused.version, reason=reason, changes=changes, despite=despite
        )
        self._section.memento.workspace.inbox.decide_one(decision)
        self._section.guard.moved_by_person()
        self._section.note_decided([focused.name])
        done = "Edited and approved" if verb == "approve" and changes else _DECISION_WORDS[verb][1]
        row = self._section.rows.current
        headline = row.headline if row is not None and row.id == focused.name else ""
        if verb == "approve" and (text := _new_text(focused, changes)):
            headline = next((line.strip(" #") for line in text.splitlines() if line.strip()), headline)
        about = f": {cells(headline, 40).rstrip(' .')}" if headline else ""
        self._section.memento.show_status(f"{done}{about}. z undoes.")
        if row is not None and row.id == focused.name:
            self._section.go_on()

    def try_to_decide(
        self,
        focused: FocusedItem,
        verb: DecisionVerb,
        *,
        reason: str = "",
        despite: str = "",
        **changes: Any,  # noqa: ANN401 - fields
    ) -> None:
        """Decide about an item and go on to the next; where that fails, show why in the status line."""
        app = self._section.memento
        try:
            self.decide(focused, verb, reason=reason, despite=despite, **changes)
        except MementoError as error:
            # A refused decision may have been written down: its proposal then needs another look.
            app.refresh_after_write()
            app.show_status(str(error), problem=True)
        else:
            # The next card is there already: threads that read the queue would only hold its frame up.
            self._section.call_after_refresh(app.refresh_after_write)

    async def decide_marked(self, verb: DecisionVerb, reason: str = "") -> None:
        """Ask, and decide about all marked items as they were when they were marked; must run in a worker.

        What is not approved together is left out where it was marked among other kinds.
        """
        if not self._section.actions.check_can_act():
            return
        marks = self._section.rows.marks
        rows = self._section.memento.workspace.inbox.rows(sorted(marks))
        waiting = [row.id for row in rows]
        kinds = {row.kind for row in rows}
        if problem := _why_not_applicable(verb, kinds):
            self._section.memento.show_status(problem, problem=True)
            return
        left = ""
        if verb == "approve":
            chosen, left = approvable(rows, "kind" if len(kinds) == 1 else "", "")
            if rows and not chosen:
                self._section.memento.show_status(f"{_NOTHING_TOGETHER} {left}", problem=True)
                return
            waiting = [row.id for row in chosen]
        names = [*waiting, *sorted(marks.difference(row.id for row in rows))]
        versions = {name: self._section.selection.seen_version(name) or 0 for name in names}
        risks = {row.id: row.risk for row in rows if verb == "approve"}
        decisions = [
            Decision(id=name, verb=verb, seen=versions[name], reason=reason, despite=risks.get(name, ""))
            for name in names
        ]
        doing, done = _DECISION_WORDS[verb]
        if not await self._section.actions.confirm_many(doing, names, note=_with_risk(left, risks.values())):
            return
        await self.decide_many(decisions, done)
        self._section.rows.clear_marks()

    async def decide_group(
        self, together: ChosenTogether, verb: DecisionVerb, waiting_now: Callable[[], Collection[str]]
    ) -> None:
        """Ask, and approve or reject items together as they were shown; must run in a worker.

        ``waiting_now`` returns the ids of what belongs to them by then: what came since is mentioned, and waits on.
        """
        section = self._section
        name, items = together.name, together.items
        chosen, left = list(items), ""
        if verb == "approve":
            chosen, left = approvable(items, together.grouping, together.kind)
        if not chosen:
            section.memento.show_status(f"{_NOTHING_TOGETHER} {left}".rstrip(), problem=True)
            return
        doing, done = _DECISION_WORDS[verb]
        number = "the one" if len(chosen) == 1 else f"all {len(chosen):,}"
        question = f"{doing} {number} of {cells(name, 50).rstrip()}?"
        lines = section.describe_rows([item.id for item in chosen[:MAX_ROWS_NAMED]])
        risks = {item.id: item.risk for item in chosen if verb == "approve"}
        if not await section.actions.confirm(question, lines, len(chosen), note=_with_risk(left, risks.values())):
            return
        reason = ""
        if verb == "reject":
            hint = "The agent can read it. Enter rejects, Escape leaves"
            answer = await section.app.push_screen_wait(AskLine("Why reject them?", hint=hint))
            if answer is None:
                return
            reason = answer
        known = {item.id for item in items}

        def newcomers() -> str:
            number = sum(name not in known for name in waiting_now())
            return f"{number:,} came since and {'waits' if number == 1 else 'wait'} on." if number else ""

        decisions = [
            Decision(id=item.id, verb=verb, seen=item.version, reason=reason, despite=risks.get(item.id, ""))
            for item in chosen
        ]
        await self.decide_many(decisions, done, also=newcomers)

    async def decide_many(
        self, decisions: Sequence[Decision], done: str, *, also: Callable[[], str] = lambda: ""
    ) -> int:
        """Carry several decisions out on a thread, report each that failed, and return how many did.

        ``also`` returns a sentence for the report when they are carried out.
        """
        app = self._section.memento
        headlines = {row.id: row.headline for row in app.workspace.inbox.rows([d.id for d in decisions])}

        def progress(number: int, total: int) -> None:
            if (number + 1) % _DECISIONS_PER_PROGRESS == 0:
                self._section.app.call_from_thread(app.show_status, f"{number:,} of {total:,} decided ...")

        self.is_running = True
        try:
            outcomes = await in_thread(self._section, app.workspace.inbox.decide, decisions, progress=progress)
        finally:
            self.is_running = False
        # Only then the list moves on because of this decision.
        decided = {outcome.id for outcome in outcomes if outcome.state != "failed"}
        self._section.note_decided(decided)
        row = self._section.rows.current
        if row is not None and (row.id in decided or row.id.startswith(GROUP_PREFIX)):
            self._section.guard.moved_by_person()
        app.refresh_after_write()
        return self._report(outcomes, done, headlines, also())

    def _report(self, outcomes: Sequence[DecisionOutcome], done: str, headlines: Mapping[str, str], also: str) -> int:
        app = self._section.memento
        failed = [outcome for outcome in outcomes if outcome.state == "failed"]
        worked = len(outcomes) - len(failed)
        undo = f"z takes {'all of it' if worked > 1 else 'it'} back." if worked else ""
        if not failed:
            app.show_status(" ".join(filter(None, [f"{done}: {worked:,}.", also, undo])))
            return 0
        summary = f"{done}: {worked:,}." if worked else "Nothing was decided."
        parts = [summary, f"{len(failed):,} failed.", also, undo]
        app.show_status(" ".join(filter(None, parts)), problem=True)
        failures = [(headlines.get(outcome.id, outcome.id), outcome.error) for outcome in failed]
        self._section.actions.show_failures(f"{worked:,} decided, {len(failed):,} could not be", failures, undo)
        return len(failed)


_FOR_ANY_ITEM = frozenset(("review.reject", "review.later"))
_FOR_MARKED = frozenset(("review.approve", "review.newer", "review.older")) | _FOR_ANY_ITEM
"""Commands that decide every item; those that decide all that are marked."""


def _has_both_sides(focused: FocusedItem) -> bool:
    sides = focused.contradiction
    return sides is not None and sides.older is not None and sides.newer is not None


_FOR_SOME_ITEMS: Mapping[str, Callable[[FocusedItem], bool]] = {
    "review.approve": lambda focused: focused.record_kind != "contradiction",
    "review.edit": lambda focused: not why_not_editable(focused),
    "review.lines": lambda focused: texts_of_change(focused) is not None,
    "review.newer": lambda focused: focused.contradiction is not None,
    "review.older": lambda focused: focused.contradiction is not None,
    "review.both": lambda focused: focused.contradiction is not None,
    "review.merge": _has_both_sides,
}
"""Commands that decide some items, each with which."""


def can_decide(command: str, focused: FocusedItem | None, *, marked: bool) -> bool:
    """Return whether a command, by its id, can act on the item in focus or the marked ones; others always can."""
    if command not in _FOR_SOME_ITEMS and command not in _FOR_ANY_ITEM:
        return True
    if marked:
        return command in _FOR_MARKED
    if focused is None:
        return False
    return command in _FOR_ANY_ITEM or _FOR_SOME_ITEMS[command](focused)


_MOST_DECISIONS_NAMED = 6
"""Decisions that the question names."""


class BulkDecisions:
    """Decides for the section of the review about more than one card."""

    def __init__(self, section: ReviewSection) -> None:
        self._section = section

    def check_unmarked(self, otherwise: str) -> bool:
        """Return whether nothing is marked; else show the keys for marks, and the purpose of this key."""
        marks = len(self._section.rows.marks)
        if marks:
            self._section.memento.show_status(
                f"{marks:,} {'is' if marks == 1 else 'are'} marked: a approves, x rejects, E edits them; u unmarks. "
                f"{otherwise}.",
                problem=True,
            )
        return not marks

    async def decide_group(self, verb: DecisionVerb) -> None:
        """Approve or reject all of a group, or all that the filter finds, after a question; must run in a worker.

        It is about what the list shows when the key is pressed: what comes later waits on.
        """
        section, groups = self._section, self._section.groups
        if not section.actions.check_can_act() or not self.check_unmarked("A and X are for a group or a filter"):
            return
        group = groups.here()
        if group is not None:
            chosen = ChosenTogether(group.key, group.items, groups.by, section.kind)
        elif section.filter.strip():
            chosen = ChosenTogether(section.filter.strip(), groups.items(), groups.by, section.kind)
        else:
            message = "A and X are for a group, or for what a filter finds: F makes groups, / filters."
            section.memento.show_status(message, problem=True)
            return
        await section.decisions.decide_group(chosen, verb, lambda: self._waiting_in(group))

    def _waiting_in(self, group: InboxGroup | None) -> set[str]:
        """Return the ids of the items that wait now in a group, or that the filter finds now."""
        listing = self._section.memento.workspace.inbox.listing(self._section.kind, self._section.words)
        if group is None:
            return set(listing.ids(0, listing.total()))
        return {item.id for item in listing.page(0, listing.total()) if group_key(item, group.by) == group.key}

    async def edit_outside(self) -> None:
        """Open the marked items, or else the listed ones, in the person's editor, and decide as the text then asks.

        Must run in a worker.
        """
        section = self._section
        if not section.actions.check_can_act():
            return
        inbox = section.memento.workspace.inbox
        marks = sorted(section.rows.marks)
        listing = inbox.listing(section.kind, section.words)
        rows = inbox.rows(marks) if marks else listing.page(0, MAX_BULK_EDIT_ITEMS)
        edited = await _edit_decisions(section, rows)
        if edited is None:
            return
        kept, requested = edited
        failed = await section.decisions.decide_many(requested.despite(RISKY_KINDS), "Decided")
        section.rows.clear_marks()
        if failed or requested.unclear:
            section.memento.show_status(f"Not all of it was decided; your text is in {kept.path}.", problem=True)
        else:
            kept.discard()


async def _edit_decisions(section: Widget, rows: Sequence[InboxItem]) -> tuple[EditorFile, RequestedDecisions] | None:
    """Open items of the queue in an editor; return the file that keeps the text, and the decisions, confirmed.

    Return ``None`` where nothing is decided; the status line says why, and a text that was changed is kept. Must run
    in a worker.
    """
    from memento_tui.api.bulk_edit import make_review_sheet  # noqa: PLC0415 - seldom needed

    app = app_of(section)
    sheet = make_review_sheet(app.workspace, rows)
    before = sheet.sheet.render()
    try:
        kept, text = edit_in_external_editor(section.app, app.workspace.paths, "review", before)
    except MementoError as error:
        app.show_status(str(error), problem=True)
        return None
    try:
        requested = sheet.decisions_in(text)
    except MementoError as error:
        app.show_status(f"{error} Your text is in {kept.path}.", problem=True)
        return None
    if not requested.decisions and not requested.unclear:
        app.show_status("Nothing was decided: the text asks for nothing.")
        kept.discard()
        return None
    if not requested.decisions:
        app.show_status(f"Nothing was decided: {requested.unclear[0][1]} Your text is in {kept.path}.", problem=True)
        return None
    count = len(requested.decisions)
    question = Content("Carry out this decision?" if count == 1 else f"Carry out these {count:,} decisions?")
    detail = _preview(requested, {row.id: row.headline for row in rows})
    if not await section.app.push_screen_wait(Confirm(question, detail)):
        app.show_status(f"Nothing was decided. Your text is in {kept.path}.")
        return None
    return kept, requested


def _preview(requested: RequestedDecisions, headlines: dict[str, str]) -> Content:
    lines = [Content.styled(line, "bold") for line in requested.preview]
    if requested.untouched:
        lines.append(Content(f"{requested.untouched:,} left as they are"))
    for headline, problem in requested.unclear:
        lines.append(literal(f"! left alone: {cells(headline, 40).rstrip()}: {problem}", "$text-warning"))
    lines.append(Content(""))
    for decision in requested.decisions[:_MOST_DECISIONS_NAMED]:
        word = "edit" if decision.changes and decision.verb == "approve" else decision.verb.replace("_", " ")
        lines.append(literal(f"{word}: {cells(headlines.get(decision.id, decision.id), 50).rstrip()}"))
    if len(requested.decisions) > _MOST_DECISIONS_NAMED:
        lines.append(Content(f"and {len(requested.decisions) - _MOST_DECISIONS_NAMED:,} more"))
    return Content("\n").join(lines)
