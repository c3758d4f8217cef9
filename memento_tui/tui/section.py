"""The base of every section, the app that a widget is part of, and the boundary that reports errors.

Any read may fail: on a damaged page of the database, on a disk that is gone. Handlers of keys and of messages read in
many places, so what they let through is caught by `ErrorBoundary`, around all of them, and shown in the status line.
What takes long runs on a thread by `in_thread`, which never comes back to a widget that has been removed meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, ParamSpec, TypeVar

from textual.containers import Vertical
from textual.message_pump import MessagePump
from textual.widget import Widget
from textual.worker import WorkerFailed

from memento_tui.errors import MementoError
from memento_tui.tui.commands import KeyScope

__all__ = ["WIDE_CELLS", "ErrorBoundary", "Section", "app_of", "in_thread", "reportable_error"]

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")

if TYPE_CHECKING:
    from textual.message import Message


def reportable_error(error: BaseException) -> MementoError | None:
    """Return the error that says in a sentence what went wrong, ``None`` where it is a fault of the program."""
    cause = error.error if isinstance(error, WorkerFailed) else error
    return cause if isinstance(cause, MementoError) else None


class ErrorBoundary(MessagePump):
    """A part of the app whose handlers may fail with a sentence, which then stands in the status line."""

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except MementoError as error:
            from memento_tui.tui.app import MementoApp  # noqa: PLC0415 - the app is made of this

            if not isinstance(self.app, MementoApp):
                raise
            self.app.show_status(str(error), problem=True)


if TYPE_CHECKING:
    from memento_tui.api.drafts import UnsavedText
    from memento_tui.tui.app import MementoApp


WIDE_CELLS = 110
"""From this many cells on, what belongs to a list stands beside it, and below it otherwise."""


def app_of(widget: Widget) -> MementoApp:
    """Return the app that a widget is part of, by its own type."""
    from memento_tui.tui.app import MementoApp  # noqa: PLC0415 - the app imports its sections

    app = widget.app
    if not isinstance(app, MementoApp):
        raise TypeError(app)
    return app


async def in_thread(
    widget: Widget, work: Callable[_Params, _Result], *args: _Params.args, **kwargs: _Params.kwargs
) -> _Result:
    """Run blocking work on a thread and return its result, to a worker of the widget.

    Where the widget is being removed by then, the worker ends here, whatever the result: the parts that it would show
    it in are gone. (Textual cancels the workers of a widget too, but only after it has removed the parts.)

    Raises:
        asyncio.CancelledError: the widget is being removed, or is gone.

    """
    try:
        return await asyncio.to_thread(work, *args, **kwargs)
    finally:
        if widget._pruning or not widget.is_attached:  # noqa: SLF001 - only this says that a removal has begun
            raise asyncio.CancelledError


class Section(ErrorBoundary, Vertical):
    """One room of the app, with the commands of its place."""

    SCOPE: ClassVar[KeyScope]

    is_stale = False
    """Whether something was written while another section was shown; it is read again when the person comes back."""

    @property
    def memento(self) -> MementoApp:
        """The app, by its own type."""
        return app_of(self)

    def on_compose(self) -> None:
        """Lay out for the width that there is, so that the first frame is not laid out twice."""
        self.set_class(self.app.size.width >= WIDE_CELLS, "-wide", update=False)

    def on_resize(self) -> None:
        """Put what belongs to a list where there is room for it."""
        self.set_class(self.size.width >= WIDE_CELLS, "-wide")

    def focus_content(self) -> None:
        """Take the focus; called when the person comes here."""
        raise NotImplementedError

    def reload(self) -> None:
        """Read again what is shown, because something was written."""
        raise NotImplementedError

    def show_query(self, query: str) -> None:
        """Show what another section sent the person here for; each section says what its queries are."""
        raise NotImplementedError

    def is_available(self, command: str) -> bool:  # noqa: ARG002 - for sections to answer
        """Tell whether a command, by its id, can act on what is in focus now; the key bar dims those that cannot."""
        return True

    def reopen_unsaved(self, kept: UnsavedText) -> None:
        """Open what was being edited when its process ended, for sections where something is edited.

        Raises `MementoError` where the record that it is about cannot be edited any more.
        """
        raise NotImplementedError

    def run_write(self, act: Callable[[], str]) -> bool:
        """Run something that writes, and tell how it went: the sentence that it returns, or its error."""
        try:
            said = act()
        except MementoError as error:
            # A refused decision may have been written down: its proposal then needs another look.
            self.memento.refresh_after_write()
            self.memento.show_status(str(error), problem=True)
            return False
        self.memento.refresh_after_write()
        self.memento.show_status(said)
        return True
