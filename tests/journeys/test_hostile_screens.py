"""Every field that an agent can write is hostile; every screen shows it over a real terminal, unharmed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

import memento_tui
from memento_tui import clock
from memento_tui.api import Workspace
from memento_tui.app_sections import SECTIONS
from memento_tui.model import make_contradiction, make_crystal, make_exposure, make_item, make_relation, make_skip
from memento_tui.storage.journal import Author
from memento_tui.tui.commands import COMMANDS, KeyScope
from tests.journeys.real_terminal import Terminal, open_app
from tests.made import edit, note, unguarded, without_engine

ACTING = {
    "clipboard": "\x1b]52;c;aG9zdGlsZQ==\x07",
    "title": "\x1b]0;hostile\x1b\\",
    "clear": "\x1b[31337;2J",
    "scroll region": "\x1b[3;7r",
    "device": "\x1bP$q\x1b\\",
    "link": "\x1b]8;;file:///etc/passwd\x1b\\",
    "application": "\x1b_hostile\x1b\\",
    "one byte": "\x9b31337m",
    "direction": "\u202e\u2066",
    "hidden": "\u200b\U000e0041\U000e0042",
}
MARKUP = "[/nope] [@click=app.quit]quit[/] [red] [link=file:///etc]x[/link] $x {y} \\["
WIDE = "日本語 🙂👨‍👩‍👧 שלום עולם العربية"
NASTY = f"{MARKUP} {WIDE} {''.join(ACTING.values())} end"
LINE = NASTY.replace("\n", " ")
TAG = "[/tag]\u202e\x9b2J"

CODES = {
    "up": "\x1b[A",
    "down": "\x1b[B",
    # As terminals with the Kitty protocol send it: a bare ESC and what follows it at once would be one key.
    "escape": "\x1b[27u",
    "enter": "\r",
    "space": " ",
    "slash": "/",
    "delete": "\x1b[3~",
}
CODES |= {"plus": "+", "minus": "-", "left_square_bracket": "[", "right_square_bracket": "]", "question_mark": "?"}
CODES |= {"left": "\x1b[D", "right": "\x1b[C", "backspace": "\x7f", "pagedown": "\x1b[6~", "pageup": "\x1b[5~"}

_LEFT_OUT = {"app.quit", "health.engine", "rows.leave_range"}
"""What ends the app, starts a process, or has no key of its own here."""

_QUIET_SECONDS = 0.04
"""Without a byte for so long, what a key has led to is drawn; what comes later is read with the next key."""

_SEQUENCE = re.compile(rb"\x1b(?:\[[0-9;?<>=$:]*([A-Za-z@`~])|\](\d*)|([PX^_])|([()].)|(.))")


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A store in which every field of every record that an agent may write holds the corpus."""
    folder = without_engine(tmp_path / "data", preset="open")
    author = Author("agent", "mcp", LINE, LINE)
    with memento_tui.open(folder) as mine:
        now = clock.now()
        with unguarded(mine._store, author, "remember", note=LINE) as tx:
            for number in range(6):
                made = note(
                    f"{NASTY}\n{number}\n{NASTY}",
                    id=f"m{number}",
                    title=LINE if number % 2 else "",
                    tags=[TAG, WIDE],
                    namespace=f"[click]/日本語/{number}",
                    source={"agent": LINE, "session": LINE, "url": LINE},
                    validity_context=LINE,
                    kind_raw=LINE[:100],
                    extra={LINE: LINE},
                )
                tx.put(made, base=0)
            tx.put(make_relation({"src": "m0", "dst": "m1", "type": "supersedes", "label": LINE}), base=0)
            tx.put(make_relation({"src": "m0", "dst": LINE, "type": "file", "label": LINE}), base=0)
            tx.put(make_contradiction({"older": "m2", "newer": "m3", "why": LINE, "score": 0.9}), base=0)
            ends = (now + timedelta(days=2)).isoformat()
            tx.put(make_skip({"item": LINE, "reason": LINE, "expires_at": ends, "created_by": LINE}), base=0)
            item = {"title": LINE, "content": NASTY, "next_action": LINE, "tags": [TAG]}
            tx.put(make_item(item), base=0)
            tx.put(make_crystal({"content": NASTY, "author": LINE, "status": "past"}), base=0)
            tx.put(make_crystal({"content": f"{NASTY} now", "author": LINE, "status": "current"}), base=0)
        mine._store.exposures.add(
            [
                make_exposure(
                    {"memory_id": "m0", "memory_version": 1, "session": LINE, "rank": 1, "score": 0.5, "tokens": 9}
                )
            ]
        )
    _propose(folder)
    return folder


