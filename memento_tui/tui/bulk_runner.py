"""Run an action on many rows: the question before it, its progress, how it is stopped, and the list of failures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import NamedTuple

from textual.content import Content
from textual.widget import Widget

from memento_tui.errors import MementoError
from memento_tui.tui.display import cells, literal
from memento_tui.tui.screens.dialogs import Confirm
from memento_tui.tui.section import app_of

__all__ = ["BulkOutcome", "BulkRunner"]

_ACTIONS_PER_PROGRESS = 50
"""Actions between two reports of progress: often enough to be seen, seldom enough to cost nothing."""

MAX_ROWS_NAMED = 5
"""Rows that a question about them names."""


class BulkOutcome(NamedTuple):
    """The result of an action on some rows: how many it worked for, each id and error, whether it was stopped."""

    done: int
    failures: Sequence[tuple[str, str]]
    was_stopped: bool


class BulkRunner:
    """Runs one action at a time for a section."""

    def __init__(self, section: Widget) -> None:
        self._section = section
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False

    @property
    def is_running(self) -> bool:
        """Whether an action is under way."""
        return self._task is not None and not self._task.done()

    def stop(self) -> None:
        """End the action that is under way after the row that it is at."""
        self._is_stopping = True

    async def confirm(self, question: str, lines: Sequence[str], total: int, *, note: str = "") -> bool:
        """Ask whether to go on with ``total`` rows, of which ``lines`` describe the first; must run in a worker.

        The lines need not be safe to show.
        """
        detail = [literal(cells(line, 60).rstrip()) for line in lines[:MAX_ROWS_NAMED]]
        if total > len(detail):
            detail.append(Content(f"and {total - len(detail):,} more"))
        detail += [literal(note)] if note else []
        sure: bool = await self._section.app.push_screen_wait(Confirm(Content(question), Content("\n").join(detail)))
        return sure

    async def run(
        self, ids: Sequence[str], act: Callable[[str], object], doing: str, report: Callable[[BulkOutcome], None]
    ) -> None:
        """Call ``act`` with each id; ``doing`` names it in reports of progress, ``report`` is given the outcome.

        Another key may end the worker that waits for this. An action that was begun is completed and reported all the
        same. All that several ids lead to is undone together.
        """
        self._is_stopping = False
        self._task = asyncio.create_task(self._run(ids, act, doing, report))
        await asyncio.shield(self._task)

    async def _run(
        self, ids: Sequence[str], act: Callable[[str], object], doing: str, report: Callable[[BulkOutcome], None]
    ) -> None:
        app = app_of(self._section)
        done, failures = 0, []
        with app.workspace.one_undo() if len(ids) > 1 else nullcontext():
            for index, row_id in enumerate(ids):
                try:
                    act(row_id)
                    done += 1
                except MementoError as error:
                    failures.append((row_id, str(error)))
                if (index + 1) % _ACTIONS_PER_PROGRESS == 0:
                    app.show_status(f"{doing}: {index + 1:,} of {len(ids):,} ...   Escape stops.")
                    await asyncio.sleep(0)
                if self._is_stopping:
                    break
        report(BulkOutcome(done, failures, self._is_stopping))

    def show_failures(self, title: str, failures: Sequence[tuple[str, str]], hint: str = "") -> None:
        """List failures, each as a description and a reason; neither need be safe to show."""
        from memento_tui.tui.screens.write_problems import OutcomesScreen  # noqa: PLC0415 - seldom needed

        self._section.app.push_screen(OutcomesScreen(literal(title), failures, hint))
