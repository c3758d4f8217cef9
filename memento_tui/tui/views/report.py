"""The report on whether memories help: exposures to sessions, their use, and candidates to drop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

import msgspec
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memento_tui.api.use_report import PeriodUse, ReportedMemory, UseReport, use_report
from memento_tui.errors import MementoError
from memento_tui.search.query_language import written_field
from memento_tui.text.quantities import count_of
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import cells, has_hidden, literal, set_border_title
from memento_tui.tui.memory_text import memory_body, memory_facts, memory_title
from memento_tui.tui.section import WIDE_CELLS, in_thread
from memento_tui.tui.sections.catalogue import section_showing
from memento_tui.tui.selection import StaleGuard
from memento_tui.tui.views.view import FixedRows, View, ViewList
from memento_tui.tui.widgets.frames import Frame, VerticalFrame
from memento_tui.tui.widgets.record_list import Line

__all__ = ["ReportView"]

_WEEKS = 8
"""Weeks that the page covers; `memento report --weeks` covers any number."""

_MOST_IN_GROUP = 100
"""Memories of each group that are listed, the dearest or the most used first."""

_GROUP_WIDTH, _TOLD_WIDTH, _USED_WIDTH, _TOKENS_WIDTH = 11, 6, 8, 9
_WITH_GROUPS = 44
_COLUMNS = f"{'told':>{_TOLD_WIDTH}}{'used':>{_USED_WIDTH}}{'tokens':>{_TOKENS_WIDTH}}"
"""The names of the columns of numbers, above them."""

_EMPTY_TEXT = (
    "Agents were told nothing in the last eight weeks.\n\n"
    "What they are told, what they use of it and what it costs is summed up here, week by week.\n\n"
    "memento install connects an agent to memento."
)

Group = Literal["Projects", "To drop", "Never used", "Used"]


class _ReportRow(msgspec.Struct, frozen=True):
    """One row: the sums of a project, or a memory with its use."""

    group: Group
    is_first: bool
    """Whether the row shows the group's name."""
    period: PeriodUse | None = None
    memory: ReportedMemory | None = None

    @property
    def id(self) -> str:
        about = self.period.namespace if self.period is not None else self.memory.memory.id if self.memory else ""
        return f"{self.group}:{about}"

    @property
    def version(self) -> int:
        return 0 if self.memory is None else self.memory.memory.version


