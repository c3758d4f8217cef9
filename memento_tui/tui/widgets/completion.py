"""A line of text with suggestions below it or above it, and the lines that were typed there; the box above a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, cast

from rich.cells import cell_len
from textual import work
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Offset
from textual.widgets import Input, Static

from memento_tui.api.line_history import HistoryPlace, LineHistory
from memento_tui.api.query_completion import Suggestion, Suggestions
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import cells, literal
from memento_tui.tui.section import ErrorBoundary, app_of, in_thread

__all__ = ["CompletingInput", "FilterBox"]

_MAX_WIDTH = 46
_MIN_WIDTH = 16


class SuggestionList(Static):
    """The suggestions for the part of a line that is being typed, over whatever is there; it never takes the focus."""

    can_focus = False
    DEFAULT_CSS = """
    SuggestionList {
        display: none; overlay: screen; position: absolute; width: auto; height: auto;
        background: $panel; color: $foreground;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._found = Suggestions()
        self._at = 0
        self.was_chosen = False
        """Whether the person went to a suggestion by a key."""

    @property
    def is_open(self) -> bool:
        """Whether there are suggestions on the screen."""
        return bool(self._found.options)

    @property
    def found(self) -> Suggestions:
        """The suggestions that are shown."""
        return self._found

    @property
    def current(self) -> Suggestion:
        """The suggestion that would be taken."""
        return self._found.options[self._at]

    def offer(self, found: Suggestions, line: Input, *, above: bool) -> None:
        """Show suggestions at the place of a line that they are for, or nothing where there are none."""
        self._found, self._at, self.was_chosen = found, 0, False
        self.display = self.is_open
        if self.is_open:
            height = len(found.options)
            # Where the part begins: a cell before it, so that the texts stand below one another.
            column = line.content_region.x + cell_len(line.value[: found.start]) - line.scroll_offset.x - 1
            row = line.region.y - height if above else line.region.y + 1
            self.absolute_offset = Offset(max(column, 0), max(row, 0))
            self._draw()

    def close(self) -> None:
        """Show no suggestions."""
        self._found, self.was_chosen, self.display = Suggestions(), False, False

    def choose(self, step: int) -> None:
        """Go to the suggestion below, or above."""
        self._at, self.was_chosen = (self._at + step) % len(self._found.options), True
        self._draw()

    def _draw(self) -> None:
        options = self._found.options
        notes = max(cell_len(option.note) for option in options)
        room = max(_MAX_WIDTH - notes - 1 if notes else _MAX_WIDTH, _MIN_WIDTH)
        texts = min(max(cell_len(option.text) for option in options), room)
        lines = []
        for index, option in enumerate(options):
            note = f" {cells(option.note, notes)}" if notes else ""
            text = literal(f" {cells(option.text, texts)}") + literal(f"{note} ", "$quiet")
            lines.append(text.stylize("reverse") if index == self._at else text)
        self.update(Content("\n").join(lines))


class CompletingInput(ErrorBoundary, Input):
    """A line with suggestions from ``complete`` (given the line and the cursor's place, on a thread) and a history.

    ``history_place`` names the place whose lines are kept; ``None`` for none. ``suggestions`` must be mounted by
    whoever mounts this.
    """

    def __init__(
        self,
        *,
        complete: Callable[[str, int], Suggestions] | None,
        history_place: HistoryPlace | None = None,
        hint: str = "",
        id: str | None = None,  # noqa: A002 - every widget's name for it
        classes: str | None = None,
        above: bool = False,
        value: str = "",
        select_on_focus: bool = False,
    ) -> None:
        super().__init__(value, placeholder=hint, id=id, classes=classes, select_on_focus=select_on_focus)
        self.suggestions = SuggestionList()
        """The suggestions for the typed text."""
        self._complete = complete
        self._history_place = history_place
        self._history: LineHistory | None = None
        self._above = above

    def on_focus(self) -> None:
        """Read the history, because the person begins to type."""
        if self._history_place is not None:
            self._history = LineHistory(app_of(self).workspace.settings, self._history_place)
            self._history.begin()

    def on_blur(self) -> None:
        """Show no suggestions any more."""
        self.suggestions.close()

    async def watch_value(self, value: str) -> None:
        """Look for suggestions for the text just typed."""
        if self.has_focus and self._complete is not None:
            self._suggest(self._complete, value)
        else:
            self.suggestions.close()

    @work(group="suggest", exclusive=True)
    async def _suggest(self, complete: Callable[[str, int], Suggestions], line: str) -> None:
        found = await in_thread(self, complete, line, self.cursor_position)
        if self.value == line and self.has_focus:
            self.suggestions.offer(found, self, above=self._above)

    def take(self) -> bool:
        """Put the suggestion into the line; return whether there was one."""
        if not self.suggestions.is_open:
            return False
        found = self.suggestions.found
        line, cursor = found.applied_to(self.value, self.suggestions.current)
        self.suggestions.close()
        self.value = line
        self.cursor_position = cursor
        return True

    def action_right(self) -> None:
        """Take the suggestion; without one, move by a letter."""
        if not self.take():
            self.action_cursor_right()

    def take_if_chosen(self) -> bool:
        """Put the suggestion into the line that the person went to; return whether there was one."""
        return self.suggestions.was_chosen and self.take()

    def go(self, step: int) -> bool:
        """Go to another suggestion, or to an earlier or later line; return whether there was one."""
        if self.suggestions.is_open:
            self.suggestions.choose(step)
            return True
        history = self._history
        line = None if history is None or (step > 0 and not history.is_behind) else history.step(step)
        if line is None:
            return False
        self.value = line
        self.cursor_position = len(line)
        self.suggestions.close()
        return True

    def keep_line(self) -> None:
        """Add the line to the history, which takes no time of the app's."""
        if self._history is not None and self.value.strip():
            keep, line = self._history.keep, self.value
            self.run_worker(lambda: keep(line), thread=True, group="history")


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
