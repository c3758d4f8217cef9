"""The recorded tour is a cast of less than a minute that any player of asciinema's format can show."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

CAST = Path(__file__).parents[2] / "screenshots" / "tour.cast"


def test_the_tour_is_a_cast_of_version_2_that_lasts_less_than_a_minute() -> None:
    head, *events = map(json.loads, CAST.read_text(encoding="utf-8").splitlines())
    assert (head["version"], head["width"], head["height"]) == (2, 120, 32)
    assert all(kind == "o" and isinstance(drawn, str) for _, kind, drawn in events)
    assert all(before[0] <= after[0] for before, after in pairwise(events))
    assert 20 < events[-1][0] < 60


def test_the_tour_shows_the_queue_a_search_and_a_typed_command() -> None:
    drawn = CAST.read_text(encoding="utf-8")
    for words in ("Decide next", "orders", "tag:tantivy", "+fast"):
        assert words in drawn, words
