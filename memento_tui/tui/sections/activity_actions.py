"""The actions of the Activity section: on memories that agents were shown, and on the writes of one session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from memento_tui.api.types import ExposureRow
from memento_tui.errors import InvalidField, InvalidInput, MementoError, NotAllowed, NotFound
from memento_tui.text.quantities import count_of
from memento_tui.tui.display import literal, shown
from memento_tui.tui.screens.dialogs import AskLine, Confirm
from memento_tui.tui.section import in_thread

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.api.written_sessions import WrittenSession
    from memento_tui.model import Memory
    from memento_tui.tui.section import Section
    from memento_tui.tui.sections.activity_rows import ActivityListRow
    from memento_tui.tui.sections.list_section import ListSection

__all__ = ["ExposureActions", "ask_and_quarantine"]

_SKIP_SPAN = "30d"
"""How long a skip holds unless the person changes that."""


class ExposureActions:
    """Changes the memories whose exposures are selected in a section.

    An action is for the version of the memory that the row shows. The methods must run in a worker of the section.
    """

    def __init__(self, section: ListSection[ActivityListRow]) -> None:
        self._section = section

    def _memory_of(self, exposure_id: str) -> Memory:
        workspace = self._section.memento.workspace
        row = next(iter(workspace.activity.exposures_by_id([exposure_id])), None)
        memory = workspace.find(row.exposure.memory_id) if row else None
        if memory is None:
            raise NotFound("The memory is gone.", "It was purged, or its creation was undone.")
        return memory

    async def demote(self) -> None:
        """Lower the certainty of the selected memories by one."""
        await self._section.actions.run_on_chosen("Demote", "Certainty lowered by one", self._demote)

    def _demote(self, exposure_id: str, seen: int | None) -> None:
        memory = self._memory_of(exposure_id)
        if memory.certainty == 1:
            raise NotAllowed(f"The memory {memory.id} has the lowest certainty already.", "Reject it instead.")
        self._section.memento.workspace.update(memory.id, base_version=seen, certainty=memory.certainty - 1)

    async def reject(self) -> None:
        """Ask why, and reject the selected memories: they are recalled no more."""
        chosen = self._section.actions.choose()
        if not chosen:
            return
        question = "Why? An agent that tries it again reads this (may be empty)"
        reason = await self._section.app.push_screen_wait(AskLine(question))
        if reason is None:
            return
        workspace = self._section.memento.workspace

        def reject(exposure_id: str, seen: int | None) -> None:
            workspace.reject(self._memory_of(exposure_id).id, reason, base_version=seen)

        await self._section.actions.run_on(chosen, "Reject", "Rejected", reject)

    async def skip(self) -> None:
        """Ask for a skip, beginning with the headline of the memory under the cursor, and add it."""
        row = self._section.rows.current
        if row is None:
            return
        from memento_tui.tui.screens.form import FormScreen  # noqa: PLC0415 - when it is first asked for
        from memento_tui.tui.widgets.text_draft import Field  # noqa: PLC0415 - as above

        headline = row.memory.headline if isinstance(row, ExposureRow) and row.memory is not None else ""
        fields = [
            Field("item", "What to leave alone", headline),
            Field("reason", "Why", hint="the agent reads this"),
            Field("until", "Until when", _SKIP_SPAN, "a date, or a span such as 30d", proposed=True),
        ]
        if await self._section.app.push_screen_wait(FormScreen(Content("Skip this subject"), fields, self._add_skip)):
            self._section.guard.moved_by_person()
            self._section.memento.show_status("Added to the skip list. z undoes.")
            self._section.memento.refresh_after_write()

    def _add_skip(self, values: Mapping[str, str]) -> None:
        from memento_tui.tui.sections.record_spec import SKIP_SPEC  # noqa: PLC0415 - with the form

        skips = self._section.memento.workspace.skips
        try:
            skips.add(values["item"], values["reason"], values["until"] or _SKIP_SPAN)
        except InvalidField as error:
            raise InvalidInput(SKIP_SPEC.format_error(error)) from error


class _Question(NamedTuple):
    """A question in words, and the consequences of a yes."""

    title: str
    consequences: str


def _question_about(session: WrittenSession) -> _Question:
    name = f"session {session.session} of {session.agent or 'an agent'}"
    if session.quarantined:
        return _Question(
            f"Give back what the {name} wrote?",
            f"{session.waiting:,} of its records wait in Review. What you decided about meanwhile stays so.",
        )
    return _Question(
        f"Take everything that the {name} wrote out of recall?",
        f"It wrote {count_of(session.records, 'record')}; agents can be told {session.in_effect:,} of them now."
        " They wait in Review, and so does what it writes from now on. What you verified, made essential or edited"
        " stays. z takes it back.",
    )


async def ask_and_quarantine(section: Section, session: str) -> None:
    """Ask the person, then quarantine a session; where it is in quarantine, release it.

    Must run in a worker. Says in the status line what came of it.
    """
    app = section.memento
    try:
        found = await in_thread(section, app.workspace.sessions.get, session)
    except MementoError as error:
        app.show_status(str(error), problem=True)
        return
    question = _question_about(found)
    if not await section.app.push_screen_wait(Confirm(literal(question.title), Content(shown(question.consequences)))):
        return
    try:
        sentence = await in_thread(section, _carry_out, app.workspace, found)
    except MementoError as error:
        app.show_status(str(error), problem=True)
        return
    app.show_status(sentence)
    app.refresh_after_write()


def _carry_out(workspace: Workspace, session: WrittenSession) -> str:
    """Quarantine or release a session, and return the outcome in words."""
    if session.quarantined:
        outcome = workspace.sessions.release(session.session)
        kept = f" {count_of(len(outcome.kept), 'record stays', 'records stay')} as you decided." if outcome.kept else ""
        moved = count_of(len(outcome.moved), "record is as it was", "records are as they were")
        return f"{moved}.{kept} z undoes."
    outcome = workspace.sessions.quarantine(session.session)
    words = "record stays, because you stand behind it", "records stay, because you stand behind them"
    kept = f" {count_of(len(outcome.kept), *words)}." if outcome.kept else ""
    moved = count_of(len(outcome.moved), "record left recall and waits", "records left recall and wait")
    return f"{moved} in Review.{kept} z undoes."
