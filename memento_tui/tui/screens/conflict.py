"""The choice when somebody else changed what a person was editing."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from memento_tui.tui.prose import difference
from memento_tui.tui.screens.dialog import Dialog

__all__ = ["Choice", "ConflictScreen"]

Choice = Literal["mine", "theirs", "edit"]


class ConflictScreen(Dialog[Choice]):
    """Shows both texts and asks which one stays. Escape goes back to the editor, where nothing was lost."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "dismiss('mine')", "Save mine over theirs"),
        Binding("t", "dismiss('theirs')", "Take theirs"),
        Binding("e,escape", "dismiss('edit')", "Go on editing mine"),
    ]

    def __init__(self, theirs: str, mine: str, who: str) -> None:
        super().__init__()
        self._theirs = theirs
        self._mine = mine
        self._who = who

    def compose(self) -> ComposeResult:
        """Show the difference and the three ways out."""
        with Vertical(classes="dialog wide-dialog"):
            yield Static(Content(f"{self._who} changed this while you were editing."), classes="dialog-title")
            yield Static(Content("- is what stands now, + is what you wrote"), classes="dialog-hint")
            with VerticalScroll(classes="dialog-body"):
                yield Static(difference(self._theirs, self._mine))
            yield Static(
                Content("m save mine (theirs stays in the history)   t take theirs   e go on editing mine"),
                classes="dialog-hint",
            )
