"""Editing a memory in place: its title, tags, kind, namespace and text."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, Static, TextArea

from memento_tui.tui.commands import bindings
from memento_tui.tui.display import hidden_characters, literal
from memento_tui.tui.screens.ask import Confirm
from memento_tui.tui.widgets.draft import Draft, EditorLeft, EditorSaved, EditorTyped, tags_of

__all__ = ["Editor"]

_TOLD_AFTER_SECONDS = 0.5
"""How long after a change the owner is told of it, with all that was changed by then."""


class Editor(Vertical):
    """A form over a draft. It is mounted when editing begins and removed when it ends.

    ``before`` is what is stored; ``draft`` is what the form begins with, where that is something else.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("editor")]

    def __init__(self, heading: str, before: Draft, draft: Draft | None = None) -> None:
        super().__init__()
        self._heading = heading
        self.before = before
        self._given = draft or before
        self._shown_first: dict[str, str] = {}
        """What each field showed first. A field that still shows it was not edited, whatever its widget can hold."""
        self._due: Timer | None = None

    def compose(self) -> ComposeResult:
        """Show the fields."""
        given = self._given
        yield Static(Content(self._heading), classes="editor-heading")
        if hidden := hidden_characters(given.title + given.content):
            warning = f"! {hidden.total():,} hidden characters are in it, which cannot be seen here"
            yield Static(literal(warning, "bold $text-warning"), classes="editor-warning")
        yield Input(given.title, placeholder="title (may be empty: the first line serves)", id="editor-title")
        yield Input(", ".join(given.tags), placeholder="tags, with commas between", id="editor-tags")
        with Horizontal(id="editor-place"):
            yield Input(given.kind, placeholder="kind", id="editor-kind")
            yield Input(given.namespace, placeholder="namespace", id="editor-namespace")
        yield TextArea(given.content, id="editor-content", soft_wrap=True, tab_behavior="focus")

    def on_mount(self) -> None:
        """Begin with the text."""
        self._shown_first = self._shown()
        self.query_one(TextArea).focus()

    def _shown(self) -> dict[str, str]:
        shown = {name: self.query_one(f"#editor-{name}", Input).value for name in ("title", "tags", "kind", "namespace")}
        return {**shown, "content": self.query_one(TextArea).text}

    @property
    def draft(self) -> Draft:
        """What the fields hold now."""
        changed = {name: text for name, text in self._shown().items() if text != self._shown_first[name]}
        values: dict[str, object] = {
            name: text if name == "content" else text.strip() for name, text in changed.items() if name != "tags"
        }
        if "tags" in changed:
            values["tags"] = tags_of(changed["tags"])
        return self._given.with_changes(values)

    @property
    def is_changed(self) -> bool:
        """Whether something would be lost if the editor were removed."""
        return self.draft != self.before

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _typed(self, event: Input.Changed | TextArea.Changed) -> None:
        event.stop()
        if self._due is None and self._shown_first:
            self._due = self.set_timer(_TOLD_AFTER_SECONDS, self._tell)

    def _tell(self) -> None:
        self._due = None
        self.post_message(EditorTyped(self.draft))

    @on(Input.Submitted)
    def _next_field(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.focus_next()

    def action_save(self) -> None:
        """Ask the owner to store the draft."""
        self.post_message(EditorSaved(self.before, self.draft))

    @work
    async def action_cancel(self) -> None:
        """Leave; ask first if something would be lost."""
        if self.is_changed:
            question = Content("Leave without saving? What you wrote is thrown away.")
            if not await self.app.push_screen_wait(Confirm(question)):
                return
        self.post_message(EditorLeft())
