"""The lines around a section: the tabs, the status line, and the keys of the focused scope."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from string import ascii_letters, digits
from time import monotonic

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from memento_tui.app_sections import Tab
from memento_tui.tui.commands import Command, KeyMap, KeyScope, commands_in_scopes, key_names
from memento_tui.tui.display import cells, literal, shown

__all__ = ["KeyBar", "StatusLine", "TopBar"]


class TopBar(Widget):
    """The tabs of the sections with their counts, and the name of the data directory."""

    class Chosen(Message):
        """A section was clicked."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class FolderChosen(Message):
        """The name of the data directory was clicked."""

    def __init__(self, tabs: Sequence[Tab], active: str, folder: str) -> None:
        super().__init__()
        self._tabs = tabs
        self._folder = shown(folder)
        self._active = active
        self._counts: dict[str, int] = {}
        self._spans: list[tuple[int, int, str]] = []

    def show(self, *, active: str | None = None, counts: Mapping[str, int] | None = None) -> None:
        """Show another section as active, or other counts."""
        self._active = active or self._active
        self._counts.update(counts or {})
        self.refresh()

    def render(self) -> Content:
        """Return as much of the line as fits."""
        line, self._spans = Content(""), []
        for words, name in self._labels():
            self._spans.append((line.cell_length, line.cell_length + len(words), name))
            style = "bold $foreground" if not name else "bold $text-accent" if name == self._active else ""
            line += Content.styled(words, style)
        room = self.size.width - line.cell_length - 2
        if room >= _MIN_FOLDER_WIDTH:
            line += Content.styled(" " + cells(self._folder, room).rstrip().rjust(room))
        return line

    def _labels(self) -> list[tuple[str, str]]:
        """Return the parts of the line, each with the section it leads to: the longest form that fits."""
        waiting = {"review": self._counts.get("review", 0)}
        for counts, letters, tight in (
            (self._counts, None, False),
            (waiting, None, False),
            (waiting, None, True),
            (waiting, _SHORT_TITLE, True),
        ):
            labels = [(self._label(tab, counts.get(tab.name, 0), letters, tight=tight), tab.name) for tab in self._tabs]
            brand = [] if tight else [(_BRAND, "")]
            if sum(len(label) for label, _ in brand + labels) <= self.size.width:
                return brand + labels
        return [(self._label(tab, 0, 0, tight=True), tab.name) for tab in self._tabs]

    def _label(self, tab: Tab, count: int, letters: int | None, *, tight: bool) -> str:
        active = tab.name == self._active
        title = tab.title if active else tab.title[:letters]
        words = " ".join(filter(None, [tab.key, title, f"{count:,}" if count else ""]))
        return f"[{words}]" if active else f" {words}" if tight else f" {words} "

    def on_click(self, event: events.Click) -> None:
        """Go to the section that was clicked, or ask for another workspace."""
        for start, end, name in self._spans:
            if name and start <= event.x < end:
                self.post_message(self.Chosen(name))
        if self._spans and event.x >= self._spans[-1][1]:
            self.post_message(self.FolderChosen())


_BRAND = " memento "

_SHORT_TITLE = 4
"""Letters of a tab's title that are shown where the tabs do not fit."""

_MIN_FOLDER_WIDTH = 12
"""Cells that the name of the data directory needs at least; with fewer it is left out."""

_KEEP_MESSAGE_SECONDS = 4.0
"""Seconds for which a message to the person is not replaced by news of other writers."""


