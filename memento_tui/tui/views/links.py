"""The view of the relations of a memory, which one can follow from memory to memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content

from memento_tui.api.queries import MemoryLink, links_of
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
"""Cells that each memory of the path gets at least."""


class _Step(NamedTuple):
    """One memory of the path that the person followed."""

    memory_id: str
    headline: str


class LinksView(View):
    """A view of the links of a memory; Enter follows one, and the path back is kept."""

    SCOPE: ClassVar[KeyScope] = "links"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("links")]

    def __init__(self) -> None:
        super().__init__("links")
        self.rows: ViewList[MemoryLink] = ViewList(_link_line, row_height=2)
        self._path: list[_Step] = []
        """The memories visited, in order; those after index `_at` can be returned to by going forward."""
        self._at = 0

    def compose(self) -> ComposeResult:
        """Show the path and the links."""
        yield self.head
        yield self.note
        yield self.rows

    @property
    def memory_id(self) -> str:
        """The id of the memory whose links are shown, or "" before there is one."""
        return self._path[self._at].memory_id if self._path else ""

    def show(self, memory: Memory) -> None:
        """Show the links of a memory; the path stays if the memory is part of it."""
        if all(step.memory_id != memory.id for step in self._path):
            self._path, self._at = [_Step(memory.id, memory.headline)], 0
            self._read(first=True)
        else:
            self._read(first=False)

    def reload(self) -> None:
        """Read again; the cursor stays on the same row."""
        if self._path:
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
        self._show_notes(found)

    def on_resize(self) -> None:
        """Draw the path at the new width."""
        if self._path:
            self.set_heading(self._trail())

    def _show_notes(self, found: Sequence[MemoryLink]) -> None:
        self.set_heading(self._trail())
        nothing = "It has no relations, and no known contradictions.\n\nIn the list, :relate adds one."
        self.set_note(None if found else Content(nothing))
        # A hidden list would lose the focus, and the next key would go elsewhere.
        self.rows.styles.height = "1fr" if found else 1

    def _trail(self) -> Content:
        """Return the path in one line, the present memory in bold; its beginning is left out where it is long."""
        room = max(self.size.width - 4, _STEP_WIDTH)
        kept = max(room // (_STEP_WIDTH + 3), 1)
        start = max(self._at - kept + 1, 0)
        end = min(len(self._path), start + kept)
        each = max(room // (end - start) - 3, _STEP_WIDTH)
        line = Content("... > " if start else "")
        for index in range(start, end):
            name = cells(self._path[index].headline, each).rstrip()
            line += Content(" > " if index > start else "")
            line += literal(name, "bold $foreground" if index == self._at else "dim")
        return line

    def _go_to(self, index: int) -> None:
        left = self.memory_id
        self._at = index
        self.post_message(MemoryChosen(self.memory_id))
        self._read(first=True, select=left)

    def is_available(self, command: str) -> bool:
        """Return whether a command is available: there is a link to follow, or a step to go back."""
        link = self.rows.current
        if command == "links.walk":
            return link is not None and link.can_be_walked
        return command != "links.back" or self._at > 0

    def action_walk(self) -> None:
        """Follow the link to the memory at the other end."""
        link = self.rows.current
        if link is None:
            self.memento.show_status("There is no link to follow.", problem=True)
        elif not link.can_be_walked:
            self.memento.show_status(_why_not_walkable(link), problem=True)
        else:
            self._path[self._at + 1 :] = [_Step(link.end, link.headline)]
            self._go_to(self._at + 1)

    def action_back(self) -> None:
        """Go back by one step."""
        if self._at == 0:
            self.memento.show_status("This is where you began.", problem=True)
        else:
            self._go_to(self._at - 1)

    def action_forward(self) -> None:
        """Go forward again by one step."""
        if self._at + 1 >= len(self._path):
            self.memento.show_status("There is no next step. Enter follows a link.", problem=True)
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
    details = "  ".join(filter(None, [link.label, link.end if link.end_kind != "file" else ""]))
    return [
        [
            (f"{_ARROWS[link.direction]} ", "muted"),
            (f"{link.word:<{_WORD_WIDTH}}", "warning" if warning else "strong"),
            (cells(head, max(width - 3 - _WORD_WIDTH, 0)), "muted" if gone else ""),
        ],
        [
            (" " * (3 + _WORD_WIDTH), ""),
            (state, "warning"),
            (cells(details, max(width - 3 - _WORD_WIDTH - len(state), 0)), "muted"),
        ],
    ]
