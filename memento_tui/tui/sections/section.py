"""What every section of the app has in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from memento_tui.errors import MementoError
from memento_tui.tui.arrivals import Arrivals
from memento_tui.tui.commands import Place
from memento_tui.tui.widgets.record_list import RecordList

if TYPE_CHECKING:
    from memento_tui.tui.app import MementoApp

__all__ = ["Section"]

_WIDE = 110
"""From this many cells on, a preview stands beside its list, and below it otherwise."""

_SHORT = 14
"""Below this many lines, what is less needed leaves its place to the text."""


class Section(Vertical):
    """One room of the app: a list, something beside it, and the commands of its place."""

    PLACE: ClassVar[Place]
    RECORD: ClassVar[str]
    """What its list lists, by the store's name for it."""

    def __init__(self) -> None:
        super().__init__(id=self.PLACE)
        self.arrivals = Arrivals(lambda row_id: self.memento.workspace.store.versions(self.RECORD, [row_id]).get(row_id))

    @property
    def memento(self) -> MementoApp:
        """The app, by its own type."""
        from memento_tui.tui.app import MementoApp  # noqa: PLC0415 - the app imports its sections

        app = self.app
        if not isinstance(app, MementoApp):
            raise TypeError(app)
        return app

    @property
    def rows(self) -> RecordList[Any]:
        """The list."""
        found: RecordList[Any] = self.query_one(RecordList)
        return found

    def on_compose(self) -> None:
        """Lay out for the width that there is, so that the first frame is not laid out twice."""
        self.set_class(self.app.size.width >= _WIDE, "-wide", update=False)
        self.set_class(self.app.size.height < _SHORT, "-short", update=False)

    def on_resize(self) -> None:
        """Put the preview where there is room for it."""
        self.set_class(self.app.size.width >= _WIDE, "-wide")
        self.set_class(self.app.size.height < _SHORT, "-short")

    def enter(self) -> None:
        """Take the focus; called when the person comes here."""
        self.rows.focus()

    def follow(self, *, own: bool, select: Mapping[str, str]) -> None:
        """Read again what is shown, because something was written.

        ``own`` says that the person's own act is among it; ``select`` names what it was about: an id for each kind of
        record, where the list is to go if it has it.
        """
        raise NotImplementedError

    def tick(self) -> None:
        """Draw again what depends on the time."""
        self.rows.refresh()

    def show_empty(self, text: str) -> None:
        """Show a text in place of the rows, or the rows again where there is none."""
        # The list stays, a line high: a widget that is hidden loses the focus, and the next key would go elsewhere.
        self.query_one(".rows").set_class(bool(text), "-empty")
        if text:
            self.query_one(".nothing", Static).update(Content(text))

    def may_act(self) -> bool:
        """Tell whether a key may write to what is chosen, and say why not."""
        if self.rows.marks:
            return True
        why_not = self.arrivals.why_not() if self.rows.current else "There is nothing here to do that to."
        if why_not:
            self.memento.say(why_not, problem=True)
        return not why_not

    def do(self, act: Callable[[], str]) -> bool:
        """Run something that writes, and tell how it went: the sentence that it returns, or its error."""
        try:
            said = act()
        except MementoError as error:
            # A refused decision may have been written down: what it is about then needs another look.
            self.memento.catch_up()
            self.memento.say(str(error), problem=True)
            return False
        self.arrivals.expect()
        self.memento.wrote()
        self.memento.say(said)
        return True
