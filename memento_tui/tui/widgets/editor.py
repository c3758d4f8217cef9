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
from memento_tui.tui.section import ErrorBoundary
from memento_tui.tui.widgets.long_lines import LongLineTextArea
from memento_tui.tui.widgets.text_draft import EditorLeft, EditorSaved, TextDraft

__all__ = ["Editor"]

_KEEP_SECONDS = 0.4
"""Seconds between two writes of the typed text to disk."""


class Editor(ErrorBoundary, Vertical):
    """A form for a draft. It is mounted when editing begins and removed when it ends.

    The typed text is kept in ``unsaved`` until the owner discards it, so that a crash loses nothing.
    """

    SCOPE: ClassVar[KeyScope] = "editor"
    # Tab cycles through the fields: Textual's own order would leave the form for the list, where letters are commands.
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("editor"),
        Binding("tab", "field(1)", show=False),
        Binding("shift+tab", "field(-1)", show=False),
    ]

    def __init__(self, heading: str, before: TextDraft, unsaved: UnsavedTextFile, now: TextDraft | None = None) -> None:
        super().__init__()
        self.before = before
        """The stored draft. The fields begin with ``now`` if that is given."""
        initial = self._initial = now or before
        hint = "title (may be empty: the first line serves)"
        self._heading = Static(Content(heading), classes="editor-heading")
        self._warning = Static(classes="editor-warning")
        self._title = None if initial.title is None else Input(initial.title, placeholder=hint, id="editor-title")
        self._tags: Input | None = None
        if initial.tags is not None:
            self._tags = Input(", ".join(initial.tags), placeholder="tags, with commas between", id="editor-tags")
        self._text = LongLineTextArea(initial.content, id="editor-content", soft_wrap=True, tab_behavior="focus")
        self._unsaved = unsaved
        self._due = self.set_interval(_KEEP_SECONDS, self.keep_typed, pause=True)

    def compose(self) -> ComposeResult:
        """Show the fields."""
        yield self._heading
        yield self._warning
        yield from self._fields

    @property
    def _fields(self) -> list[Input | TextArea]:
        """The fields, from the first to the last."""
        return [field for field in (self._title, self._tags, self._text) if field is not None]

    def on_mount(self) -> None:
        """Focus the text, and save unstored text from the start."""
        self.focus_text()
        self.keep_typed()

    def focus_text(self) -> None:
        """Go to the text."""
        self.focus_part(self._text)

    @property
    def draft(self) -> TextDraft:
        """The draft that the fields hold now."""
        title, tags = self._initial.title, self._initial.tags  # to the letter where nobody touched them
        if self._title is not None and self._title.value != title:
            title = self._title.value.strip()
        if self._tags is not None and self._tags.value != ", ".join(tags or ()):
            tags = _tags_of(self._tags.value)
        return TextDraft(title, tags, self._text.text)

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _typed(self, event: Input.Changed | TextArea.Changed) -> None:
        event.stop()
        self._due.resume()

    def keep_typed(self) -> None:
        """Write the typed text to disk."""
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
            self._heading.update(literal(str(error), "$text-error"))

    def _warn(self) -> None:
        """Warn of characters that the text area does not show: a model would read them."""
        draft = self.draft
        hidden = hidden_characters(f"{draft.title or ''}{' '.join(draft.tags or ())}{draft.content}")
        self._warning.display = bool(hidden)
        names = ", ".join(f"{count}x {name}" for name, count in hidden.most_common(3))
        self._warning.update(literal(f"! hidden characters, not shown here: {names}", "bold $text-warning"))

    def action_field(self, by: int) -> None:
        """Move the focus by a number of fields, around the end."""
        fields = self._fields
        focused = next((index for index, field in enumerate(fields) if field.has_focus), 0)
        self.focus_part(fields[(focused + by) % len(fields)])

    def action_save(self) -> None:
        """Ask the owner to save the draft."""
        self.keep_typed()
        self.post_message(EditorSaved(self.before, self.draft))

    @work
    async def action_cancel(self) -> None:
        """Leave the editor; ask first if changes would be lost."""
        if self.draft != self.before:
            question = Content("Leave without saving what you wrote?")
            if not await self.app.push_screen_wait(Confirm(question)):
                return
        self._due.stop()
        self.post_message(EditorLeft())


def _tags_of(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag.strip().lstrip("#") for tag in text.split(",") if tag.strip(" #")))
