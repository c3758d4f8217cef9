"""What became of each thing of a bulk, where not all of it could be done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memento_tui.tui.display import literal
from memento_tui.tui.screens.dialog import Dialog

__all__ = ["OutcomesScreen"]

_MOST = 500
"""Failures that are listed."""


class OutcomesScreen(Dialog[None]):
    """Lists what failed, each with its reason. Escape or Enter closes it; nothing is decided here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "dismiss(None)", "Close"),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown,ctrl+d", "scroll(10)", show=False),
        Binding("pageup,ctrl+u", "scroll(-10)", show=False),
    ]

    def __init__(self, title: Content, failed: Sequence[tuple[str, str]], hint: str = "") -> None:
        super().__init__()
        self._title = title
        self._failed = failed
        """A headline and a reason for each; neither need be safe to show."""
        self._hint = hint

    def compose(self) -> ComposeResult:
        """Show the title, the failures, and what the keys do."""
        with Vertical(classes="dialog wide-dialog"):
            yield Static(self._title, classes="dialog-title")
            with VerticalScroll(classes="dialog-body", can_focus=False):
                yield Static(Content("\n").join(self._lines()), id="outcomes")
            yield Static(Content(f"{self._hint}   Escape closes".strip()), classes="dialog-hint")

    def _lines(self) -> list[Content]:
        lines: list[Content] = []
        for headline, reason in self._failed[:_MOST]:
            lines += [literal(f"x {headline}", "bold"), literal(f"  {reason}", "$text-muted"), Content("")]
        if len(self._failed) > _MOST:
            lines.append(Content(f"and {len(self._failed) - _MOST:,} more"))
        return lines

    def action_scroll(self, lines: int) -> None:
        """Scroll the list."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
