"""The dialog of the workspaces: go to one, add a directory, take one off the list."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import msgspec
from textual import work
from textual.binding import Binding, BindingType

from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput, MementoError
from memento_tui.known_workspaces import KnownWorkspace, KnownWorkspaces
from memento_tui.status_line import waiting
from memento_tui.tui.display import cells, time_ago
from memento_tui.tui.screens.dialogs import AskLine
from memento_tui.tui.screens.list_dialog import ListDialog
from memento_tui.tui.section import in_thread
from memento_tui.tui.widgets.record_list import Line

__all__ = ["WorkspacesScreen", "choose_workspace", "go_to_workspace"]

if TYPE_CHECKING:
    from memento_tui.tui.app import MementoApp

_STATE_WIDTH = 22
"""Cells of a workspace's state beside its path."""


class _WorkspaceRow(msgspec.Struct, frozen=True):
    known: KnownWorkspace
    state: str
    is_here: bool

    @property
    def id(self) -> str:
        return self.known.id


class WorkspacesScreen(ListDialog[_WorkspaceRow, KnownWorkspace | None]):
    """A dialog that lists the workspaces of this machine, and returns the chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go", "Open it"),
        Binding("a", "add", "Add a directory"),
        Binding("d,delete", "remove", "Take it off"),
        Binding("escape", "dismiss(None)", "Leave"),
    ]

    def __init__(self, here: Path, *, read_only: bool = False) -> None:
        super().__init__("Workspaces")
        self._here = str(here)
        self._known = KnownWorkspaces(read_only=read_only)

    def on_mount(self) -> None:
        """Read the list."""
        try:
            self._read()
        except MementoError as error:
            self.say(str(error))

    def _read(self, *, select: str | None = None) -> None:
        self.list_rows([_row(one, is_here=one.path == self._here) for one in self._known.list()], select=select)

    def row_lines(self, row: _WorkspaceRow, width: int) -> list[Line]:
        """Return the line of a workspace: its name, its path, when it was opened and how much waits there."""
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

    def action_go(self) -> None:
        """Return the workspace under the cursor; one that is missing is said, and the dialog stays."""
        row = self.rows.current
        if row is None:
            return
        if row.known.is_missing:
            self.say(f"There is no memento data in {row.known.path} now. d takes it off the list.")
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
            self.say(str(error))
        else:
            self.say("")


def _row(one: KnownWorkspace, *, is_here: bool) -> _WorkspaceRow:
    if one.is_missing:
        return _WorkspaceRow(one, "missing", is_here)
    count = waiting(one.path)[0]
    opened = "" if one.opened_at is None else time_ago(one.opened_at, clock.now())
    state = "   ".join(filter(None, ["here" if is_here else opened, f"{count:,} wait" if count else ""]))
    return _WorkspaceRow(one, state, is_here)


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
