"""The box above a list, whose text filters it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, cast

from textual.binding import BindingType

from memento_tui.api.line_history import HistoryPlace
from memento_tui.api.query_completion import Suggestions
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.widgets.completion import CompletingInput

__all__ = ["FilterBox"]


class FilterBox(CompletingInput):
    """A line of text that filters the list at every letter. ``to_list`` moves the focus to the list."""

    SCOPE: ClassVar[KeyScope] = "search"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("search")]

    def __init__(
        self,
        hint: str,
        to_list: Callable[[], None],
        *,
        scope: KeyScope,
        complete: Callable[[str, int], Suggestions],
    ) -> None:
        place = cast("HistoryPlace", scope)
        super().__init__(complete=complete, history_place=place, hint=hint, id=f"{scope}-filter", classes="filter")
        self._to_list = to_list

    def action_take(self) -> None:
        """Take the suggestion; without one, go to the list."""
        if not self.take():
            self.action_to_list()

    def action_go(self, step: int) -> None:
        """Go to another suggestion, or an earlier or later search; below the last there is the list."""
        if not self.go(step) and step > 0:
            self.action_to_list()

    def action_leave(self) -> None:
        """Clear the box; if it is clear already, go to the list."""
        if self.value:
            self.value = ""
        else:
            self._to_list()

    def action_to_list(self) -> None:
        """Take the suggestion that was gone to; else go to the list."""
        if not self.take_if_chosen():
            self.keep_line()
            # At once: a key typed right behind this one belongs to the list already.
            self._to_list()
