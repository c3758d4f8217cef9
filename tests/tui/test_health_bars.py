"""The bars below a check of Health: what the workspace holds, each amount in proportion to the largest."""

from __future__ import annotations

import pytest

from memento_tui import clock
from memento_tui.tui.sections.health_text import _bars
from memento_tui.tui.views.record_story import StoryPart


@pytest.mark.parametrize("width", [44, 66, 140])
def test_bars_keep_their_proportions_whatever_room_there_is(width: int) -> None:
    part = StoryPart("What is remembered", list(_bars([("decision", 20), ("fact", 10), ("bugfix", 5)])), 20, 7)
    lines = [line.plain for line in part.draw(width, clock.now())][1:4]
    lengths = [line.count("\N{LOWER HALF BLOCK}") for line in lines]
    assert not any("\N{HORIZONTAL ELLIPSIS}" in line for line in lines)
    assert all(len(line) <= width for line in lines)
    assert lengths[0] > lengths[1] > lengths[2] > 0
    assert abs(lengths[0] - 2 * lengths[1]) <= 1
