"""What every test of the app stands on: a pilot that waits for the app, and not for the machine."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation
from textual.widgets import Input, TextArea

from tests.tui.settling import draw_every_frame, settle_at_once

_HELD = ("selection._REPEAT_BEGINS_SECONDS", "selection._REPEAT_SECONDS", "input_order._REPEAT_SECONDS")


@pytest.fixture
def keys_are_refused_for_a_minute(monkeypatch: pytest.MonkeyPatch, _settling: None) -> None:
    """Refuse keys after a row came up by itself, however long a busy machine takes until the test presses one."""
    monkeypatch.setattr("memento_tui.tui.selection._IGNORE_KEYS_SECONDS", 60.0)


@pytest.fixture
def keys_repeat_for_a_minute(monkeypatch: pytest.MonkeyPatch, _settling: None) -> None:
    """The same key a second time is that key, held: however long a busy machine takes between the two."""
    for name in _HELD:
        monkeypatch.setattr(f"memento_tui.tui.{name}", 60.0)


@pytest.fixture
def draws_every_frame(monkeypatch: pytest.MonkeyPatch, _settling: None) -> None:
    """Draw the frames between keys too, for a test that looks at what a widget has drawn."""
    draw_every_frame(monkeypatch)


@pytest.fixture(autouse=True)
def _settling() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        settle_at_once(patch)
        for name in _HELD:  # a test presses faster than a person, and holds no key
            patch.setattr(f"memento_tui.tui.{name}", 0.0)
        # Other tests press no key for a row that is gone, and half a second is another one on a busy machine.
        patch.setattr("memento_tui.tui.selection._IGNORE_KEYS_SECONDS", 0.0)
        patch.setattr("memento_tui.tui.input_order._MAX_WAIT_SECONDS", 60.0)  # a busy machine takes longer to be quiet
        patch.setattr("memento_tui.tui.input_order._MAX_UNDRAWN_SECONDS", 60.0)
        # What a tall screen tells of a record is read after a pause: whether it is there would be up to the machine.
        patch.setattr("memento_tui.tui.views.record_story._PAUSE_SECONDS", 0.0)
        patch.setattr("memento_tui.tui.widgets.bars._KEEP_MESSAGE_SECONDS", 60.0)  # a busy machine reads more slowly
        patch.setattr("memento_tui.tui.screens.import_offer._COUNTING_SECONDS", 60.0)
        # The cursor of a text is gone each other half second: whether a picture has it would be up to the machine.
        patch.setattr(Input, "_toggle_cursor", lambda _: None)
        patch.setattr(TextArea, "_toggle_cursor_blink_visible", lambda _: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _styles_are_parsed_once() -> Iterator[None]:
    """Parse each style sheet once for all apps, with the same colours: it is a quarter of the opening of one."""
    parsed: dict[object, list[RuleSet]] = {}
    valued: WeakKeyDictionary[Stylesheet, tuple[object, object]] = WeakKeyDictionary()
    parse = Stylesheet._parse_rules

    def parse_once(
        sheet: Stylesheet,
        css: str,
        read_from: CSSLocation,
        is_default_rules: bool = False,  # noqa: FBT001, FBT002 - as Textual's own
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        source = css, read_from, is_default_rules, tie_breaker, scope
        variables, values = valued.get(sheet, (None, None))
        if variables is not sheet._variables:
            values = frozenset(sheet._variables.items())
            valued[sheet] = sheet._variables, values
        key = source, values
        if key not in parsed:
            parsed[key] = parse(sheet, *source)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        yield
