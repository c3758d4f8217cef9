"""The terminal app: the sections, what they share, and the live view of the journal."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from time import monotonic
from typing import ClassVar

from textual import events, on
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import BindingType
from textual.dom import DOMNode
from textual.filter import LineFilter
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Input

from memento_tui.errors import MementoError
from memento_tui.records.ids import new_id
from memento_tui.store.journal import Entry
from memento_tui.tui.commands import COMMANDS, Place, bindings
from memento_tui.tui.sections.memories import MemoriesSection, SearchBox
from memento_tui.tui.sections.section import Section
from memento_tui.tui.terminal_filter import TerminalFilter
from memento_tui.tui.widgets.bars import KeyBar, StatusLine, TopBar
from memento_tui.workspace import Workspace

__all__ = ["MementoApp", "run"]

_FOLLOW_SECONDS = 0.3
"""How often the journal's head is looked at; one look costs some 20 microseconds."""

_WARM_UP_DELAY_SECONDS = 0.3
"""The indexes are opened and the engine is started after the first screen is there."""

SECTIONS: tuple[tuple[str, str, str], ...] = (("memories", "1", "Memories"), ("review", "2", "Review"))
"""Name, key and title of each section, in the order of the tabs."""


class MementoApp(App[None]):
    """See and govern what an agent remembers."""

    CSS_PATH = "memento.tcss"
    TITLE = "memento"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("everywhere")]
    ENABLE_COMMAND_PALETTE = True

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace
        self._seen = workspace.store.head()
        self._paused = False
        self._behind = 0
        self._last_key = 0.0
        self._terminal_filter = TerminalFilter()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the app's filters, the one that keeps the terminal safe last."""
        return [*super().get_line_filters(), self._terminal_filter]

    def compose(self) -> ComposeResult:
        """Show the bar, the first section, the status line and the keys."""
        yield TopBar(SECTIONS, self._place())
        with ContentSwitcher(initial="memories"):
            yield MemoriesSection()
        yield StatusLine()
        yield KeyBar()

    def _place(self) -> str:
        home, root = Path.home(), self.workspace.paths.root
        return f"~/{root.relative_to(home)}" if root.is_relative_to(home) else str(root)

    def on_mount(self) -> None:
        """Take the focus, and begin to follow the journal."""
        self.query_one(MemoriesSection).enter()
        self.count(review=self.workspace.review.count())
        self._show_life()
        self.call_after_refresh(gc.enable)
        self.set_interval(_FOLLOW_SECONDS, self._follow)
        self.set_timer(_WARM_UP_DELAY_SECONDS, self._warm_up_soon)

    def _warm_up_soon(self) -> None:
        self.run_worker(self._warm_up, thread=True, group="warm up")

    def _warm_up(self) -> None:
        """Open the indexes before they are asked for."""
        try:
            self.workspace.searching.keyword.catch_up()
            if self.workspace.config.engine.enabled:
                self.workspace.searching.semantic.ensure()
        except MementoError as error:
            self.call_from_thread(self.say, str(error), problem=True)

    # What sections share

    def say(self, text: str, *, problem: bool = False) -> None:
        """Tell in the status line what was done, or what is wrong."""
        self.query_one(StatusLine).say(text, problem=problem)

    def count(self, **counts: int) -> None:
        """Show how many each section holds."""
        self.query_one(TopBar).show(counts=counts)

    def wrote(self) -> None:
        """Show at once what this app itself has written."""
        self._seen = self.workspace.store.head()
        self._refresh_sections()

    def key_was_pressed_since(self, moment: float) -> bool:
        """Tell whether the person pressed a key in the last half second, and after ``moment``."""
        return self._last_key > moment and monotonic() - self._last_key < 0.5  # noqa: PLR2004 - half a second

    async def on_event(self, event: events.Event) -> None:
        """Remember when the person acted, before anything else sees the event."""
        if isinstance(event, events.Key | events.MouseDown):
            self._last_key = monotonic()
        await super().on_event(event)

    @property
    def section(self) -> Section:
        """The section that is shown."""
        switcher = self.query_one(ContentSwitcher)
        return switcher.query_one(f"#{switcher.current}", Section)

    # Following the journal

    def _follow(self) -> None:
        try:
            head = self.workspace.store.head()
        except MementoError as error:
            self.say(str(error), problem=True)
            return
        if head <= self._seen:
            return
        if self._paused:
            self._behind = head - self._seen
            self._show_life()
            return
        entries = self.workspace.store.entries_after(self._seen)
        self._seen = head
        if others := [entry for entry in entries if entry.session != self.workspace.author.session]:
            self.say(_told(others))
        self._refresh_sections()

    def _refresh_sections(self) -> None:
        for section in self.query(Section):
            section.follow()
        self.count(review=self.workspace.review.count())

    def _show_life(self) -> None:
        if self._paused:
            text = f"PAUSED, {self._behind} changes behind (p)" if self._behind else "PAUSED (p)"
        else:
            text = "live"
        self.query_one(StatusLine).show_life(text)

    # Commands

    async def action_section(self, name: str) -> None:
        """Show a section, made when it is first needed."""
        switcher = self.query_one(ContentSwitcher)
        if not switcher.query(f"#{name}"):
            from memento_tui.tui.sections.review import ReviewSection  # noqa: PLC0415 - when it is first shown

            await switcher.add_content(ReviewSection(), id=name, set_current=True)
        switcher.current = name
        self.query_one(TopBar).show(active=name)
        self.section.enter()

    @on(TopBar.Chosen)
    async def _chosen(self, event: TopBar.Chosen) -> None:
        await self.action_section(event.name)

    @on(events.DescendantFocus)
    def _focus_moved(self) -> None:
        if len(self.screen_stack) > 1:
            return
        self.query_one(KeyBar).show(self._places(), typing=self._is_typing())

    def _is_typing(self) -> bool:
        return isinstance(self.focused, Input) or bool(self.query("Editor"))

    @on(KeyBar.Chosen)
    async def _key_clicked(self, event: KeyBar.Chosen) -> None:
        await self.run_action(event.command.action, default_namespace=self._owner(event.command.place))

    def _owner(self, place: Place) -> DOMNode:
        """Return the widget whose actions a place's commands are."""
        if place == "everywhere":
            return self
        if place in ("editor", "search"):
            return self.query_one("Editor" if place == "editor" else SearchBox)
        return self.section

    def action_undo(self) -> None:
        """Take back what the person did last."""
        self._take_back(self.workspace.undo, "Undid")

    def action_redo(self) -> None:
        """Do again what was undone last."""
        self._take_back(self.workspace.redo, "Redid")

    def _take_back(self, act: Callable[[], Sequence[Entry]], word: str) -> None:
        try:
            entries = act()
        except MementoError as error:
            self.say(str(error), problem=True)
            return
        what = entries[0].note if entries[0].action == "undo" else entries[0].action
        self.say(f"{word}: {what}{f' ({len(entries)} parts)' if len(entries) > 1 else ''}.")
        self.wrote()

    def action_pause(self) -> None:
        """Stop following the journal, or catch up."""
        self._paused = not self._paused
        self._behind = 0
        self._show_life()
        if not self._paused:
            self._follow()

    def action_help(self) -> None:
        """Show the keys of the place that has the focus."""
        from memento_tui.tui.screens.help import HelpScreen  # noqa: PLC0415 - when it is first shown

        self.push_screen(HelpScreen(self._places()))

    def _places(self) -> list[Place]:
        if self.query("Editor"):
            return ["editor", "everywhere"]
        if isinstance(self.focused, SearchBox):
            return ["search", "memories", "everywhere"]
        return [self.section.PLACE, "list", "everywhere"]

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Return what the palette offers: the commands of this place, then Textual's own."""
        for command in COMMANDS:
            if command.action and command.place in ("everywhere", self.section.PLACE):
                area = "App" if command.place == "everywhere" else command.place.capitalize()
                yield SystemCommand(
                    f"{area}: {command.help}", f"key {command.keys}", _runner(self, command.action, command.place)
                )
        yield from (found for found in super().get_system_commands(screen) if found.title in ("Theme", "Screenshot"))


def _runner(app: MementoApp, action: str, place: Place) -> Callable[[], Awaitable[None]]:
    async def act() -> None:
        await app.run_action(action, default_namespace=app._owner(place))  # noqa: SLF001 - a part of the app

    return act


def _told(entries: Sequence[Entry]) -> str:
    """Return one sentence about what others wrote."""
    done = Counter((entry.agent or entry.channel, entry.action) for entry in entries)
    parts = [f"{who}: {action}" + (f" x{number}" if number > 1 else "") for (who, action), number in done.items()]
    return "; ".join(parts[:3]) + (" ..." if len(parts) > 3 else "")  # noqa: PLR2004 - what fits a line


def run(data_dir: Path | None) -> int:
    """Open the app on a data directory and return the exit status."""
    with Workspace(data_dir, channel="tui", session=new_id()) as workspace:
        app = MementoApp(workspace)
        app.run()
    return app.return_code or 0
