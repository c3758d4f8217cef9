"""The screen of the settings: each with its value, its source and its meaning, to be changed in place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from memento_tui.api.configuration import Setting, SettingsFile, SettingState
from memento_tui.api.drafts import editor_command
from memento_tui.errors import MementoError, ReadOnlyMode
from memento_tui.tui.display import cells, literal
from memento_tui.tui.external_editor import run_in_terminal
from memento_tui.tui.screens.dialogs import AskLine, ChoiceScreen, Dialog, DialogButtons, DialogChoice
from memento_tui.tui.section import app_of
from memento_tui.tui.views.view import FixedRows, ViewList
from memento_tui.tui.widgets.record_list import ColumnHeader, Line

__all__ = ["SettingsScreen", "change_settings"]

if TYPE_CHECKING:
    from memento_tui.tui.app import MementoApp

_ONLY_IN_FILE = "That is changed in the file: e opens it."
_LETTERS = "abcdefghi"


class SettingsScreen(Dialog[bool]):
    """A dialog with every setting; returns whether any was changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "change", "Change"),
        Binding("d,delete", "reset", "Default"),
        Binding("z", "undo", "Undo"),
        Binding("e", "edit", "File"),
        Binding("escape,q", "leave", "Leave"),
    ]

    DEFAULT_CSS = """
    SettingsScreen ViewList { height: 1fr; margin-bottom: 1; }
    SettingsScreen .setting-about { height: 5; }
    SettingsScreen .setting-said { height: auto; max-height: 3; }
    """

    def __init__(self, file: SettingsFile) -> None:
        super().__init__()
        self._file = file
        self._is_changed = False
        self._about = Static(classes="setting-about")
        self._answer = Static(classes="setting-said")
        self.rows: ViewList[SettingState] = ViewList(_setting_line)
        """The settings."""
        self._header = ColumnHeader(self.rows, _header_pieces, lambda _: False, lambda _: None)

    def compose(self) -> ComposeResult:
        """Show the list, the meaning of the setting under the cursor, and the keys."""
        with Vertical(classes="dialog wide-dialog"):
            yield Static(Content("Settings  ") + literal(str(self._file.path), "$quiet"), classes="dialog-title")
            yield self._header
            yield self.rows
            yield self._about
            yield self._answer
            yield DialogButtons.for_keys(self)

    def on_mount(self) -> None:
        """Read the file."""
        self.focus_part(self.rows)
        self._read()

    def _read(self) -> None:
        try:
            states = [*self._file.states(), *self._file.entries()]
        except MementoError as error:
            self._say(str(error), problem=True)
            return
        source = FixedRows(states)
        if self.rows.total:
            self.rows.refresh_rows(source)
        else:
            self.rows.set_rows(states, len(states), source)
        self._describe()

    @on(ViewList.Highlighted)
    @on(ViewList.Refreshed)
    def _moved(self, event: ViewList.ListMessage) -> None:
        event.stop()
        self._describe()

    def _describe(self) -> None:
        row = self.rows.current
        if row is not None:
            setting = row.setting
            if setting.kind == "entry":
                self._about.update(literal(setting.meaning.replace("`", "")) + Content(f"\n{_ONLY_IN_FILE}"))
                return
            default = "the preset's" if setting.default is None else _shown(str(setting.default), setting)
            takes = Content(f"{setting.takes}; default: {default}".replace("`", ""))
            self._about.update(literal(setting.meaning.replace("`", "")) + Content("\n") + takes.stylize("$quiet"))

    def _say(self, text: str, *, problem: bool = False) -> None:
        self._answer.update(literal(text, "$text-warning" if problem else "$text-success"))

    @work(exclusive=True, group="change")
    async def action_change(self) -> None:
        """Turn a switch, or ask for another value; a wrong one is said while it is typed."""
        row = self.rows.current
        if row is None:
            return
        setting, typed = row.setting, None
        if setting.kind == "entry":
            self._say(_ONLY_IN_FILE, problem=True)
            return
        if setting.kind == "bool":
            typed = "false" if row.value == "true" else "true"
        elif setting.kind == "choice":
            choices = [DialogChoice(one, _LETTERS[index], one) for index, one in enumerate(setting.choices)]
            typed = await self.app.push_screen_wait(ChoiceScreen(literal(setting.name), choices, row.value))
        else:
            anew = ". It holds a secret, which is not shown: type all of it anew" if row.hides_secret else ""
            present = "" if row.hides_secret else row.value
            question = f"{setting.name}: {setting.takes}{anew}"
            typed = await self.app.push_screen_wait(
                AskLine(question, present, check=lambda text: self._file.check(setting.name, text))
            )
            if row.hides_secret and not typed:
                return
        if typed is not None and typed != row.value:
            self._write(lambda: self._file.set(setting.name, typed), row)

    def action_reset(self) -> None:
        """Take the line of the setting out of the file."""
        row = self.rows.current
        if row is not None and row.setting.kind == "entry":
            self._say(_ONLY_IN_FILE, problem=True)
        elif row is not None:
            self._write(lambda: self._file.reset(row.setting.name), row)

    def _write(self, write: Callable[[], SettingState], was: SettingState) -> None:
        try:
            now = write()
        except MementoError as error:
            self._say(str(error), problem=True)
            return
        self._is_changed = True
        self._read()
        before, after = (_shown(one.value, one.setting) for one in (was, now))
        withheld = self._file.withheld(now.setting.name)
        said = f"{now.setting.name}: {after}; it was {before}. z undoes."
        self._say(" ".join([said, *withheld]), problem=bool(withheld))

    def action_undo(self) -> None:
        """Put the file back as it was before the last change made here."""
        try:
            undone = self._file.undo()
        except MementoError as error:
            self._say(str(error), problem=True)
            return
        self._read()
        self._say("Undone." if undone else "Nothing was changed here yet.", problem=not undone)

    def action_edit(self) -> None:
        """Open the file in the person's editor; show its problems afterwards."""
        if app_of(self).workspace.is_read_only:
            self._say(str(ReadOnlyMode()), problem=True)
            return
        before = self._file.content()
        try:
            run_in_terminal(self.app, [*editor_command(), str(self._file.path)])
        except MementoError as error:
            self._say(str(error), problem=True)
            return
        is_changed = self._file.note_edit(before)
        self._is_changed = self._is_changed or is_changed
        self._answer.update("")
        if is_changed:
            self._say("The file was changed. z undoes all of it.")
        self._read()

    def action_leave(self) -> None:
        """Leave, once the file can be read: the app begins again with it."""
        if self._is_changed:
            try:
                self._file.check_opens()
            except MementoError as error:
                self._say(f"{error} e opens the file.", problem=True)
                return
        self.dismiss(self._is_changed)


