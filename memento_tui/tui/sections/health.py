"""The section of health: problems in the memories, checks of the database and the engine, and the backups."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from memento_tui import clock
from memento_tui.api import health, integrity
from memento_tui.api.backups import Backup
from memento_tui.api.health import HealthFinding
from memento_tui.api.types import Progress, StoppedError, raise_if_stopped
from memento_tui.errors import MementoError
from memento_tui.meaning import is_installed
from memento_tui.text.quantities import count_of
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.long_task import LongTaskRunner, progress_reporter
from memento_tui.tui.row_sources import ListSource
from memento_tui.tui.screens.dialogs import Confirm
from memento_tui.tui.section import in_thread
from memento_tui.tui.sections.health_text import (
    CARE,
    OPTIONAL_CHECKS,
    Example,
    HealthRow,
    HealthStory,
    backup_rows,
    check_rows,
    health_details,
    health_line,
    problem_rows,
    with_group_headings,
)
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.views.record_story import StoryScroll
from memento_tui.tui.widgets.record_list import Line

if TYPE_CHECKING:
    from memento_tui.maintenance.run import MaintenanceReport

__all__ = ["HealthSection"]

_MAX_TEXTS_READ_UNASKED = 20_000
"""Most memories whose texts are read without a request: about four seconds of work. R reads more."""

_QUICK_SECONDS = 0.5
"""An examination that took no longer is made again by itself when something was written."""

_POLL_SECONDS = 2.0
"""Seconds between two checks of the engine, which changes by itself."""

_MOST_EXAMPLES = 10


class HealthSection(ListSection[HealthRow]):
    """See which records, checks and backups need care, and take care of them."""

    SCOPE: ClassVar[KeyScope] = "health"
    FILTER_HINT: ClassVar[str] = "words, or: mend, tidy"
    SIDE_TITLE: ClassVar[str] = "Details"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("health")]

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[str, int | None] = {}
        self._checks: dict[str, HealthFinding] = {}
        self._backups: Sequence[Backup] = ()
        self._examples: dict[str, Sequence[Example]] = {}
        self.is_examining = False
        """Whether the rows are being filled in."""
        self._examination_seconds = inf
        """How long the last examination took, without the texts."""
        self._is_outdated = False
        """Whether something was written since the last examination."""
        self._stop_examining = threading.Event()
        self._shown_id: str | None = None
        self._tasks = LongTaskRunner(self, self._show_known)
        self._told = StoryScroll(self.side_text, HealthStory())
        """The explanation of a row, and below it the totals of the workspace."""
        self.side_scroll = self._told

    def compose_side(self) -> ComposeResult:
        """Make the content of the side pane."""
        yield self._told

    # The list

    def make_source(self) -> ListSource[HealthRow]:
        """Return the rows, as far as they are known."""
        return ListSource(self._rows_now)

    def _rows_now(self) -> list[HealthRow]:
        rows = [*problem_rows(self._counts), *check_rows(self._checks), *backup_rows(self._backups)]
        words = self.filter.casefold().split()
        return with_group_headings([row for row in rows if all(word in row.words for word in words)])

    def row_lines(self, row: HealthRow, width: int) -> Sequence[Line]:
        """Return the line of a row."""
        return health_line(row, width)

    def head_text(self) -> Content:
        """Return how many rows need care, and whether they are outdated."""
        rows = [*problem_rows(self._counts), *check_rows(self._checks), *backup_rows(self._backups)]
        bad, tidy = (sum(row.state == state for row in rows) for state in ("bad", "tidy"))
        self.memento.show_counts(health=bad)
        words = [f"! {bad} to mend" if bad else "", f"~ {tidy} to tidy" if tidy else ""]
        if not self._is_quick:
            words.append(
                "looking ..." if self.is_examining else "older than the last change: R" if self._is_outdated else ""
            )
        return Content("   ".join(filter(None, words)) or "nothing to mend")

    def empty_text(self) -> str:
        """Return a hint for a filter that finds nothing."""
        return "Nothing found.\n\nFewer words find more. Escape clears the filter."

    def id_to_copy(self, row: HealthRow) -> str:
        """Return the code of a sort of problem, or the name of a check or a backup."""
        return row.id.partition(":")[2]

    def show(self, row: HealthRow | None) -> None:
        """Show the explanation of a row; examples follow when they are read."""
        same = row is not None and row.id == self._shown_id
        self._shown_id = None if row is None else row.id
        if row is None:
            self.set_side_text(Content(""))
            self._told.tell(None)
            return
        examples = self._examples.get(row.id)
        self.set_side_text(health_details(row, examples, self.side_scroll.size.width - 1), same=same)
        self._told.tell(row)
        if row.kind is not None and row.kind.place == "memories" and row.state in ("bad", "tidy") and examples is None:
            self._find_examples(row)

    @work(thread=True, exclusive=True, group="health-examples")
    def _find_examples(self, row: HealthRow) -> None:
        """Read the first memories that a row counts; the explanation does not wait for them."""
        audit, code = self.memento.workspace.audit, self.id_to_copy(row)
        try:
            memories = audit.examples(code, _MOST_EXAMPLES, now=clock.now())
            examples = [(memory, audit.why(code, memory.id)) for memory in memories]
        except MementoError as error:
            self.call_later(self.memento.show_status, str(error), problem=True)
        else:
            self.call_later(self._show_examples, row.id, examples)

    def _show_examples(self, row_id: str, examples: Sequence[Example]) -> None:
        self._examples[row_id] = examples
        current = self.rows.current
        if current is not None and current.id == row_id:
            self.show(current)

    # Examining

    def on_mount(self) -> None:
        """Fill the rows in as they become known, once the first frame is there; the rows are there at once."""
        self.call_after_refresh(self.examine)
        self.set_interval(_POLL_SECONDS, self._poll)

    def on_unmount(self) -> None:
        """End the work on threads, which would keep the app from leaving."""
        self._stop_examining.set()
        self._tasks.abandon()

    def reload(self) -> None:
        """Note that the rows are outdated. They are examined again in a moment if that is quick."""
        self._is_outdated = True
        self.update_head()

    def _poll(self) -> None:
        """Examine again after a change, or follow the engine, which loads and embeds for minutes."""
        if self.memento.section is not self or self.is_examining:
            return
        if self._is_outdated and self._is_quick:
            self.examine()
        elif "semantic index" in self._checks:
            self._ask_engine()

    @property
    def _is_quick(self) -> bool:
        return self._examination_seconds < _QUICK_SECONDS

    @work(thread=True, exclusive=True, group="health-engine")
    def _ask_engine(self) -> None:
        finding = health.examine_engine(self.memento.workspace)
        if finding != self._checks["semantic index"]:
            self.call_later(self._update, checks=_by_name(finding))

    def examine(self, *, texts: bool = False) -> None:
        """Examine everything; ``texts`` reads every text, however many there are."""
        self.is_examining, self._is_outdated = True, False
        self._stop_examining.set()
        self._stop_examining = threading.Event()
        self._examination_seconds = inf if texts else self._examination_seconds
        self.update_head()
        self._examine(self._stop_examining, texts=texts)

    @work(thread=True, exclusive=True, group="health-look")
    def _examine(self, stop: threading.Event, *, texts: bool) -> None:
        began, seconds, sentence = monotonic(), inf, ""
        # The progress of an examination that nobody asked for is not shown.
        workspace, progress = self.memento.workspace, progress_reporter(self) if texts else None
        try:
            self.call_later(self._update, backups=workspace.backups.list())
            found: set[str] = set()
            for finding in health.examine_quickly(workspace):
                raise_if_stopped(stop)
                self.call_later(self._update, checks={finding.name: finding})
                found.add(finding.name)
            self.call_later(self._update, gone=set(OPTIONAL_CHECKS) - found)
            counts = {
                problem.kind.code: problem.count
                for problem in workspace.audit.count(now=clock.now(), progress=progress, stop=stop)
            }
            self.call_later(self._update, counts=counts)
            seconds = monotonic() - began  # texts that were read once are not read again
            if texts or workspace.count_all() <= _MAX_TEXTS_READ_UNASKED:
                self.call_later(self._update, counts=workspace.audit.read_texts(progress=progress, stop=stop))
                sentence = "Everything was looked at; c checks the journal too." if texts else ""
        except StoppedError:
            sentence = "Stopped looking; R looks again."
        except MementoError as error:
            self.call_later(self.memento.show_status, str(error), problem=True)
        self.call_later(self._examined, stop, seconds, sentence)

    def _update(
        self,
        *,
        counts: Mapping[str, int | None] | None = None,
        checks: Mapping[str, HealthFinding] | None = None,
        gone: Collection[str] = (),
        backups: Sequence[Backup] | None = None,
    ) -> None:
        """Keep new results of the examination, and show them; of the checks in ``gone`` there is nothing to say now."""
        self._counts.update(counts or {})
        self._checks.update(checks or {})
        for name in gone:
            self._checks.pop(name, None)
        self._backups = self._backups if backups is None else backups
        if counts:
            self._examples.clear()
        self._show_known()

    def _show_known(self) -> None:
        """Show the rows as far as they are known."""
        if self.is_mounted:
            self.rows.refresh_rows(self.make_source())
            self.update_head()

    def _examined(self, stop: threading.Event, seconds: float, sentence: str) -> None:
        if stop is not self._stop_examining:
            return  # a later examination is under way
        self.is_examining, self._examination_seconds = False, seconds
        self._show_known()
        if sentence:
            self.memento.show_status(sentence)

    def action_examine(self) -> None:
        """Examine again, and read every text."""
        self.examine(texts=True)

    # Actions

    def action_clear(self) -> None:
        """Stop the task or the examination that is under way, else remove the marks or the filter."""
        if self._tasks.stop():
            return
        if self.is_examining:
            self._stop_examining.set()
        else:
            super().action_clear()

    def action_backup(self) -> None:
        """Make a backup."""

        def make(progress: Progress, stop: threading.Event) -> str:
            workspace = self.memento.workspace
            left: list[str] = []
            made = workspace.backups.make(progress=progress, stop=stop, warn=left.append)
            self.call_later(self._update, backups=workspace.backups.list())
            return " ".join(
                [f"Backed up and checked: {made.name}, {count_of(made.memories, 'memory', 'memories')}.", *left]
            )

        self._tasks.begin("The backup is being made", make)

    def action_verify(self) -> None:
        """Check the journal and the file, or the backup under the cursor."""
        row = self.rows.current
        if row is not None and row.backup is not None:
            name = row.backup.name
            self._tasks.begin(
                "The backup is being checked", lambda progress, stop: self._check_backup(name, progress, stop)
            )
        else:
            self._tasks.begin("The journal is being checked", self._check_journal)

    def _check_backup(self, name: str, progress: Progress, stop: threading.Event) -> str:
        problem = self.memento.workspace.backups.verify(name, progress=progress, stop=stop)
        return f"{name} cannot be restored. {problem}" if problem else f"{name} is whole; it can be restored."

    def _check_journal(self, progress: Progress, stop: threading.Event) -> str:
        workspace = self.memento.workspace
        findings = {
            finding.name: finding for finding in health.check_pages_and_journal(workspace, progress=progress, stop=stop)
        }
        records = integrity.check_rows(workspace, progress=progress, stop=stop)
        if not records.ok and findings["journal"].ok:
            findings["journal"] = HealthFinding("journal", ok=False, detail=records.detail, hint=records.hint)
        self.call_later(self._update, checks=findings)
        wrong = [finding.detail for finding in findings.values() if not finding.ok]
        return wrong[0] if wrong else f"All {workspace.activity.head():,} journal entries are as they were written."

    def action_step(self) -> None:
        """Show the rows that are to mend, those that are to tidy, then all again."""
        self.step_filter(CARE, self.filter)

    def action_maintain(self, asked: str) -> None:
        """Run the due maintenance, with the steps ``asked`` for besides, if any."""

        def maintain(progress: Progress, stop: threading.Event) -> str:
            from memento_tui.api.maintenance import maintain_workspace  # noqa: PLC0415 - as seldom as it is asked for

            report = maintain_workspace(
                self.memento.workspace, asked=[asked] if asked else (), stopping=stop, progress=progress
            )
            self.call_later(self.memento.refresh_after_write)
            return _maintenance_sentence(report)

        self._tasks.begin("Maintenance is under way", maintain)

    def action_engine(self) -> None:
        """Start the engine, or stop it."""

        def turn(_progress: Progress, _stop: threading.Event) -> str:
            workspace = self.memento.workspace
            if health.toggle_engine(workspace):
                sentence = "The engine is starting; its model takes some seconds to load."
            else:
                sentence = "The engine is gone; a search starts it again."
            self.call_later(self._update, checks=_by_name(health.examine_engine(workspace)))
            return sentence

        self._tasks.begin("The engine is starting or stopping", turn, can_stop=False)

    def action_reindex(self) -> None:
        """Build the search indexes anew."""

        def build(progress: Progress, _stop: threading.Event) -> str:
            workspace = self.memento.workspace
            semantic = workspace.config.engine.enabled and is_installed()

            def indexed(done: int, total: int) -> None:
                progress("Indexing", done, total)

            count = health.reindex(workspace, keyword=True, semantic=semantic, progress=indexed)
            self.call_later(self._update, checks=_by_name(*health.examine_indexes(workspace)))
            rest = " The engine builds the semantic index in the background." if semantic else ""
            return f"The keyword index holds {count_of(count, 'memory', 'memories')}.{rest}"

        self._tasks.begin("The indexes are being built", build, can_stop=False)

    # Going there

    @work(exclusive=True, group="health-go")
    async def action_go(self) -> None:
        """Go to the list that a row counts, or restore a backup."""
        row = self.rows.current
        if row is None or not self.actions.check_can_act():
            return
        if row.backup is not None:
            await self._restore(row.backup)
        elif row.kind is None:
            self.memento.show_status("There is no list behind this; what to do stands beside it.", problem=True)
        elif row.state == "unknown":
            self.memento.show_status("The texts have not been read for this yet; R reads them.", problem=True)
        elif row.state == "fine":
            self.memento.show_status("There is none of these.", problem=True)
        else:
            await self._go_to_list(row)

    async def _go_to_list(self, row: HealthRow) -> None:
        kind = row.kind
        if kind is None:
            return
        if kind.place == "review" or kind.query:
            await self.memento.open_section(kind.place, kind.query)
            return
        audit = self.memento.workspace.audit
        try:
            query = await in_thread(self, audit.query, kind.code, now=clock.now())
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        if not query:
            self.memento.show_status("There is none of these any more; R looks again.", problem=True)
            return
        await self.memento.open_section("memories", query)
        listed = query.count(",") + 1
        if (self._counts.get(kind.code) or 0) > listed:
            self.memento.show_status(f"These are the first {listed:,} of {row.value}; come back here for the rest.")

    async def _restore(self, backup: Backup) -> None:
        if backup.problem:
            self.memento.show_status(f"It cannot be restored. {backup.problem}", problem=True)
            return
        try:
            newer = self.memento.workspace.activity.head() - backup.head
            hub = self.memento.workspace.backups.about_the_hub()
        except MementoError as error:  # a damaged database; the error says how a backup takes its place
            self.memento.show_status(str(error), problem=True)
            return
        lost = f"{newer:,} journal entries are newer than it. " if newer > 0 else ""
        question = Content(f"Go back to the backup of {backup.at:%Y-%m-%d %H:%M}Z?")
        told = f"{hub} " if hub else ""
        detail = Content(f"{lost}{told}What is here now is kept as a backup of its own.")
        if not await self.app.push_screen_wait(Confirm(question, detail)):
            return

        def restore(progress: Progress, stop: threading.Event) -> str:
            workspace = self.memento.workspace
            restored = workspace.backups.restore(backup.name, progress=progress, stop=stop)
            self.call_later(self._update, backups=workspace.backups.list())
            self.call_later(self.memento.refresh_after_write)
            return f"Restored. What was here before is in {restored.before}."

        self._tasks.begin("The backup is being restored", restore)


def _maintenance_sentence(report: MaintenanceReport) -> str:
    """Return a sentence on a maintenance run: its counts, how much waits for the person, and the first failure."""
    waiting = sum(action.waits for action in report.actions)
    done = len(report.actions) - waiting
    found = [
        f"{count_of(done, 'change was', 'changes were')} made" if done else "",
        f"{count_of(waiting, 'proposal waits', 'proposals wait')} in Review" if waiting else "",
    ]
    said = " and ".join(filter(None, found)) or "Nothing was due, and nothing was found"
    ended = ["Stopped; the rest is done next time."] if report.interrupted else []
    return " ".join([f"{said}.", *ended, *report.problems[:1]])


def _by_name(*findings: HealthFinding) -> dict[str, HealthFinding]:
    return {finding.name: finding for finding in findings}
