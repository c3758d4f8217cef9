"""What every test of the app stands on: a pilot that waits for the app, and not for the machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tui.settling import settle_at_once


@pytest.fixture
def keys_are_refused_for_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a row came up by itself: half a second may have passed before a busy machine lets the test press one."""
    monkeypatch.setattr("memento_tui.tui.stale_guard._IGNORE_KEYS_SECONDS", 60.0)


@pytest.fixture(autouse=True)
def _settling() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        settle_at_once(patch)
        patch.setattr("memento_tui.tui.input_order._MAX_WAIT_SECONDS", 60.0)  # a busy machine takes longer to be quiet
        yield
