"""Keys that a terminal sends in a form that Textual's parser does not read."""

from __future__ import annotations

import pytest
from textual import events
from textual._xterm_parser import XTermParser

from memento_tui.tui.input_order import survive_unknown_keys


@pytest.mark.parametrize(
    "sequence",
    ["\x1b[1:55;2u", "\x1b[1:55u", "\x1b[97;1:2:3u", "\x1b[99999999999u", "\x1b[1114112;5u", "\x1b[97;;1:55u"],
)
def test_a_sequence_that_cannot_be_read_is_passed_over_and_the_next_key_is_heard(sequence: str) -> None:
    survive_unknown_keys()
    parser = XTermParser()
    read = [event for text in (sequence, "j") for event in parser.feed(text)]
    assert isinstance(read[-1], events.Key)
    assert read[-1].key == "j"


def test_keys_in_the_extended_form_are_read_as_before() -> None:
    survive_unknown_keys()
    survive_unknown_keys()
    (key,) = XTermParser().feed("\x1b[97;5u")
    assert isinstance(key, events.Key)
    assert key.key == "ctrl+a"
