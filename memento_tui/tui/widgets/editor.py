"""Editing a memory in place: its title, its tags and its text."""

from __future__ import annotations

from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from memento_tui.tui.commands import bindings
from memento_tui.tui.screens.ask import Confirm
from memento_tui.tui.widgets.draft import Draft, EditorLeft, EditorSaved

__all__ = ["Editor"]


class Editor(Vertical):
    """A form over a draft. It is mounted when editing begins and removed when it ends."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("editor")]

    def __init__(self, heading: str, draft: Draft) -> None:
        super().__init__()
        self._heading = heading
        self.before = draft

    def compose(self) -> ComposeResult:
        """Show the fields."""
        yield Static(Content(self._heading), classes="editor-heading")
        yield Input(self.before.title, placeholder="title (may be empty: the first line serves)", id="editor-title")
        yield Input(", ".join(self.before.tags), placeholder="tags, with commas between", id="editor-tags")
        yield TextArea(self.before.content, id="editor-content", soft_wrap=True, tab_behavior="focus")

    def on_mount(self) -> None:
        """Begin with the text."""
        self.query_one(TextArea).focus()

    @property
    def draft(self) -> Draft:
        """What the fields hold now."""
        tags = self.query_one("#editor-tags", Input).value
        return Draft(
            title=self.query_one("#editor-title", Input).value.strip(),
            tags=tuple(dict.fromkeys(tag.strip().lstrip("#") for tag in tags.split(",") if tag.strip(" #"))),
            content=self.query_one(TextArea).text,
        )

    def action_save(self) -> None:
        """Ask the owner to store the draft."""
        self.post_message(EditorSaved(self.before, self.draft))

    @work
    async def action_cancel(self) -> None:
        """Leave; ask first if something would be lost."""
        if self.draft != self.before:
            question = Content("Leave without saving what you wrote?")
            if not await self.app.push_screen_wait(Confirm(question)):
                return
        self.post_message(EditorLeft())
