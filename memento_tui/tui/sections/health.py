"""The health: what has gone bad in the memories, whether the machinery is in order, and the backups."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from math import inf
from time import monotonic
from typing import ClassVar, Generic, TypeVar

from textual import work
from textual.binding import BindingType
from textual.content import Content

from memento_tui import clock
from memento_tui.api import health
from memento_tui.api.backups import Backup
from memento_tui.api.health import HealthFinding
from memento_tui.errors import MementoError
from memento_tui.storage.backup import Progress
from memento_tui.storage.database import StoppedError, raise_if_stopped
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.row_sources import ListSource
from memento_tui.tui.screens.dialogs import Confirm
from memento_tui.tui.section import in_thread
from memento_tui.tui.sections.health_text import (
    Example,
    HealthRow,
    backup_rows,
    check_rows,
    health_details,
    health_line,
    rot_rows,
    with_group_headings,
)
from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.widgets.paged_rows import Row
from memento_tui.tui.widgets.record_list import Line

__all__ = ["HealthSection"]

RowT = TypeVar("RowT", bound=Row)

LongTask = Callable[[Progress, threading.Event], str]
"""Long work: it tells how far it is, ends when the event is set, and returns what to say of it."""

_PROGRESS_SECONDS = 0.1
"""Between two words of progress."""


class LongTaskSection(ListSection[RowT], Generic[RowT]):
    """A list beside which something long may be done."""

    def __init__(self) -> None:
        super().__init__()
        self._job = ""
        """What is under way, as a sentence begins: "The backup is being made"."""
        self._stop: threading.Event | None = None
        """What ends it; ``None`` where nothing does."""

    def on_unmount(self) -> None:
        """End what runs on a thread, which would keep the app from leaving."""
        if self._stop is not None:
            self._stop.set()

    def show_again(self) -> None:
        """Show what is known once the work is done."""

    def begin(self, job: str, deed: LongTask, *, stops: bool = True) -> None:
        """Begin long work, unless some is under way. ``stops`` says whether it can be ended half-way."""
        if self._job:
            self.memento.show_status(f"{self._job} already{'; Escape stops that' if self._stop else ''}.", problem=True)
            return
        stop = threading.Event()
        self._job, self._stop = job, stop if stops else None
        self.memento.show_status(f"{job} ...")
        self._work(deed, stop, stops=stops)

    def stop_work(self) -> bool:
        """End the work that is under way; tell whether there was any."""
        if not self._job:
            return False
        if self._stop is None:
            self.memento.show_status(f"{self._job}; that cannot be stopped half-way.", problem=True)
        else:
            self._stop.set()
            self.memento.show_status("Stopping ...")
        return True

    def teller(self, *, stops: bool = True) -> Progress:
        """Return what tells the status line how far some work is, a few times a second."""
        told_at = 0.0

        def tell(what: str, done: int, total: int) -> None:
            nonlocal told_at
            if monotonic() - told_at >= _PROGRESS_SECONDS:
                told_at = monotonic()
                share = f" {100 * done // total} %" if done else ""
                self.call_later(self.memento.show_status, f"{what} ...{share}{'   Escape stops.' if stops else ''}")

        return tell

    @work(thread=True, group="long-work")
    def _work(self, deed: LongTask, stop: threading.Event, *, stops: bool) -> None:
        problem = False
        try:
            said = deed(self.teller(stops=stops), stop)
        except StoppedError:
            said = "Stopped. Nothing was changed."
        except MementoError as error:
            said, problem = str(error), True
        self.call_later(self._worked, said, problem=problem)

    def _worked(self, said: str, *, problem: bool) -> None:
        self._job, self._stop = "", None
        self.memento.show_status(said, problem=problem)
        self.show_again()


_MAX_TEXTS_READ_UNASKED = 20_000
"""Memories whose texts are read without being asked: about four seconds of work. R reads more."""

_QUICK_SECONDS = 0.5
"""A look that took no longer is taken again by itself when something was written."""

_POLL_SECONDS = 2.0
"""Between two looks at what changes by itself."""

_MOST_EXAMPLES = 10


class HealthSection(LongTaskSection[HealthRow]):
    """See what needs care, and take care of it."""

    SCOPE: ClassVar[KeyScope] = "health"
    FILTER_HINT: ClassVar[str] = "filter"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("health")]

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[str, int | None] = {}
        self._checks: dict[str, HealthFinding] = {}
        self._backups: Sequence[Backup] = ()
        self._examples: dict[str, Sequence[Example]] = {}
        self.is_looking = False
        """Whether the rows are being filled in."""
        self._look_seconds = inf
        """How long the last look took, but for the texts."""
        self._is_old = False
        """Whether something was written since the last look."""
        self._stop_looking = threading.Event()
        self._shown_id: str | None = None

    # The list

    def make_source(self) -> ListSource[HealthRow]:
        """Return what is known now."""
        return ListSource(self._rows_now)

    def _rows_now(self) -> list[HealthRow]:
        rows = [*rot_rows(self._counts), *check_rows(self._checks), *backup_rows(self._backups)]
        words = self.filter.casefold().split()
        return with_group_headings([row for row in rows if all(word in row.words for word in words)])

    def row_lines(self, row: HealthRow, width: int) -> Sequence[Line]:
        """Return the line of a row."""
        return health_line(row, width)

    def head_text(self) -> Content:
        """Return how much needs care, and how old that knowledge is."""
        rows = [*rot_rows(self._counts), *check_rows(self._checks), *backup_rows(self._backups)]
        bad, tidy = (sum(row.state == state for row in rows) for state in ("bad", "tidy"))
        self.memento.show_counts(health=bad)
        words = [f"! {bad} to mend" if bad else "", f"~ {tidy} to tidy" if tidy else ""]
        if not self._is_quick:
            words.append("looking ..." if self.is_looking else "older than the last change: R" if self._is_old else "")
        return Content("   ".join(filter(None, words)) or "nothing to mend")

    def empty_text(self) -> str:
        """Return what to do where a filter finds nothing."""
        return "Nothing found.\n\nFewer words find more. Escape clears the filter."

    def id_to_copy(self, row: HealthRow) -> str:
        """Return the code of a sort of rot, or the name of a check or a backup."""
        return row.id.partition(":")[2]

    def show(self, row: HealthRow | None) -> None:
        """Tell what a row means; examples follow when they are found."""
        same = row is not None and row.id == self._shown_id
        self._shown_id = None if row is None else row.id
        if row is None:
            self.set_side_text(Content(""))
            return
        examples = self._examples.get(row.id)
        self.set_side_text(health_details(row, examples, self.query_one(".side-scroll").size.width - 1), same=same)
        if row.kind is not None and row.kind.place == "memories" and row.state in ("bad", "tidy") and examples is None:
            self._find_examples(row)

    @work(thread=True, exclusive=True, group="health-examples")
    def _find_examples(self, row: HealthRow) -> None:
        """Find the first of what was found; the rest of the row does not wait for it."""
        audit, code = self.memento.workspace.audit, self.id_to_copy(row)
        try:
            glances = audit.examples(code, _MOST_EXAMPLES, now=clock.now())
            found = [(glance, audit.why(code, glance.id)) for glance in glances]
        except MementoError as error:
            self.call_later(self.memento.show_status, str(error), problem=True)
        else:
            self.call_later(self._examples_found, row.id, found)

    def _examples_found(self, row_id: str, found: Sequence[Example]) -> None:
        self._examples[row_id] = found
        current = self.rows.current
        if current is not None and current.id == row_id:
            self.show(current)

    # Looking

    def on_mount(self) -> None:
        """Fill the rows in as they become known; they are there at once."""
        self.look()
        self.set_interval(_POLL_SECONDS, self._keep_up)

    def on_unmount(self) -> None:
        """End what runs on threads, which would keep the app from leaving."""
        self._stop_looking.set()

    def reload(self) -> None:
        """Note that what is shown is old. It is looked at again in a moment if that is quick."""
        self._is_old = True
        self.update_head()

    def _keep_up(self) -> None:
        """Look again after a change, or follow the engine, which loads and embeds for minutes."""
        if self.memento.section is not self or self.is_looking:
            return
        if self._is_old and self._is_quick:
            self.look()
        elif "semantic index" in self._checks:
            self._ask_engine()

    @property
    def _is_quick(self) -> bool:
        return self._look_seconds < _QUICK_SECONDS

    @work(thread=True, exclusive=True, group="health-engine")
    def _ask_engine(self) -> None:
        found = health.examine_engine(self.memento.workspace)
        if found != self._checks["semantic index"]:
            self.call_later(self._know, checks=_by_name(found))

    def look(self, *, texts: bool = False) -> None:
        """Look at everything; ``texts`` reads every text, however many there are."""
        self.is_looking, self._is_old = True, False
        self._stop_looking.set()
        self._stop_looking = threading.Event()
        self._look_seconds = inf if texts else self._look_seconds
        self.update_head()
        self._look(self._stop_looking, texts=texts)

    @work(thread=True, exclusive=True, group="health-look")
    def _look(self, stop: threading.Event, *, texts: bool) -> None:
        began, seconds, said = monotonic(), inf, ""
        # Of a look that nobody asked for nothing is told.
        workspace, tell = self.memento.workspace, self.teller() if texts else None
        try:
            self.call_later(self._know, backups=workspace.backups.list())
            for finding in health.examine_quickly(workspace):
                raise_if_stopped(stop)
                self.call_later(self._know, checks={finding.name: finding})
            counts = {
                one.kind.code: one.count for one in workspace.audit.count(now=clock.now(), progress=tell, stop=stop)
            }
            self.call_later(self._know, counts=counts)
            seconds = monotonic() - began  # texts that were read once are not read again
            if texts or workspace.store.count_all() <= _MAX_TEXTS_READ_UNASKED:
                self.call_later(self._know, counts=workspace.audit.read_texts(progress=tell, stop=stop))
                said = "Everything was looked at; c checks the journal too." if texts else ""
        except StoppedError:
            said = "Stopped looking; R looks again."
        except MementoError as error:
            self.call_later(self.memento.show_status, str(error), problem=True)
        self.call_later(self._looked, stop, seconds, said)

    def _know(
        self,
        *,
        counts: Mapping[str, int | None] | None = None,
        checks: Mapping[str, HealthFinding] | None = None,
        backups: Sequence[Backup] | None = None,
    ) -> None:
        """Take note of something that became known, and show it."""
        self._counts.update(counts or {})
        self._checks.update(checks or {})
        self._backups = self._backups if backups is None else backups
        if counts:
            self._examples.clear()
        self.show_again()

    def show_again(self) -> None:
        """Show what is known now."""
        if self.is_mounted:
            self.rows.refresh_rows(self.make_source())
            self.update_head()

    def _looked(self, stop: threading.Event, seconds: float, said: str) -> None:
        if stop is not self._stop_looking:
            return  # a later look is under way
        self.is_looking, self._look_seconds = False, seconds
        self.show_again()
        if said:
            self.memento.show_status(said)

    def action_examine(self) -> None:
        """Look again, and read every text."""
        self.look(texts=True)

    # Deeds

    def action_clear(self) -> None:
        """Stop what is under way, else leave the marks or the filter."""
        if self.stop_work():
            return
        if self.is_looking:
            self._stop_looking.set()
        else:
            super().action_clear()

    def action_backup(self) -> None:
        """Make a backup."""

        def make(tell: Progress, stop: threading.Event) -> str:
            workspace = self.memento.workspace
            made = workspace.backups.make(progress=tell, stop=stop)
            self.call_later(self._know, backups=workspace.backups.list())
            return f"Backed up and checked: {made.name}, {made.memories:,} memories."

        self.begin("The backup is being made", make)

    def action_verify(self) -> None:
        """Check the journal and the file, or the backup under the cursor."""
        row = self.rows.current
        if row is not None and row.backup is not None:
            name = row.backup.name
            self.begin("The backup is being checked", lambda tell, stop: self._check_backup(name, tell, stop))
        else:
            self.begin("The journal is being checked", self._check_journal)

    def _check_backup(self, name: str, tell: Progress, stop: threading.Event) -> str:
        problem = self.memento.workspace.backups.verify(name, progress=tell, stop=stop)
        return f"{name} cannot be restored. {problem}" if problem else f"{name} is whole; it can be restored."

    def _check_journal(self, tell: Progress, stop: threading.Event) -> str:
        workspace = self.memento.workspace
        found = {one.name: one for one in health.check_pages_and_journal(workspace, progress=tell, stop=stop)}
        self.call_later(self._know, checks=found)
        wrong = [one.detail for one in found.values() if not one.ok]
        return wrong[0] if wrong else f"All {workspace.store.head():,} journal entries are as they were written."

    def action_engine(self) -> None:
        """Start the engine, or stop it."""

        def turn(_tell: Progress, _stop: threading.Event) -> str:
            workspace = self.memento.workspace
            semantic = workspace.searching.semantic
            if semantic.status() is not None:
                health.stop_engine(semantic)
                said = "The engine is gone; a search starts it again."
            else:
                health.start_engine(workspace)
                said = "The engine is starting; its model takes some seconds to load."
            self.call_later(self._know, checks=_by_name(health.examine_engine(workspace)))
            return said

        self.begin("The engine is starting or stopping", turn, stops=False)

    def action_reindex(self) -> None:
        """Build the search indexes anew."""

        def build(tell: Progress, _stop: threading.Event) -> str:
            workspace = self.memento.workspace
            semantic = workspace.config.engine.enabled

            def told(done: int, total: int) -> None:
                tell("Indexing", done, total)

            count = health.reindex(workspace, keyword=True, semantic=semantic, progress=told)
            self.call_later(self._know, checks=_by_name(*health.examine_indexes(workspace)))
            rest = " The engine builds the semantic index in the background." if semantic else ""
            return f"The keyword index holds {count:,} memories.{rest}"

        self.begin("The indexes are being built", build, stops=False)

    # Going there

    @work(exclusive=True, group="health-go")
    async def action_go(self) -> None:
        """Go to what a row is about, or back to a backup."""
        row = self.rows.current
        if row is None or not self.check_can_act():
            return
        if row.backup is not None:
            await self._go_back_to(row.backup)
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

    async def _go_back_to(self, one: Backup) -> None:
        if one.problem:
            self.memento.show_status(f"It cannot be restored. {one.problem}", problem=True)
            return
        try:
            newer = self.memento.workspace.store.head() - one.head
        except MementoError as error:  # a damaged database; the error says how a backup takes its place
            self.memento.show_status(str(error), problem=True)
            return
        lost = f"{newer:,} journal entries are newer than it. " if newer > 0 else ""
        question = Content(f"Go back to the backup of {one.at:%Y-%m-%d %H:%M}Z?")
        detail = Content(f"{lost}What is here now is kept as a backup of its own.")
        if not await self.app.push_screen_wait(Confirm(question, detail)):
            return

        def restore(tell: Progress, stop: threading.Event) -> str:
            workspace = self.memento.workspace
            restored = workspace.backups.restore(one.name, progress=tell, stop=stop)
            self.call_later(self._know, backups=workspace.backups.list())
            self.call_later(self.memento.refresh_after_write)
            return f"Restored. What was here before is in {restored.before}."

        self.begin("The backup is being restored", restore)


def _by_name(*findings: HealthFinding) -> dict[str, HealthFinding]:
    return {finding.name: finding for finding in findings}
