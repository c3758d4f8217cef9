"""The dialogs about failed writes: an edit conflict, and the failures among many changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memento_tui.tui.display import literal
from memento_tui.tui.screens.dialogs import Dialog, DialogButtons
from memento_tui.tui.text_diff import text_difference

__all__ = ["ConflictScreen", "OutcomesScreen"]

ConflictAnswer = Literal["mine", "theirs", "edit"]


class ConflictScreen(Dialog[ConflictAnswer]):
    """A dialog that shows both texts and asks which one stays. Escape returns to the editor, where nothing is lost."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "dismiss('mine')", "Save mine (theirs stays in the history)"),
        Binding("t", "dismiss('theirs')", "Take theirs"),
        Binding("e,escape", "dismiss('edit')", "Go on editing mine"),
    ]

    def __init__(self, theirs: str, mine: str, who: str) -> None:
        super().__init__()
        self._theirs = theirs
        self._mine = mine
        self._who = who

    def compose(self) -> ComposeResult:
        """Show the difference and the three choices."""
        with Vertical(classes="dialog wide-dialog"):
            yield Static(Content(f"{self._who} changed this while you were editing."), classes="dialog-title")
            yield Static(Content("- is the present text, + is yours"), classes="dialog-hint")
            with VerticalScroll(classes="dialog-body"):
                yield Static(text_difference(self._theirs, self._mine))
            yield DialogButtons.for_keys(self)


_MOST_FAILURES_SHOWN = 500
"""Failures that are listed at most."""


class OutcomesScreen(Dialog[None]):
    """A dialog that lists failures, each with its reason. Escape or Enter closes it; nothing is decided here."""

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
        """The headline and the reason of each; neither need be safe to show."""
        self._hint = hint
        self._scroll = VerticalScroll(classes="dialog-body", can_focus=False)

    def compose(self) -> ComposeResult:
        """Show the title, the failures and the keys."""
        with Vertical(classes="dialog wide-dialog"):
            yield Static(self._title, classes="dialog-title")
            with self._scroll:
                yield Static(Content("\n").join(self._lines()), id="outcomes")
            if self._hint:
                yield Static(Content(self._hint), classes="dialog-hint")
            yield DialogButtons.for_keys(self)

    def _lines(self) -> list[Content]:
        lines: list[Content] = []
        for headline, reason in self._failed[:_MOST_FAILURES_SHOWN]:
            lines += [literal(f"x {headline}", "bold"), literal(f"  {reason}", "$quiet"), Content("")]
        if len(self._failed) > _MOST_FAILURES_SHOWN:
            lines.append(Content(f"and {len(self._failed) - _MOST_FAILURES_SHOWN:,} more"))
        return lines

    def action_scroll(self, lines: int) -> None:
        """Scroll the list."""
        self._scroll.scroll_relative(y=lines, animate=False)
