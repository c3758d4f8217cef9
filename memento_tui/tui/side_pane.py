"""The pane beside a list: the record under the cursor, or the editor over it, and the room that each of the two has."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from textual import events, on, work
from textual.app import ComposeResult
from textual.content import Content
from textual.widget import Widget

from memento_tui.api.drafts import UnsavedTextFile
from memento_tui.tui.section import ErrorBoundary, app_of
from memento_tui.tui.widgets.frames import Frame
from memento_tui.tui.widgets.text_draft import EditorLeft, EditorSaved, TextDraft

if TYPE_CHECKING:
    from memento_tui.tui.widgets.editor import Editor

__all__ = ["Divider", "PaneRoom", "SidePane"]

SaveText = Callable[[TextDraft, TextDraft], Awaitable[bool]]
"""Stores a text, given the stored draft and the new one; reports it, and returns whether the editor is done."""


class SidePane(ErrorBoundary, Frame):
    """Shows the widgets that ``content`` composes; `open` puts an editor in its place until the text is saved or left.

    ``editing_changed`` is called with whether an editor is open, whenever that changes.
    """

    def __init__(self, content: Callable[[], ComposeResult], editing_changed: Callable[[bool], None]) -> None:
        super().__init__(classes="side")
        self._content = content
        self._editing_changed = editing_changed
        self._unsaved: UnsavedTextFile | None = None
        self._save: SaveText | None = None
        self._editor: Editor | None = None

    def compose(self) -> ComposeResult:
        """Make the widgets for the row under the cursor."""
        yield from self._content()

    @property
    def is_editing(self) -> bool:
        """Whether an editor is open."""
        return self._editor is not None

    def focus_editor(self) -> None:
        """Go to the text that is being edited."""
        if self._editor is not None:
            self._editor.focus_text()

    def open(
        self,
        heading: str,
        before: TextDraft,
        unsaved: UnsavedTextFile,
        save: SaveText,
        *,
        now: TextDraft | None = None,
    ) -> None:
        """Edit a text. ``before`` is the stored draft; the fields begin with ``now`` if that is given.

        The typed text is kept in ``unsaved`` until it is stored or left. ``save`` runs in a worker.
        """
        if self.is_editing:
            app_of(self).show_status("An editor is open already. Save it or leave it first.", problem=True)
            self.focus_editor()
            return
        from memento_tui.tui.widgets.editor import Editor  # noqa: PLC0415 - text areas are slow to load

        self._unsaved, self._save = unsaved, save
        for child in self.children:
            child.add_class("-behind-editor")
        self._editing_changed(True)  # noqa: FBT003 - whether an editor is open
        self._editor = Editor(heading, before, unsaved, now)
        self.mount(self._editor)

    def close(self) -> None:
        """Remove the editor and the file that kept the typed text."""
        unsaved, self._unsaved, self._save = self._unsaved, None, None
        if self._editor is not None:
            self._editor.remove()
            self._editor = None
        for child in self.children:
            child.remove_class("-behind-editor")
        self._editing_changed(False)  # noqa: FBT003 - whether an editor is open
        if unsaved is not None:
            unsaved.discard()

    @on(EditorLeft)
    def _editor_left(self) -> None:
        self.close()

    @on(EditorSaved)
    @work(exclusive=True, group="save")
    async def _editor_saved(self, event: EditorSaved) -> None:
        if self._save is not None and await self._save(event.before, event.draft):
            self.close()
            app_of(self).refresh_after_write()


class Divider(Widget):
    """A line between two panes. ``dragged`` is called with the column and row of the screen that it is dragged to."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Divider { width: 1fr; height: 1; color: $panel; text-wrap: nowrap; }
    Divider:hover { color: $accent; }
    """

    def __init__(self, dragged: Callable[[int, int], None]) -> None:
        super().__init__()
        self._dragged = dragged

    def render(self) -> Content:
        """Return the line, as long as it is wide; between two frames a gap, which is a line under the mouse."""
        if self.size.width > 1:
            return Content("\N{BOX DRAWINGS LIGHT HORIZONTAL}" * self.size.width)
        is_line = self.mouse_hover or self.app.mouse_captured is self
        return Content("\n".join(("\N{BOX DRAWINGS LIGHT VERTICAL}" if is_line else " ") * self.size.height))

    def watch_mouse_hover(self) -> None:
        """Draw the line, or the gap."""
        self.refresh()

    def on_mouse_down(self) -> None:
        """Follow the mouse."""
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Move with the mouse while it is held."""
        if self.app.mouse_captured is self:
            self._dragged(event.screen_x, event.screen_y)

    def on_mouse_up(self) -> None:
        """End the drag: the pane keeps the width that it has."""
        self.release_mouse()
        self.refresh()


_MIN_SHARE = 0.1
"""The least share of the room that a pane can be dragged to."""

_LIST_ALONE, _PANE_ALONE = "-list-alone", "-pane-alone"
"""The classes of a section of which one part has all the room."""


class PaneRoom:
    """Shares the room of ``section`` as the person drags the line between its parts.

    Until then it is shared as ``usual`` says, by two pairs of parts: of the width where the pane stands beside the
    list, and of the height where it stands below; ``None`` leaves it to the style sheet.
    """

    def __init__(self, section: Widget, rows: Widget, side: Widget) -> None:
        self._section, self._rows, self._side = section, rows, side
        self.panes = Frame(classes="panes")
        """The container of the list, the divider and the pane."""
        self.divider = Divider(self._divider_dragged)
        self.usual: tuple[tuple[float, float], tuple[float, float]] | None = None
        self._list_share: float | None = None

    def share(self) -> None:
        """Give the list and the pane their shares of the width, or of the height where one is below the other."""
        wide = self._section.has_class("-wide")
        if self._list_share is not None:
            shares = (self._list_share, 1 - self._list_share)
        elif self.usual is not None:
            shares = self.usual[0 if wide else 1]
        else:
            return
        rows, side = self._rows.styles, self._side.styles
        given, all_of_it = [f"{share:.3f}fr" for share in shares], "1fr"
        rows.width, side.width = given if wide else (all_of_it, all_of_it)
        rows.height, side.height = (all_of_it, all_of_it) if wide else given

    def _divider_dragged(self, x: int, y: int) -> None:
        room = self.panes.region
        place, size = (x - room.x, room.width) if self._section.has_class("-wide") else (y - room.y, room.height)
        self._list_share = min(max(place / max(size, 1), _MIN_SHARE), 1 - _MIN_SHARE)
        self.share()

    def zoom(self) -> str:
        """Show the list alone, then the pane alone, then both; return which, in a sentence."""
        if self._section.has_class(_LIST_ALONE):
            following, sentence = _PANE_ALONE, "The pane alone; the keys of the list go on."
        elif self._section.has_class(_PANE_ALONE):
            following, sentence = "", "Both."
        else:
            following, sentence = _LIST_ALONE, "The list alone."
        for name in (_LIST_ALONE, _PANE_ALONE):
            self._section.set_class(name == following, name)
        return sentence

    def show_side(self) -> None:
        """Bring the pane into view where the list has all the room."""
        self._section.remove_class(_LIST_ALONE)
