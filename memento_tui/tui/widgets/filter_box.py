"""The box above a list that searches or filters it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType
from textual.widgets import Input

from memento_tui.tui.commands import Place, bindings

__all__ = ["FilterBox"]


class FilterBox(Input):
    """One line; every letter filters at once. ``to_list`` goes to the list that it filters."""

    PLACE: ClassVar[Place] = "search"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("search")]

    def __init__(self, hint: str, to_list: Callable[[], None], *, id: str) -> None:  # noqa: A002 - every widget's name for it
        super().__init__(placeholder=hint, id=id, classes="filter")
        self._to_list = to_list

    def action_leave(self) -> None:
        """Clear the box; if it is clear already, go to the list."""
        if self.value:
            self.value = ""
        else:
            self._to_list()

    def action_to_list(self) -> None:
        """Go to the list."""
        # At once: a key typed right behind this one belongs to the list already.
        self._to_list()