class StatusLine(Static):
    """One line: the last message at the left, the state of the live view at the right."""

    def __init__(self) -> None:
        super().__init__(id="status")
        self._left = ""
        self._style = ""
        self._right = ""
        self._kept_until = 0.0
        self._is_past = False
        """Whether the person has gone to another section since the message was shown."""

    def say(self, text: str, *, problem: bool = False) -> None:
        """Show a message, or a problem in the warning style."""
        self._left, self._style = shown(text), "bold $text-warning" if problem else ""
        self._kept_until, self._is_past = monotonic() + _KEEP_MESSAGE_SECONDS, False
        self._draw()

    def move_on(self) -> None:
        """Clear the message, because the person has gone elsewhere; a new one on the first row reached in a while."""
        self._is_past = True
        self.row_reached()

    def row_reached(self) -> None:
        """Clear a message of another section, or a problem with another row, that is older than a few seconds."""
        if (self._is_past or self._style) and monotonic() >= self._kept_until:
            self._left, self._style, self._is_past = "", "", False
            self._draw()

    def mention(self, text: str) -> None:
        """Show news of other writers, unless a message was shown a moment ago."""
        if monotonic() >= self._kept_until:
            self._left, self._style = shown(text), ""
            self._draw()

    def show_live_state(self, text: str) -> None:
        """Show the state of the live view: following, paused, or how old."""
        if text != self._right:
            self._right = text
            self._draw()

    def on_resize(self) -> None:
        """Draw at the new width."""
        self._draw()

    def _draw(self) -> None:
        room = self.outer_size.width - len(self._right) - 3
        is_long = bool(self._style) and cell_len(self._left) > room > 0
        self.set_class(is_long, "-long")
        if is_long:
            # A problem is shown in full, on as many lines as the style sheet allows.
            self.update(literal(self._left, self._style))
        elif room > 0:
            left = literal(cells(self._left, room), self._style)
            self.update(Content(" ") + left + Content.styled(f" {self._right}", "dim"))


_ALL_KEYS = "app.help"

_ALWAYS_SHOWN = frozenset((_ALL_KEYS, "app.undo"))
"""Commands whose keys stand in the bar however narrow it is."""

_TYPED_KEYS = frozenset([*ascii_letters, *digits, "slash", "question_mark", "plus", "minus", "space"])
"""Keys that type a character into a text."""


class KeyBar(Widget):
    """The keys of the scopes that have the focus; a click on one does the same as the key."""

    class Chosen(Message):
        """A key was clicked."""

        def __init__(self, command: Command) -> None:
            super().__init__()
            self.command = command

    def __init__(self) -> None:
        super().__init__()
        self._scopes: Sequence[KeyScope] = ()
        self._keys = KeyMap({})
        self._is_available: Callable[[Command], bool] = lambda _: True
        self._words: Callable[[Command], str] = lambda command: command.label
        self._typing = False
        self._spans: list[tuple[int, int, Command]] = []

    def show(
        self,
        scopes: Sequence[KeyScope],
        keys: KeyMap,
        is_available: Callable[[Command], bool],
        words: Callable[[Command], str],
        *,
        typing: bool,
    ) -> None:
        """Show the keys of some scopes; while the person types into a text, keys that are letters are left out.

        A command is left out where ``is_available`` returns false for its id: it has nothing to act on.
        ``words`` returns what stands behind the key of one.
        """
        self._scopes, self._keys, self._typing = scopes, keys, typing
        self._is_available, self._words = is_available, words
        self.refresh()

    def render(self) -> Content:
        """Return as many keys as fit, always with the one that undoes and the one that lists all keys."""
        line, self._spans = Content(""), []
        shown = [command for command in self._reachable() if command.label and self._is_available(command)]
        shown.sort(key=lambda command: command.id == _ALL_KEYS)  # it stands last
        room = self.size.width - sum(len(self._label(command)) for command in shown if command.id in _ALWAYS_SHOWN)
        for command in shown:
            words = self._label(command)
            if command.id in _ALWAYS_SHOWN:
                room += len(words)
            if line.cell_length + len(words) > room:
                continue
            self._spans.append((line.cell_length, line.cell_length + len(words), command))
            line += Content(words).stylize("bold $footer-key-foreground", 1, 1 + len(self._key(command)))
        return line

    def _reachable(self) -> Iterator[Command]:
        """Yield the commands whose first key is neither taken by an inner scope nor typed into a text."""
        taken: set[str] = set()
        for command in commands_in_scopes(self._scopes):
            codes = self._keys.of(command).split(",")
            if codes[0] not in taken and not (self._typing and codes[0] in _TYPED_KEYS):
                yield command
            taken.update(codes)

    def _key(self, command: Command) -> str:
        return key_names(self._keys.of(command).split(",")[0])

    def _label(self, command: Command) -> str:
        return f" {self._key(command)} {self._words(command)} "

    def on_click(self, event: events.Click) -> None:
        """Run the command that was clicked."""
        for start, end, command in self._spans:
            if start <= event.x < end:
                self.post_message(self.Chosen(command))
