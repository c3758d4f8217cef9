"""Home, the first screen: pending decisions, the agents' changes, totals, health, and records that end soon."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from memento_tui import clock
from memento_tui.api.overview import RecordCounts
from memento_tui.errors import MementoError
from memento_tui.tui.commands import bindings
from memento_tui.tui.section import Section
from memento_tui.tui.sections.home_panels import HomeView, head_rows, panels, welcome_rows
from memento_tui.tui.widgets.frames import ScrollFrame
from memento_tui.tui.widgets.panel_board import Board, Direction, PanelRow

__all__ = ["HomeSection"]

if TYPE_CHECKING:
    from memento_tui.api import Workspace


_RECOUNT_PAUSE_FACTOR = 10
"""How many times as long as it took a slow count rests before it is made again, however much is written."""

_LEAST_SECONDS = 1.0
_PAUSE_SECONDS = 0.5


@dataclass
class PartCounted(Message):
    """A part was counted: its name in `HomeView`, and its value."""

    name: str
    value: object


class BoardScroll(ScrollFrame, inherit_bindings=False):
    """The place in which the board scrolls; the arrow keys move the board's cursor and never this."""


class HomeSection(Section):
    """A board of numbers, each of which leads to the list that it counts."""

    SCOPE = "home"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("home")]
    DEFAULT_CSS = """
    #home-scroll { height: 1fr; scrollbar-size-vertical: 1; }
    """

    def __init__(self) -> None:
        super().__init__(id=self.SCOPE)
        self._view = HomeView()
        self._is_untouched = True
        self.board = Board(self._head, [])
        """The numbers."""
        self._scroll = BoardScroll(id="home-scroll", can_focus=False)
        self._is_stale = False
        """Whether something was written since the last count."""
        self._is_counting = False
        self._is_counting_slowly = False
        self._slow_after = 0.0
        """The moment, on the monotonic clock, from which the slow counts may be made again."""

    def compose(self) -> ComposeResult:
        """Show the board, which is empty at first."""
        if not self._is_new:
            self.board.set_panels(panels(self._view))
        with self._scroll:
            yield self.board

    @property
    def _is_new(self) -> bool:
        """Whether nothing was ever written here. It is read at every paint, so it must not fail."""
        if self._is_untouched:
            try:
                self._is_untouched = self.memento.workspace.activity.head() == 0
            except MementoError:
                return False  # counting meets the same error, and reports it
        return self._is_untouched

    def _head(self, width: int) -> list[PanelRow]:
        return welcome_rows(width) if self._is_new else head_rows(self._view, width)

    def on_mount(self) -> None:
        """Begin to count once the first frame is there."""
        self.call_after_refresh(self._read)

    def focus_content(self) -> None:
        """Go to the number where the person was last."""
        self.focus_part(self.board)
        if self._is_stale:
            self._read()

    def show_query(self, query: str) -> None:
        """There is nothing to choose here."""

    def reload(self) -> None:
        """Count again; while another section is shown, that is left until the person comes back."""
        self._is_stale = True
        if self.memento.section is self:
            self._read()

    # Counting

    def _read(self) -> None:
        """Count again; requests that come while it counts are answered afterwards, by one count."""
        self._is_stale = self._is_counting
        if self._is_counting or self._is_new:
            return
        if not self.board.has_panels:
            self.board.set_panels(panels(self._view))
        self._is_counting = True
        self._count()

    @work(thread=True, group="count")
    def _count(self) -> None:
        """Count the cheap parts, the cheapest first; each is shown as it comes."""
        from memento_tui.api import overview  # noqa: PLC0415 - the first frame does without it

        workspace, now = self.memento.workspace, clock.now()
        try:
            if self._view.last_visit is None:
                self._report("last_visit", overview.last_seen(workspace))
            self._report("next", overview.next_decisions(workspace))
            self._report("waiting", overview.inbox_counts(workspace))
            self._report("in_work", overview.in_work(workspace))
            self._report("days", overview.daily_counts(workspace, now))
            self._report("expiring", overview.expiring_soon(workspace, now))
            self._report("told", overview.recent_exposures(workspace, now))
            self._report("agent_changes", overview.agent_changes(workspace))
            self._report("agent_totals", overview.agent_totals_since(workspace, self._last_visit_seq(workspace)))
            self._report("record_counts", overview.record_counts(workspace))
        except MementoError as error:
            self._report("problem", str(error))
        self._report("counted", None)

    def _last_visit_seq(self, workspace: Workspace) -> int:
        # At first the message with it was posted a moment ago, and may not have arrived.
        return workspace.activity.last_seen() if self._view.last_visit is None else self._view.last_visit[0]

    def _count_slowly(self) -> None:
        """Count the slow parts; later, if that was done a moment ago."""
        if self._is_counting_slowly:
            return
        wait = self._slow_after - monotonic()
        self._is_counting_slowly = True
        if wait > 0:
            self.set_timer(wait, self._count_all)
        else:
            self._count_all()

    @work(thread=True, group="count all")
    def _count_all(self) -> None:
        from memento_tui.api import overview  # noqa: PLC0415 - the first frame does without it

        workspace, statistics = self.memento.workspace, self.memento.workspace.statistics
        begun = monotonic()
        try:
            self._report("health", overview.health_signs(workspace, clock.now()))
            self._report("namespaces", workspace.namespaces())
            self._report("tags", statistics.tags(overview.MAX_TAGS))
            self._report("facets", statistics.facets())
        except MementoError as error:
            self._report("problem", str(error))
        rest = max(_LEAST_SECONDS, _RECOUNT_PAUSE_FACTOR * (monotonic() - begun))
        self._report("counted", monotonic() + rest)

    def _report(self, name: str, value: object) -> None:
        """Hand a count made on a thread to the app."""
        self.post_message(PartCounted(name, value))

    @on(PartCounted)
    def _counted(self, event: PartCounted) -> None:
        event.stop()
        if event.name == "problem":
            self.memento.show_status(str(event.value), problem=True)
        elif event.name == "counted":
            self._continue(event.value)
        else:
            setattr(self._view, event.name, event.value)
            # The numbers in the tabs are those of the last time that a list was read, or that the view was live.
            if isinstance(event.value, RecordCounts):
                self.memento.show_counts(memories=event.value.memories)
            elif event.name == "waiting":
                self.memento.show_counts(review=sum(kind.count for kind in self._view.waiting or ()))
            self.board.redraw()

    def _continue(self, slow_after: object) -> None:
        """Go on after a count; the slow one gives the moment after which it may be made again."""
        self.call_after_refresh(self.memento.focus_changed)
        if isinstance(slow_after, float):
            self._slow_after, self._is_counting_slowly = slow_after, False
            return
        if self._is_stale and self.memento.section is self:
            # Whoever writes ten times a second is not followed ten times a second.
            self.set_timer(_PAUSE_SECONDS, self._read_again)
        else:
            self._is_counting = False
        self._count_slowly()

    def _read_again(self) -> None:
        self._is_counting = False
        self._read()

    # Going

    def action_move(self, direction: Direction) -> None:
        """Go to the nearest number in a direction."""
        self.board.move(direction)

    def action_step(self, by: int) -> None:
        """Go to the next number, or the last one."""
        self.board.step(by)

    def action_scroll(self, pages: int) -> None:
        """Scroll by half a page."""
        self._scroll.scroll_relative(y=pages * max(1, self._scroll.size.height // 2), animate=False)

    def is_available(self, command: str) -> bool:
        """Return whether there is a number for the command."""
        current = self.board.current
        if command == "home.decide":
            return current is not None and current.section == "review"
        return command not in ("home.go", "home.next") or current is not None

    def action_go(self) -> None:
        """Go to the list that the number under the cursor counts."""
        if self.board.current is None:
            self.memento.show_status("There is nothing here to go to yet.", problem=True)
        else:
            self.board.follow()

    def action_decide(self) -> None:
        """Open the card of the item under the cursor: only there stands everything that a decision carries out."""
        if self.board.current is None or self.board.current.section != "review":
            self.memento.show_status("Go to something that waits first; it is decided on its card.", problem=True)
        else:
            self.board.follow()

    @on(Board.Followed)
    async def _followed(self, event: Board.Followed) -> None:
        await self.memento.open_section(event.link.section, event.link.query)
