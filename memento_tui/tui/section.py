"""The base of every section, the keys that act in one, the app around it, and the boundary that reports errors.

Any read may fail: on a damaged page of the database, on a disk that is gone. Handlers of keys and of messages read in
many places, so what they let through is caught by `ErrorBoundary`, around all of them, and shown in the status line.
What takes long runs on a thread by `in_thread`, which never comes back to a widget that has been removed meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, ParamSpec, Protocol, TypeVar, cast

from textual.dom import DOMNode
from textual.message_pump import MessagePump
from textual.widget import Widget
from textual.worker import Worker, WorkerFailed

from memento_tui.errors import MementoError
from memento_tui.tui.commands import Command, KeyMap, KeyScope
from memento_tui.tui.widgets.frames import VerticalFrame

if TYPE_CHECKING:
    from textual.message import Message

    from memento_tui.api import Workspace
    from memento_tui.api.drafts import UnsavedText
    from memento_tui.api.types import Entry
    from memento_tui.tui.input_order import TypedInput

__all__ = [
    "ROW_CHANGED",
    "WIDE_CELLS",
    "AppServices",
    "ChosenRows",
    "ErrorBoundary",
    "Section",
    "active_scopes",
    "app_of",
    "in_thread",
    "in_worker",
    "reportable_error",
    "scope_owner",
]

_Params = ParamSpec("_Params")
_Result = TypeVar("_Result")


_SHARED_SCOPES: tuple[KeyScope, ...] = ("list", "columns", "rows", "everywhere")
"""Scopes that every list shares; they come after the special ones."""

ROW_CHANGED = "The row under the cursor changed while you typed; nothing was done."


class ChosenRows(NamedTuple):
    """The target of a command: the row under the cursor, empty where there is none, and the marked ones."""

    id: str
    version: int
    marks: frozenset[str]


def reportable_error(error: BaseException) -> MementoError | None:
    """Return the error whose sentence a person can read, ``None`` where it is a fault of the program."""
    cause = error.error if isinstance(error, WorkerFailed) else error
    return cause if isinstance(cause, MementoError) else None


class ErrorBoundary(MessagePump):
    """A part of the app whose handlers may fail with a sentence, which is then shown in the status line.

    A part may be written to before it is mounted, and by what began before it was removed: a read on a thread, a poll
    of the journal, a new size. So that neither is ever a fault, it makes the widgets that it consists of itself and
    keeps them, instead of looking them up where they may not be yet or any more.
    """

    def keep_typed(self) -> None:
        """Write the text that the person is typing here to disk, where text can be typed."""

    def focus_part(self, part: Widget) -> None:
        """Give the focus to a widget of this part; to none where it is not on the screen yet, or no longer."""
        if part.is_attached and not part._pruning:  # noqa: SLF001 - only this says that a removal has begun
            part.screen.set_focus(part)

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except MementoError as error:
            show_status = getattr(self.app, "show_status", None)
            if show_status is None:  # a test's own app
                raise
            show_status(str(error), problem=True)


class AppServices(Protocol):
    """The part of the app that its sections, views and dialogs use."""

    workspace: Workspace
    keys: KeyMap
    """The keys of each command."""
    typed: TypedInput
    """The key or click that is being carried out."""

    @property
    def section(self) -> Section:
        """The section that is shown."""

    @property
    def is_paused(self) -> bool:
        """Whether the person stopped the live view."""

    def show_status(self, text: str, *, problem: bool = False) -> None:
        """Show a sentence in the status line, as a problem or not."""

    def show_counts(self, /, **counts: int) -> None:
        """Show in the tabs how many records the sections of these names hold."""

    def refresh_after_write(self) -> None:
        """Show the app's own changes at once."""

    def focus_changed(self) -> None:
        """Show in the key bar which commands the row in focus allows."""

    def drop_typed_keys(self) -> None:
        """Carry out no key that was typed until now."""

    async def open_section(self, name: str, query: str = "") -> None:
        """Go to a section and show there the rows of ``query``, in that section's own terms."""


WIDE_CELLS = 110
"""From this many cells on, the side pane stands beside the list, and below it otherwise."""


def app_of(widget: Widget) -> AppServices:
    """Return the app that a widget is part of."""
    return cast("AppServices", widget.app)


