from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memento_tui.text.literals import Literals

_TEXTS = st.text(alphabet="abc é密\0\ud800", max_size=12)


@given(st.lists(_TEXTS.filter(bool), min_size=1, max_size=8), _TEXTS)
def test_the_literals_that_a_text_holds_are_those_that_are_part_of_it(known: list[str], text: str) -> None:
    literals = Literals()
    literals.add(*known)

    assert literals.held_in(text) == {literal for literal in known if literal in text}


def test_a_literal_that_is_added_later_is_found_in_the_text_that_was_asked_about_before() -> None:
    literals = Literals()
    assert literals.add("key") == {"key"}
    assert literals.held_in("key and token") == {"key"}

    literals.add("token")

    assert literals.held_in("key and token") == {"key", "token"}


def test_each_place_of_a_literal_is_known_where_others_stand_within_it() -> None:
    literals = Literals()
    literals.add("when", "whenever", "he", "absent")
    assert literals.places_in("whenever when") == {"when": [0, 9], "whenever": [0], "he": [1, 10]}
