"""What every test of the app stands on: a pilot that waits for the app, and not for the machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.tui.settling import settle_at_once


@pytest.fixture(autouse=True)
def _settling() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        settle_at_once(patch)
        yield
