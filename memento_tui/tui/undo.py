"""Undo and redo the person's changes one by one, and go to the undone record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from memento_tui.errors import Conflict, MementoError
from memento_tui.model.journal_actions import action_words
from memento_tui.tui.commands import COMMANDS, key_names
from memento_tui.tui.display import cells
from memento_tui.tui.sections.catalogue import section_showing

if TYPE_CHECKING:
    from memento_tui.api.types import Entry
    from memento_tui.tui.app import MementoApp

__all__ = ["UndoRunner"]

_PROGRESS_AFTER_SECONDS = 0.3
"""Seconds after which an undo that is under way is reported."""

_MAX_TITLE_CELLS = 40
"""Cells of the undone record's title in the status line."""

_MAX_NAMED_CELLS = 51
"""Cells of the undone action and its title together, so that the whole line fits on a terminal of 80."""


class UndoRunner:
    """Undoes and redoes, each press of a key in its turn; its methods must run in workers of the app."""

    def __init__(self, app: MementoApp) -> None:
        self._app = app
        self._lock = asyncio.Lock()
        self._undone: tuple[str, str] | None = None
        """The kind and the id of the record that was undone or redone last."""

    async def undo(self) -> None:
        """Undo the person's last change."""
        await self._run(self._app.workspace.undo, "Undoing ...", "Undid")

    async def redo(self) -> None:
        """Redo the change that was undone last."""
        await self._run(self._app.workspace.redo, "Redoing ...", "Redid")

    async def _run(self, act: Callable[[], Sequence[Entry]], doing: str, word: str) -> None:
        """Undo or redo; a large batch takes seconds."""
        app = self._app
        report = app.set_timer(_PROGRESS_AFTER_SECONDS, lambda: app.show_status(doing))
        try:
            async with self._lock:
                entries = await asyncio.to_thread(act)
        except MementoError as error:
            way_out = " In Activity, r takes it back." if isinstance(error, Conflict) else ""
            app.show_status(f"{error}{way_out}", problem=True)
            return
        finally:
            report.stop()
        app.section.note_undone(entries)
        app.show_status(f"{word} {self._name(entries)}")
        app.refresh_after_write()

    def _name(self, entries: Sequence[Entry]) -> str:
        """Return the undone or redone action in words, and remember where its record is shown."""
        app, first = self._app, entries[0]
        # The note of an undo ends with the action that was undone, in brackets.
        action = first.note.rpartition("(")[2].rstrip(")") if first.action == "undo" else first.action
        what = action_words(action).verb
        parts = f" ({len(entries)} parts)" if len(entries) > 1 else ""
        row = next(iter(app.workspace.activity.rows([first.seq])), None)
        self._undone = None if row is None or not row.record else (row.record, row.record_id)
        if row is None or not row.headline:
            return f"{what}{parts}."
        go = next(command for command in COMMANDS if command.id == "app.undone")
        room = _MAX_NAMED_CELLS - len(what) - len(parts)
        title = cells(row.headline, min(room, _MAX_TITLE_CELLS)).rstrip(" .")
        end = "" if title.endswith("\N{HORIZONTAL ELLIPSIS}") else "."
        return f"{what}{parts}: {title}{end} {key_names(app.keys.of(go))} goes there."

    async def go_there(self) -> None:
        """Go to the record that was undone or redone last."""
        app = self._app
        target = None if self._undone is None else section_showing(app.workspace, *self._undone)
        if target is not None:
            await app.open_section(*target)
        elif self._undone is None:
            app.show_status("Nothing was undone here yet; z undoes your last change.", problem=True)
        else:
            app.show_status("What was undone is gone now; Activity shows when it was made.", problem=True)
