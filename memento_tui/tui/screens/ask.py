"""Small questions: a line of text, yes and no, and what became of many things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from memento_tui.tui.display import literal

__all__ = ["AskLine", "Confirm", "Outcomes"]


class AskLine(ModalScreen[str | None]):
    """Asks for one line; Enter gives it, Escape gives ``None``."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Cancel", show=False)]

    def __init__(self, question: str, value: str = "", *, hint: str, problem: str = "") -> None:
        super().__init__()
        self._question = question
        self._value = value
        self._hint = hint
        self._problem = problem

    def compose(self) -> ComposeResult:
        """Show the question, the line, and what the keys do."""
        with Vertical(classes="dialog"):
            yield Static(literal(self._question), classes="dialog-title")
            yield Input(self._value, select_on_focus=False)
            if self._problem:
                yield Static(literal(self._problem, "bold $text-warning"), classes="dialog-text")
            yield Static(Content(self._hint), classes="dialog-hint")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the line."""
        self.dismiss(event.value)


class Confirm(ModalScreen[bool]):
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


class Outcomes(ModalScreen[None]):
    """Tells of each thing that could not be done, and why."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss(None)", "Close"),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
    ]

    def __init__(self, title: str, failed: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._title = title
        self._failed = failed
        """What it was about, and the reason, of each."""

    def compose(self) -> ComposeResult:
        """Show the list."""
        lines = [literal(what, "bold") + literal(f"\n  {why}", multiline=True) for what, why in self._failed]
        with Vertical(classes="dialog"):
            yield Static(literal(self._title), classes="dialog-title")
            with VerticalScroll(classes="dialog-list"):
                yield Static(Content("\n").join(lines))
            yield Static(Content("They are still marked. Esc closes this"), classes="dialog-hint")

    def action_scroll(self, lines: int) -> None:
        """Scroll the list."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
