"""An app whose widgets hold text that nobody made safe. Run as a program it paints one screen and leaves."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.style import Style
from rich.text import Text
from textual.app import App, ComposeResult
from textual.content import Content
from textual.filter import LineFilter
from textual.widgets import Input, Label, Markdown, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from memento_tui.tui.terminal import TerminalFilter

CLIPBOARD = "\x1b]52;c;aG9zdGlsZQ==\x07"
CLEAR = "\x1b[2J\x1b[31337z"
HOSTILE = f"start{CLIPBOARD}{CLEAR}\x9b2J\u202etxt\ud800 end"

UNSAFE = Content(HOSTILE, strip_control_codes=False)


class HostileApp(App[None]):
    def __init__(self, *, is_filtered: bool = True, leaves: bool = False) -> None:
        super().__init__()
        self._terminal_filters = [TerminalFilter()] if is_filtered else []
        self._leaves = leaves

    def get_line_filters(self) -> Sequence[LineFilter]:
        return [*super().get_line_filters(), *self._terminal_filters]

    def compose(self) -> ComposeResult:
        yield Static(UNSAFE, id="static")
        yield Static(Text("link", Style(link=f"https://example.org/{CLEAR}")), id="link")
        yield Label(UNSAFE, id="label")
        yield Input(HOSTILE, id="input")
        yield TextArea(HOSTILE, id="text-area")
        yield Markdown(HOSTILE, id="markdown")
        yield OptionList(Option(UNSAFE), id="option-list")
        titled = Static("", id="titled")
        titled.styles.border = ("solid", "red")
        titled.border_title = UNSAFE
        yield titled

    def on_mount(self) -> None:
        if self._leaves:
            self.call_after_refresh(self.call_after_refresh, self.exit)


if __name__ == "__main__":
    HostileApp(is_filtered="unfiltered" not in sys.argv, leaves=True).run()
