"""Offer to import the memories of other tools: once by itself while there are none, and on request."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.widgets import Static
from textual.worker import Worker, get_current_worker

from memento_tui import clock
from memento_tui.errors import MementoError
from memento_tui.paths import typed_path
from memento_tui.tui.display import cells, literal, short_path, time_ago
from memento_tui.tui.screens.dialogs import AskLine, Dialog
from memento_tui.tui.section import app_of, in_worker

__all__ = ["FirstRunScreen", "find_and_offer_imports", "offer_first_import", "offer_import_of"]

if TYPE_CHECKING:
    from memento_tui.formats.discovery import DiscoveryReport, ImportSource
    from memento_tui.formats.import_export import ImportReport
    from memento_tui.tui.app import MementoApp


_OFFERED_SETTING = "first_run.offered"
"""The setting that records that the person was asked."""

_COUNTING_SECONDS = 2.0
"""How long the records of a place that the person named are counted."""

_ROW_LINES = 2
_MOST_REFUSALS_SHOWN = 3
_WIDTH = 66
"""Cells of a line in the dialog on a terminal of 80."""
_MOST_TITLE_CELLS = 29


def offer_first_import(app: MementoApp) -> None:
    """Search for sources and ask, if there is no memory and the person was not asked before. Return at once."""

    def search() -> Callable[[], None] | None:
        workspace = app.workspace
        if workspace.settings.get(_OFFERED_SETTING) is not None or workspace.count_all() > 0:
            return None
        findings = _find_candidates(app)
        return partial(ask, findings) if findings.candidates else None

    def ask(findings: DiscoveryReport) -> None:
        if len(app.screen_stack) == 1:  # if another dialog has opened meanwhile, ask the next time
            app.workspace.settings.set(_OFFERED_SETTING, "yes")
            _show(app, findings)

    _in_thread(app, search)


def find_and_offer_imports(app: MementoApp) -> None:
    """Search for sources on request, and show those found. Return at once."""

    def search() -> Callable[[], None]:
        return partial(show, _find_candidates(app))

    def show(findings: DiscoveryReport) -> None:
        if findings.candidates:
            _show(app, findings)
        else:
            app.show_status("Nothing was found to import. `memento import --help` lists what can be imported.")
            _ask_for_path(app)

    app.show_status("Looking around in your home ...")
    _in_thread(app, search)


def _show(app: MementoApp, findings: DiscoveryReport, *, ticked: bool = False) -> None:
    def left(wants_another: bool | None) -> None:  # noqa: FBT001 - a dialog's answer
        if wants_another:
            _ask_for_path(app)

    app.show_status("")
    app.push_screen(FirstRunScreen(findings, ticked=ticked), left)


def _ask_for_path(app: MementoApp) -> None:
    async def ask() -> None:
        path = await app.push_screen_wait(AskLine("Import which file or folder?", hint="Such as ~/notes"))
        if path is not None and path.strip():
            offer_import_of(app, typed_path(path.strip()))

    in_worker(app, ask, "import path", exclusive=True)


def offer_import_of(app: MementoApp, path: Path) -> None:
    """Detect the format of a file or folder on a thread, and offer it as the one source to import."""

    def read() -> Callable[[], None]:
        return partial(_show, app, _only(_source_at(path)), ticked=True)

    app.show_status(f"Reading {short_path(path)} ...")
    _in_thread(app, read)


def _source_at(path: Path) -> ImportSource:
    """Return the source at a path, with the number of its records, as far as they were counted in time.

    Raises `MementoError`.
    """
    from memento_tui.formats.base import Refused  # noqa: PLC0415 - the readers take a while to load
    from memento_tui.formats.discovery import ImportSource  # noqa: PLC0415 - as above
    from memento_tui.formats.registry import FORMATS, detect_format  # noqa: PLC0415 - as above

    worker, ends = get_current_worker(), monotonic() + _COUNTING_SECONDS
    name, count, is_late = detect_format(path), 0, False
    for record in FORMATS[name].read(path):
        count += not isinstance(record, Refused)
        if is_late := worker.is_cancelled or monotonic() > ends:
            break
    return ImportSource(format=name, path=path.absolute(), count=count, unit="record", about=is_late, changed=None)


def _only(source: ImportSource) -> DiscoveryReport:
    from memento_tui.formats.discovery import DiscoveryReport  # noqa: PLC0415 - loaded already

    return DiscoveryReport(candidates=(source,), unreadable=0, complete=True)


def _find_candidates(app: MementoApp) -> DiscoveryReport:
    # on a thread: the readers take a while to load
    from memento_tui.formats.discovery import find_sources  # noqa: PLC0415

    worker = get_current_worker()
    return find_sources(app.workspace.paths.root, stopped=lambda: worker.is_cancelled)


def _in_thread(app: MementoApp, look: Callable[[], Callable[[], None] | None]) -> None:
    """Look around in a thread, in place of any other that does, and call in the app's thread what ``look`` returned."""

    def show_unless_cancelled(show: Callable[[], None], worker: Worker[None]) -> None:
        if not worker.is_cancelled:  # what was cancelled has found only a part
            show()

    def run() -> None:
        worker = get_current_worker()
        try:
            show = look()
        except MementoError as error:
            show = partial(app.show_status, str(error), problem=True)

        if show is not None:
            app.call_from_thread(show_unless_cancelled, show, worker)

    app.run_worker(run, thread=True, group="looking around", exclusive=True)


