"""Act on the chosen rows of a list: whether a key may, the question before, the progress, and the failures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.content import Content

from memento_tui.errors import MementoError
from memento_tui.tui.display import cells, literal
from memento_tui.tui.screens.dialogs import Confirm

if TYPE_CHECKING:
    from memento_tui.tui.sections.list_section import ListSection

__all__ = ["MAX_ROWS_NAMED", "UNCHANGED", "RowActions"]

_ACTIONS_PER_PROGRESS = 50
"""Actions between two reports of progress: often enough to be seen, seldom enough to cost nothing."""

MAX_ROWS_NAMED = 5
"""Rows that a question about them names."""

UNCHANGED = object()
"""The result of an action on a row that already had the value: nothing was written, nothing can be undone."""


class _Outcome(NamedTuple):
    """The result of an action on some rows: how many it changed, how many were so already, each id and error."""

    done: int
    unchanged: int
    failures: Sequence[tuple[str, str]]
    was_stopped: bool


class RowActions:
    """Runs one action at a time on the rows that are chosen in a section."""

    def __init__(self, section: ListSection[Any]) -> None:
        self._section = section
        self._task: asyncio.Task[None] | None = None
        self._is_stopping = False
        self._shown_at = inf
        """When the row under the cursor came on the screen, on the monotonic clock."""

    # Whether a key may act

    def row_reached(self) -> None:
        """Note that another row is under the cursor, which the screen does not show yet."""
        self._shown_at = inf

    def row_shown(self) -> None:
        """Note that the row under the cursor is on the screen from now on: keys typed before were not meant for it."""
        self._shown_at = monotonic()

    def check_can_act(self) -> bool:
        """Return whether a key may do something to the selected rows; if not, say why in the status line.

        Just after the row under the cursor became another or changed by itself, the key was meant for the one before;
        and a key that is held acts on nothing but what it was pressed for.
        """
        reason = self._section.obstacle() or self._refusal()
        if reason:
            self._section.memento.show_status(reason, problem=True)
        return not reason

    def _refusal(self) -> str:
        """Return in a sentence why this key may not act on the selected rows; an open range ends here."""
        section = self._section
        section.memento.typed.note_is_for_rows()
        if not section.rows.end_range():
            return "The range is still being read; press the key again."
        section.selection.update_marks()
        current, marks, typed = section.rows.current, section.rows.marks, section.memento.typed
        return section.guard.refusal(
            marks or frozenset(() if current is None else (current.id,)),
            typed.seconds_since_same_key,
            was_shown=not section.NEEDS_SHOWN_ROW or typed.was_typed_since(self._shown_at),
            is_marked=bool(marks),
        )

    def choose(self) -> Mapping[str, int | None]:
        """Return the ids of the rows that a key may act on, each with the version that the person saw.

        Where it may act on none, that is said in the status line. A question about them comes afterwards: what is then
        answered is for these, whatever stands under the cursor by then.
        """
        return self.seen_versions(self._section.selection.ids()) if self.check_can_act() else {}

    def seen_versions(self, ids: Sequence[str]) -> Mapping[str, int | None]:
        """Return the versions of some rows that the person saw, by id; ``None`` where that is not known."""
        return {row_id: self._section.selection.seen_version(row_id) for row_id in ids}

    # Questions

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

    async def confirm_many(self, doing: str, ids: Sequence[str], *, among: str = "marked", note: str = "") -> bool:
        """Ask whether to do something to several rows, such as the marked ones; must run in a worker."""
        question = f"{doing} {len(ids):,} {among}?"
        return await self.confirm(question, self._section.describe_rows(ids[:MAX_ROWS_NAMED]), len(ids), note=note)

    # Running

    @property
    def is_running(self) -> bool:
        """Whether an action is under way."""
        return self._task is not None and not self._task.done()

    def stop(self) -> None:
        """End the action that is under way after the row that it is at."""
        self._is_stopping = True

    async def run_on_chosen(self, doing: str, done: str, act: Callable[[str, int | None], object]) -> None:
        """Do something to every selected row, each on its own, and report how many it worked for.

        ``act`` is given an id and the version that the person saw, ``None`` where that is not known, and may return
        `UNCHANGED`. ``doing`` and ``done`` name the action, such as "Delete" and "Deleted". Must run in a worker.
        """
        if chosen := self.choose():
            await self.run_on(chosen, doing, done, act)

    async def run_on(
        self,
        chosen: Mapping[str, int | None],
        doing: str,
        done: str,
        act: Callable[[str, int | None], object],
        *,
        among: str = "marked",
        note: str = "",
    ) -> None:
        """Do something to rows that were chosen, as `run_on_chosen` does.

        ``among`` names them in the question; ``note`` stands below it, and is a reason to ask even about one.
        Another key may end the worker that waits for this. An action that was begun is completed and reported all the
        same.
        """
        if (len(chosen) > 1 or note) and not await self.confirm_many(doing, list(chosen), among=among, note=note):
            return
        self._is_stopping = False
        self._task = asyncio.create_task(self._run(chosen, doing, done, act))
        await asyncio.shield(self._task)

    async def _run(
        self, chosen: Mapping[str, int | None], doing: str, done: str, act: Callable[[str, int | None], object]
    ) -> None:
        """Act on each row, and report; all that several of them lead to is undone together."""
        section, worked, unchanged, failures = self._section, 0, 0, []
        with section.memento.workspace.one_undo() if len(chosen) > 1 else nullcontext():
            for number, (row_id, seen) in enumerate(chosen.items(), start=1):
                try:
                    with section.around_action():
                        is_so_already = act(row_id, seen) is UNCHANGED
                    unchanged += is_so_already
                    worked += not is_so_already
                except MementoError as error:
                    failures.append((row_id, str(error)))
                if number % _ACTIONS_PER_PROGRESS == 0:
                    section.memento.show_status(f"{doing}: {number:,} of {len(chosen):,} ...   Escape stops.")
                    await asyncio.sleep(0)
                if self._is_stopping:
                    break
        self._report(_Outcome(worked, unchanged, failures, self._is_stopping), done, len(chosen))

    # Reporting

    def _report(self, outcome: _Outcome, done: str, total: int) -> None:
        section = self._section
        failures = self._describe_failures(outcome.failures) if total > 1 else ()
        section.rows.clear_marks()
        text = f"{done} {outcome.done:,}." if total > 1 else f"{done}."
        if outcome.unchanged:
            verb = "was" if outcome.unchanged == 1 else "were"
            rest = f"{outcome.unchanged:,} {verb} so already" if total > 1 else "it is so already"
            text = f"{text} {rest}." if outcome.done else f"Nothing changed: {rest}."
        text = f"Stopped. {text}" if outcome.was_stopped else text
        if not outcome.failures:
            section.memento.show_status(f"{text} z undoes." if outcome.done else text)
        else:
            problem = outcome.failures[0][1]
            if failures:
                problem = f"{text if outcome.done else ''} {len(failures):,} failed: {problem}".strip()
                self.show_failures(f"{outcome.done:,} of {total:,} done; these are as they were", failures)
            section.memento.show_status(problem, problem=True)
        section.guard.moved_by_person()
        section.memento.refresh_after_write()

    def _describe_failures(self, failures: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        lines = self._section.describe_rows([row_id for row_id, _ in failures])
        if len(lines) < len(failures):  # records that are gone have no description
            return failures
        return [(line, error) for line, (_, error) in zip(lines, failures, strict=True)]

    def show_failures(self, title: str, failures: Sequence[tuple[str, str]], hint: str = "") -> None:
        """List failures, each as a description and a reason; neither need be safe to show."""
        from memento_tui.tui.screens.write_problems import OutcomesScreen  # noqa: PLC0415 - seldom needed

        self._section.app.push_screen(OutcomesScreen(literal(title), failures, hint))