def in_worker(
    node: DOMNode, work: Callable[[], Coroutine[Any, Any, None]], group: str, *, exclusive: bool = False
) -> None:
    """Run a coroutine in a worker of a widget or of the app.

    It is made by the worker: an app that is being left begins none any more, and a coroutine that was made before would
    warn on the person's terminal that nobody awaited it.
    """
    _worker: Worker[None] = node.run_worker(work, group=group, exclusive=exclusive)


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


class Section(ErrorBoundary, VerticalFrame):
    """One tab of the app, with the commands of its scope."""

    SCOPE: ClassVar[KeyScope]

    is_stale = False
    """Whether something was written while another section was shown; it is read again when the person comes back."""

    @property
    def memento(self) -> AppServices:
        """The app, by the part that sections use."""
        return app_of(self)

    @property
    def is_working(self) -> bool:
        """Whether something long is under way in it, which Escape stops."""
        return False

    @property
    def count_of_key(self) -> int:
        """The count that was typed before the key that is being carried out; 0 for none."""
        return 0

    def forget_count(self) -> None:
        """Take note that the key was carried out: its count is for nothing that comes later."""

    @property
    def moment_here(self) -> str:
        """The moment that is proposed to whoever asks for the past here."""
        return "1 day ago"

    def on_compose(self) -> None:
        """Lay out for the width that there is, so that the first frame is not laid out twice."""
        self.set_class(self.app.size.width >= WIDE_CELLS, "-wide", update=False)

    def on_resize(self) -> None:
        """Put the side pane where there is room for it."""
        self.set_class(self.size.width >= WIDE_CELLS, "-wide")

    def chosen(self) -> ChosenRows | None:
        """Return the rows that a command is meant for; ``None`` where there is no list."""
        return None

    def focus_content(self) -> None:
        """Take the focus; called when the person comes here."""
        raise NotImplementedError

    def reload(self) -> None:
        """Read the shown records again, because something was written."""
        raise NotImplementedError

    def show_query(self, query: str) -> None:
        """Show the rows of a query that another section sent the person with; each section has its own queries."""
        raise NotImplementedError

    @property
    def has_columns(self) -> bool:
        """Whether a list with columns to choose is shown."""
        return False

    def key_label(self, command: Command) -> str:
        """Return the words for a command in the key bar, where its key leads to another place from here."""
        return command.label

    def is_available(self, command: str) -> bool:  # noqa: ARG002 - for sections to answer
        """Return whether a command, by its id, can act on the row in focus; the key bar shows only those."""
        return True

    def note_undone(self, entries: Sequence[Entry]) -> None:
        """Take note of the entries that were just undone, before the records are read again."""

    def reopen_unsaved(self, kept: UnsavedText) -> None:
        """Open the text that was being edited when its process ended, for sections where something is edited.

        Raises `MementoError` where its record cannot be edited any more.
        """
        raise NotImplementedError

    def run_write(self, act: Callable[[], str]) -> bool:
        """Run something that writes, and show the sentence that it returns, or its error; return whether it worked."""
        try:
            sentence = act()
        except MementoError as error:
            # A refused decision may have been written down: its proposal then needs another look.
            self.memento.refresh_after_write()
            self.memento.show_status(str(error), problem=True)
            return False
        self.memento.refresh_after_write()
        self.memento.show_status(sentence)
        return True


def active_scopes(focused: Widget | None, section: Section) -> list[KeyScope]:
    """Return the scopes whose keys are active, the nearest first."""
    scopes = list(dict.fromkeys(scope for _, scope in _nodes_with_scope(focused, section)))
    if "editor" in scopes:
        return ["editor", "everywhere"]
    if section.SCOPE in scopes and "rows" in scopes:
        scopes += ["list", "columns"] if section.has_columns else ["list"]
    return [
        *(scope for scope in scopes if scope not in _SHARED_SCOPES),
        *(scope for scope in _SHARED_SCOPES[:-1] if scope in scopes),
        "everywhere",
    ]


def scope_owner(scope: KeyScope, focused: Widget | None, section: Section, app: DOMNode) -> DOMNode:
    """Return the widget that carries out the commands of a scope."""
    if scope == "everywhere":
        return app
    return next((node for node, its in _nodes_with_scope(focused, section) if its == scope), section)


def _nodes_with_scope(focused: Widget | None, section: Section) -> Iterator[tuple[DOMNode, KeyScope]]:
    for node in (focused or section).ancestors_with_self:
        scope: KeyScope | None = getattr(node, "SCOPE", None)
        if scope is not None:
            yield node, scope
        if getattr(node, "BLOCKS_OUTER_SCOPES", False):
            return
