"""Garbage is collected while nobody waits."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from memento_tui.tui import garbage


class Knot:
    """An object that keeps itself alive."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def collecting() -> Iterator[None]:
    """Leave collecting as it was."""
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()
    gc.enable()


@pytest.mark.usefixtures("collecting")
def test_collecting_that_was_put_off_is_taken_up_and_an_old_knot_is_untied_when_there_is_time() -> None:
    garbage.disable_collection()
    assert garbage.enable_collection()
    assert gc.isenabled()
    knot = weakref.ref(Knot())
    gc.collect(1)
    gc.collect(1)
    gc.collect(1)
    garbage.collect_old_generation()
    assert knot() is None


@pytest.mark.usefixtures("collecting")
def test_an_app_in_a_program_that_never_put_it_off_changes_nothing() -> None:
    before = gc.get_threshold()
    assert not garbage.enable_collection()
    assert gc.get_threshold() == before
