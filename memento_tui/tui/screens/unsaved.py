"""Offer to continue text that was typed when the app ended without saving it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from memento_tui import clock
from memento_tui.api.drafts import UnsavedText, find_unsaved_texts
from memento_tui.errors import MementoError
from memento_tui.tui.display import cells, literal, time_ago
from memento_tui.tui.screens.dialogs import Confirm, Dialog, DialogButtons
from memento_tui.tui.section import in_worker

__all__ = ["UnsavedScreen", "offer_unsaved"]

if TYPE_CHECKING:
    from memento_tui.tui.app import MementoApp


_SECTION_OF = {
    "memory": "memories",
    "crystal": "identity",
    "proposal": "review",
    "item": "working",
    "skip": "skips",
}
_FORMS = ("item", "skip")
"""Records that are edited in forms: their kept text is a JSON object of the fields."""
_SHOWN_LINES, _SHOWN_WIDTH = 8, 64

Answer = Literal["resume", "discard", "later"]


class UnsavedScreen(Dialog[Answer]):
    """A dialog that shows the beginning of one text, and asks whether to continue, discard or keep it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("r", "dismiss('resume')", "Continue"),
        Binding("d", "dismiss('discard')", "Discard"),
        Binding("escape", "dismiss('later')", "Ask me next time"),
    ]

    def __init__(self, kept: UnsavedText, others: int) -> None:
        super().__init__()
        self._kept = kept
        self._others = others

    def compose(self) -> ComposeResult:
        """Show the beginning of the text and the keys."""
        kept = self._kept
        lines = [line for line in (kept.title or "", *_text_of(kept).splitlines()) if line.strip()]
        shown = [literal(cells(line, _SHOWN_WIDTH).rstrip()) for line in lines[:_SHOWN_LINES]]
        with Vertical(classes="dialog"):
            yield Static(
                Content(f"Text that was not saved, typed {time_ago(kept.at, clock.now())}"), classes="dialog-title"
            )
            yield Static(Content("\n").join(shown), classes="dialog-text")
            if self._others:
                yield Static(Content(f"{self._others} more after this"), classes="dialog-hint")
            yield DialogButtons.for_keys(self)


def _text_of(kept: UnsavedText) -> str:
    if kept.record not in _FORMS:
        return kept.content
    return "\n".join(msgspec.json.decode(kept.content, type=dict[str, str]).values())


def offer_unsaved(app: MementoApp) -> bool:
    """Ask about every text that was left unsaved; return whether there is any."""
    found = find_unsaved_texts(app.workspace.paths, app.opened_at)
    if found:
        _ask(app, found)
    return bool(found)


def _ask(app: MementoApp, found: Sequence[tuple[Path, UnsavedText]]) -> None:
    async def ask() -> None:
        for index, (path, kept) in enumerate(found):
            answer = await app.push_screen_wait(UnsavedScreen(kept, len(found) - index - 1))
            if answer == "resume":
                await _resume(app, path, kept)
                return
            if answer == "discard" and await app.push_screen_wait(Confirm(Content("Discard it for good?"))):
                path.unlink(missing_ok=True)

    in_worker(app, ask, "unsaved", exclusive=True)


async def _resume(app: MementoApp, path: Path, kept: UnsavedText) -> None:
    await app.action_section(_SECTION_OF[kept.record])
    try:
        app.section.reopen_unsaved(kept)
    except MementoError as error:
        app.show_status(f"{error} The text is kept in {path}.", problem=True)
        return
    # From here on the editor keeps it in a file of its own.
    app.call_after_refresh(path.unlink, missing_ok=True)
