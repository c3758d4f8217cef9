"""The base of the views beside the list of memories, the list in a view, and the messages of views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from textual import on
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Static

from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.section import AppServices, ErrorBoundary, app_of
from memento_tui.tui.widgets.frames import VerticalFrame
from memento_tui.tui.widgets.paged_rows import Row
from memento_tui.tui.widgets.record_list import RecordList

__all__ = ["FilterChanged", "FixedRows", "MemoryChosen", "View", "ViewClosed", "ViewList"]

if TYPE_CHECKING:
    from textual.content import Content

    from memento_tui.api import Workspace


RowT = TypeVar("RowT", bound=Row)


class ViewClosed(Message):
    """The person left the view."""


@dataclass
class MemoryChosen(Message):
    """The person went to another memory, which becomes the present one of the section too."""

    memory_id: str


@dataclass
class FilterChanged(Message):
    """The person changed the filter of the list; ``query`` is the whole new query."""

    query: str


class FixedRows(Generic[RowT]):
    """Rows that are all at hand, as a list reads them."""

    def __init__(self, rows: Sequence[RowT]) -> None:
        self.rows = rows
        self._places = {row.id: index for index, row in enumerate(rows)}

    def total(self) -> int:
        """Return how many there are."""
        return len(self.rows)

    def page(self, start: int, count: int) -> Sequence[RowT]:
        """Return some of them."""
        return self.rows[start : start + count]

    def locate(self, row_id: str) -> int | None:
        """Return where one stands."""
        return self._places.get(row_id)

    def ids(self, start: int, count: int) -> Sequence[str]:
        """Return the ids of some of them."""
        return [row.id for row in self.page(start, count)]


_MARK_ACTIONS = {"mark", "range", "leave_range"}


class ViewList(RecordList[RowT], Generic[RowT], inherit_bindings=False):
    """A list in a view. Its rows cannot be marked."""

    BINDINGS: ClassVar[list[BindingType]] = [found for found in bindings("rows") if found.action not in _MARK_ACTIONS]


class View(ErrorBoundary, VerticalFrame):
    """One view: a heading and its content.

    A view is mounted when the person opens it, and takes the focus by `focus_content`. It posts `ViewClosed` when the
    person leaves it, and `MemoryChosen` when the person goes to another memory. It makes its parts itself: a write may
    reach it before it is mounted and after it was removed.
    """

    SCOPE: ClassVar[KeyScope]
    BLOCKS_OUTER_SCOPES: ClassVar[bool] = True
    """While a view has the focus, the keys of the section have no effect."""

    DEFAULT_CSS = """
    View { height: 1fr; }
    View > .view-head { height: 1; padding: 0 1; color: $text-muted; text-wrap: nowrap; text-overflow: ellipsis; }
    View > .view-note { padding: 0 1; color: $text-muted; display: none; }
    """

    rows: ViewList[Any]
    """The list of the view, where it has one."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(id=name)
        self.head = Static(classes="view-head")
        self.note = Static(classes="view-note")

    @property
    def memento(self) -> AppServices:
        """The app, typed with the members that views use."""
        return app_of(self)

    @property
    def workspace(self) -> Workspace:
        """The workspace that the app is on."""
        return self.memento.workspace

    def focus_content(self) -> None:
        """Take the focus."""
        self.focus_part(self.rows)

    def show(self, about: Any) -> None:  # noqa: ANN401 - each view says what: a memory, or the tree a query
        """Show the view for a memory or a query; keep the position if it is the same as before."""
        raise NotImplementedError

    def reload(self) -> None:
        """Read the content again, because something was written."""
        raise NotImplementedError

    def is_available(self, command: str) -> bool:  # noqa: ARG002 - for views to answer
        """Return whether a command of the view, by its id, can act on the row under the cursor."""
        return True

    def set_heading(self, text: Content) -> None:
        """Set the heading."""
        self.head.update(text)

    def set_note(self, text: Content | None) -> None:
        """Set the note below the heading that says why the view is empty; ``None`` hides it."""
        self.note.display = text is not None
        self.note.update("" if text is None else text)

    @on(RecordList.Highlighted)
    @on(RecordList.Refreshed)
    @on(RecordList.MarksChanged)
    def _keep(self, event: RecordList.ListMessage) -> None:
        """Stop the messages of the view's own list, which the section would take for those of its list."""
        event.stop()
        self.memento.focus_changed()

    @on(RecordList.LoadFailed)
    def _failed(self, event: RecordList.LoadFailed) -> None:
        event.stop()
        self.memento.show_status(str(event.error), problem=True)

    def action_preview(self) -> None:
        """Go back to the text."""
        self.post_message(ViewClosed())
