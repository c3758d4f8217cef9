"""What every section of the app has in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Vertical

from memento_tui.errors import MementoError
from memento_tui.tui.commands import Place

if TYPE_CHECKING:
    from memento_tui.tui.app import MementoApp

__all__ = ["Section"]

WIDE = 110
"""From this many cells on, a preview stands beside its list, and below it otherwise."""


class Section(Vertical):
    """One room of the app: a list, something beside it, and the commands of its place."""

    PLACE: ClassVar[Place]

    @property
    def memento(self) -> MementoApp:
        """The app, by its own type."""
        from memento_tui.tui.app import MementoApp  # noqa: PLC0415 - the app imports its sections

        app = self.app
        if not isinstance(app, MementoApp):
            raise TypeError(app)
        return app

    def on_compose(self) -> None:
        """Lay out for the width that there is, so that the first frame is not laid out twice."""
        self.set_class(self.app.size.width >= WIDE, "-wide", update=False)

    def on_resize(self) -> None:
        """Put the preview where there is room for it."""
        self.set_class(self.size.width >= WIDE, "-wide")

    def enter(self) -> None:
        """Take the focus; called when the person comes here."""
        raise NotImplementedError

    def follow(self) -> None:
        """Read again what is shown, because something was written."""
        raise NotImplementedError

    def do(self, act: Callable[[], str]) -> bool:
        """Run something that writes, and tell how it went: the sentence that it returns, or its error."""
        try:
            said = act()
        except MementoError as error:
            # A refused decision may have been written down: its proposal then needs another look.
            self.memento.wrote()
            self.memento.say(str(error), problem=True)
            return False
        self.memento.wrote()
        self.memento.say(said)
        return True
