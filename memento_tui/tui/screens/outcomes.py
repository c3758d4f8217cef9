"""What became of each of several things that were done together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memento_tui.tui.display import cells, literal

__all__ = ["Outcome", "OutcomesScreen"]

Outcome = tuple[str, str]
"""What something is called, and the problem that it had; empty for none. Neither need be safe to show."""


class OutcomesScreen(ModalScreen[None]):
    """Tells what became of each, those that failed first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter", "dismiss", "Close"),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
    ]

    def __init__(self, done: str, outcomes: Sequence[Outcome]) -> None:
        super().__init__()
        self._done = done
        self._outcomes = sorted(outcomes, key=lambda outcome: not outcome[1])

    def compose(self) -> ComposeResult:
        """Show a line for each, and why below those that failed."""
        failed = sum(1 for _, problem in self._outcomes if problem)
        with Vertical(classes="dialog"):
            title = f"{len(self._outcomes) - failed:,} of {len(self._outcomes):,} done"
            yield Static(Content(title), classes="dialog-title")
            with VerticalScroll(classes="form-fields"):
                yield Static(Content("\n").join(self._lines()))
            yield Static(Content("\nEnter or Escape closes"), classes="dialog-hint")

    def _lines(self) -> list[Content]:
        lines = []
        for name, problem in self._outcomes:
            called = cells(name, 50).rstrip()
            if problem:
                lines += [literal(f"! {called}", "bold $text-warning"), literal(f"  {problem}", "dim")]
            else:
                lines.append(literal(f"+ {called}: ", "") + literal(self._done.lower(), "dim"))
        return lines

    def action_scroll(self, lines: int) -> None:
        """Scroll the lines."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
