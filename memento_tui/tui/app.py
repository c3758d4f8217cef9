"""The terminal app: the sections and the services they share, key scopes, and the live view of the journal."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from rich.console import RenderableType
from textual import events, on, work
from textual.actions import ActionParseResult
from textual.app import App, ComposeResult, ScreenError, SystemCommand
from textual.binding import BindingType
from textual.dom import DOMNode
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.theme import ThemeProvider

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.api.overview import mark_seen
from memento_tui.app_sections import SECTIONS
from memento_tui.errors import LockedWorkspace, MementoError, ReadOnlyMode
from memento_tui.known_workspaces import note_opened
from memento_tui.model.validation import new_id
from memento_tui.paths import DataPaths, data_directory
from memento_tui.tui import garbage
from memento_tui.tui.background import BackgroundWork
from memento_tui.tui.commands import Command, KeyMap, KeyScope, bindings, is_writing
from memento_tui.tui.display import short_path
from memento_tui.tui.input_order import InputOrder, TypedInput, survive_unknown_keys
from memento_tui.tui.journal_watcher import JournalWatcher
from memento_tui.tui.own import own_entries
from memento_tui.tui.palette import LegibleDim, legible
from memento_tui.tui.section import ErrorBoundary, Section, active_scopes, in_thread, reportable_error, scope_owner
from memento_tui.tui.sections.catalogue import make_section
from memento_tui.tui.terminal import TerminalDriver, TerminalFilter
from memento_tui.tui.undo import UndoRunner
from memento_tui.tui.widgets.bars import KeyBar, StatusLine, TopBar
from memento_tui.tui.widgets.frames import MainScreen, SwitcherFrame

__all__ = ["MementoApp", "run"]


_POLL_SECONDS = 0.3
"""Seconds between two polls of the journal; each takes some 20 microseconds."""

_WARM_UP_DELAY_SECONDS = 0.3
"""Seconds after the first screen until the indexes are opened and the engine is started."""

_IDLE_SECONDS = 2.0
"""Seconds without a key after which a pause of some tens of milliseconds is not noticed."""

_MAX_UNCOLLECTED_SECONDS = 20.0
"""Seconds after which garbage, such as closed views, is collected though keys come without a pause."""

_THEME_SETTING = "app.theme"
"""The setting that keeps the theme that was chosen last."""


if TYPE_CHECKING:
    from textual.command import Provider

    from memento_tui.tui.palette_commands import PaletteCommands


def _palette_commands() -> type[Provider]:
    """Return the palette's provider of commands, which the first frame does not import."""
    from memento_tui.tui.palette_commands import OrderedCommands  # noqa: PLC0415 - when it is first needed

    return OrderedCommands


