"""The activity: the journal live, who wrote what through which channel, and what was put in front of agents."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.content import Content

from memento_tui.errors import MementoError
from memento_tui.records import Memory
from memento_tui.store.activity_rows import ActivityRow
from memento_tui.store.injections import InjectionRow
from memento_tui.tui.activity_lines import entry_line, injection_line
from memento_tui.tui.commands import bindings, commands_in, key_names
from memento_tui.tui.display import cells, literal
from memento_tui.tui.record_places import place_of
from memento_tui.tui.screens.ask import Confirm
from memento_tui.tui.sections.ledger_deeds import AnyRow, LedgerDeeds
from memento_tui.tui.widgets.record_list import Line
from memento_tui.tui.widgets.row_pages import PAGE_SIZE, RowSource
from memento_tui.workspace.activity_query import ActivityQuery, parse_activity

__all__ = ["ActivitySection"]

_LEDGER_WORD = "injections"
"""What a query begins with that another section sends the person to the ledger with."""

_NAMED = 5
"""Entries that a question names."""

_LEDGER_SECONDS = 1.0
"""How often it is looked whether agents were shown something."""


def _subject(row: ActivityRow) -> tuple[str, str]:
    return row.record, row.record_id


class ActivitySection(LedgerDeeds):
    """See what was done and by whom, take back what should not have been, and see what agents were shown."""

    PLACE = "activity"
    FILTER_HINT = "words  agent:  session:  channel:  actor:  action:  since:7d  is:new"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("activity")]

    def __init__(self) -> None:
        super().__init__()
        self._query = ActivityQuery()
        self._looked = 0
        """The newest entry that the person had seen before they came here."""
        self._problem = ""
        self._filter_elsewhere = ""
        """What the filter of the other list was."""
        self._newest_shown = 0
        """The newest row of the ledger when it was last read."""
        self._told_id = ""
        """The row that is shown in full."""

    def on_mount(self) -> None:
        """Read the first rows, and follow the ledger too: what agents are shown is no entry of the journal."""
        super().on_mount()
        self._newest_shown = self._store.injections.newest()
        self.set_interval(_LEDGER_SECONDS, self._follow_ledger)

    def _follow_ledger(self) -> None:
        newest = self._store.injections.newest() if self.is_ledger and self.display else self._newest_shown
        if newest != self._newest_shown and not self.memento.is_paused:
            self._newest_shown = newest
            self.follow()

    def make_source(self) -> RowSource[AnyRow]:
        """Return the journal or the ledger, as filtered."""
        if self.is_ledger:
            return self.activity_log.injection_source(self._query)
        return self.activity_log.source(self._query, looked=self._looked)

    def read(self, *, select: str | None = None) -> None:
        """Show the answer to another filter; what may take long to answer is read behind the screen."""
        if self._query == ActivityQuery():
            super().read(select=select)
        else:
            self._read_behind(select)

    @work(exclusive=True, group="read activity")
    async def _read_behind(self, select: str | None) -> None:
        source = self.make_source()
        try:
            rows = await asyncio.to_thread(source.page, 0, PAGE_SIZE)
        except MementoError as error:
            self.memento.say(str(error), problem=True)
            return
        self.new_above = 0
        self.rows.set_rows(rows, len(rows), source, select=select)
        if len(rows) == PAGE_SIZE:
            self.rows.refresh_rows(source, select=select)
        self.tell()

    def filter_changed(self) -> None:
        """Read the question; one that cannot be understood is told, and the list stays as it is."""
        try:
            query = parse_activity(self.filter)
            if self.is_ledger:
                self.activity_log.check_ledger(query)
        except MementoError as error:
            self._problem = str(error)
            self.memento.say(self._problem, problem=True)
            return
        if self._problem:
            self._problem = ""
            self.memento.say("")
        if query != self._query:
            self._query = query
            self.read()

    def arrive(self, query: str) -> None:
        """Show what a filter selects; ``injections`` in front of it goes to the ledger."""
        first, _, rest = query.partition(" ")
        if (first == _LEDGER_WORD) != self.is_ledger:
            self._switch()
        super().arrive(rest if first == _LEDGER_WORD else query)

    def draw(self, row: AnyRow, width: int) -> Sequence[Line]:
        """Return the line of a row."""
        if isinstance(row, InjectionRow):
            return injection_line(row, width)
        return entry_line(row, width, self._looked)

    def head(self) -> Content:
        """Say which list it is, and how long; of the ledger also which keys are its own."""
        if not self.is_ledger:
            return Content(f"journal  {self.counted()}")
        keys = self.memento.keys
        own = [command for command in commands_in(["activity"]) if command.help.startswith("Injection:")]
        hints = [f"{key_names(keys.of(command))} {command.action}" for command in own]
        return Content("   ").join(Content(words) for words in (*hints, f"injections  {self.counted()}"))

    def nothing(self) -> str:
        """Say why nothing is here."""
        if self.filter:
            return "Nothing fits this filter.\n\nEscape clears it."
        if self.is_ledger:
            return (
                "No memory was put in front of an agent yet.\n\n"
                "What an agent finds, and what a hook tells it, is noted here: for whom, why, and at what cost.\n\n"
                "memento install puts memento into an agent's host."
            )
        return "Nothing has happened yet.\n\nEvery change is listed here, whoever makes it, and can be taken back."

    def copied(self, row: AnyRow) -> str:
        """Return the id of the record that a row is about."""
        return row.injection.memory_id if isinstance(row, InjectionRow) else row.record_id or row.id

    def named(self, ids: Sequence[str]) -> Sequence[str]:
        """Return what rows of the ledger say."""
        return [
            row.injection.memory_id if row.memory is None else row.memory.headline
            for row in self.activity_log.shown(ids)
        ]

    # Coming and going

    def enter(self) -> None:
        """Take the focus; what is here by now counts as seen."""
        self._look()
        super().enter()

    def on_hide(self) -> None:
        """Count what came while the person watched as seen."""
        self._mark_looked()

    def _look(self) -> None:
        looked = self.activity_log.looked()
        if self._looked and looked >= self._store.head():
            # Nothing came meanwhile: what was new when the person was here last is told as new for once more.
            return
        self._looked = looked
        self._mark_looked()
        if self._query.is_new:
            self.read()
        self.rows.refresh()

    @work(thread=True, exclusive=True, group="looked")
    def _mark_looked(self) -> None:
        try:
            self.activity_log.mark_looked()
        except MementoError:
            # Nothing can be written, on a medium that is read-only say: it will be told as new once more.
            return

    # Beside the list

    def show(self, row: AnyRow | None) -> None:
        """Show the row under the cursor in full."""
        if row is None:
            self.workers.cancel_group(self, "side")
            self.tell_side(Content(""))
        else:
            self._show_in_full(row)

    @work(exclusive=True, group="side")
    async def _show_in_full(self, row: AnyRow) -> None:
        try:
            text = await asyncio.to_thread(self._in_full, row)
        except MementoError as error:
            text = literal(str(error), "$text-warning")
        self.tell_side(text, same=row.id == self._told_id)
        self._told_id = row.id

    def _in_full(self, row: AnyRow) -> Content:
        from memento_tui.tui.activity_text import deed_text, injection_text  # noqa: PLC0415 - after the first paint

        if isinstance(row, ActivityRow):
            return deed_text(self.activity_log.deed(row.entry.seq))
        memory: Memory | None = self._store.find("memory", row.injection.memory_id)
        return injection_text(row.injection, memory, self.activity_log.session(row.injection.session))

    # Both lists

    async def action_open_record(self) -> None:
        """Go to what the row is about, in its own section."""
        row = self.rows.current
        if row is None:
            self.memento.say("There is nothing here to go to.", problem=True)
            return
        kind, record_id = ("memory", row.injection.memory_id) if isinstance(row, InjectionRow) else _subject(row)
        place = place_of(self._store, kind, record_id) if kind else None
        if place is None:
            gone = f"The {kind} {record_id} is gone; r on the entry that removed it may bring it back."
            self.memento.say(gone if kind else "This entry changed no record.", problem=True)
        else:
            await self.memento.go(*place)

    def action_ledger(self) -> None:
        """Show the ledger, or the journal again."""
        self._switch()
        self.filter_changed()
        self.read()

    def _switch(self) -> None:
        self.is_ledger = not self.is_ledger
        self.rows.clear_marks()
        self.tell_side(Content(""))
        self.filter, self._filter_elsewhere = self._filter_elsewhere, self.filter
        self._query = parse_activity(self.filter)
        with self.prevent(self.filter_box.Changed):
            self.filter_box.value = self.filter
        known = "words  session:  channel:  memory:  since:7d" if self.is_ledger else self.FILTER_HINT
        self.filter_box.placeholder = known

    @work(exclusive=True, group="deed")
    async def action_revert(self) -> None:
        """Take back the entries that were chosen, newest first, after a question where it is more than one record."""
        if not self._is_here(ledger=False):
            return
        try:
            rows = await asyncio.to_thread(self.activity_log.rows, [int(row_id) for row_id in self.chosen()])
            able = [row for row in rows if not row.obstacle]
            together = await asyncio.to_thread(self.activity_log.together, able)
        except MementoError as error:
            self.memento.say(str(error), problem=True)
            return
        if not able:
            self.memento.say(rows[0].obstacle if rows else "That entry is gone.", problem=True)
            return
        if together[1] > 1 and not await self._is_sure_to_revert(able, len(rows) - len(able), together):
            return
        self._tell_reverted(*await asyncio.to_thread(self._revert, able))
        self.rows.clear_marks()
        self.acted()
        self.memento.wrote()

    async def _is_sure_to_revert(self, able: Sequence[ActivityRow], stuck: int, together: tuple[int, int]) -> bool:
        entries, records = together
        what = "this entry" if entries == 1 else f"{entries:,} entries"
        question = Content(f"Take back {what}, {records:,} records in all?")
        lines = [literal(cells(f"{row.entry.action}: {row.headline}", 60).rstrip()) for row in able[:_NAMED]]
        if len(able) > _NAMED:
            lines.append(Content(f"and {len(able) - _NAMED:,} more"))
        if stuck:
            lines.append(Content(f"({stuck:,} of those marked cannot be taken back)"))
        sure: bool = await self.app.push_screen_wait(Confirm(question, Content("\n").join(lines)))
        return sure

    def _revert(self, rows: Sequence[ActivityRow]) -> tuple[list[int], list[str]]:
        """Take entries back; return those that were, and a sentence for each that could not be."""
        done: list[int] = []
        problems: list[str] = []
        for row in rows:
            if row.entry.seq in done:
                continue
            try:
                done += [entry.seq for entry in self.memento.workspace.undo(row.entry.seq)]
            except MementoError as error:
                problems.append(str(error))
        return done, problems

    def _tell_reverted(self, done: Sequence[int], problems: Sequence[str]) -> None:
        told = f"Took back entry {done[0]}." if len(done) == 1 else f"Took back {len(done):,} entries."
        if problems:
            failed = problems[0] if len(problems) == 1 and not done else f"{len(problems):,} failed: {problems[0]}"
            self.memento.say(f"{told if done else ''} {failed}".strip(), problem=True)
        else:
            self.memento.say(f"{told} Z does it again.")
