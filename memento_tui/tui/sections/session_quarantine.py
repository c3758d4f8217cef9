"""The question and the action that take what one session wrote out of recall, or give it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from memento_tui.errors import MementoError
from memento_tui.tui.display import literal, shown
from memento_tui.tui.screens.dialogs import Confirm
from memento_tui.tui.section import in_thread

if TYPE_CHECKING:
    from memento_tui.api import Workspace
    from memento_tui.api.written_sessions import WrittenSession
    from memento_tui.tui.section import Section

__all__ = ["ask_and_quarantine"]


class _Question(NamedTuple):
    """A question in words, and what it costs to answer yes."""

    title: str
    consequences: str


def _question_about(session: WrittenSession) -> _Question:
    name = f"session {session.session} of {session.agent or 'an agent'}"
    if session.is_quarantined:
        return _Question(
            f"Give back what the {name} wrote?",
            f"{session.waiting:,} of its records wait in Review. What you decided about meanwhile stays so.",
        )
    return _Question(
        f"Take everything that the {name} wrote out of recall?",
        f"It wrote {_counted(session.records)}; agents can be told {session.in_effect:,} of them now."
        " They wait in Review, and so does what it writes from now on. What you verified, made essential or edited"
        " stays. z takes it back.",
    )


async def ask_and_quarantine(section: Section, session: str) -> None:
    """Ask the person, then take what a session wrote out of recall; where it is already, give it back.

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
    """Quarantine or release a session, and return what came of it in words."""
    if session.is_quarantined:
        outcome = workspace.sessions.release(session.session)
        kept = f" {_counted(len(outcome.kept))} stay as you decided." if outcome.kept else ""
        return f"{_counted(len(outcome.moved))} are as they were.{kept} z undoes."
    outcome = workspace.sessions.quarantine(session.session)
    kept = f" {_counted(len(outcome.kept))} stay, because you stand behind them." if outcome.kept else ""
    return f"{_counted(len(outcome.moved))} left recall and wait in Review.{kept} z undoes."


def _counted(records: int) -> str:
    return "1 record" if records == 1 else f"{records:,} records"