def _shown(value: str, setting: Setting) -> str:
    if setting.kind == "bool":
        return value.lower()
    return value or "empty"


_LEAST_WITH_SOURCE = 60
"""Cells of a row from which on it shows where a value comes from; the value itself needs them before."""


def _widths(width: int) -> tuple[int, int, int]:
    """Return the cells of the name, the value and the source of a setting in a row; of a narrow one no source."""
    if width < _LEAST_WITH_SOURCE:
        return width * 2 // 3, width - width * 2 // 3 - 1, 0
    name = min(max(width // 3, 28), 34)
    source = min(max(width // 4, 15), 24)
    return name, max(width - name - source - 2, 0), source


def _header_pieces(width: int) -> Iterator[tuple[str, str]]:
    for words, room in zip(("setting", "value", "comes from"), _widths(width), strict=True):
        if room:
            yield "", f"{cells(words, room)} "


def _setting_line(row: SettingState, width: int) -> list[Line]:
    name, value, source = _widths(width)
    style = "muted" if row.source == "default" or row.source.startswith("preset") else "strong"
    return [
        [
            (cells(row.setting.name, name), ""),
            (" ", ""),
            (cells(row.value or "-", value), style),
            *([(" ", ""), (cells(row.source, source), "muted")] if source else []),
        ]
    ]


async def change_settings(app: MementoApp) -> None:
    """Show the settings; where some were changed, begin again with them, in the section that is shown.

    In a browser the app ends with its page, so the person loads that again.
    """
    file = SettingsFile(app.workspace.paths, read_only=app.workspace.is_read_only, typed_by_person=True)
    if not await app.push_screen_wait(SettingsScreen(file)):
        return
    if app.is_web:
        app.show_status("The settings are written; they hold once you load this page again.")
    else:
        app.leave_for(app.workspace.paths.root, app.section.SCOPE)
