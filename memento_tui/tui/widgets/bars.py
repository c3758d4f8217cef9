"""The lines around a section: where one is, what happened last, and which keys do what here.

They are one widget each. Textual's own footer is a widget for every key, which the first frame would have to wait for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_letters, digits

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from memento_tui.tui.commands import Command, Place, commands_in, key_names
from memento_tui.tui.display import cells, literal, shown

__all__ = ["KeyBar", "StatusLine", "TopBar"]


class TopBar(Widget):
    """The sections with their counts, and the name of the data directory."""

    class Chosen(Message):
        """A section was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, sections: Sequence[tuple[str, str, str]], place: str) -> None:
        super().__init__()
        self._sections = sections
        """Name, key and title of each."""
        self._place = shown(place)
        self._active = sections[0][0]
        self._counts: dict[str, int] = {}
        self._spans: list[tuple[int, int, str]] = []

    def show(self, *, active: str | None = None, counts: Mapping[str, int] | None = None) -> None:
        """Show another section as the present one, or other counts."""
        self._active = active or self._active
        self._counts.update(counts or {})
        self.refresh()

    def render(self) -> Content:
        """Return the line."""
        line = Content.styled(" memento ", "bold $foreground")
        self._spans = []
        for name, key, title in self._sections:
            count = self._counts.get(name)
            label = f" {key} {title}" + (f" {count:,} " if count is not None else " ")
            active = name == self._active
            text = f"[{label}]" if active else f" {label} "
            self._spans.append((line.cell_length, line.cell_length + len(text), name))
            line += Content.styled(text, "bold $text-accent" if active else "")
        room = self.size.width - line.cell_length - 1
        if room > 0:
            line += Content.styled(cells(self._place, room).rstrip().rjust(room))
        return line

    def on_click(self, event: events.Click) -> None:
        """Go to the section that was clicked."""
        for start, end, name in self._spans:
            if start <= event.x < end:
                self.post_message(self.Chosen(name))


class StatusLine(Static):
    """One line: at the left what was done last, at the right how the view lives."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self._left = ""
        self._style = ""
        self._right = ""

    def say(self, text: str, *, problem: bool = False) -> None:
        """Tell what was done, or what is wrong."""
        self._left, self._style = shown(text), "bold $text-warning" if problem else ""
        self._draw()

    def show_life(self, text: str) -> None:
        """Tell how the view lives: followed, paused, how old."""
        if text != self._right:
            self._right = text
            self._draw()

    def on_resize(self) -> None:
        """Draw at the new width."""
        self._draw()

    def _draw(self) -> None:
        room = self.size.width - len(self._right) - 3
        if room > 0:
            left = literal(cells(self._left, room), self._style)
            self.update(Content(" ") + left + Content.styled(f" {self._right}", "dim"))


_LETTERS = frozenset([*ascii_letters, *digits, "slash", "question_mark"])
"""Keys that write something in a text."""


class KeyBar(Widget):
    """The keys of the place that has the focus; a click on one is as good as the key."""

    class Chosen(Message):
        """A key was clicked."""

        def __init__(self, command: Command) -> None:
            super().__init__()
            self.command = command

    def __init__(self) -> None:
        super().__init__()
        self._places: Sequence[Place] = ()
        self._typing = False
        self._spans: list[tuple[int, int, Command]] = []

    def show(self, places: Sequence[Place], *, typing: bool) -> None:
        """Show the keys of some places; while the person is typing, those that are letters would be typed."""
        if (list(places), typing) != (list(self._places), self._typing):
            self._places, self._typing = places, typing
            self.refresh()

    def render(self) -> Content:
        """Return as many keys as fit."""
        line, self._spans = Content(""), []
        for command in commands_in(self._places):
            key = key_names(command.keys).split(" ")[0]
            width = len(key) + len(command.label) + 3
            if self._typing and command.keys.split(",")[0] in _LETTERS:
                continue
            if not command.label or line.cell_length + width > self.size.width:
                continue
            self._spans.append((line.cell_length, line.cell_length + width, command))
            line += Content.styled(f" {key}", "bold $footer-key-foreground") + Content(f" {command.label} ")
        return line

    def on_click(self, event: events.Click) -> None:
        """Do what the key that was clicked does."""
        for start, end, command in self._spans:
            if start <= event.x < end:
                self.post_message(self.Chosen(command))