def _propose(folder: Path) -> None:
    with Workspace(folder, actor="agent", channel="mcp", agent=LINE, session=LINE) as agent:
        agent.remember(f"{NASTY} proposed", source_type="external", title=LINE)
        edit(agent, "m4", content=f"{NASTY} changed")
        agent.crystals.write(f"{NASTY} proposed")


@pytest.fixture
def harmless(tmp_path: Path) -> Path:
    folder = without_engine(tmp_path / "harmless")
    with memento_tui.open(folder) as mine:
        mine.remember("Nothing special.")
    return folder


def _settle(terminal: Terminal) -> None:
    """Read until the app has stopped drawing."""
    before = -1
    while before != len(terminal.raw) or not terminal.sleeps:
        before = len(terminal.raw)
        assert terminal.read(_QUIET_SECONDS), terminal.drawn()[-1500:]


def _press(terminal: Terminal, *keys: str) -> None:
    """Press keys one after the other, each once what the last led to is drawn."""
    for key in keys:
        terminal.press(CODES.get(key) or (chr(ord(key[-1]) - 96) if key.startswith("ctrl+") else key))
        _settle(terminal)


def _kinds(raw: bytes) -> set[bytes]:
    """Return the kinds of control sequences in what a program wrote: the final byte, or what introduces it."""
    found = {b"".join(part or b"" for part in parts) for parts in _SEQUENCE.findall(raw)}
    return found | {bytes([byte]) for byte in raw if byte < 0x20 and byte not in b"\x1b\r\n"}


def _tour(data_dir: Path, *, fields: bool) -> bytes:
    with open_app(data_dir) as terminal:
        for tab in SECTIONS:
            _press(terminal, tab.key, "j", "J", "k", "y")
            for key in _keys(tab.name) if fields else ():
                # Whatever a key has opened, Escape and the number lead back.
                _press(terminal, key, "escape")
                terminal.press(CODES["escape"])
                _press(terminal, tab.key)
        _press(terminal, "2", "question_mark", "escape", "ctrl+p", "escape", "slash", "q", "escape", "escape")
        return terminal.raw


def _keys(place: str) -> Iterator[str]:
    places: tuple[KeyScope | str, ...] = (place, "list", "rows")
    for command in COMMANDS:
        if command.scope in places and command.action and command.id not in _LEFT_OUT:
            yield command.keys.split(",")[0]


@pytest.mark.deep
def test_nothing_that_an_agent_wrote_acts_on_the_terminal_from_any_screen(
    hostile: Path, harmless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", "true")  # an editor that changes nothing: its screen is not memento's
    clean, raw = _tour(harmless, fields=False), _tour(hostile, fields=True)
    assert _kinds(raw) - _kinds(clean) == set()
    for name, acting in ACTING.items():
        assert acting.encode() not in raw, name
    assert b"\xc2\x9b" not in raw
    drawn = re.sub(rb"\x1b\[[0-9;?<>=$:]*[A-Za-z@`~]", b"", raw).decode(errors="replace")
    assert "[@click=app.quit]" in drawn
    assert "<ESC>]52;c;" in drawn


def test_the_sequences_that_are_looked_for_would_be_found(hostile: Path) -> None:
    with Workspace(hostile) as workspace:
        stored = workspace.get("m0").content
    assert _kinds(stored.encode()) == {b"52", b"0", b"8", b"\\", b"P", b"_", b"J", b"r", b"\x07"}
