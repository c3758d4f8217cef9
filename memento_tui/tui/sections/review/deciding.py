"""What the keys of the review do: one decision about what is in focus, or the same about all that are marked."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from textual import work
from textual.binding import BindingType
from textual.content import Content

from memento_tui.errors import MementoError
from memento_tui.tui.display import cells
from memento_tui.tui.screens.ask import AskLine
from memento_tui.tui.sections.review.changing import ChangingSection
from memento_tui.tui.sections.review.focus import Focus
from memento_tui.workspace.deciding import Decided, Decision, Verb
from memento_tui.workspace.waiting import MOST_IN_A_SHEET

__all__ = ["DecidingSection"]

_SAID: Mapping[str, tuple[str, str]] = {
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

_NO_PLAIN_YES = "A contradiction has no plain yes; n, o, b, m or x settle it."


def _no_answer(verb: Verb, kinds: set[str]) -> str:
    """Return why a decision answers none of some kinds of things that wait; nothing where it answers any."""
    if verb == "approve" and kinds == {"contradiction"}:
        return _NO_PLAIN_YES
    if verb in ("newer_supersedes", "older_stands") and kinds and kinds.isdisjoint({"contradiction", "suggestion"}):
        return "None of the marked is a contradiction: a approves them, x rejects them."
    return ""


class DecidingSection(ChangingSection):
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

    def may_act(self) -> bool:
        """Tell whether a key may decide; if not, say why."""
        if self._deciding:
            self.memento.say("The last decision is still being carried out.", problem=True)
            return False
        if self.rows.total == 0 and not self.rows.marks:
            self.memento.say("Nothing waits for a decision.", problem=True)
            return False
        return super().may_act()

    def marks_changed(self) -> None:
        """Keep for each mark the version that was on the screen: what changes afterwards is not decided."""
        marks = self.rows.marks
        new = sorted(marks - self._seen.keys())
        fresh = {row.id: row.version for row in self.memento.workspace.waiting.rows(new)}
        fresh |= {row.id: row.version for row in self.rows.at_hand(new)}
        self._seen = {name: version for name, version in {**self._seen, **fresh}.items() if name in marks}
        self.memento.focus_changed()

    def _focus(self) -> Focus | None:
        if not self.may_act():
            return None
        if self.focused is None:
            self.memento.say("This is gone by now; the list is being read again.", problem=True)
            self.memento.wrote()
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
            self.memento.say(_NO_PLAIN_YES, problem=True)
            return
        self.decide_focus(focus, "approve")

    @work(group="decide")
    async def action_reject(self) -> None:
        """Ask why, and reject what is in focus or the marked; a contradiction is none."""
        marked = len(self.rows.marks)
        focus = None if marked else self._focus()
        if not marked and focus is None:
            return
        if focus is not None and focus.record == "contradiction":
            self.decide_focus(focus, "not_a_contradiction")
            return
        if marked and not self.may_act():
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
            self.decide_focus(focus, "reject", reason=reason)
        else:
            await self._decide_marked("reject", reason)

    @work(group="decide")
    async def action_later(self) -> None:
        """Put what is in focus, or the marked, off for a week."""
        if self.rows.marks:
            await self._decide_marked("later")
        elif (focus := self._focus()) is not None:
            self.decide_focus(focus, "later")

    @work(group="decide")
    async def action_resolve(self, resolution: str) -> None:
        """Settle the contradiction in focus, or the marked ones where no words of the person's own are needed."""
        verb = cast("Verb", resolution)
        own_words = verb in ("both_valid", "merged")
        if self.rows.marks:
            if own_words:
                told = "That takes words for each contradiction: settle them one by one; u unmarks."
                self.memento.say(told, problem=True)
            else:
                await self._decide_marked(verb)
            return
        focus = self._focus()
        if focus is None:
            return
        if focus.dispute is None:
            self.memento.say("This is no contradiction: a approves it, x rejects it.", problem=True)
        elif verb == "both_valid":
            await self.ask_contexts(focus)
        elif verb == "merged":
            self.edit_merged(focus)
        else:
            self.decide_focus(focus, verb)

    def decide_focus(self, focus: Focus, verb: Verb, *, reason: str = "", **changes: Any) -> bool:  # noqa: ANN401 - fields
        """Decide about what is in focus and go on to the next; where that fails, say why."""
        try:
            self.carry_out(focus, verb, reason=reason, **changes)
        except MementoError as error:
            # A refused decision may have been written down: its proposal then needs another look.
            self.memento.wrote()
            self.memento.say(str(error), problem=True)
            return False
        self.memento.wrote()
        return True

    def carry_out(self, focus: Focus, verb: Verb, *, reason: str = "", **changes: Any) -> None:  # noqa: ANN401 - fields
        """Decide about what is in focus, at the version that is looked at, and say so. Raises `MementoError`."""
        decision = Decision(id=focus.name, verb=verb, seen=focus.version, reason=reason, changes=changes)
        self.memento.workspace.waiting.decide_one(decision)
        self.acted()
        done = "Edited and approved" if verb == "approve" and changes else _SAID[verb][1]
        row = self.rows.current
        about = f": {cells(row.headline, 40).rstrip(' .')}" if row is not None and row.id == focus.name else ""
        self.memento.say(f"{done}{about}. z undoes.")

    # Many

    @work(group="decide")
    async def action_edit_outside(self) -> None:
        """Open the marked, or else what the list holds, in the person's editor, and do what the edited text says."""
        if not self.may_act():
            return
        from memento_tui.tui.sections.review.outside import decided_outside  # noqa: PLC0415 - seldom needed

        workspace = self.memento.workspace
        marks = sorted(self.rows.marks)
        rows = workspace.waiting.rows(marks) if marks else workspace.waiting.list(self.kind, limit=MOST_IN_A_SHEET)[0]
        outcome = await decided_outside(self.memento, rows)
        if outcome is None:
            return
        kept, wanted = outcome
        failed = await self.decide_many(wanted.decisions, "Decided")
        self.rows.clear_marks()
        if failed or wanted.unclear:
            self.memento.say(f"Not all of it was decided; your text is in {kept.path}.", problem=True)
        else:
            kept.discard()

    async def _decide_marked(self, verb: Verb, reason: str = "") -> None:
        if not self.may_act():
            return
        # What is decided is what was marked, as it was when it was marked.
        marks = self.rows.marks
        rows = self.memento.workspace.waiting.rows(sorted(marks))
        waiting = [row.id for row in rows]
        names = [*waiting, *sorted(marks.difference(waiting))]
        if problem := _no_answer(verb, {row.kind for row in rows}):
            self.memento.say(problem, problem=True)
            return
        decisions = [Decision(id=name, verb=verb, seen=self._seen.get(name, 0), reason=reason) for name in names]
        doing, done = _SAID[verb]
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
                self.app.call_from_thread(self.memento.say, f"{number:,} of {total:,} decided ...")

        self._deciding = True
        try:
            outcomes = await asyncio.to_thread(waiting.decide, decisions, progress=progress)
        finally:
            self._deciding = False
        # Only then the list moves on because of this decision.
        if self.focused is not None and self.focused.name in {o.id for o in outcomes if o.state != "failed"}:
            self.acted()
        self.memento.wrote()
        self._tell_outcomes(outcomes, done, headlines)
        return sum(outcome.state == "failed" for outcome in outcomes)

    def _tell_outcomes(self, outcomes: Sequence[Decided], done: str, headlines: Mapping[str, str]) -> None:
        failed = [outcome for outcome in outcomes if outcome.state == "failed"]
        worked = len(outcomes) - len(failed)
        undo = f"z takes {'all of it' if worked > 1 else 'it'} back." if worked else ""
        if not failed:
            self.memento.say(f"{done}: {worked:,}. {undo}")
            return
        told = f"{done}: {worked:,}." if worked else "Nothing was decided."
        self.memento.say(f"{told} {len(failed):,} failed. {undo}".rstrip(), problem=True)
        from memento_tui.tui.screens.outcomes import OutcomesScreen  # noqa: PLC0415 - seldom needed

        title = Content(f"{worked:,} decided, {len(failed):,} could not be")
        listed = [(headlines.get(outcome.id, outcome.id), outcome.error) for outcome in failed]
        self.app.push_screen(OutcomesScreen(title, listed, undo))
