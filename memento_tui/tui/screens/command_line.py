"""The ``:`` line: one line at the bottom of the screen that takes a command."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from memento_tui.api.query_completion import Suggestions
from memento_tui.errors import MementoError
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import literal
from memento_tui.tui.screens.dialogs import Dialog
from memento_tui.tui.widgets.completion import CompletingInput

__all__ = ["CommandLineScreen"]


class _CommandInput(CompletingInput):
    """The line itself; its keys are those of the scope ``command``."""

    SCOPE: ClassVar[KeyScope] = "command"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("command")]

    def __init__(
        self, complete: Callable[[str, int], Suggestions], run: Callable[[], None], leave: Callable[[], None]
    ) -> None:
        super().__init__(complete=complete, history_place="command_line", id="command-input", above=True)
        self._run = run
        self._leave = leave

    def action_take(self) -> None:
        """Take the suggestion."""
        self.take()

    def action_go(self, step: int) -> None:
        """Go to another suggestion, or to an earlier or later command."""
        self.go(step)

    def action_run(self) -> None:
        """Take the suggestion that was gone to; else run the command."""
        if not self.take_if_chosen():
            self._run()

    def action_leave(self) -> None:
        """Leave the line."""
        self._leave()

    def action_erase(self) -> None:
        """Erase a letter; leave the line where it is empty."""
        if self.value:
            self.action_delete_left()
        else:
            self._leave()


class CommandLineScreen(Dialog[str | None]):
    """Asks for a command. Enter returns the line, Escape returns ``None``.

    ``prompt`` returns what a line would be for, such as ``3 marked``; ``complete`` its suggestions, on a thread;
    ``check`` raises a `MementoError` for a line that cannot be carried out: it is shown, and the line stays.
    """

    AUTO_FOCUS: ClassVar[str | None] = "#command-input"

    def __init__(
        self,
        prompt: Callable[[str], str],
        complete: Callable[[str, int], Suggestions],
        check: Callable[[str], None],
    ) -> None:
        super().__init__()
        self._prompt = prompt
        self._check = check
        self._shown_prompt = Static(classes="command-prompt")
        self._problem = Static(classes="command-problem")
        self.line = _CommandInput(complete, self._run_line, self._leave)
        """The line that is being typed."""

    def compose(self) -> ComposeResult:
        """Show the line at the bottom, and above it what is wrong with it."""
        yield self.line.suggestions
        with Vertical(classes="command-line"):
            yield self._problem
            with Horizontal():
                yield self._shown_prompt
                yield self.line

    def on_mount(self) -> None:
        """Say what the line is for."""
        self._show_prompt("")

    @on(Input.Changed)
    def _line_typed(self, event: Input.Changed) -> None:
        event.stop()
        self._show_prompt(event.value)
        self._problem.display = False

    def _show_prompt(self, line: str) -> None:
        self._shown_prompt.update(literal(f"{self._prompt(line)} :", "$text-accent"))

    def _run_line(self) -> None:
        if not self.line.value.strip(" :%"):
            self._leave()
            return
        try:
            self._check(self.line.value)
        except MementoError as error:
            self._problem.update(literal(str(error), "$text-warning"))
            self._problem.display = True
        else:
            self.dismiss(self.line.value)

    def _leave(self) -> None:
        self.dismiss(None)
