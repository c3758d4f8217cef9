from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.widget import Widget

from memento_tui.tui.terminal import TerminalFilter
from tests.tui.hostile_app import CLEAR, CLIPBOARD, HOSTILE, HostileApp

PROJECT = Path(__file__).parents[2]
ACTING = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
WIDGETS = ["static", "link", "label", "input", "text-area", "markdown", "option-list", "titled"]
BLACK = Color(0, 0, 0)


def painted(widget: Widget) -> str:
    """Return all that the compositor gets from a widget."""
    return "\n".join(
        strip.text for strip in widget.render_lines(widget.size.region.grow((1, 1, 1, 1)).at_offset((0, 0)))
    )


@pytest.mark.parametrize("widget_id", WIDGETS)
async def test_no_widget_paints_a_character_that_acts(widget_id: str) -> None:
    app = HostileApp()
    async with app.run_test(size=(80, 60)):
        assert ACTING.search(painted(app.query_one(f"#{widget_id}")).replace("\n", "")) is None


async def test_what_is_left_of_a_sequence_can_be_read() -> None:
    app = HostileApp()
    async with app.run_test(size=(80, 60)):
        assert "start]52;c;aG9zdGlsZQ==" in painted(app.query_one("#static"))


def test_a_line_keeps_its_width() -> None:
    segments = [Segment("漢\x1b[2J\ud800"), Segment("\ttab\u202e"), Segment(HOSTILE)]
    filtered = TerminalFilter().apply(segments, BLACK)
    assert [segment.text for segment in filtered][:2] == ["漢[2J?", "tab"]
    assert [segment.cell_length for segment in filtered] == [segment.cell_length for segment in segments]


def test_a_clean_line_is_not_touched() -> None:
    segments = [Segment("plain", Style(bold=True)), Segment("漢字 👍")]
    filtered = TerminalFilter().apply(segments, BLACK)
    assert [segment is before for segment, before in zip(filtered, segments, strict=True)] == [True, True]


def test_a_link_that_would_act_is_no_link() -> None:
    style = Style(bold=True, link=f"https://example.org/{CLEAR}")
    [segment] = TerminalFilter().apply([Segment("x", style)], BLACK)
    assert segment.style is not None
    assert segment.style.link is None
    assert segment.style.bold


def bytes_on_a_terminal(*arguments: str) -> bytes:
    """Run the hostile app on a terminal of its own and return every byte that it wrote there."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 80, 0, 0))
    process = subprocess.Popen(  # noqa: S603 - this interpreter
        [sys.executable, "-m", "tests.tui.hostile_app", *arguments],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=PROJECT,
        env={"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8", "PYTHONPATH": str(PROJECT)},
        start_new_session=True,
    )
    os.close(terminal)
    written = b""
    try:
        while chunk := read_chunk(controller):
            written += chunk
        assert process.wait(timeout=60) == 0, written
    finally:
        process.kill()
        process.wait()
        os.close(controller)
    return written


def read_chunk(controller: int) -> bytes:
    try:
        return os.read(controller, 65_536)
    except OSError:  # Linux says so at the end of a terminal; macOS returns nothing
        return b""


def test_no_hostile_sequence_reaches_a_terminal() -> None:
    written = bytes_on_a_terminal()
    assert b"]52;c;aG9zdGlsZQ==" in written
    for sequence in (CLIPBOARD, CLEAR, "\x1b[2J", "\x1b]52", "\x9b2J", "\u202e"):
        assert sequence.encode() not in written


def test_without_the_filter_hostile_sequences_do_reach_a_terminal() -> None:
    written = bytes_on_a_terminal("unfiltered")
    assert CLIPBOARD.encode() in written
    assert CLEAR.encode() in written
