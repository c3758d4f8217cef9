"""What all dialogs share: each is answered once."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType

from memento_tui.tui.telling import TellsErrors

__all__ = ["Dialog"]


class Dialog(TellsErrors, ModalScreen[ScreenResultType]):
    """A screen above the app that asks for something.

    Keys that were typed faster than it closes still reach it: what they would do is left out, for a second answer
    would close the screen below.
    """

    def __init__(self) -> None:
        super().__init__()
        self._is_answered = False

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close with an answer; every later one is ignored."""
        if self._is_answered:
            return AwaitComplete()
        self._is_answered = True
        return super().dismiss(result)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Allow no deed any more once it is answered."""
        return not self._is_answered and super().check_action(action, parameters)
