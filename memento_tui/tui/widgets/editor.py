"""Edit a text in place: its title and tags where it has them, and its content."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from memento_tui.api.drafts import UnsavedTextFile
from memento_tui.errors import MementoError
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import hidden_characters, literal
from memento_tui.tui.screens.dialogs import Confirm
from memento_tui.tui.widgets.text_draft import EditorLeft, EditorSaved, TextDraft

__all__ = ["Editor"]

_KEEP_SECONDS = 0.4
"""How often what is being typed is written to disk."""


class Editor(Vertical):
    """A form over a draft. It is mounted when editing begins and removed when it ends.

    What is typed is kept in ``unsaved`` until the owner discards it, so that a crash loses nothing.
    """

    SCOPE: ClassVar[KeyScope] = "editor"
    # Tab goes round in the fields: in the list, where Textual would take it, a letter is a command.
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("editor"),
        Binding("tab", "field(1)", show=False),
        Binding("shift+tab", "field(-1)", show=False),
    ]

    def __init__(self, heading: str, before: TextDraft, unsaved: UnsavedTextFile, now: TextDraft | None = None) -> None:
        super().__init__()
        self._heading = heading
        self.before = before
        """What is stored; ``now`` is what the fields begin with where that differs."""
        self._begun = now or before
        self._unsaved = unsaved
        self._due = self.set_interval(_KEEP_SECONDS, self._keep, pause=True)

    def compose(self) -> ComposeResult:
        """Show the fields."""
        yield Static(Content(self._heading), classes="editor-heading")
        yield Static(classes="editor-warning")
        if self._begun.title is not None:
            hint = "title (may be empty: the first line serves)"
            yield Input(self._begun.title, placeholder=hint, id="editor-title")
        if self._begun.tags is not None:
            yield Input(", ".join(self._begun.tags), placeholder="tags, with commas between", id="editor-tags")
        yield TextArea(self._begun.content, id="editor-content", soft_wrap=True, tab_behavior="focus")

    def on_mount(self) -> None:
        """Begin with the text; what is not stored yet is kept from the first moment."""
        self.query_one(TextArea).focus()
        self._keep()

    @property
    def draft(self) -> TextDraft:
        """What the fields hold now."""
        title = self.query("#editor-title")
        tags = self.query("#editor-tags")
        return TextDraft(
            title=title.first(Input).value.strip() if title else None,
            tags=_tags_of(tags.first(Input).value) if tags else None,
            content=self.query_one(TextArea).text,
        )

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _typed(self, event: Input.Changed | TextArea.Changed) -> None:
        event.stop()
        self._due.resume()

    def _keep(self) -> None:
        """Write what was typed to disk."""
        self._due.pause()
        if not self.is_attached:
            return
        self._warn()
        try:
            if self.draft == self.before:
                self._unsaved.discard()
            else:
                draft = self.draft
                self._unsaved.keep(draft.title, draft.tags, draft.content)
        except MementoError as error:
            self.query_one(".editor-heading", Static).update(literal(str(error), "$text-error"))

    def _warn(self) -> None:
        """Tell of characters that an editor does not show: what is saved is what a model reads."""
        draft = self.draft
        hidden = hidden_characters(f"{draft.title or ''}{' '.join(draft.tags or ())}{draft.content}")
        warning = self.query_one(".editor-warning", Static)
        warning.display = bool(hidden)
        told = ", ".join(f"{count}x {name}" for name, count in hidden.most_common(3))
        warning.update(literal(f"! hidden characters, not shown here: {told}", "bold $text-warning"))

    def action_field(self, by: int) -> None:
        """Go to the next field, or the last one."""
        fields = [found for found in self.query("Input, TextArea") if found.can_focus]
        here = next((place for place, found in enumerate(fields) if found.has_focus), 0)
        fields[(here + by) % len(fields)].focus()

    def action_save(self) -> None:
        """Ask the owner to store the draft."""
        self._keep()
        self.post_message(EditorSaved(self.before, self.draft))

    @work
    async def action_cancel(self) -> None:
        """Leave; ask first if something would be lost."""
        if self.draft != self.before:
            question = Content("Leave without saving what you wrote?")
            if not await self.app.push_screen_wait(Confirm(question)):
                return
        self._due.stop()
        self._unsaved.discard()
        self.post_message(EditorLeft())


def _tags_of(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag.strip().lstrip("#") for tag in text.split(",") if tag.strip(" #")))