class ReportView(View):
    """A page of the activity: projects first, then the memories to drop, the others never used, and the used ones."""

    SCOPE: ClassVar[KeyScope] = "report"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("report")]

    DEFAULT_CSS = """
    ReportView > .view-head { color: $foreground; }
    ReportView .report-rows { height: 1fr; }
    ReportView ViewList { scrollbar-gutter: stable; }
    ReportView .report-columns { height: 1; padding: 0 1; color: $text-muted; text-align: right; }
    ReportView .report-side { height: 1fr; padding: 0 2; scrollbar-size-vertical: 1; }
    ReportView .report-side { border-top: solid $panel; border-title-color: $text-muted; }
    ReportView.-empty .report-columns, ReportView.-empty .report-side { display: none; }
    ReportView > .view-note { padding: 1 4; }
    ReportView.-wide .report-rows, ReportView.-wide .report-side {
        width: 3fr; border: round $foreground 25%; border-title-color: $text-muted;
    }
    ReportView.-wide .report-side { width: 2fr; margin-left: 1; padding: 0 1; }
    """

    def __init__(self) -> None:
        super().__init__("report")
        self.rows: ViewList[_ReportRow] = ViewList(_report_line)
        self._side = VerticalScroll(classes="report-side", can_focus=False)
        self._text = Static(classes="report-text")
        self._report: UseReport | None = None
        self._shown_id = ""
        """The row that is shown beside the list."""
        self._guard = StaleGuard(self._key_was_pressed_since)

    def _key_was_pressed_since(self, moment: float) -> bool:
        return self.memento.typed.key_was_pressed_since(moment)

    def compose(self) -> ComposeResult:
        """Show the sum of all, the list, and the row under the cursor in full."""
        rows = VerticalFrame(classes="report-rows")
        set_border_title(rows, "What was told")
        set_border_title(self._side, "Its use")
        yield self.head
        yield self.note
        with Frame(classes="panes"):
            with rows:
                yield Static(Content(_COLUMNS), classes="report-columns")
                yield self.rows
            with self._side:
                yield self._text

    def on_mount(self) -> None:
        """Lay out for the width that there is, so that the first frame is not laid out twice."""
        self.set_class(self.app.size.width >= WIDE_CELLS, "-wide")

    def on_resize(self) -> None:
        """Put the text of the row where there is room for it."""
        self.set_class(self.size.width >= WIDE_CELLS, "-wide")

    def show(self, about: object) -> None:  # noqa: ARG002 - it is about all memories
        """Read the report and show it; the selected record does not matter."""
        self._read()

    def reload(self) -> None:
        """Read the report again; the cursor stays on its row."""
        self._read()

    @work(exclusive=True, group="read")
    async def _read(self) -> None:
        try:
            report = await in_thread(self, use_report, self.workspace, weeks=_WEEKS)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        self._report = report
        rows = list(_rows_of(report))
        # The list stays: a widget that is hidden loses the focus, and the next key would go elsewhere.
        self.set_class(not rows, "-empty")
        self.set_note(None if rows else Content(_EMPTY_TEXT))
        self.set_heading(_heading(report.total) if rows else Content("report"))
        source = FixedRows(rows)
        if self.rows.total and rows:
            self.rows.refresh_rows(source)
        else:
            self.rows.set_rows(rows, len(rows), source)

    @on(ViewList.Highlighted)
    def _row_reached(self, event: ViewList.Highlighted[_ReportRow]) -> None:
        self._guard.row_reached(event.row)
        row = event.row
        text = Content("") if row is None or self._report is None else _details(row, self._report)
        self._text.update(text)
        if row is not None and row.id != self._shown_id:
            self._shown_id = row.id
            self._side.scroll_home(animate=False)

    def is_available(self, command: str) -> bool:
        """Return whether a command has something to act on: only memories can be deleted."""
        row = self.rows.current
        if command == "report.delete":
            return row is not None and row.memory is not None
        return command != "report.go" or row is not None

    async def action_go(self) -> None:
        """Go to the memory of the row, or to the memories of the project."""
        row = self.rows.current
        if row is None:
            self.memento.show_status("There is nothing here to go to.", problem=True)
        elif row.memory is not None:
            target = section_showing(self.workspace, "memory", row.memory.memory.id)
            if target is None:
                self.memento.show_status("The memory is gone.", problem=True)
            else:
                await self.memento.open_section(*target)
        elif row.period is not None and row.period.namespace:
            await self.memento.open_section("memories", written_field("ns", row.period.namespace))
        else:
            self.memento.show_status("It is not known of which project these sessions were.", problem=True)

    def action_delete(self) -> None:
        """Delete the memory of the row, at the version that the row was made from."""
        row = self.rows.current
        if row is None or row.memory is None:
            self.memento.show_status("Only a memory can be deleted.", problem=True)
            return
        self.memento.typed.note_is_for_rows()
        if refusal := self._guard.refusal(frozenset((row.id,)), self.memento.typed.seconds_since_same_key):
            self.memento.show_status(refusal, problem=True)
            return
        memory = row.memory.memory
        try:
            self.workspace.forget(memory.id, base_version=memory.version)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
        else:
            self.memento.show_status("Deleted. z undoes.")
        self._guard.moved_by_person()
        self.memento.refresh_after_write()

    def action_scroll(self, lines: int) -> None:
        """Scroll the text of the row."""
        self._side.scroll_relative(y=lines, animate=False)


def _rows_of(report: UseReport) -> Iterator[_ReportRow]:
    for place, period in enumerate(report.projects):
        yield _ReportRow("Projects", place == 0, period=period)
    groups: tuple[tuple[Group, Sequence[ReportedMemory]], ...] = (
        ("To drop", report.drop),
        ("Never used", report.never_used),
        ("Used", report.used),
    )
    for group, memories in groups:
        for place, memory in enumerate(memories[:_MOST_IN_GROUP]):
            yield _ReportRow(group, place == 0, memory=memory)


