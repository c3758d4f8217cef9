"""A list whose records have texts that are edited in place, beside the list."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual import on, work
from textual.binding import BindingType
from textual.containers import Container

from memento_tui.tui.sections.list_section import ListSection
from memento_tui.tui.widgets.draft import Draft, EditorLeft, EditorSaved
from memento_tui.tui.widgets.row_pages import Row
from memento_tui.workspace.unsaved import Unsaved

__all__ = ["EditingSection"]

RowT = TypeVar("RowT", bound=Row)


class EditingSection(ListSection[RowT], Generic[RowT]):
    """Opens an editor in place of what stands beside the list, and keeps what is typed until it is stored.

    A subclass opens it with `open_editor` and stores what comes of it in `store`.
    """

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(self) -> None:
        super().__init__()
        self._unsaved: Unsaved | None = None

    def open_editor(self, heading: str, before: Draft, unsaved: Unsaved, now: Draft | None = None) -> None:
        """Edit a text. ``before`` is what is stored; ``now`` what the fields begin with where that differs."""
        if self.query("Editor"):
            self.memento.say("An editor is open already. Save it or leave it first.", problem=True)
            self.enter()
            return
        from memento_tui.tui.widgets.editor import Editor  # noqa: PLC0415 - text areas are slow to load

        self._unsaved = unsaved
        side = self.query_one(".side", Container)
        for child in side.children:
            child.add_class("-behind-editor")
        self.add_class("-editing")
        side.mount(Editor(heading, before, unsaved, now))

    def close_editor(self) -> None:
        """Remove the editor and go back to the list; what was typed is kept no longer."""
        if self._unsaved is not None:
            self._unsaved.discard()
        self._unsaved = None
        self.query("Editor").remove()
        self.remove_class("-editing")
        for child in self.query_one(".side", Container).children:
            child.remove_class("-behind-editor")
        self.screen.set_focus(self.rows)

    @on(EditorLeft)
    def _editor_left(self) -> None:
        self.close_editor()

    @on(EditorSaved)
    @work(exclusive=True, group="save")
    async def _editor_saved(self, event: EditorSaved) -> None:
        if await self.store(event.before, event.draft):
            self.close_editor()
            self.memento.wrote()

    async def store(self, before: Draft, draft: Draft) -> bool:
        """Store what was written, and say so; return whether the editor has done its work. Runs in a worker."""
        raise NotImplementedError

    async def choose(self, theirs: Draft, mine: Draft, who: str) -> str:
        """Ask what stays where another writer was faster: ``mine``, ``theirs``, or ``edit`` to go on editing."""
        from memento_tui.tui.screens.conflict import ConflictScreen  # noqa: PLC0415 - seldom needed

        return await self.app.push_screen_wait(ConflictScreen(theirs.joined(), mine.joined(), who))
