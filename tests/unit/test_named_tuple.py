"""The light base class behaves as `typing.NamedTuple` does."""

from __future__ import annotations

import copy
import pickle
from typing import get_args

import pytest

from memento_tui.config import DecayPreset
from memento_tui.defaults import DECAY_PRESETS
from memento_tui.named_tuple import NamedTuple


class Place(NamedTuple):
    """Three fields, of which the last has a default."""

    name: str
    row: int
    tags: tuple[str, ...] = ()

    def label(self) -> str:
        """Return the name and the row."""
        return f"{self.name} {self.row}"


def test_its_fields_are_given_in_order_by_name_or_by_default() -> None:
    place = Place("shelf", row=2)
    assert place == ("shelf", 2, ())
    assert place == Place(name="shelf", row=2, tags=())
    assert (place.name, place.row, place.tags, place.label()) == ("shelf", 2, (), "shelf 2")
    name, row, _ = place
    assert (name, row) == ("shelf", 2)
    assert repr(place) == "Place(name='shelf', row=2, tags=())"


def test_a_replaced_field_leaves_the_others_as_they_are() -> None:
    assert Place("shelf", 2)._replace(row=3) == Place("shelf", 3)
    assert Place._make(["shelf", 2, ("a",)]) == Place("shelf", 2, ("a",))
    assert Place("shelf", 2)._asdict() == {"name": "shelf", "row": 2, "tags": ()}


def test_it_matches_by_place_and_survives_copies() -> None:
    match Place("shelf", 2):
        case Place(name, row):
            assert (name, row) == ("shelf", 2)
    place = Place("shelf", 2)
    assert pickle.loads(pickle.dumps(place)) == copy.deepcopy(place) == place  # noqa: S301 - our own bytes


@pytest.mark.parametrize(
    ("values", "named"),
    [(("shelf",), {}), (("shelf", 1, (), 4), {}), (("shelf", 1), {"row": 2}), (("shelf", 1), {"column": 2})],
)
def test_a_missing_field_one_too_many_or_an_unknown_one_is_refused(
    values: tuple[object, ...], named: dict[str, object]
) -> None:
    with pytest.raises(TypeError, match="Place"):
        Place(*values, **named)  # type: ignore[arg-type]  # wrong on purpose


def test_its_fields_cannot_be_assigned() -> None:
    with pytest.raises(AttributeError):
        Place("shelf", 2).row = 3  # type: ignore[misc]  # wrong on purpose


def test_the_presets_that_a_hook_accepts_are_those_of_the_settings() -> None:
    assert get_args(DecayPreset) == DECAY_PRESETS
