"""The room of a section: how its list and the pane beside or below it share it, and which of them has it alone."""

from __future__ import annotations

from textual.widget import Widget

from memento_tui.tui.side_pane import Divider
from memento_tui.tui.widgets.frames import Frame

__all__ = ["PaneRoom"]

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
        """What holds the list, the divider and the pane."""
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
