"""The first screen: what waits, what agents did, what there is, whether all is well, what ends soon."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.message import Message

from memento_tui import clock
from memento_tui.api.overview import RecordCounts
from memento_tui.errors import MementoError
from memento_tui.tui.commands import bindings
from memento_tui.tui.section import Section
from memento_tui.tui.sections.home_panels import HomeView, head_rows, panels, welcome_rows
from memento_tui.tui.widgets.panel_board import Board, Direction, PanelRow

__all__ = ["HomeSection"]

if TYPE_CHECKING:
    from memento_tui.api import Workspace


_RECOUNT_PAUSE_FACTOR = 10
"""Counting all memories that took a second is done again after ten at the earliest, however much is written."""

_LEAST_SECONDS = 1.0
_PAUSE_SECONDS = 0.5


@dataclass
class PartCounted(Message):
    """A part was counted: its name in the view and what was found."""

    name: str
    found: object


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
        self._is_stale = False
        """Whether something was written that is not counted."""
        self._is_counting = False
        self._is_counting_slowly = False
        self._slow_after = 0.0
        """When the slow counts may be made again."""

    def compose(self) -> ComposeResult:
        """Show the board, empty as it is."""
        with VerticalScroll(id="home-scroll", can_focus=False):
            yield Board(self._head, [] if self._is_new else panels(self._view))

    @property
    def _is_new(self) -> bool:
        """Whether nothing was ever written here. It is asked at every paint, so it must not fail."""
        if self._is_untouched:
            try:
                self._is_untouched = self.memento.workspace.activity.head() == 0
            except MementoError:
                return False  # counting meets the same error, and tells it
        return self._is_untouched

    def _head(self, width: int) -> list[PanelRow]:
        return welcome_rows(width) if self._is_new else head_rows(self._view, width)

    @property
    def board(self) -> Board:
        """The board."""
        return self.query_one(Board)

    def on_mount(self) -> None:
        """Begin to count once the first frame is there."""
        self.call_after_refresh(self._read)

    def focus_content(self) -> None:
        """Go to the number where the person was last."""
        self.screen.set_focus(self.board)
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
        """Count once more; what is asked for while it counts is done afterwards, once."""
        self._is_stale = self._is_counting
        if self._is_counting or self._is_new:
            return
        if not self.board.has_panels:
            self.board.set_panels(panels(self._view))
        self._is_counting = True
        self._count()

    @work(thread=True, group="count")
    def _count(self) -> None:
        """Count what is cheap, the cheapest first; each part is shown as it comes."""
        from memento_tui.api import overview  # noqa: PLC0415 - the first frame does without it

        workspace, now = self.memento.workspace, clock.now()
        try:
            if self._view.looked is None:
                self._tell("looked", overview.last_seen(workspace))
            self._tell("waiting", overview.inbox_counts(workspace))
            self._tell("days", overview.daily_counts(workspace, now))
            self._tell("ending", overview.expiring_soon(workspace, now))
            self._tell("tally", overview.agent_totals_since(workspace, self._looked_seq(workspace)))
            self._tell("amounts", overview.record_counts(workspace))
        except MementoError as error:
            self._tell("problem", str(error))
        self._tell("counted", "cheap")

    def _looked_seq(self, workspace: Workspace) -> int:
        # The first time it was told a moment ago, and may not have arrived.
        return workspace.activity.last_seen() if self._view.looked is None else self._view.looked[0]

    def _count_slowly(self) -> None:
        """Count what takes long, unless that was done a moment ago; then it is done later."""
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
            self._tell("health", overview.health_signs(workspace, clock.now()))
            self._tell("tags", statistics.tags(overview.MAX_TAGS))
            self._tell("facets", statistics.facets())
        except MementoError as error:
            self._tell("problem", str(error))
        self._slow_after = monotonic() + max(_LEAST_SECONDS, _RECOUNT_PAUSE_FACTOR * (monotonic() - begun))
        self._tell("counted", "all")

    def _tell(self, name: str, found: object) -> None:
        """Hand what was counted on a thread to the app."""
        self.post_message(PartCounted(name, found))

    @on(PartCounted)
    def _counted(self, event: PartCounted) -> None:
        event.stop()
        if event.name == "problem":
            self.memento.show_status(str(event.found), problem=True)
        elif event.name == "counted":
            self._go_on(event.found == "cheap")
        else:
            setattr(self._view, event.name, event.found)
            # The numbers in the tabs are those of the last time that a list was read, or that the view was live.
            if isinstance(event.found, RecordCounts):
                self.memento.show_counts(memories=event.found.memories)
            elif event.name == "waiting":
                self.memento.show_counts(review=sum(one.count for one in self._view.waiting or ()))
            self.board.redraw()

    def _go_on(self, was_cheap: bool) -> None:  # noqa: FBT001 - which of two ended
        self.call_after_refresh(self.memento.focus_changed)
        if not was_cheap:
            self._is_counting_slowly = False
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
        view = self.query_one("#home-scroll")
        view.scroll_relative(y=pages * max(1, view.size.height // 2), animate=False)

    def is_available(self, command: str) -> bool:
        """Tell whether there is a number to go to, or to go to the list of."""
        return command not in ("home.go", "home.next") or self.board.current is not None

    def action_go(self) -> None:
        """Go to the list that the number under the cursor counts."""
        if self.board.current is None:
            self.memento.show_status("There is nothing here to go to yet.", problem=True)
        else:
            self.board.follow()

    @on(Board.Followed)
    async def _followed(self, event: Board.Followed) -> None:
        await self.memento.open_section(event.link.section, event.link.query)
