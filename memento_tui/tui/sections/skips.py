"""The skips: what the agent is not to do or read again, why, and until when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from textual import work
from textual.binding import BindingType
from textual.content import Content

from memento_tui import clock
from memento_tui.api.lists import SkipQuery, parse_skip_query
from memento_tui.errors import Conflict, InvalidField, InvalidInput
from memento_tui.model import Proposal, Skip
from memento_tui.moments import parse_moment
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.screens.form import Field, FormScreen
from memento_tui.tui.sections.entry_list import EntryListSection
from memento_tui.tui.sections.entry_text import SKIP_LABELS, skip_details, skip_line
from memento_tui.tui.widgets.record_list import Line

__all__ = ["SkipsSection"]

_DEFAULT_EXTENSION = "30d"
"""What is offered as the new end."""

_EXPIRY_HINT = "a date such as 2026-12-31, or a span from now such as 30d"


class SkipsSection(EntryListSection[Skip]):
    """See and end what is skipped."""

    SCOPE: ClassVar[KeyScope] = "skips"
    RECORD = "skip"
    LABELS = SKIP_LABELS
    FILTER_HINT: ClassVar[str] = "filter: words by:claude expires:<7d"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("skips")]

    DEFAULT_CSS = """
    SkipsSection.-wide .side { max-width: 40%; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: SkipQuery = parse_skip_query("")
        self._holding_count = 0

    def read_all(self) -> Sequence[Skip]:
        """Return all skips."""
        return self.memento.workspace.skips.list(ended=True)

    def select(self, entries: Sequence[Skip]) -> Sequence[Skip]:
        """Return the skips that the filter selects, soonest to end first, and then those that are over."""
        now = clock.now()
        self._holding_count = sum(1 for skip in entries if skip.expires_at > now)
        found = [
            skip for skip in entries if (self.with_past or skip.expires_at > now) and self.asked.matches(skip, now)
        ]
        over = [skip for skip in found if skip.expires_at <= now]
        return [*(skip for skip in found if skip.expires_at > now), *reversed(over)]

    def title_of(self, row: Skip) -> str:
        """Return what is skipped."""
        return row.item

    def row_lines(self, row: Skip, width: int) -> Sequence[Line]:
        """Return the row of a skip."""
        return skip_line(row, width)

    def in_full(self, row: Skip) -> Content:
        """Return the skip in full."""
        return skip_details(row, self.history_of(row))

    def head_text(self) -> Content:
        """Return how many there are."""
        self.memento.show_counts(skips=self._holding_count)
        return Content(self.counted() + ("  those over too (f)" if self.with_past else ""))

    def empty_text(self) -> str:
        """Return what to do where nothing is found, or nothing is there."""
        if self.filter:
            return "Nothing found.\n\nFewer words find more; f shows those that are over. Escape clears the filter."
        return (
            "Nothing is skipped.\n\n"
            "n        add a skip: what not to do, why, and until when\n"
            "f        show those that are over\n"
            "q        leave, then:\n"
            '         memento skip add dist/ --reason "not ours" --until 30d\n\n'
            "Agents look here before they act; every match counts as a hit."
        )

    def filter_changed(self) -> None:
        """Show what the new filter selects."""
        self.asked = parse_skip_query(self.filter)
        self.read()
        for problem in self.asked.problems[:1]:
            self.memento.show_status(problem, problem=True)

    # Changing

    def update(self, row_id: str, base_version: int, changes: Mapping[str, Any]) -> Skip | Proposal:
        """Change some fields of a skip."""
        return self.memento.workspace.skips.update(row_id, base_version=base_version, **changes)

    @work(exclusive=True, group="change")
    async def action_extend(self) -> None:
        """Ask for another end, and let what is chosen hold until then."""
        if not self.check_can_act():
            return
        hint = f"{_EXPIRY_HINT.capitalize()}. Enter extends, Escape leaves"
        if self.rows.marks:
            await self._extend_marked(hint)
            return
        seen = self.current_seen()
        if seen is None:
            return
        base = seen

        def take(text: str) -> str:
            nonlocal base
            try:
                end = parse_moment(text, "expires_at", clock.now())
                changed = self.memento.workspace.skips.extend(seen.id, end, base_version=base.version)
            except Conflict as conflict:
                base, told = self.describe_overwrite_conflict(base, conflict)
                raise told from conflict
            written = self.note(changed)
            return f"It holds until {(written or base).expires_at:%Y-%m-%d %H:%M}Z. z undoes."

        await self.ask(f"Until when? {self.heading('Extend', seen)}", _DEFAULT_EXTENSION, take, hint=hint)

    async def _extend_marked(self, hint: str) -> None:
        ends: list[datetime] = []

        def take(text: str) -> str:
            ends.append(parse_moment(text, "expires_at", clock.now()))
            return ""

        await self.ask(f"Until when? Extend {len(self.rows.marks):,} marked", _DEFAULT_EXTENSION, take, hint=hint)
        if ends:
            skips = self.memento.workspace.skips
            await self.each(
                "Extend",
                "Extended",
                lambda skip_id, version: self.note(skips.extend(skip_id, ends[0], base_version=version)),
            )

    @work(exclusive=True, group="change")
    async def action_end(self) -> None:
        """End what is chosen now."""
        skips = self.memento.workspace.skips
        await self.each("End", "Ended", lambda skip_id, version: skips.remove(skip_id, base_version=version))

    @work(exclusive=True, group="change")
    async def action_decide(self) -> None:
        """Turn what is chosen into standing decisions."""
        skips = self.memento.workspace.skips
        several = len(self.chosen()) > 1
        await self.each(
            "Turn into standing decisions:",
            "Turned into standing decisions:" if several else "It is a standing decision now, among the work (4)",
            lambda skip_id, version: skips.decide(skip_id, base_version=version),
        )

    def action_ended(self) -> None:
        """Show those that are over too, or not."""
        self.toggle_past()
        self.memento.show_status(
            "Those that are over are shown too." if self.with_past else "Only those that hold are shown."
        )

    # Forms

    @work(exclusive=True, group="change")
    async def action_new(self) -> None:
        """Add a skip."""
        await self.ask_new()

    async def ask_new(self, typed: Mapping[str, str] | None = None) -> None:
        """Let a person make a skip in a form."""
        made: list[Skip] = []

        def save(texts: Mapping[str, str]) -> None:
            try:
                end = parse_moment(texts["expires_at"], "expires_at", clock.now())
                skips = self.memento.workspace.skips
                added = skips.add(texts["item"], texts["reason"], end, namespace=texts["namespace"])
            except InvalidField as error:
                raise InvalidInput(self.in_words(error)) from error
            written = self.note(added)
            made.extend([written] if written else [])

        fields = _skip_fields("", "", _DEFAULT_EXTENSION, "global")
        form = FormScreen(Content("A new skip"), fields, save, unsaved=self.unsaved(None), typed=typed)
        if await self.app.push_screen_wait(form) and made:
            self.acted()
            if self.rows.total:
                self.rows.refresh_rows(self.make_source(), select=made[0].id)
            self.memento.refresh_after_write()
            self.memento.show_status("Added. z undoes.")

    @work(exclusive=True, group="change")
    async def action_edit(self) -> None:
        """Edit the skip under the cursor."""
        skip = self.current_seen()
        if skip is None:
            return
        await self.ask_edit(skip)

    def fields_of(self, row: Skip) -> Sequence[Field]:
        """Return the fields of a form with what a skip says."""
        return _skip_fields(row.item, row.reason, f"{row.expires_at:%Y-%m-%dT%H:%MZ}", row.namespace)

    def value_of(self, name: str, text: str) -> Any:  # noqa: ANN401 - the field's own type
        """Return the value of a field of its text in a form."""
        return parse_moment(text, name, clock.now()) if name == "expires_at" else text.strip()


def _skip_fields(item: str, reason: str, until: str, namespace: str) -> list[Field]:
    return [
        Field("item", "What to skip", item, hint="reading vendor/"),
        Field("reason", "Why", reason, hint="third-party code"),
        Field("expires_at", f"Until when ({_EXPIRY_HINT})", until),
        Field("namespace", "Namespace", namespace),
    ]