class _Choices(Static, can_focus=True):
    """The list of candidates, two lines each: cursor, tick and description, then the path."""

    class Moved(Message):
        """The cursor went to another candidate."""

        def __init__(self, region: Region) -> None:
            super().__init__()
            self.region = region

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("space", "tick", show=False),
        Binding("a", "tick_all", show=False),
    ]

    def __init__(self, candidates: Sequence[ImportSource], *, ticked: bool) -> None:
        super().__init__()
        self._candidates = candidates
        self._cursor = 0
        self._ticked = set(range(len(candidates))) if ticked else set()
        self._title_cells = min(max((cell_len(_title(one)) for one in candidates), default=0), _MOST_TITLE_CELLS)
        self._amount_cells = max((len(one.amount) for one in candidates), default=0)

    @property
    def ticked(self) -> list[ImportSource]:
        """The candidates that were ticked."""
        return [candidate for index, candidate in enumerate(self._candidates) if index in self._ticked]

    def on_mount(self) -> None:
        """Draw the candidates."""
        self._draw()

    def _draw(self) -> None:
        self.update(Content("\n").join(line for index in range(len(self._candidates)) for line in self._row(index)))

    def _row(self, index: int) -> tuple[Content, Content]:
        candidate = self._candidates[index]
        mark = f"{'>' if index == self._cursor else ' '} [{'x' if index in self._ticked else ' '}] "
        title = cells(_title(candidate), self._title_cells)
        changed = f"changed {time_ago(candidate.changed, clock.now())}" if candidate.changed else ""
        style = "bold" if index == self._cursor else ""
        head = literal(f"{mark}{title} ", style) + Content(f" {candidate.amount:<{self._amount_cells}}  {changed}")
        return head, literal(" " * 6 + cells(short_path(candidate.path), _WIDTH - 6).rstrip(), "dim")

    def action_move(self, step: int) -> None:
        """Go to another candidate."""
        self._cursor = min(max(self._cursor + step, 0), len(self._candidates) - 1)
        self._draw()
        self.post_message(self.Moved(Region(0, self._cursor * _ROW_LINES, 1, _ROW_LINES)))

    def action_tick(self) -> None:
        """Tick or untick the candidate under the cursor."""
        self._ticked ^= {self._cursor}
        self._draw()

    def action_tick_all(self) -> None:
        """Tick all, or none if all are ticked."""
        everything = set(range(len(self._candidates)))
        self._ticked = set() if self._ticked == everything else everything
        self._draw()

    def on_click(self, event: events.Click) -> None:
        """Tick or untick the candidate that was clicked."""
        self._cursor = min(event.y // _ROW_LINES, len(self._candidates) - 1)
        self.action_tick()


class _Stopped(Exception):
    """The person stopped an import."""


class FirstRunScreen(Dialog[bool]):
    """A dialog that shows the sources found, imports those ticked, and shows the outcome.

    With ``ticked`` it begins with all of them ticked: the person named them. It returns whether the person wants to
    name another path.
    """

    DEFAULT_CSS = """
    FirstRunScreen .dialog { width: 74; }
    FirstRunScreen .first-run-list { height: auto; max-height: 12; margin-bottom: 1; scrollbar-size-vertical: 1; }
    FirstRunScreen .first-run-told { height: auto; max-height: 14; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("i", "import(False)", "Import"),
        Binding("r", "import(True)", "Import for review"),
        Binding("p", "path", "Another path"),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("escape", "leave", "Leave"),
    ]

    def __init__(self, findings: DiscoveryReport, *, ticked: bool = False) -> None:
        super().__init__()
        self._findings = findings
        self._title = Static(Content("Memories found on this machine"), id="first-run-title", classes="dialog-title")
        self._text = Static(Content(self._introduction()), id="first-run-told", classes="dialog-text")
        self._text_scroll = VerticalScroll(classes="first-run-told", can_focus=False)
        self._choices = _Choices(findings.candidates, ticked=ticked)
        self._list_scroll = VerticalScroll(classes="first-run-list", can_focus=False)
        self._keys = Static(id="first-run-keys", classes="dialog-hint")
        self._stop = Event()
        self._state = "choosing"

    def compose(self) -> ComposeResult:
        """Show the candidates, none of them ticked."""
        with Vertical(classes="dialog"):
            yield self._title
            with self._text_scroll:
                yield self._text
            with self._list_scroll:
                yield self._choices
            yield self._keys

    def on_mount(self) -> None:
        """Take the focus."""
        self.focus_part(self._choices)
        self._show_keys("Space tick   a all   i import   r import for review   p path   Esc leave")

    def _introduction(self) -> str:
        first = "Tick the sources to import. The files stay as they are, and z undoes an import."
        return " ".join([first, *self._findings.shortcomings])

    def _show_text(self, text: Content) -> None:
        self._text.update(text)

    def _show_keys(self, keys: str) -> None:
        self._keys.update(Content(keys))

    @on(_Choices.Moved)
    def _keep_in_view(self, event: _Choices.Moved) -> None:
        self._list_scroll.scroll_to_region(event.region, animate=False)

    def action_scroll(self, lines: int) -> None:
        """Scroll the outcome."""
        self._text_scroll.scroll_relative(y=lines, animate=False)

    def action_leave(self) -> None:
        """Leave; stop a running import first."""
        if self._state != "importing":
            self.dismiss(False)  # noqa: FBT003 - as in `action_path`
            if self._state == "choosing":
                app_of(self).show_status("Nothing was imported; `memento import --find` shows it again.")
            return
        self._stop.set()
        self._show_keys("Stopping ...")

    def action_path(self) -> None:
        """Ask for a file or folder that is not in the list."""
        if self._state == "choosing":
            self.dismiss(True)  # noqa: FBT003 - whether another path is wanted

    def action_import(self, hold: bool) -> None:  # noqa: FBT001 - Textual's parameters
        """Import the ticked sources; with ``hold`` every memory waits for review."""
        if self._state != "choosing":
            return
        chosen = self._choices.ticked
        if not chosen:
            self._show_text(
                Content.styled("Nothing is ticked. Space ticks the line under the cursor.", "bold $text-warning")
            )
            return
        self._state = "importing"
        self._list_scroll.display = False
        self.focus()
        self._show_keys("Esc stops; memories imported until then stay")
        self._import(chosen, hold=hold)

    @work(thread=True)
    def _import(self, chosen: Sequence[ImportSource], *, hold: bool) -> None:
        outcomes = []
        for candidate in chosen:
            if self._stop.is_set():
                outcomes.append(_line(candidate, "left out, because you stopped."))
                continue
            outcomes.append(self._import_one(candidate, hold=hold))
            self.app.call_from_thread(app_of(self).refresh_after_write)
        self.app.call_from_thread(self._end, Content("\n").join(outcomes))

    def _import_one(self, candidate: ImportSource, *, hold: bool) -> Content:
        """Import one candidate, and return the outcome in words."""
        from memento_tui.formats.import_export import READING, run_import  # noqa: PLC0415 - only an import needs it

        worker = get_current_worker()

        def progress(what: str, done: int, total: int) -> None:
            self.app.call_from_thread(self._show_text, _line(candidate, f"{what}: {done:,} of {total:,} ..."))
            if what == READING and done < total and (self._stop.is_set() or worker.is_cancelled):
                raise _Stopped

        self.app.call_from_thread(self._show_text, _line(candidate, "reading ..."))
        try:
            report = run_import(app_of(self).workspace, candidate.format, candidate.path, hold=hold, progress=progress)
        except _Stopped:
            return _line(candidate, "stopped. Memories imported until then stay; importing it again continues.")
        except MementoError as error:
            return _line(candidate, str(error), "$text-warning")
        return Content("\n").join([_line(candidate, _report_text(report)), *_refusals(report)])

    def _end(self, outcome: Content) -> None:
        self._state = "done"
        self._title.update(Content("Outcome"))
        self._show_text(outcome)
        self._show_keys("Esc closes; z then undoes the last import")


def _line(candidate: ImportSource, text: str, style: str = "") -> Content:
    """Return a sentence about a candidate, and its path."""
    path = literal("  " + cells(short_path(candidate.path), _WIDTH - 2).rstrip(), "dim")
    return literal(f"{_title(candidate)}: ", "bold") + literal(text, style) + Content("\n") + path


def _report_text(report: ImportReport) -> str:
    counts = [
        (report.imported - report.held, "imported"),
        (report.held, "held for your review"),
        (report.updated, "updated"),
        (report.unchanged, "here already"),
        (report.redacted, "with a secret that was removed"),
        (report.shortened, "skips cut to two years"),
        (report.renamed, "as id@workspace, for another workspace has the id"),
        (len(report.refused), "refused"),
    ]
    return (", ".join(f"{number:,} {outcome}" for number, outcome in counts if number) or "nothing to import") + "."


def _refusals(report: ImportReport) -> list[Content]:
    lines = []
    for refused in report.refused[:_MOST_REFUSALS_SHOWN]:
        place = f"{refused.file}:{refused.line}" if refused.line else refused.file
        lines.append(literal("  ! ", "bold $text-warning") + literal(f"{place} {refused.reason}", "dim"))
    if len(report.refused) > _MOST_REFUSALS_SHOWN:
        rest = len(report.refused) - _MOST_REFUSALS_SHOWN
        lines.append(Content.styled(f"    and {rest:,} more; `memento import --dry-run` lists them all", "dim"))
    return lines


def _title(candidate: ImportSource) -> str:
    from memento_tui.formats.registry import FORMATS  # noqa: PLC0415 - loaded already by the search for candidates

    return FORMATS[candidate.format].title