def _report_line(row: _ReportRow, width: int) -> list[Line]:
    """Return the line of a row: the group's name once, its subject, the exposures and uses, and the tokens."""
    group_width = _GROUP_WIDTH if width >= _WITH_GROUPS else 0
    if row.period is not None:
        name, told, used, tokens = row.period.namespace or "(no project known)", *_numbers(row.period)
        flag = " "
    elif row.memory is not None:
        use, memory = row.memory.use, row.memory.memory
        name, told, used, tokens = memory.headline, use.told, f"{use.used:,}", use.tokens
        flag = "!" if has_hidden(memory.title + memory.content) else "-" if row.memory.advice else " "
    else:
        return []
    numbers = f"{told:>{_TOLD_WIDTH},}{used:>{_USED_WIDTH}}{tokens:>{_TOKENS_WIDTH},}"
    left = max(width - group_width - 2 - len(numbers), 0)
    return [
        [
            (cells(row.group if row.is_first else "", group_width), "muted"),
            (f"{flag} ", "warning"),
            (cells(name, left), "strong" if row.period is not None else ""),
            (numbers, "muted"),
        ]
    ]


def _numbers(period: PeriodUse) -> tuple[int, str, int]:
    """Return how often a period told, which share of it was used, as far as that is known, and the tokens."""
    seen = f"{period.used:,}" if period.used else "unknown"
    return period.told, seen if period.share is None else f"{period.share:.0%}", period.tokens


def _heading(total: PeriodUse) -> Content:
    """Return the sum of all weeks in a line."""
    spent = f"{total.told:,} told in {count_of(total.sessions, 'session')}, {count_of(total.tokens, 'token')}"
    is_partial = total.share is not None and total.seen < total.told
    share = f"{total.share:.0%} was used of the {total.seen:,} told in sessions that were read" if is_partial else ""
    return literal(f"{_WEEKS} weeks: {share or _share_words(total)}; {spent}")


def _share_words(period: PeriodUse) -> str:
    if period.share is None:
        return "not known what was used"
    return f"{period.share:.0%} of what was told was used"


def _details(row: _ReportRow, report: UseReport) -> Content:
    if row.period is not None:
        return Content("\n").join(_project_lines(row.period, report))
    return Content("") if row.memory is None else Content("\n").join(_memory_lines(row.memory))


def _project_lines(period: PeriodUse, report: UseReport) -> Iterator[Content]:
    """Yield the sums of a project, and those of each of its weeks in a table."""
    yield literal(period.namespace or "(no project known)", "bold")
    yield literal(_share_words(period))
    if period.share is not None and period.seen < period.told:
        yield literal(
            f"counted for the {period.seen:,} of {period.told:,} whose sessions' transcripts were read", "dim"
        )
    unused = period.tokens - period.used_tokens
    yield literal(f"{unused:,} of {period.tokens:,} tokens went into what was not seen to be used", "dim")
    yield Content("")
    yield literal(f"{'week of':<11}{'sessions':>8}{'told':>5}{'used':>8}{'tokens':>7}", "dim")
    for week in report.by_week:
        if week.namespace == period.namespace:
            told, used, tokens = _numbers(week)
            yield literal(f"{week.week!s:<11}{week.sessions:>8,}{told:>5,}{used:>8}{tokens:>7,}")
    yield Content("")
    if period.namespace:
        yield literal("Enter lists its memories.", "dim")


def _memory_lines(one: ReportedMemory) -> Iterator[Content]:
    """Yield why a memory is suggested to be dropped, how often it was told, and the memory."""
    use = one.use
    yield memory_title(one.memory)
    yield literal(
        f"told {count_of(use.told, 'time')} in {count_of(use.sessions, 'session')}, used {count_of(use.used, 'time')},"
        f" about {count_of(use.tokens, 'token')}",
        "dim",
    )
    yield literal(f"first told {use.first_at:%Y-%m-%d}, last {use.last_at:%Y-%m-%d}", "dim")
    if one.advice:
        yield Content("")
        yield literal(one.advice, "$text-warning")
        yield literal("d deletes it, and z brings it back. Enter goes to it. What you keep stays as it is.", "dim")
    yield Content("")
    yield memory_facts(one.memory)
    yield Content("")
    yield memory_body(one.memory, None)
