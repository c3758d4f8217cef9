"""The dialog of the workspaces: go to one, add a directory, take one off the list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput, MementoError
from memento_tui.known_workspaces import KnownWorkspace, KnownWorkspaces
from memento_tui.status_line import waiting
from memento_tui.tui.display import cells, literal, time_ago
from memento_tui.tui.screens.dialogs import AskLine, Dialog
from memento_tui.tui.section import in_thread
from memento_tui.tui.views.view import FixedRows, ViewList
from memento_tui.tui.widgets.record_list import Line

__all__ = ["WorkspacesScreen", "choose_workspace", "go_to_workspace"]

if TYPE_CHECKING:
    from memento_tui.tui.app import MementoApp

_KEYS = "Enter opens it   a adds a directory   d takes it off the list   Escape leaves"
_STATE_WIDTH = 22
"""Cells of what is said of a workspace beside its path."""


class _WorkspaceRow(msgspec.Struct, frozen=True):
    known: KnownWorkspace
    state: str
    is_here: bool

    @property
    def id(self) -> str:
        return self.known.id


class WorkspacesScreen(Dialog[KnownWorkspace | None]):
    """A dialog that lists the workspaces of this machine, and returns the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go", "Open it"),
        Binding("a", "add", "Add"),
        Binding("d,delete", "remove", "Take off"),
        Binding("escape", "dismiss(None)", "Leave"),
    ]

    DEFAULT_CSS = """
    WorkspacesScreen ViewList { height: auto; max-height: 16; min-height: 1; margin-bottom: 1; }
    """

    def __init__(self, here: Path, *, read_only: bool = False) -> None:
        super().__init__()
        self._here = str(here)
        self._known = KnownWorkspaces(read_only=read_only)
        self._note = Static(classes="dialog-text")
        self.rows: ViewList[_WorkspaceRow] = ViewList(_workspace_line)
        """The workspaces."""

    def compose(self) -> ComposeResult:
        """Show the list and its keys."""
        with Vertical(classes="dialog wide-list"):
            yield Static(Content("Workspaces"), classes="dialog-title")
            yield self._note
            yield self.rows
            yield Static(Content(_KEYS), classes="dialog-hint")

    def on_mount(self) -> None:
        """Read the list."""
        self._note.display = False
        self.focus_part(self.rows)
        try:
            self._read()
        except MementoError as error:
            self._say(str(error))

    def _read(self, *, select: str | None = None) -> None:
        rows = [_row(one, is_here=one.path == self._here) for one in self._known.list()]
        source = FixedRows(rows)
        if self.rows.total:
            self.rows.refresh_rows(source, select=select)
        else:
            self.rows.set_rows(rows, len(rows), source)
        self.rows.styles.height = max(len(rows), 1)

    def _say(self, text: str) -> None:
        self._note.display = True
        self._note.update(literal(text, "$text-warning"))

    @on(ViewList.Highlighted)
    @on(ViewList.Refreshed)
    def _keep(self, event: ViewList.ListMessage) -> None:
        event.stop()

    def action_go(self) -> None:
        """Return the workspace under the cursor; one that is missing is said, and the dialog stays."""
        row = self.rows.current
        if row is None:
            return
        if row.known.is_missing:
            self._say(f"There is no memento data in {row.known.path} now. d takes it off the list.")
        else:
            self.dismiss(row.known)

    @work(exclusive=True, group="change")
    async def action_add(self) -> None:
        """Ask for a directory, and put it on the list."""
        path = await self.app.push_screen_wait(AskLine("The data directory to add", "~/"))
        if path:
            self._change(lambda: self._known.add(Path(path)).id)

    def action_remove(self) -> None:
        """Take the workspace under the cursor off the list."""
        if self.rows.current is not None:
            name = self.rows.current.known.path
            self._change(lambda: self._known.remove(name).id)

    def _change(self, change: Callable[[], str]) -> None:
        try:
            self._read(select=change())
        except MementoError as error:
            self._say(str(error))
        else:
            self._note.display = False


def _row(one: KnownWorkspace, *, is_here: bool) -> _WorkspaceRow:
    if one.is_missing:
        return _WorkspaceRow(one, "missing", is_here)
    count = waiting(one.path)[0]
    opened = "" if one.opened_at is None else time_ago(one.opened_at, clock.now())
    state = "   ".join(filter(None, ["here" if is_here else opened, f"{count:,} wait" if count else ""]))
    return _WorkspaceRow(one, state, is_here)


def _workspace_line(row: _WorkspaceRow, width: int) -> list[Line]:
    name = min(max(width // 4, 12), 30)
    path = max(width - name - 2 - _STATE_WIDTH, 0)
    return [
        [
            (cells(row.known.name, name), "strong"),
            (" ", ""),
            (cells(row.known.path, path), "muted"),
            (f" {row.state:>{_STATE_WIDTH}}", "muted" if row.state == "missing" else ""),
        ]
    ]


async def choose_workspace(app: MementoApp) -> None:
    """Ask for another workspace, and go there; must run in a worker of the app."""
    chosen = await app.push_screen_wait(
        WorkspacesScreen(app.workspace.paths.root, read_only=app.workspace.is_read_only)
    )
    if chosen is not None:
        await go_to_workspace(app, chosen)


async def go_to_workspace(app: MementoApp, known: KnownWorkspace) -> None:
    """Leave for another workspace, once it is certain that it can be opened.

    Raises:
        DataDirectoryError: it cannot be opened.
        InvalidInput: the app runs in a browser, where it would end with its page.

    """
    path = Path(known.path)
    if path == app.workspace.paths.root:
        app.show_status(f"{known.name} is the workspace that you see.")
        return
    if app.is_web:
        raise InvalidInput(
            "A browser shows one workspace.", "Start another server for that one: memento --data-dir DIRECTORY web."
        )
    await in_thread(app.section, _try_to_open, path, read_only=app.workspace.is_read_only)
    app.leave_for(path)


def _try_to_open(path: Path, *, read_only: bool) -> None:
    with Workspace(path, channel="tui", create=False, read_only=read_only):
        pass
