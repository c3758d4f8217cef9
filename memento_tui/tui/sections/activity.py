"""The section of activity: the journal with its writers, and the exposures: which memories agents were shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from memento_tui.api.activity import ACTIVITY_FILTERS, ActivityLog, ActivityQuery, parse_activity
from memento_tui.api.types import ActivityRow, ExposureRow
from memento_tui.errors import MementoError
from memento_tui.model.journal_actions import done_words
from memento_tui.text.quantities import count_of
from memento_tui.tui.columns import Columns
from memento_tui.tui.commands import Command, bindings, commands_in_scopes, key_names
from memento_tui.tui.display import literal, set_border_title
from memento_tui.tui.section import in_thread
from memento_tui.tui.sections.activity_actions import ExposureActions, ask_and_quarantine
from memento_tui.tui.sections.activity_rows import (
    ENTRY_COLUMNS,
    EXPOSURE_COLUMNS,
    ActivityListRow,
    entry_line,
    exposure_line,
)
from memento_tui.tui.sections.activity_story import ActivityStory
from memento_tui.tui.sections.catalogue import section_showing
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.selection import SeenVersion, Selection
from memento_tui.tui.views.record_story import StoryScroll
from memento_tui.tui.views.view import View, ViewClosed
from memento_tui.tui.widgets.paged_rows import PAGE_SIZE, RowSource
from memento_tui.tui.widgets.record_list import Line

__all__ = ["ActivitySection"]

_EXPOSURES_QUERY_WORD = "exposures"
"""The first word of a query that goes to the list of exposures."""

_MOST_ENTRIES_NAMED = 5
"""Entries that a question names."""

_EXPOSURES_POLL_SECONDS = 1.0
"""Seconds between two checks for new exposures."""


def _changed_record(row: ActivityRow) -> tuple[str, str]:
    return row.record, row.record_id


_FILTER_VALUES = {
    "actor": ("person", "agent", "system"),
    "channel": ("cli", "tui", "mcp", "http", "hook", "mirror", "api", "import", "maintenance", "engine"),
    "since": ("1d", "7d", "30d"),
    "before": ("1d", "7d", "30d"),
    "is": ("new",),
}
"""Values of filters that are the same in every workspace."""


_STEPS = ("is:new", "actor:agent", "actor:person")
"""The filters of the journal that a key leads through."""

_FOR_THE_JOURNAL = ("activity.revert", "activity.quarantine", "activity.step")
"""Commands that act on entries of the journal, and on no exposure."""


class ActivitySection(ListSection[ActivityListRow]):
    """See who changed which records, undo changes, and see which memories agents were shown.

    The list holds the journal or the exposures; each has a filter of its own.
    """

    NEEDS_SHOWN_ROW: ClassVar[bool] = True
    SCOPE = "activity"
    DEFAULT_CSS = """
    ActivitySection.-report > .bar, ActivitySection.-report > .panes { display: none; }
    """
    FILTER_HINT = "words  agent:  session:  channel:  actor:  action:  since:7d  is:new"
    SIDE_TITLE: ClassVar[str] = "Entry"
    SHOWS_RECENT_ACTIVITY: ClassVar[bool] = False
    NEEDS_ROW: ClassVar[frozenset[str]] = frozenset(("activity.open", "activity.revert", "activity.quarantine"))
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("activity")]

    def __init__(self) -> None:
        super().__init__()
        self._report_view: View | None = None
        """The report on use, while it is shown in place of the list."""
        self.shows_exposures = False
        """Whether the exposures are listed, and not the journal."""
        self._query = ActivityQuery()
        self._last_seen = 0
        """The newest entry that the person had seen before they came here."""
        self._problem = ""
        self._other_filter = ""
        """The filter of the list that is not shown."""
        self._newest_exposure = 0
        """The newest exposure when they were last read."""
        self._detailed_id = ""
        """The row that is shown beside the list."""
        self._actions = ExposureActions(self)
        self.told = StoryScroll(self.side_text, ActivityStory())
        """The row in full, and below it facts about its memories and its session."""
        self.side_scroll = self.told

    def compose_side(self) -> ComposeResult:
        """Make the content of the side pane."""
        yield self.told

    def make_selection(self) -> Selection[SeenVersion]:
        """Return the selection; of a memory that was shown often only one row, for commands are for the memory."""
        return Selection(lambda: self.rows, seen_of=_seen_memory, distinct=self._one_row_each_memory)

    def _one_row_each_memory(self, ids: list[str]) -> list[str]:
        exposures = self.activity_log.exposures_by_id(ids) if self.shows_exposures else []
        return sorted({row.exposure.memory_id: row.id for row in exposures}.values()) if exposures else ids

    @property
    def activity_log(self) -> ActivityLog:
        """The journal and the exposures."""
        return self.memento.workspace.activity

    # The list

    def on_mount(self) -> None:
        """Read the first rows, and follow the exposures too, which are no entries of the journal."""
        self.room.usual = ((3, 2), (1, 1))  # a row tells four things, and the entry beside it most often a few lines
        self._newest_exposure = self.memento.workspace.exposures.newest()
        self.set_interval(_EXPOSURES_POLL_SECONDS, self._poll_exposures)

    def _poll_exposures(self) -> None:
        newest = (
            self.memento.workspace.exposures.newest()
            if self.shows_exposures and self.display
            else self._newest_exposure
        )
        if newest != self._newest_exposure and not self.memento.is_paused:
            self._newest_exposure = newest
            self.reload()

    def make_source(self) -> RowSource[ActivityListRow]:
        """Return the journal or the exposures, as filtered."""
        if self.shows_exposures:
            return self.activity_log.exposure_source(self._query)
        return self.activity_log.source(self._query, last_seen=self._last_seen)

    def read(self, *, select: str | None = None) -> None:
        """Show the rows of another filter; those that may take long are read on a thread."""
        if self._query == ActivityQuery():
            super().read(select=select)
        else:
            self._read_on_thread(select)

    @work(exclusive=True, group="read activity")
    async def _read_on_thread(self, select: str | None) -> None:
        source = self.make_source()
        try:
            rows = await in_thread(self, source.page, 0, PAGE_SIZE)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        self.new_above = 0
        self.rows.set_rows(rows, len(rows), source, select=select)
        if len(rows) == PAGE_SIZE:
            self.rows.refresh_rows(source, select=select)
        self.update_head()

    def filter_changed(self) -> None:
        """Show the rows that the filter selects; where it cannot be parsed, say so and leave the list as it is."""
        try:
            query = parse_activity(self.filter)
            if self.shows_exposures:
                self.activity_log.check_exposure_query(query)
        except MementoError as error:
            self._problem = str(error)
            self.memento.show_status(self._problem, problem=True)
            return
        if self._problem:
            self._problem = ""
            self.memento.show_status("")
        if query != self._query:
            self._query = query
            self.read()

    def show_query(self, query: str) -> None:
        """Show the rows that a filter selects; ``exposures`` in front of it goes to the list of exposures."""
        if self._report_view is not None:
            self.remove_class("-report")
            self._report_view.remove()
            self._report_view = None
        first, _, rest = query.partition(" ")
        if (first == _EXPOSURES_QUERY_WORD) != self.shows_exposures:
            self._switch()
        super().show_query(rest if first == _EXPOSURES_QUERY_WORD else query)

    def list_title(self) -> str:
        """Return which of the two lists is shown."""
        return "Exposures" if self.shows_exposures else "Journal"

    def column_set(self) -> Columns[Any]:
        """Return the columns of the list that is shown."""
        return EXPOSURE_COLUMNS if self.shows_exposures else ENTRY_COLUMNS

    def row_lines(self, row: ActivityListRow, width: int) -> Sequence[Line]:
        """Return the line of a row."""
        if isinstance(row, ExposureRow):
            return exposure_line(row, width, self.columns.names_of(EXPOSURE_COLUMNS))
        return entry_line(row, width, self.columns.names_of(ENTRY_COLUMNS), self._last_seen)

    def head_text(self) -> Content:
        """Return the name and length of the list, for the exposures with their own keys."""
        if not self.shows_exposures:
            return Content(f"journal  {self.counted()}")
        keys = self.memento.keys
        own = [command for command in commands_in_scopes(["activity"]) if command.help.startswith("Exposure:")]
        hints = [f"{key_names(keys.of(command))} {command.action}" for command in own]
        return Content("   ").join(Content(words) for words in (*hints, f"exposures  {self.counted()}"))

    def empty_text(self) -> str:
        """Return why the list is empty."""
        if self.filter:
            return "Nothing fits this filter.\n\nEscape clears it."
        if self.shows_exposures:
            return (
                "No agent was shown a memory yet.\n\n"
                "Each memory that a search or a hook shows an agent is listed here: to whom, why, how many tokens.\n\n"
                "memento install connects an agent to memento."
            )
        return "Nothing has happened yet.\n\nEvery change is listed here, whoever makes it, and can be taken back."

    def id_to_copy(self, row: ActivityListRow) -> str:
        """Return the id of the record of a row."""
        return row.exposure.memory_id if isinstance(row, ExposureRow) else row.record_id or row.id

    def describe_rows(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the headlines of exposures."""
        return [
            row.exposure.memory_id if row.memory is None else row.memory.headline
            for row in self.activity_log.exposures_by_id(ids)
        ]

    # Coming and going

    def focus_content(self) -> None:
        """Take the focus; the present entries count as seen."""
        self._update_last_seen()
        if self._report_view is not None:
            self._report_view.focus_content()
        else:
            super().focus_content()

    def reload(self) -> None:
        """Read the list again, or the report where it is shown."""
        super().reload()
        if self._report_view is not None:
            self._report_view.reload()

    def is_available(self, command: str) -> bool:
        """Return whether a command can act on the row in focus."""
        view = self._report_view
        if view is not None and command.startswith("report."):
            return view.is_available(command)
        fits = command not in _FOR_THE_JOURNAL or not self.shows_exposures
        return fits and super().is_available(command)

    def key_label(self, command: Command) -> str:
        """Return the words for a command in the key bar; the key of the other list has the name of that list."""
        return "Journal" if command.id == "activity.ledger" and self.shows_exposures else super().key_label(command)

    def on_hide(self) -> None:
        """Count the entries that came while the person watched as seen."""
        self._mark_seen()

    def _update_last_seen(self) -> None:
        looked = self.activity_log.last_seen()
        if self._last_seen and looked >= self.activity_log.head():
            # Nothing came meanwhile: the entries that were new at the last visit are marked as new once more.
            return
        self._last_seen = looked
        self._mark_seen()
        if self._query.is_new:
            self.read()
        self.rows.refresh()

    @work(thread=True, exclusive=True, group="looked")
    def _mark_seen(self) -> None:
        try:
            self.activity_log.mark_seen()
        except MementoError:
            # On a read-only medium, say: the entries will be marked as new once more.
            return

    # Beside the list

    def show(self, row: ActivityListRow | None) -> None:
        """Show the row under the cursor in full."""
        if row is None:
            self.workers.cancel_group(self, "side")
            self.set_side_text(Content(""))
            self.told.tell(None)
        else:
            self._show_in_full(row)

    @work(exclusive=True, group="side")
    async def _show_in_full(self, row: ActivityListRow) -> None:
        try:
            text = await in_thread(self, self._in_full, row)
        except MementoError as error:
            text = literal(str(error), "$text-warning")
        self.set_side_text(text, same=row.id == self._detailed_id)
        self._detailed_id = row.id
        self.told.tell(row)

    def _in_full(self, row: ActivityListRow) -> Content:
        # after the first paint
        from memento_tui.tui.sections.activity_text import exposure_text, journal_entry_text  # noqa: PLC0415

        if isinstance(row, ActivityRow):
            return journal_entry_text(self.activity_log.action(row.entry.seq))
        memory = self.memento.workspace.find(row.exposure.memory_id)
        return exposure_text(row.exposure, memory, self.activity_log.session(row.exposure.session))

    @property
    def moment_here(self) -> str:
        """The entry under the cursor, as the moment that the past is proposed at."""
        row = self.rows.current
        return f"entry {row.entry.seq}" if isinstance(row, ActivityRow) else super().moment_here

    # Both lists

    async def action_open_record(self) -> None:
        """Go to the record of the row, in its own section."""
        row = self.rows.current
        if row is None:
            self.memento.show_status("There is nothing here to go to.", problem=True)
            return
        kind, record_id = ("memory", row.exposure.memory_id) if isinstance(row, ExposureRow) else _changed_record(row)
        target = section_showing(self.memento.workspace, kind, record_id) if kind else None
        if target is None:
            gone = f"The {kind} {record_id} is gone; r on the entry that removed it may bring it back."
            self.memento.show_status(gone if kind else "This entry changed no record.", problem=True)
        else:
            await self.memento.open_section(*target)

    def filter_fields(self) -> Mapping[str, Iterable[tuple[str, str]]]:
        """Return the filters of the journal, with the agents that wrote memories."""
        agents = [(agent, f"{count:,}") for agent, count in self.memento.workspace.facet_counts("agent")]
        values = {name: [(value, "") for value in found] for name, found in _FILTER_VALUES.items()}
        return {name: agents if name == "agent" else values.get(name, []) for name in ACTIVITY_FILTERS}

    def action_step(self) -> None:
        """Show the entries that are new, those of agents, those of the person, then all again."""
        if self.shows_exposures:
            self.memento.show_status("i goes to the journal, which is shown in parts.", problem=True)
        else:
            self.step_filter(_STEPS, self.filter)

    def action_ledger(self) -> None:
        """Show the exposures, or the journal again."""
        self._switch()
        self.filter_changed()
        self.read()

    def _switch(self) -> None:
        self.shows_exposures = not self.shows_exposures
        set_border_title(self.rows_pane, self.list_title())
        set_border_title(self.side_pane, "Exposure" if self.shows_exposures else self.SIDE_TITLE)
        self.rows.clear_marks()
        self.set_side_text(Content(""))
        self.told.tell(None)
        self.filter, self._other_filter = self._other_filter, self.filter
        self._query = parse_activity(self.filter)
        with self.prevent(self.filter_box.Changed):
            self.filter_box.value = self.filter
        hint = "words  session:  channel:  memory:  since:7d" if self.shows_exposures else self.FILTER_HINT
        self.filter_box.placeholder = hint
        self.memento.focus_changed()

    @work(exclusive=True, group="action")
    async def action_revert(self) -> None:
        """Undo the selected entries, newest first, after a question where that is more than one record."""
        if not self.is_list_of(exposures=False):
            return
        try:
            ids = [int(row_id) for row_id in self.selection.ids()]
            rows = await in_thread(self, self.activity_log.rows, ids)
            undoable = [row for row in rows if not row.obstacle]
            together = await in_thread(self, self.activity_log.undone_together, undoable)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        if not undoable:
            self.memento.show_status(rows[0].obstacle if rows else "That entry is gone.", problem=True)
            return
        if together[1] > 1 and not await self._confirm_revert(undoable, len(rows) - len(undoable), together):
            return
        self._report_reverted(*await in_thread(self, self._revert, undoable))
        self.rows.clear_marks()
        self.guard.moved_by_person()
        self.memento.refresh_after_write()

    async def _confirm_revert(self, undoable: Sequence[ActivityRow], stuck: int, together: tuple[int, int]) -> bool:
        entries, records = together
        what = "this entry" if entries == 1 else f"{entries:,} entries"
        question = f"Take back {what}, {count_of(records, 'record')} in all?"
        lines = [f"{done_words(row.entry.action, proposes=row.proposes)}: {row.headline}" for row in undoable]
        note = f"({stuck:,} of those marked cannot be taken back)" if stuck else ""
        return await self.actions.confirm(question, lines, len(undoable), note=note)

    def _revert(self, rows: Sequence[ActivityRow]) -> tuple[list[int], list[str]]:
        """Undo entries; return those that were undone, and a sentence for each that could not be."""
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

    def _report_reverted(self, done: Sequence[int], problems: Sequence[str]) -> None:
        sentence = f"Took back entry {done[0]}." if len(done) == 1 else f"Took back {len(done):,} entries."
        if problems:
            failed = problems[0] if len(problems) == 1 and not done else f"{len(problems):,} failed: {problems[0]}"
            self.memento.show_status(f"{sentence if done else ''} {failed}".strip(), problem=True)
        else:
            self.memento.show_status(f"{sentence} Z does it again.")

    @work(exclusive=True, group="action")
    async def action_quarantine(self) -> None:
        """Quarantine the session of the entry under the cursor, or release it."""
        row = self.rows.current
        if not self.is_list_of(exposures=False) or not isinstance(row, ActivityRow):
            return
        if not row.entry.session or row.entry.actor == "person":
            self.memento.show_status("No agent's session wrote this entry.", problem=True)
            return
        await ask_and_quarantine(self, row.entry.session)
        self.guard.moved_by_person()

    # The report on use

    async def action_report(self) -> None:
        """Show the report on use in place of the list."""
        from memento_tui.tui.views.report import ReportView  # noqa: PLC0415 - for those who ask for it

        if self._report_view is None:
            self._report_view = view = ReportView()
            self.add_class("-report")
            await self.mount(view)
            view.show(None)
        self.focus_content()

    @on(ViewClosed)
    def _report_closed(self, event: ViewClosed) -> None:
        event.stop()
        self.remove_class("-report")
        if self._report_view is not None:
            self._report_view.remove()
            self._report_view = None
        self.focus_content()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys to the report while it is shown."""
        return self._report_view is None and super().check_action(action, parameters)

    # Actions on exposures

    def is_list_of(self, *, exposures: bool) -> bool:
        """Return whether a key for one of the two lists may act now; if not, say in the status line where it does."""
        if exposures == self.shows_exposures:
            return self.actions.check_can_act()
        where = "the list of exposures; i shows it" if exposures else "the journal; i goes back to it"
        self.memento.show_status(f"That key is for {where}.", problem=True)
        return False

    @work(exclusive=True, group="action")
    async def action_demote(self) -> None:
        """Lower the certainty of the selected memories by one."""
        if self.is_list_of(exposures=True):
            await self._actions.demote()

    @work(exclusive=True, group="action")
    async def action_reject(self) -> None:
        """Reject the selected memories."""
        if self.is_list_of(exposures=True):
            await self._actions.reject()

    @work(exclusive=True, group="action")
    async def action_skip(self) -> None:
        """Put the subject of the memory under the cursor on the skip list."""
        if self.is_list_of(exposures=True):
            await self._actions.skip()


def _seen_memory(row: ActivityListRow) -> SeenVersion | None:
    memory = row.memory if isinstance(row, ExposureRow) else None
    return None if memory is None else SeenVersion(row.id, memory.version)
