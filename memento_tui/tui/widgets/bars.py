"""The lines around a section: where one is, what happened last, and which keys do what here.

They are one widget each. Textual's own footer is a widget for every key, which the first frame would have to wait for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import ascii_letters, digits
from time import monotonic

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from memento_tui.tui.commands import Command, Keys, Place, commands_in, key_names
from memento_tui.tui.display import cells, literal, shown
from memento_tui.tui.sections.catalogue import Tab

__all__ = ["KeyBar", "StatusLine", "TopBar"]


class TopBar(Widget):
    """The sections with their counts, and the name of the data directory."""

    class Chosen(Message):
        """A section was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    def __init__(self, tabs: Sequence[Tab], active: str, place: str) -> None:
        super().__init__()
        self._tabs = tabs
        self._place = shown(place)
        self._active = active
        self._counts: dict[str, int] = {}
        self._spans: list[tuple[int, int, str]] = []

    def show(self, *, active: str | None = None, counts: Mapping[str, int] | None = None) -> None:
        """Show another section as the present one, or other counts."""
        self._active = active or self._active
        self._counts.update(counts or {})
        self.refresh()

    def render(self) -> Content:
        """Return the line, as much of it as fits."""
        brand = " memento "
        labels = self._labels(len(brand))
        if sum(map(len, labels)) + len(brand) > self.size.width:
            brand = ""
        line = Content.styled(brand, "bold $foreground")
        self._spans = []
        for tab, label in zip(self._tabs, labels, strict=True):
            self._spans.append((line.cell_length, line.cell_length + len(label), tab.name))
            line += Content.styled(label, "bold $text-accent" if tab.name == self._active else "")
        room = self.size.width - line.cell_length - 1
        if room >= _SHORTEST_PLACE:
            line += Content.styled(cells(self._place, room).rstrip().rjust(room))
        return line

    def _labels(self, taken: int) -> list[str]:
        """Return what each tab says: the most that fits."""
        room = self.size.width
        for counts, letters, brand in (
            (self._counts, None, taken),
            (self._counts, None, 0),
            ({"review": self._counts.get("review")}, None, 0),
            ({"review": self._counts.get("review")}, _SHORT_TITLE, 0),
        ):
            labels = [self._label(tab, counts.get(tab.name), letters) for tab in self._tabs]
            if sum(map(len, labels)) + brand <= room:
                return labels
        return [self._label(tab, None, 0) for tab in self._tabs]

    def _label(self, tab: Tab, count: int | None, letters: int | None) -> str:
        active = tab.name == self._active
        title = tab.title if active else tab.title[:letters]
        words = " ".join(filter(None, [tab.key, title, f"{count:,}" if count else ""]))
        return f"[{words}]" if active else f" {words} "

    def on_click(self, event: events.Click) -> None:
        """Go to the section that was clicked."""
        for start, end, name in self._spans:
            if start <= event.x < end:
                self.post_message(self.Chosen(name))


_SHORT_TITLE = 4
"""Letters that are left of a tab's title where not all of them fit."""

_SHORTEST_PLACE = 12
"""Cells below which the data directory's name is not worth showing."""

_KEPT_SECONDS = 4.0
"""How long what the person was told is not replaced by news of others."""


class StatusLine(Static):
    """One line: at the left what was done last, at the right how the view lives."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self._left = ""
        self._style = ""
        self._right = ""
        self._kept_until = 0.0

    def say(self, text: str, *, problem: bool = False) -> None:
        """Tell what was done, or what is wrong."""
        self._left, self._style = shown(text), "bold $text-warning" if problem else ""
        self._kept_until = monotonic() + _KEPT_SECONDS
        self._draw()

    def mention(self, text: str) -> None:
        """Tell what others do, unless the person was told something a moment ago."""
        if monotonic() >= self._kept_until:
            self._left, self._style = shown(text), ""
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


_LETTERS = frozenset([*ascii_letters, *digits, "slash", "question_mark", "plus", "minus", "space"])
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
        self._keys = Keys({})
        self._typing = False
        self._spans: list[tuple[int, int, Command]] = []

    def show(self, places: Sequence[Place], keys: Keys, *, typing: bool) -> None:
        """Show the keys of some places; while the person is typing, those that are letters would be typed."""
        if (list(places), typing) != (list(self._places), self._typing):
            self._places, self._keys, self._typing = places, keys, typing
            self.refresh()

    def render(self) -> Content:
        """Return as many keys as fit."""
        line, self._spans = Content(""), []
        seen: set[str] = set()
        for command in commands_in(self._places):
            codes = self._keys.of(command).split(",")
            shadowed = codes[0] in seen
            seen.update(codes)
            key = key_names(codes[0])
            width = len(key) + len(command.label) + 3
            if shadowed or (self._typing and codes[0] in _LETTERS):
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
