"""The relations of a memory, and walking from memory to memory along them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import Static

from memento_tui.api.memory_details import MemoryLink, links_of
from memento_tui.errors import MementoError
from memento_tui.model import Memory
from memento_tui.tui.commands import KeyScope, bindings
from memento_tui.tui.display import cells, literal
from memento_tui.tui.section import in_thread
from memento_tui.tui.views.view import FixedRows, MemoryChosen, View, ViewList
from memento_tui.tui.widgets.record_list import Line

__all__ = ["LinksView"]

_ARROWS = {"out": "->", "in": "<-", "both": "<>"}
_WORD_WIDTH = 17
_STEP_WIDTH = 24
"""Cells that each memory of the way gets at least."""


class _Step(NamedTuple):
    """One memory on the way that the person walked."""

    memory_id: str
    headline: str


class LinksView(View):
    """The links of a memory; Enter walks along one, and the way back is kept."""

    SCOPE: ClassVar[KeyScope] = "links"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("links")]

    def __init__(self) -> None:
        super().__init__(id="links")
        self._way: list[_Step] = []
        """Where the person has been, in order; what lies after `_at` can be walked forward to again."""
        self._at = 0

    def compose(self) -> ComposeResult:
        """Show the way and the links."""
        yield Static(classes="view-head")
        yield Static(classes="view-note")
        yield ViewList(_link_line, row_height=2)

    @property
    def rows(self) -> ViewList[MemoryLink]:
        """The links."""
        return self.query_one(ViewList)

    @property
    def memory_id(self) -> str:
        """The id of the memory whose links are shown, or "" before there is one."""
        return self._way[self._at].memory_id if self._way else ""

    def show(self, memory: Memory) -> None:
        """Show the links of a memory; where the person has walked from it or to it, the way stays."""
        if all(step.memory_id != memory.id for step in self._way):
            self._way, self._at = [_Step(memory.id, memory.headline)], 0
            self._read(first=True)
        else:
            self._read(first=False)

    def reload(self) -> None:
        """Read again; the reader stays with the same row."""
        if self._way:
            self._read(first=False)

    @work(exclusive=True, group="read")
    async def _read(self, *, first: bool, select: str = "") -> None:
        try:
            found = await in_thread(self, links_of, self.workspace, self.memory_id)
        except MementoError as error:
            self.memento.show_status(str(error), problem=True)
            return
        source = FixedRows(found)
        if first:
            came_from = next((link.id for link in found if link.end == select), None)
            self.rows.set_rows(found, len(found), source, select=came_from)
        else:
            self.rows.refresh_rows(source)
        self._tell(found)

    def on_resize(self) -> None:
        """Tell the way in the room that there is."""
        if self._way:
            self.tell_head(self._trail())

    def _tell(self, found: Sequence[MemoryLink]) -> None:
        self.tell_head(self._trail())
        nothing = "It is related to nothing, and nothing that is known contradicts it."
        self.tell_note(None if found else Content(nothing))
        # A list that is hidden would lose the focus, and the next key would go elsewhere.
        self.rows.styles.height = "1fr" if found else 1

    def _trail(self) -> Content:
        """Return the way in one line, the present memory in bold; its beginning is left out where it is long."""
        room = max(self.size.width - 4, _STEP_WIDTH)
        kept = max(room // (_STEP_WIDTH + 3), 1)
        start = max(self._at - kept + 1, 0)
        end = min(len(self._way), start + kept)
        each = max(room // (end - start) - 3, _STEP_WIDTH)
        line = Content("... > " if start else "")
        for index in range(start, end):
            name = cells(self._way[index].headline, each).rstrip()
            line += Content(" > " if index > start else "")
            line += literal(name, "bold $foreground" if index == self._at else "dim")
        return line

    def _go_to(self, index: int) -> None:
        left = self.memory_id
        self._at = index
        self.post_message(MemoryChosen(self.memory_id))
        self._read(first=True, select=left)

    def is_available(self, command: str) -> bool:
        """One can walk where there is a link, and back where one has walked."""
        link = self.rows.current
        if command == "links.walk":
            return link is not None and link.can_be_walked
        return command != "links.back" or self._at > 0

    def action_walk(self) -> None:
        """Walk to the memory at the other end."""
        link = self.rows.current
        if link is None:
            self.memento.show_status("There is no link to walk along.", problem=True)
        elif not link.can_be_walked:
            self.memento.show_status(_why_not_walkable(link), problem=True)
        else:
            self._way[self._at + 1 :] = [_Step(link.end, link.headline)]
            self._go_to(self._at + 1)

    def action_back(self) -> None:
        """Go back by one step."""
        if self._at == 0:
            self.memento.show_status("This is where you began.", problem=True)
        else:
            self._go_to(self._at - 1)

    def action_forward(self) -> None:
        """Go forward again by one step."""
        if self._at + 1 >= len(self._way):
            self.memento.show_status("You have not been further. Enter walks along a link.", problem=True)
        else:
            self._go_to(self._at + 1)


def _why_not_walkable(link: MemoryLink) -> str:
    if link.end_kind == "file":
        return f"That is a file: {link.end}"
    if link.end_kind == "item":
        return "That is a working item; 4 goes to what is being worked on."
    if link.state == "purged":
        return "That memory was purged; nothing of it is left."
    return "That memory is gone; undoing its removal brings it back."


def _link_line(link: MemoryLink, width: int) -> list[Line]:
    gone = link.state in ("purged", "gone", "deleted", "rejected")
    warning = link.type in ("contradiction", "contradicts")
    head = link.headline if link.can_be_walked or link.end_kind != "memory" else f"({link.state})"
    state = "" if link.state in ("", "active") else f"[{link.state}]  "
    told = "  ".join(filter(None, [link.label, link.end if link.end_kind != "file" else ""]))
    return [
        [
            (f"{_ARROWS[link.direction]} ", "muted"),
            (f"{link.word:<{_WORD_WIDTH}}", "warning" if warning else "strong"),
            (cells(head, max(width - 3 - _WORD_WIDTH, 0)), "muted" if gone else ""),
        ],
        [
            (" " * (3 + _WORD_WIDTH), ""),
            (state, "warning"),
            (cells(told, max(width - 3 - _WORD_WIDTH - len(state), 0)), "muted"),
        ],
    ]
