"""A choice among a few things, each with its own keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from memento_tui.tui.display import literal
from memento_tui.tui.screens.dialog import Dialog

__all__ = ["Choice", "ChoiceScreen"]


@dataclass(frozen=True)
class Choice:
    """One thing to choose: what it stands for, its letter, and what it is called."""

    value: str
    letter: str
    label: str


class _Line(Static):
    """A choice as a line that can be clicked."""

    def __init__(self, choice: Choice, text: Content) -> None:
        super().__init__(text)
        self._choice = choice

    def on_click(self) -> None:
        if isinstance(self.screen, ChoiceScreen):
            self.screen.dismiss(self._choice.value)


class ChoiceScreen(Dialog[str | None]):
    """Asks for one of a few things; its number or letter chooses it, Escape gives ``None``. Enter does nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Leave")]

    def __init__(self, question: Content, choices: Sequence[Choice], present: str = "") -> None:
        super().__init__()
        self._question = question
        self._choices = choices
        self._present = present

    def compose(self) -> ComposeResult:
        """Show the question, and a line for each choice."""
        with Vertical(classes="dialog"):
            yield Static(self._question, classes="dialog-title")
            for number, choice in enumerate(self._choices, 1):
                line = Content.styled(f"{number} {choice.letter}  ", "bold $text-accent") + literal(choice.label)
                yield _Line(choice, line + (Content.styled("  (now)", "dim") if choice.value == self._present else ""))
            yield Static(Content("\nA number or letter chooses, Escape leaves"), classes="dialog-hint")

    def on_key(self, event: events.Key) -> None:
        """Give the choice whose number or letter was pressed."""
        for number, choice in enumerate(self._choices, 1):
            if event.character in (str(number), choice.letter):
                event.stop()
                self.dismiss(choice.value)
