"""Errors that nobody caught: what could not be done is told, and the app goes on.

Any read may fail: on a damaged page of the database, on a disk that is gone. Handlers of keys and of messages read in
many places, so what they let through is caught here, around all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message_pump import MessagePump
from textual.worker import WorkerFailed

from memento_tui.errors import MementoError

if TYPE_CHECKING:
    from textual.message import Message

__all__ = ["TellsErrors", "told_error"]


def told_error(error: BaseException) -> MementoError | None:
    """Return the error that says in a sentence what went wrong, ``None`` where it is a fault of the program."""
    cause = error.error if isinstance(error, WorkerFailed) else error
    return cause if isinstance(cause, MementoError) else None


class TellsErrors(MessagePump):
    """A part of the app whose handlers may fail with a sentence, which then stands in the status line."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except MementoError as error:
            from memento_tui.tui.app import MementoApp  # noqa: PLC0415 - the app is made of this

            if not isinstance(self.app, MementoApp):
                raise
            self.app.say(str(error), problem=True)