class MementoApp(ErrorBoundary, App[None]):
    """The terminal app over one workspace: its sections, status line and keys."""

    CSS_PATH = "memento.tcss"
    TITLE = "memento"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("everywhere")]
    ENABLE_COMMAND_PALETTE = True
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_palette_commands}

    def __init__(self, workspace: Workspace, start: str = "home") -> None:
        super().__init__()
        survive_unknown_keys()
        self.workspace = workspace
        self.keys = KeyMap(workspace.config.keys, workspace.config.app.keymap)
        """The keys of each command."""
        self.opened_at = clock.now()
        self.next_workspace: Path | None = None
        """The data directory that the person leaves for; ``None`` where they quit."""
        self.next_section = "home"
        """The section in which it opens there."""
        self.greeting = ""
        """The text of the status line at the start."""
        self.own = own_entries(workspace.config, workspace.paths.config, self.keys)
        """The person's own sections and commands."""
        self._start = start
        self._live = JournalWatcher(workspace.activity, workspace.author.session)
        self._collected_at = monotonic()
        self._input_order = InputOrder(self._carry_out, self._draw, self._parts, self._is_working)
        self.typed = TypedInput()
        self._undo = UndoRunner(self)
        self._terminal_filter = TerminalFilter()
        self._dim = LegibleDim()
        self._top_bar = TopBar([*SECTIONS, *self.own.tabs()], start, short_path(workspace.paths.root))
        self._switcher = SwitcherFrame(initial=start)
        self._sections: dict[str, Section] = {}
        """The sections that were shown, by their names."""
        self._background = BackgroundWork(self)
        """The app's work in the background."""
        self._status_line = StatusLine()
        self._key_bar = KeyBar()

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's choice, and for a terminal of this machine one that follows its signals."""
        chosen = super().get_driver_class()
        return TerminalDriver if chosen is LinuxDriver else chosen

    def get_css_variables(self) -> dict[str, str]:
        """Return the colours of the theme, those of texts legible, and those by their meaning."""
        self.theme_variables = legible(super().get_css_variables())
        return self.theme_variables

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters: that of dim text before Textual's, and last the one that keeps the terminal safe."""
        return [self._dim, *super().get_line_filters(), self._terminal_filter]

    def get_default_screen(self) -> MainScreen:
        """Return the screen that the sections stand on."""
        return MainScreen(id="_default")

    def compose(self) -> ComposeResult:
        """Show the bar, the first section, the status line and the keys."""
        yield self._top_bar
        with self._switcher:
            section = self._sections[self._start] = make_section(self._start)
            yield section
        yield self._status_line
        yield self._key_bar

    def on_mount(self) -> None:
        """Take the focus, and begin to follow the journal."""
        self.set_keymap(self.keys.remapped)
        self._choose_theme()
        self.section.focus_content()
        self.show_counts(review=self.workspace.inbox.count())
        self.show_live_state()
        for name, key in self.own.keys().items():
            self.bind(key, f"own('{name}')", show=False)
        self._report_settings()
        self.call_after_refresh(self._enable_collection)
        self.set_interval(_POLL_SECONDS, self._poll_journal)
        self.set_timer(_WARM_UP_DELAY_SECONDS, self._after_first_frame)

    def _report_settings(self) -> None:
        """Show the first entry of the settings that cannot be used, else the greeting."""
        problems = [*(f"config.toml: {problem}" for problem in self.keys.problems), *self.own.problems]
        if problems:
            more = f" {len(problems) - 1} more: memento keys lists them." if len(problems) > 1 else ""
            self.show_status(f"{problems[0]}{more}", problem=True)
        elif self.greeting:
            self.show_status(self.greeting)

    def _enable_collection(self) -> None:
        if garbage.enable_collection():
            self.set_interval(_IDLE_SECONDS, self._collect_if_idle)

    def _collect_if_idle(self) -> None:
        now = monotonic()
        if now - self.typed.carried_out_at > _IDLE_SECONDS or now - self._collected_at > _MAX_UNCOLLECTED_SECONDS:
            garbage.collect_old_generation()
            self._collected_at = now

    def _choose_theme(self) -> None:
        theme = self.workspace.config.app.theme
        if theme and theme not in self.available_themes:
            self.show_status(f"config.toml: there is no theme {theme}; ctrl+p, Theme lists them.", problem=True)
            theme = ""
        theme = theme or self.workspace.settings.get(_THEME_SETTING) or ""
        if theme in self.available_themes:
            self.theme = theme
        self.theme_changed_signal.subscribe(self, lambda theme: self._theme_changed(theme.name))

    def _theme_changed(self, name: str) -> None:
        # A text whose own style is the same in both themes is not drawn anew by Textual, whatever is coloured in it.
        for screen in self.screen_stack:
            for widget in screen.walk_children():
                widget.refresh()
        self._keep_theme(name)

    def _keep_theme(self, name: str) -> None:
        if self.workspace.is_read_only:
            return
        try:
            self.workspace.settings.set(_THEME_SETTING, name)
        except MementoError as error:
            self.show_status(str(error), problem=True)

    def _after_first_frame(self) -> None:
        self._background.start()
        self._count_own()
        from memento_tui.tui.screens.unsaved import offer_unsaved  # noqa: PLC0415 - the first frame does without it

        if not self.workspace.is_read_only and not offer_unsaved(self):
            from memento_tui.tui.screens.import_offer import offer_first_import  # noqa: PLC0415 - for a first start

            offer_first_import(self)

    # Services for sections

    def show_status(self, text: str, *, problem: bool = False) -> None:
        """Show a sentence in the status line, as a problem or not."""
        self._status_line.say(text, problem=problem)

    def _handle_exception(self, error: Exception) -> None:
        """Show why a worker or a timer failed; a fault of the program still ends it."""
        reportable = reportable_error(error)
        if reportable is None:
            self._input_order.close()
            super()._handle_exception(error)
        else:
            self.show_status(str(reportable), problem=True)

    def _fatal_error(self) -> None:
        """Save the text that is being typed, and show where the report of the fault is.

        Textual's own report would print the values of all variables into the terminal, texts of memories among them.
        """
        from memento_tui.tui.crash_report import write_crash_report  # noqa: PLC0415 - seldom needed

        paths = None if self.workspace.is_read_only else self.workspace.paths
        self._exit_renderables[:] = [write_crash_report(paths)]
        self._close_messages_no_wait()
        self.keep_typed()

    def show_counts(self, /, **counts: int) -> None:
        """Show in the tabs how many records the sections of these names hold."""
        self._top_bar.show(counts=counts)

    def refresh_after_write(self) -> None:
        """Show the app's own changes at once."""
        self.typed.note_done()
        try:
            self._live.catch_up()
            self.refresh_sections()
        except MementoError as error:
            self.show_status(str(error), problem=True)

    @property
    def is_paused(self) -> bool:
        """Whether the person stopped the live view."""
        return self._live.is_paused

    async def on_event(self, event: events.Event) -> None:
        """Let keys and clicks wait for the one before; handle everything else at once."""
        if isinstance(event, events.InputEvent | events.Paste):
            if not event.is_forwarded:
                self._input_order.put(event)
                return
            if self._input_order.is_closed:  # it was on its way through the widgets when the app was left
                return
        await super().on_event(event)
        if isinstance(event, events.Key):  # the widgets and the keys' commands have had it
            for section in self._sections.values():
                section.forget_count()

    async def _carry_out(self, event: events.Event) -> None:
        """Carry out a key or a click; remember when the person acted, before anything else sees the event."""
        if isinstance(event, events.Key | events.MouseDown):
            may_be_held = self.typed.may_be_held(event)
            is_pressed_again = may_be_held and not await self._input_order.is_repeated(event)
            self.typed.note(event, is_pressed_again=is_pressed_again)
        try:
            await super().on_event(event)
        except Exception as error:  # noqa: BLE001 - what Textual does with those of its own handlers
            if not (self._input_order.is_closed and isinstance(error, ScreenError)):  # it leaves
                self._handle_exception(error)

    @property
    def is_carrying_out(self) -> bool:
        """Whether a key or a click is being carried out; the screen is drawn once it was."""
        return self._input_order.is_carrying_out

    def _draw(self) -> None:
        """Let the screen be drawn, if anything on it has changed."""
        if self.screen_stack:
            self.screen.check_idle()

    @on(Driver.SignalResume)
    def _draw_again(self) -> None:
        """Draw everything after a stop: the terminal was given back, and is empty when it is taken again."""
        self.refresh(layout=True)

    def drop_typed_keys(self) -> None:
        """Carry out no key that was typed until now."""
        self._input_order.drop()

    def _is_working(self) -> bool:
        section = self._sections.get(self._switcher.current or self._start)
        return section is not None and section.is_working

    def _parts(self) -> Iterator[MessagePump]:
        yield self
        yield from self._registry

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """Leave; keys that were typed behind the one that leaves are for nobody, and so are answers of the engine.

        Work on threads is waited for: an engine that loads or hangs would keep it, and so the terminal, for minutes.
        """
        self._input_order.close()
        self.workspace.search_engine.close()
        super().exit(result, return_code, message)

    @property
    def section(self) -> Section:
        """The section that is shown."""
        return self._sections[self._switcher.current or self._start]

    # Following the journal

    def _poll_journal(self) -> None:
        update = self._live.poll()
        if update.locked:
            self._leave_locked(update.locked)
            return
        if update.summary:
            self._status_line.mention(update.summary)
        if update.changed:
            try:
                self.refresh_sections()
            except MementoError as error:
                self.show_status(str(error), problem=True)
        self.show_live_state()

    def _leave_locked(self, sentence: str) -> None:
        """Remove memories from the screen after the workspace was locked elsewhere; typed text is kept."""
        self.keep_typed()
        self.exit(return_code=LockedWorkspace.exit_code, message=f"memento has ended: {sentence}")

    def refresh_sections(self) -> None:
        """Reload the section that is shown, and the others when the person comes to them."""
        for section in self._sections.values():
            section.is_stale = True
        self._refresh_if_stale(self.section)
        self.show_counts(review=self.workspace.inbox.count())
        self._count_own()

    def _refresh_if_stale(self, section: Section) -> None:
        if section.is_stale:
            section.is_stale = False
            section.reload()

    def show_live_state(self) -> None:
        """Show whether the journal is followed, and the work in the background."""
        mode = "read-only, " if self.workspace.is_read_only else ""
        live = f"{mode}{self._live.status_text()}"
        self._status_line.show_live_state("  ".join(filter(None, [self._background.installing, live])))

    def action_pause(self) -> None:
        """Stop following the journal, or catch up with it."""
        self._live.toggle_pause()
        self._poll_journal()

    # Going to sections

    async def action_section(self, name: str) -> None:
        """Show a section, made when it is first needed."""
        if name not in self._sections:
            made = self._sections[name] = make_section(name)
            await self._switcher.add_content(made, id=name, set_current=True)
        self._switcher.current = name
        self._top_bar.show(active=name)
        self._status_line.move_on()
        self._refresh_if_stale(self.section)
        self.section.focus_content()

    async def action_neighbour(self, step: int) -> None:
        """Go to the section before or after, or to that of the number that was typed before the key as a count."""
        names, count = [tab.name for tab in SECTIONS], self.section.count_of_key
        place = count - 1 if 0 < count <= len(names) else names.index(self.section.SCOPE) + step
        own = next((tab.name for tab in self.own.tabs() if tab.key == str(count)), None)
        await (self.action_section(names[place % len(names)]) if own is None else self.go_own(own))

    @work(exclusive=True, group="jump")
    async def action_jump(self) -> None:
        """Ask for a letter, and go to the section, or the first row, that it stands for."""
        from memento_tui.tui.screens.jump import jump  # noqa: PLC0415 - when it is first asked for

        await jump(self)

    async def open_section(self, name: str, query: str = "") -> None:
        """Go to a section and show there the rows of ``query``, in that section's own terms."""
        await self.action_section(name)
        self.section.show_query(query)

    @on(TopBar.Chosen)
    async def _tab_clicked(self, event: TopBar.Chosen) -> None:
        if event.name in self.own.sections:
            await self.go_own(event.name)
        else:
            await self.action_section(event.name)

    # The person's own sections and commands

    @work(exclusive=True, group="own")
    async def action_own(self, name: str) -> None:
        """Go to an own section, or run an own command."""
        await self.go_own(name)

    async def go_own(self, name: str) -> None:
        """Go to an own section, or run an own command; this must run in a worker of the app."""
        if name in self.own.sections:
            await self.open_section("memories", self.own.sections[name].query)
            self._top_bar.show(active=name)
        else:
            from memento_tui.tui.own_run import run_own_command  # noqa: PLC0415 - seldom needed

            await run_own_command(self, name, self.own.commands[name])

    @work(exclusive=True, group="own counts")
    async def _count_own(self) -> None:
        """Count the rows of the person's own sections, and show the numbers in their tabs."""
        if self.own.sections:
            from memento_tui.tui.screens.saved_searches import count_results  # noqa: PLC0415 - few have own sections

            for name, own in self.own.sections.items():
                count = await in_thread(self.section, count_results, self.workspace, own.query)
                self.show_counts(**{name: count})

    @on(events.DescendantFocus)
    def _focus_moved(self) -> None:
        if len(self.screen_stack) == 1:
            typing = self.focused is not None and self.focused.check_consume_key("a", "a")
            self._key_bar.show(
                active_scopes(self.focused, self.section),
                self.keys,
                self._is_available,
                self.section.key_label,
                typing=typing,
            )

    def focus_changed(self) -> None:
        """Show in the key bar which commands the row in focus allows; and no old problem with another one."""
        self._key_bar.refresh()
        self._status_line.row_reached()

    @on(KeyBar.Chosen)
    async def _key_clicked(self, event: KeyBar.Chosen) -> None:
        await self.run_command(event.command.action, event.command.scope)

    def _is_available(self, command: Command) -> bool:
        """Return whether a command can act here and now; the key bar shows only those that can."""
        refused = command.writes and self.workspace.is_read_only
        return not refused and self.section.is_available(command.id)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Carry out an action, unless the app is leaving, or it changes something and nothing may be changed."""
        if self._input_order.is_closed:
            return True
        scope = getattr(default_namespace, "SCOPE", "everywhere")
        if self.workspace.is_read_only and isinstance(action, str) and is_writing(action, scope):
            self.show_status(str(ReadOnlyMode()), problem=True)
            return True
        return await super().run_action(action, default_namespace, namespaces)

    async def run_command(self, action: str, scope: KeyScope) -> None:
        """Carry out an action of a scope, as its key does."""
        owner = scope_owner(scope, self.screen_stack[0].focused, self.section, self)
        await self.run_action(action, default_namespace=owner)

    # Commands

    def action_undo(self) -> None:
        """Undo the person's last change."""
        self._change(self._undo.undo)

    def action_redo(self) -> None:
        """Redo the change that was undone last."""
        self._change(self._undo.redo)

    @work(group="undo")
    async def _change(self, act: Callable[[], Awaitable[None]]) -> None:
        await act()

    async def action_undone(self) -> None:
        """Go to the record that was undone or redone last."""
        await self._undo.go_there()

    @work(exclusive=True, group="workspaces")
    async def action_workspaces(self) -> None:
        """Ask for another workspace, and go there."""
        from memento_tui.tui.screens.workspaces import choose_workspace  # noqa: PLC0415 - seldom needed

        await choose_workspace(self)

    @work(exclusive=True, group="settings")
    async def action_settings(self) -> None:
        """Show the settings, to be changed."""
        from memento_tui.tui.screens.settings import change_settings  # noqa: PLC0415 - seldom needed

        await change_settings(self)

    @on(TopBar.FolderChosen)
    def _folder_clicked(self) -> None:
        self.action_workspaces()

    def leave_for(self, data_dir: Path, section: str = "home") -> None:
        """Leave for another workspace; typed text is kept, and offered when the person comes back."""
        self.next_section = section
        self.keep_typed()
        self.next_workspace = data_dir
        self.exit()

    def keep_typed(self) -> None:
        """Write the text that the person is typing to disk, wherever it is typed."""
        for part in list(self._registry):
            if isinstance(part, ErrorBoundary):
                part.keep_typed()

    def action_imports(self) -> None:
        """Find memories of other programs, and offer to import them."""
        from memento_tui.tui.screens.import_offer import find_and_offer_imports  # noqa: PLC0415 - seldom needed

        find_and_offer_imports(self)

    @work(exclusive=True, group="past")
    async def action_past(self) -> None:
        """Ask for a moment, and show the memory as it was then."""
        from memento_tui.tui.screens.past import ask_for_moment  # noqa: PLC0415 - seldom needed

        await ask_for_moment(self, self.section.moment_here)

    def action_help(self) -> None:
        """Show the keys of the active scopes."""
        from memento_tui.tui.screens.help import HelpScreen  # noqa: PLC0415 - when it is first shown

        self.push_screen(HelpScreen(active_scopes(self.focused, self.section), self.keys, self.own))

    @work(exclusive=True, group="command line")
    async def action_command_line(self) -> None:
        """Ask for a command on the line at the bottom, and carry it out."""
        from memento_tui.tui.typed_commands import TypedCommands  # noqa: PLC0415 - when it is first needed

        async def run_key(command: Command) -> None:
            await self.run_command(command.action, command.scope)

        await TypedCommands(self, active_scopes(self.focused, self.section), run_key).ask_and_run()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Return the commands of the palette: those of the active scopes, then Textual's own."""
        scopes = active_scopes(self.screen_stack[0].focused, self.section)
        yield from self._palette.commands(scopes)
        yield from (
            command for command in super().get_system_commands(screen) if command.title in ("Theme", "Screenshot")
        )

    @cached_property
    def _palette(self) -> PaletteCommands:
        from memento_tui.tui.palette_commands import PaletteCommands  # noqa: PLC0415 - when it is first needed

        return PaletteCommands(self)

    def action_command_palette(self) -> None:
        """Show the palette; its commands act on the rows that are chosen now."""
        from memento_tui.tui.palette_commands import Palette  # noqa: PLC0415 - when it is first needed

        self._palette.opened()
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def search_themes(self) -> None:
        """Show the palette of the themes."""
        from memento_tui.tui.palette_commands import Palette  # noqa: PLC0415 - when it is first needed

        self.push_screen(Palette([ThemeProvider], placeholder="Search for themes ..."))


