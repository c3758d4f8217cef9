"""Small questions: a line of text, or yes and no."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from memento_tui.tui.screens.dialog import Dialog

__all__ = ["AskLine", "Confirm"]


class AskLine(Dialog[str | None]):
    """Asks for one line; Enter gives it, Escape gives ``None``."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel", show=False)]

    def __init__(self, question: str, value: str = "", *, hint: str = "") -> None:
        super().__init__()
        self._question = question
        self._value = value
        self._hint = hint

    def compose(self) -> ComposeResult:
        """Show the question, the line, and what the keys do."""
        with Vertical(classes="dialog"):
            yield Static(Content(self._question), classes="dialog-title")
            yield Input(self._value, select_on_focus=False)
            yield Static(Content(self._hint or "Enter takes it, Escape leaves"), classes="dialog-hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the line."""
        self.dismiss(event.value)


class Confirm(Dialog[bool]):
    """Asks before something is done to many or cannot be undone. Only ``y`` says yes; Enter does nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Yes"),
        Binding("n,escape", "dismiss(False)", "No"),
    ]

    def __init__(self, question: Content, detail: Content | None = None) -> None:
        super().__init__()
        self._question = question
        self._detail = detail

    def compose(self) -> ComposeResult:
        """Show the question and its keys."""
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title")
            if self._detail is not None:
                yield Static(self._detail, classes="dialog-text")
            yield Static(Content("y yes   n no"), classes="dialog-hint")
