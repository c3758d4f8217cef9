"""The activity: the journal live, who wrote what through which channel, and which memories agents were shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from textual import work
from textual.binding import BindingType
from textual.content import Content

from memento_tui import clock
from memento_tui.api.activity import ActivityLog, ActivityQuery, parse_activity
from memento_tui.errors import InvalidField, InvalidInput, MementoError, NotAllowed, NotFound
from memento_tui.model import Memory
from memento_tui.storage.activity import ActivityRow
from memento_tui.storage.journal import Entry
from memento_tui.storage.ledgers import ExposureRow
from memento_tui.storage.store import Store
from memento_tui.tui.commands import bindings, commands_in_scopes, key_names
from memento_tui.tui.display import ago, cells, has_hidden, literal
from memento_tui.tui.screens.dialogs import AskLine, Confirm
from memento_tui.tui.section import in_thread
from memento_tui.tui.sections.catalogue import section_showing
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.widgets.paged_rows import PAGE_SIZE, RowSource
from memento_tui.tui.widgets.record_list import Line

__all__ = ["ActivitySection", "writer_of"]

_ACTION_WIDTH, _AGE_WIDTH, _WHO_WIDTH, _CHANNEL_WIDTH, _SESSION_WIDTH = 9, 6, 12, 7, 8
_NARROW, _WIDE = 50, 76

_ACTORS = {"person": ("P", "good"), "agent": ("A", "strong"), "system": ("S", "muted")}


def writer_of(entry: Entry) -> str:
    """Return who made an entry, as the person at the terminal says it."""
    return entry.agent or {"person": "you"}.get(entry.actor, entry.actor)


def entry_line(row: ActivityRow, width: int, looked: int) -> list[Line]:
    """Return the row of an entry: actor, whether it is new or taken back, action, headline, who, channel, age.

    ``looked`` is the newest entry that the person has seen; 0 where they never looked, so that nothing is news.
    """
    entry = row.entry
    glyph, glyph_style = _ACTORS.get(entry.actor, ("?", "muted"))
    flag, flag_style = _flag(row, looked)
    who = cells(writer_of(entry), _WHO_WIDTH) + " " if width >= _NARROW else ""
    channel = cells(entry.channel, _CHANNEL_WIDTH) if width >= _WIDE else ""
    more = f" +{row.touched - 1:,}" if row.touched > 1 else ""
    age = f"{ago(datetime.fromisoformat(entry.at), clock.now()):>{_AGE_WIDTH}}"
    left = width - 3 - _ACTION_WIDTH - 1 - len(more) - 1 - _width_of(who, _WHO_WIDTH) - len(channel) - _AGE_WIDTH
    said = row.headline or entry.note or f"{row.record} {row.record_id}".strip()
    over = row.undone_by is not None
    return [
        [
            (glyph, glyph_style),
            (flag, flag_style),
            (" ", ""),
            (cells(entry.action, _ACTION_WIDTH), "muted"),
            (" ", ""),
            (cells(said, left), "muted" if over else ""),
            (more, "muted"),
            (" ", ""),
            (who, "muted"),
            (channel, "muted"),
            (age, "muted"),
        ]
    ]


def _width_of(padded: str, width: int) -> int:
    """Return the cells of a column that is left out where it is empty, with the blank behind it."""
    return width + 1 if padded else 0


def _flag(row: ActivityRow, looked: int) -> tuple[str, str]:
    if has_hidden(row.headline):
        return "!", "warning"
    if row.undone_by is not None:
        return "<", "warning"
    if looked and row.entry.seq > looked and row.entry.actor != "person":
        return "*", "mark"
    return " ", ""


def exposure_line(row: ExposureRow, width: int) -> list[Line]:
    """Return the row of an injection: rank, score, whether it was used, what was shown, session, tokens, age."""
    injection = row.injection
    said = "(the memory is gone)" if row.memory is None else row.memory.headline
    session = cells(injection.session, _SESSION_WIDTH) + " " if width >= _NARROW else ""
    tokens = f"{injection.tokens:>5,} tokens" if width >= _WIDE else ""
    age = f"{ago(injection.at, clock.now()):>{_AGE_WIDTH}}"
    left = width - 13 - _width_of(session, _SESSION_WIDTH) - len(tokens) - _AGE_WIDTH
    flag = "!" if has_hidden(said) else "+" if injection.used_at is not None else " "
    is_out = row.memory is None or row.memory.status in ("deleted", "rejected")
    return [
        [
            (f"{injection.rank:>3} ", "muted"),
            (f"{injection.score:5.2f} ", ""),
            (flag, "warning" if flag == "!" else "good"),
            (" ", ""),
            (cells(said, left), "muted" if is_out else ""),
            (" ", ""),
            (session, "muted"),
            (tokens, "muted"),
            (age, "muted"),
        ]
    ]


ActivityListRow = ActivityRow | ExposureRow

_SKIP_SPAN = "30d"


class ExposureActions(ListSection[ActivityListRow]):
    """A list that shows the journal or the injection ledger, with the deeds that belong to the ledger."""

    def __init__(self) -> None:
        super().__init__()
        self.is_ledger = False
        """Whether the ledger is shown, and not the journal."""

    @property
    def _store(self) -> Store:
        return self.memento.workspace.store

    @property
    def activity_log(self) -> ActivityLog:
        """The journal and the ledger."""
        return self.memento.workspace.activity

    # The list

    def _is_here(self, *, ledger: bool) -> bool:
        """Tell whether a key belongs to the list that is shown; if not, say where it does."""
        if ledger == self.is_ledger:
            return self.check_can_act()
        where = "the list of exposures; i shows it" if ledger else "the journal; i goes back to it"
        self.memento.show_status(f"That key is for {where}.", problem=True)
        return False

    def chosen(self) -> list[str]:
        """Return what a command is for; of a memory that was shown often only one row, for it is done to it once."""
        ids = super().chosen()
        shown = self.activity_log.shown(ids) if self.is_ledger else []
        return sorted({row.injection.memory_id: row.id for row in shown}.values()) if shown else ids

    def _memory_of(self, injection_id: str) -> Memory:
        row = next(iter(self.activity_log.shown([injection_id])), None)
        memory: Memory | None = self._store.find("memory", row.injection.memory_id) if row else None
        if memory is None:
            raise NotFound("The memory is gone.", "It was purged, or its creation was undone.")
        return memory

    @work(exclusive=True, group="deed")
    async def action_demote(self) -> None:
        """Lower the certainty of what was shown by one."""
        if self._is_here(ledger=True):
            await self.for_each("Demote", "Certainty lowered by one", self._demote)

    def _demote(self, injection_id: str) -> None:
        memory = self._memory_of(injection_id)
        if memory.certainty == 1:
            raise NotAllowed(f"The memory {memory.id} has the lowest certainty already.", "Reject it instead.")
        seen = self._version_of(injection_id)
        self.memento.workspace.update(memory.id, base_version=seen, certainty=memory.certainty - 1)

    def _version_of(self, injection_id: str) -> int | None:
        """Return the version of the memory that the row of an injection shows."""
        rows = self.rows.at_hand([injection_id])
        return next((row.memory.version for row in rows if isinstance(row, ExposureRow) and row.memory), None)

    @work(exclusive=True, group="deed")
    async def action_reject(self) -> None:
        """Reject what was shown: it is recalled no more."""
        if not self._is_here(ledger=True):
            return
        reason = await self.app.push_screen_wait(AskLine("Why? An agent that tries it again reads this (may be empty)"))
        if reason is not None:
            workspace = self.memento.workspace

            def reject(row: str) -> None:
                workspace.reject(self._memory_of(row).id, reason, base_version=self._version_of(row))

            await self.for_each("Reject", "Rejected", reject)

    @work(exclusive=True, group="deed")
    async def action_skip(self) -> None:
        """Put the subject of what was shown on the skip list."""
        if not self._is_here(ledger=True) or self.rows.current is None:
            return
        from memento_tui.tui.screens.form import Field, FormScreen  # noqa: PLC0415 - when it is first asked for

        row = self.rows.current
        headline = row.memory.headline if isinstance(row, ExposureRow) and row.memory is not None else ""
        fields = [
            Field("item", "What to leave alone", headline),
            Field("reason", "Why", hint="the agent reads this"),
            Field("until", "Until when", _SKIP_SPAN, "a date, or a span such as 30d"),
        ]
        if await self.app.push_screen_wait(FormScreen(Content("Skip this subject"), fields, self._add_skip)):
            self.acted()
            self.memento.show_status("Added to the skip list. z undoes.")
            self.memento.refresh_after_write()

    def _add_skip(self, values: Mapping[str, str]) -> None:
        from memento_tui.tui.sections.entry_text import SKIP_LABELS, format_error  # noqa: PLC0415 - with the form

        try:
            self.memento.workspace.skips.add(values["item"], values["reason"], values["until"] or _SKIP_SPAN)
        except InvalidField as error:
            raise InvalidInput(format_error(error, SKIP_LABELS)) from error


_EXPOSURES_QUERY_WORD = "exposures"
"""What a query begins with that another section sends the person to the ledger with."""

_MOST_ENTRIES_NAMED = 5
"""Entries that a question names."""

_EXPOSURES_POLL_SECONDS = 1.0
"""How often it is looked whether agents were shown something."""


def _changed_record(row: ActivityRow) -> tuple[str, str]:
    return row.record, row.record_id


class ActivitySection(ExposureActions):
    """See what was done and by whom, take back what should not have been, and see what agents were shown."""

    SCOPE = "activity"
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
        self._shown_details_id = ""
        """The row that is shown in full."""

    def on_mount(self) -> None:
        """Read the first rows, and follow the ledger too: what agents are shown is no entry of the journal."""
        super().on_mount()
        self._newest_shown = self._store.injections.newest()
        self.set_interval(_EXPOSURES_POLL_SECONDS, self._follow_ledger)

    def _follow_ledger(self) -> None:
        newest = self._store.injections.newest() if self.is_ledger and self.display else self._newest_shown
        if newest != self._newest_shown and not self.memento.is_paused:
            self._newest_shown = newest
            self.reload()

    def make_source(self) -> RowSource[ActivityListRow]:
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
        """Read the question; one that cannot be understood is told, and the list stays as it is."""
        try:
            query = parse_activity(self.filter)
            if self.is_ledger:
                self.activity_log.check_ledger(query)
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
        """Show what a filter selects; ``exposures`` in front of it goes to the list of exposures."""
        first, _, rest = query.partition(" ")
        if (first == _EXPOSURES_QUERY_WORD) != self.is_ledger:
            self._switch()
        super().show_query(rest if first == _EXPOSURES_QUERY_WORD else query)

    def row_lines(self, row: ActivityListRow, width: int) -> Sequence[Line]:
        """Return the line of a row."""
        if isinstance(row, ExposureRow):
            return exposure_line(row, width)
        return entry_line(row, width, self._looked)

    def head_text(self) -> Content:
        """Say which list it is, and how long; of the ledger also which keys are its own."""
        if not self.is_ledger:
            return Content(f"journal  {self.counted()}")
        keys = self.memento.keys
        own = [command for command in commands_in_scopes(["activity"]) if command.help.startswith("Exposure:")]
        hints = [f"{key_names(keys.of(command))} {command.action}" for command in own]
        return Content("   ").join(Content(words) for words in (*hints, f"exposures  {self.counted()}"))

    def empty_text(self) -> str:
        """Say why nothing is here."""
        if self.filter:
            return "Nothing fits this filter.\n\nEscape clears it."
        if self.is_ledger:
            return (
                "No agent was shown a memory yet.\n\n"
                "Each memory that a search or a hook shows an agent is listed here: to whom, why, how many tokens.\n\n"
                "memento install connects an agent to memento."
            )
        return "Nothing has happened yet.\n\nEvery change is listed here, whoever makes it, and can be taken back."

    def id_to_copy(self, row: ActivityListRow) -> str:
        """Return the id of the record that a row is about."""
        return row.injection.memory_id if isinstance(row, ExposureRow) else row.record_id or row.id

    def describe_rows(self, ids: Sequence[str]) -> Sequence[str]:
        """Return what rows of the ledger say."""
        return [
            row.injection.memory_id if row.memory is None else row.memory.headline
            for row in self.activity_log.shown(ids)
        ]

    # Coming and going

    def focus_content(self) -> None:
        """Take the focus; what is here by now counts as seen."""
        self._look()
        super().focus_content()

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

    def show(self, row: ActivityListRow | None) -> None:
        """Show the row under the cursor in full."""
        if row is None:
            self.workers.cancel_group(self, "side")
            self.set_side_text(Content(""))
        else:
            self._show_in_full(row)

    @work(exclusive=True, group="side")
    async def _show_in_full(self, row: ActivityListRow) -> None:
        try:
            text = await in_thread(self, self._in_full, row)
        except MementoError as error:
            text = literal(str(error), "$text-warning")
        self.set_side_text(text, same=row.id == self._shown_details_id)
        self._shown_details_id = row.id

    def _in_full(self, row: ActivityListRow) -> Content:
        # after the first paint
        from memento_tui.tui.sections.activity_text import exposure_text, journal_entry_text  # noqa: PLC0415

        if isinstance(row, ActivityRow):
            return journal_entry_text(self.activity_log.deed(row.entry.seq))
        memory: Memory | None = self._store.find("memory", row.injection.memory_id)
        return exposure_text(row.injection, memory, self.activity_log.session(row.injection.session))

    # Both lists

    async def action_open_record(self) -> None:
        """Go to what the row is about, in its own section."""
        row = self.rows.current
        if row is None:
            self.memento.show_status("There is nothing here to go to.", problem=True)
            return
        kind, record_id = ("memory", row.injection.memory_id) if isinstance(row, ExposureRow) else _changed_record(row)
        place = section_showing(self._store, kind, record_id) if kind else None
        if place is None:
            gone = f"The {kind} {record_id} is gone; r on the entry that removed it may bring it back."
            self.memento.show_status(gone if kind else "This entry changed no record.", problem=True)
        else:
            await self.memento.open_section(*place)

    def action_ledger(self) -> None:
        """Show the ledger, or the journal again."""
        self._switch()
        self.filter_changed()
        self.read()

    def _switch(self) -> None:
        self.is_ledger = not self.is_ledger
        self.rows.clear_marks()
        self.set_side_text(Content(""))
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
            rows = await in_thread(self, self.activity_log.rows, [int(row_id) for row_id in self.chosen()])
            able = [row for row in rows if not row.obstacle]
            together = await in_thread(self, self.activity_log.together, able)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        if not able:
            self.memento.show_status(rows[0].obstacle if rows else "That entry is gone.", problem=True)
            return
        if together[1] > 1 and not await self._is_sure_to_revert(able, len(rows) - len(able), together):
            return
        self._tell_reverted(*await in_thread(self, self._revert, able))
        self.rows.clear_marks()
        self.acted()
        self.memento.refresh_after_write()

    async def _is_sure_to_revert(self, able: Sequence[ActivityRow], stuck: int, together: tuple[int, int]) -> bool:
        entries, records = together
        what = "this entry" if entries == 1 else f"{entries:,} entries"
        question = Content(f"Take back {what}, {records:,} records in all?")
        lines = [
            literal(cells(f"{row.entry.action}: {row.headline}", 60).rstrip()) for row in able[:_MOST_ENTRIES_NAMED]
        ]
        if len(able) > _MOST_ENTRIES_NAMED:
            lines.append(Content(f"and {len(able) - _MOST_ENTRIES_NAMED:,} more"))
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
            self.memento.show_status(f"{told if done else ''} {failed}".strip(), problem=True)
        else:
            self.memento.show_status(f"{told} Z does it again.")
