"""The choice when somebody else changed what a person was editing."""

from __future__ import annotations

from typing import ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from memento_tui.tui.difference import difference
from memento_tui.tui.display import literal
from memento_tui.tui.widgets.draft import Draft

__all__ = ["Choice", "ConflictScreen"]

Choice = Literal["mine", "theirs", "edit"]


class ConflictScreen(ModalScreen[Choice]):
    """Shows what each side did to the text that both began with, and asks what stays.

    Escape goes back to the editor, where nothing was lost.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "dismiss('mine')", "Save mine over theirs"),
        Binding("t", "dismiss('theirs')", "Take theirs"),
        Binding("e,escape", "dismiss('edit')", "Go on editing mine"),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("pagedown", "scroll(10)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
    ]

    def __init__(self, before: Draft, theirs: Draft, mine: Draft, who: str) -> None:
        super().__init__()
        self._before = before
        self._theirs = theirs
        self._mine = mine
        self._who = who

    def compose(self) -> ComposeResult:
        """Show both differences and the three ways out."""
        with Vertical(classes="dialog wide-dialog"):
            yield Static(literal(f"{self._who} changed this while you were editing"), classes="dialog-title")
            with VerticalScroll(classes="dialog-body", can_focus=False):
                yield Static(Content.styled("What they changed", "bold underline"))
                yield Static(difference(self._before.text, self._theirs.text), classes="change")
                yield Static(Content.styled("What you changed", "bold underline"))
                yield Static(difference(self._before.text, self._mine.text), classes="change")
            yield Static(Content(self._ways_out()), classes="dialog-hint")

    def _ways_out(self) -> str:
        mine = " and ".join(self._before.changes_to(self._mine)) or "nothing"
        return (
            f"m  save mine: your {mine} over theirs, which stays in the history\n"
            "t  take theirs; what you wrote is kept, and offered again\n"
            "e  go on editing mine"
        )

    def action_scroll(self, lines: int) -> None:
        """Scroll the differences."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
