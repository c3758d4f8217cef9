"""The app's terminal: a driver that restores it after stops and ends, and a filter of the drawn output."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping
from threading import Event, main_thread
from types import FrameType
from typing import Any

from rich.cells import get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.drivers.linux_driver import LinuxDriver
from textual.filter import LineFilter

__all__ = ["LeavingEvent", "TerminalDriver", "TerminalFilter"]

_KEEPING_SECONDS = 5
"""Seconds that the app has to save typed text once its terminal is gone."""


class LeavingEvent(Event):
    """Set once the keyboard is to be read no more; it is so when the program has ended, too.

    The thread that reads the keyboard looks at it ten times a second, and a program waits for its threads at its end:
    one that lost its terminal while it was leaving would read the end of it for ever.
    """

    def is_set(self) -> bool:
        """Return whether the thread is to end."""
        return super().is_set() or not main_thread().is_alive()


class TerminalDriver(LinuxDriver):
    """Textual's driver for terminals, which ends with its terminal and comes back whole from every stop."""

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - what Textual gives its drivers
        super().__init__(*given, **named)
        self.exit_event = LeavingEvent()

    _before: Mapping[signal.Signals, Any] = {}
    """The handlers of the signals from before the app took the terminal; empty while it does not have it."""

    def start_application_mode(self) -> None:
        """Take the terminal, and from now on give it back when the program is ended."""
        super().start_application_mode()  # type: ignore[no-untyped-call] # Textual's
        # Whoever started the program may have had them ignored, and a terminal that is gone has no key that leaves:
        # without its signal the program would read its end for ever.
        before = {
            signal.SIGHUP: signal.signal(signal.SIGHUP, self._end_with_terminal),
            signal.SIGTERM: signal.signal(signal.SIGTERM, self._end_in_order),
        }
        self._before = self._before or before

    def stop_application_mode(self) -> None:
        """Give the terminal back, to the shell or to a program such as an editor, and leave the signals to it."""
        super().stop_application_mode()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _sigtstp_application(self, *_: object) -> None:
        """Stop: at once while another program has the terminal, otherwise between two steps of the app.

        The signal may come in the middle of a step that holds the lock of what is drawn, which giving back the terminal
        waits for.
        """
        if self._auto_restart:
            self._loop.call_soon_threadsafe(self._stop)
        else:
            os.kill(os.getpid(), signal.SIGSTOP)

    def _stop(self) -> None:
        if self._must_signal_resume:  # the terminal was given back by a stop before
            os.kill(os.getpid(), signal.SIGSTOP)
        else:
            super()._sigtstp_application()

    def _sigcont_application(self, *_: object) -> None:
        """Take the terminal again after a stop, between two steps of the app."""
        self._loop.call_soon_threadsafe(self._go_on)

    def _go_on(self) -> None:
        if self._must_signal_resume:
            super()._sigcont_application()
        else:
            self._take_again()

    def _take_again(self) -> None:
        """Take the terminal after a stop that nobody announced: give it back first, which the stop did not.

        Otherwise two threads would read the keyboard, and leaving would restore the modes of the app, not the shell's.
        """
        if not self._auto_restart:
            return  # another program has the terminal, such as an editor
        self.suspend_application_mode()
        self._must_signal_resume = True
        self.resume_application_mode()

    def _end_with_terminal(self, number: int, _frame: FrameType | None) -> None:
        """Save typed text and end, as nothing can be drawn or asked any more."""
        # The app may wait for ever for what it draws to be written; then it ends without keeping the last half second.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(_KEEPING_SECONDS)
        self._loop.call_soon_threadsafe(self._end_at_once, number)

    def _end_at_once(self, number: int) -> None:
        self._keep_typed()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _end_in_order(self, number: int, _frame: FrameType | None) -> None:
        """Save typed text, and leave the app with the terminal restored."""
        self._loop.call_soon_threadsafe(self._leave, number)

    def _leave(self, number: int) -> None:
        self._keep_typed()
        self._app.exit(return_code=128 + number)  # as a shell counts it

    def _keep_typed(self) -> None:
        from memento_tui.tui.app import MementoApp  # noqa: PLC0415 - the app chooses this driver when it is made

        if isinstance(self._app, MementoApp):
            self._app.keep_typed()


_UNSAFE_CHARACTERS = re.compile(
    r"[\x00-\x1f\x7f-\x9f"  # controls: escapes, line feeds and tabs move the cursor or command the terminal
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional controls reorder what follows
    r"\xad\u200b\u2060-\u2064\ufeff\U000e0000-\U000e007f"  # nobody sees these, and a model reads them
    r"\u2028\u2029"  # some terminals break the line at these
    r"\ud800-\udfff]"  # lone surrogates cannot be encoded, which would end the program
)


class TerminalFilter(LineFilter):
    """A filter that replaces each acting or invisible character by ``?`` on its measured cells, which are often none.

    So the width of a line stays as the layout measured it. Return one instance from `App.get_line_filters`, after
    the app's own filters: lines are cached by filter.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:  # noqa: ARG002 - the base class's
        """Return the segments without such characters, in their text and in the addresses of their links."""
        return [_safe_segment(segment) for segment in segments]


def _safe_segment(segment: Segment) -> Segment:
    text, style, control = segment
    if not (text.isascii() and text.isprintable()):
        text = _UNSAFE_CHARACTERS.sub(_replacement, text)
    # A link's address is written to the terminal too.
    if style is not None and style.link is not None and _UNSAFE_CHARACTERS.search(style.link):
        style = _without_link(style)
    if text is segment.text and style is segment.style:
        return segment
    return Segment(text, style, control)


def _replacement(character: re.Match[str]) -> str:
    return "?" * get_character_cell_size(character[0])


def _without_link(style: Style) -> Style:
    return style.update_link(None)
