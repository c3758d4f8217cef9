"""Survive key sequences that Textual's parser does not understand: it runs on the thread that reads the keyboard.

An error there ends the thread, and with it the app. Textual is pinned exactly, and a test sends it such sequences.
"""

from __future__ import annotations

from textual import events
from textual._xterm_parser import XTermParser
from textual.keys import Keys

__all__ = ["survive_unknown_keys"]

_parse = XTermParser._parse_extended_key  # noqa: SLF001 - the one place in which all drivers read such a key


def _parse_if_possible(parser: XTermParser, sequence: str) -> list[events.Key] | None:
    """Return the keys of a sequence; a key of no name where its numbers are none, or no character's."""
    try:
        return _parse(parser, sequence)
    except (ValueError, OverflowError):
        # Without any key the parser would take what is typed next for the rest of the sequence.
        return [events.Key(Keys.Ignore.value, None)]


def survive_unknown_keys() -> None:
    """Let every driver of terminals pass over the keys that it cannot read."""
    setattr(XTermParser, "_parse_extended_key", _parse_if_possible)  # noqa: B010 - a method, which is assigned to
