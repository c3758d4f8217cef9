"""The dialog with a form: some fields that are saved together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import msgspec
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from memento_tui.api.drafts import UnsavedTextFile
from memento_tui.errors import MementoError
from memento_tui.tui.display import literal
from memento_tui.tui.screens.dialogs import Dialog, DialogButton, DialogButtons
from memento_tui.tui.widgets.long_lines import LongLineTextArea
from memento_tui.tui.widgets.text_draft import Field

__all__ = ["FormScreen"]

_KEEP_SECONDS = 0.4
"""Seconds between two writes of the typed values to disk."""


class FormScreen(Dialog[bool]):
    """A form that returns whether its fields were saved.

    ``save`` is called with the values of all fields. If it raises a `MementoError`, the form shows the error and stays
    open. The typed values are kept in ``unsaved`` meanwhile, so that a crash loses nothing; ``typed`` are the values
    that were kept from an earlier crash.
    """

    AUTO_FOCUS: ClassVar[str | None] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", "Save", priority=True),
        Binding("escape", "leave", "Leave"),
    ]

    def __init__(
        self,
        title: Content,
        fields: Sequence[Field],
        save: Callable[[Mapping[str, str]], None],
        *,
        unsaved: UnsavedTextFile | None = None,
        typed: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._unsaved = unsaved
        self._typed = typed or {}
        self._due = self.set_interval(_KEEP_SECONDS, self.keep_typed, pause=True)
        self._title = title
        self._fields = fields
        self._save = save
        self._inputs = {field.name: self._input_of(field) for field in fields}
        """The text fields by their names."""
        self._problem = Static(Content(""), id="form-problem")
        self._warned_values: dict[str, str] | None = None
        """The values of the fields when the warning of unsaved changes was shown."""

    def compose(self) -> ComposeResult:
        """Show the fields below one another."""
        with Vertical(classes="dialog"):
            yield Static(self._title, classes="dialog-title")
            with VerticalScroll(classes="form-fields", can_focus=False):
                for field in self._fields:
                    yield Static(literal(field.label), classes="form-label")
                    yield self._inputs[field.name]
            yield self._problem
            with DialogButtons():
                yield DialogButton("Tab", "Next field", self.focus_next)
                yield DialogButton("^s", "Save", self.action_save)
                yield DialogButton("Esc", "Leave", self.action_leave)

    def _input_of(self, field: Field) -> Input | TextArea:
        name, value = f"field-{field.name}", self._typed.get(field.name, field.value)
        if field.multiline:
            return LongLineTextArea(value, id=name, tab_behavior="focus", soft_wrap=True)
        proposed = field.proposed and field.name not in self._typed
        return Input(value, placeholder=field.hint, id=name, select_on_focus=proposed)

    def on_mount(self) -> None:
        """Focus the first field without scrolling, which would hide its label."""
        self.set_focus(self._inputs[self._fields[0].name], scroll_visible=False)
        self.keep_typed()

    @on(Input.Changed)
    @on(TextArea.Changed)
    def _field_typed(self) -> None:
        self._due.resume()

    def _is_changed(self) -> bool:
        values = self.values
        return any(values[field.name].strip() != field.value.strip() for field in self._fields)

    def keep_typed(self) -> None:
        """Write the typed values to disk."""
        self._due.pause()
        if self._unsaved is None or not self.is_attached:
            return
        try:
            if self._is_changed():
                self._unsaved.keep(None, None, msgspec.json.encode(self.values).decode())
            else:
                self._unsaved.discard()
        except MementoError as error:
            self._problem.update(literal(str(error), "$text-error"))

    def _leave(self, *, saved: bool) -> None:
        self._due.stop()
        if self._unsaved is not None:
            self._unsaved.discard()
        self.dismiss(saved)

    @property
    def values(self) -> dict[str, str]:
        """The values of the fields now, by name."""
        return {field.name: self._value(field) for field in self._fields}

    def _value(self, field: Field) -> str:
        typed = self._inputs[field.name]
        return typed.text if isinstance(typed, TextArea) else typed.value.strip()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """Scroll the label of the focused field into view too."""
        parent = event.widget.parent
        if parent is not None and event.widget in parent.children:
            label = parent.children[parent.children.index(event.widget) - 1]
            if isinstance(label, Static):
                self.call_after_refresh(label.scroll_visible, animate=False)

    def on_input_submitted(self) -> None:
        """Go on to the next field."""
        self.focus_next()

    def action_save(self) -> None:
        """Save, and close if that succeeded."""
        try:
            self._save(self.values)
        except MementoError as error:
            self._problem.update(literal(str(error), "$text-error"))
        else:
            self._leave(saved=True)

    def action_leave(self) -> None:
        """Leave; if something was changed, a second Escape right after the first is needed."""
        values = self.values
        if self._is_changed() and values != self._warned_values:
            self._warned_values = values
            warning = Content.styled("Not saved. Escape again leaves, ^s saves.", "$text-warning")
            self._problem.update(warning)
        else:
            self._leave(saved=False)
