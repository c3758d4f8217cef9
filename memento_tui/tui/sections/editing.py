"""A section whose preview gives its place to an editor, and which keeps what is being written safe."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on

from memento_tui.errors import MementoError
from memento_tui.tui.sections.section import Section
from memento_tui.tui.widgets.draft import Draft, EditorLeft, EditorTyped

if TYPE_CHECKING:
    from memento_tui.tui.unsaved import UnsavedFile
    from memento_tui.tui.widgets.editor import Editor

__all__ = ["EditingSection"]


class EditingSection(Section):
    """Opens one editor at a time, and closes it."""

    SIDE: ClassVar[str]
    """The selector of what holds the preview."""
    PREVIEW: ClassVar[str]
    """The selector of what the editor takes the place of."""

    def __init__(self) -> None:
        super().__init__()
        self._about: tuple[Literal["memory", "proposal"], str, int] = ("memory", "", 0)
        self._unsaved: UnsavedFile | None = None
        self.editor: Editor | None = None
        """The editor, if one is open."""

    def enter(self) -> None:
        """Go to the list, or to the editor if one is open."""
        if self.editor is None:
            super().enter()
        else:
            self.editor.query_one("#editor-content").focus()

    def may_open_editor(self) -> bool:
        """Tell whether no editor is open; go to the one that is."""
        if self.editor is None:
            return True
        self.enter()
        self.memento.say("An editor is open already: ^s saves it, Escape leaves it.", problem=True)
        return False

    def open_editor(
        self,
        heading: str,
        before: Draft,
        about: tuple[Literal["memory", "proposal"], str, int],
        *,
        draft: Draft | None = None,
        unsaved: UnsavedFile | None = None,
    ) -> None:
        """Edit something: ``about`` is the kind of record, its id and its version.

        ``draft`` is what was written before, kept in ``unsaved`` if that is given.
        """
        from memento_tui.tui.widgets.editor import Editor  # noqa: PLC0415 - text areas are slow to load

        self._about, self._unsaved = about, unsaved
        self.query_one(self.PREVIEW).display = False
        self.add_class("-editing")
        self.editor = Editor(heading, before, draft)
        self.query_one(self.SIDE).mount(self.editor)

    def close_editor(self, *, keep: bool = False) -> None:
        """Remove the editor, and the file where its text was kept unless that is wanted."""
        if self._unsaved is not None:
            (self._unsaved.release if keep else self._unsaved.discard)()
            self._unsaved = None
        if self.editor is not None:
            self.editor.remove()
            self.editor = None
        self.remove_class("-editing")
        self.query_one(self.PREVIEW).display = True
        self.rows.focus()

    @on(EditorLeft)
    def _left(self) -> None:
        self.close_editor()
        self.memento.say("")

    @on(EditorTyped)
    def _typed_in_editor(self, event: EditorTyped) -> None:
        if self.editor is not None:
            self.keep_unsaved(event.draft)

    def keep_what_is_open(self) -> bool:
        """Keep what the editor holds, if something would be lost; tell whether that is so."""
        if self.editor is None or not self.editor.is_changed:
            return False
        self.keep_unsaved(self.editor.draft)
        return True

    def keep_unsaved(self, draft: Draft) -> None:
        """Keep what is being written in a file."""
        from memento_tui.tui.unsaved import Unsaved, UnsavedFile  # noqa: PLC0415 - browsing needs no files

        if self._unsaved is None:
            self._unsaved = UnsavedFile(self.memento.workspace.paths)
        record, record_id, version = self._about
        try:
            self._unsaved.hold()
            self._unsaved.keep(Unsaved(record, record_id, version, draft))
        except MementoError as error:
            self.memento.say(str(error), problem=True)