def _show_opening(what: str, done: int, total: int) -> None:
    """Show the progress of a database's migration on one line, before there is a screen."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[2K{what}: {done:,} of {total:,}")
        sys.stderr.flush()


Unlock = Callable[[DataPaths, bool], object]
"""Unlocks a workspace, read-only or not, where that is locked and somebody can be asked."""


def _ask_nothing(_paths: DataPaths, _read_only: bool) -> None:  # noqa: FBT001 - as `Unlock`
    """Leave a locked workspace as it is: opening it says so."""


def run(data_dir: Path | None, start: str = "home", *, read_only: bool = False, unlock: Unlock = _ask_nothing) -> int:
    """Open the app on a data directory, and then on those that the person goes to; return the exit status.

    With ``read_only`` nothing is written in any of them. ``unlock`` asks at the terminal for the passphrase of one that
    is locked, before each is opened.
    """
    next_directory, section, left = data_dir, start, None
    while True:
        garbage.disable_collection()
        unlock(DataPaths(data_directory(next_directory)), read_only)
        with Workspace(
            next_directory, channel="tui", session=new_id(), read_only=read_only, progress=_show_opening
        ) as workspace:
            if not read_only:
                note_opened(workspace.paths.root)
            app = MementoApp(workspace, section)
            if left not in (None, workspace.paths.root):
                app.greeting = f"This is the workspace in {short_path(workspace.paths.root)}."
            app.run()
            if app.return_code == 0:
                mark_seen(workspace)
        if app.next_workspace is None:
            return app.return_code or 0
        next_directory, section, left = app.next_workspace, app.next_section, workspace.paths.root
