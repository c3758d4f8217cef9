"""The name that was probably meant by one that is misspelled."""

from __future__ import annotations

from typing import Any, SupportsIndex

import pytest

from memento_tui.text.near_names import nearest_name

KNOWN = ("tag", "kind", "certainty", "status", "before", "by")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("tga", "tag"),
        ("kidn", "kind"),
        ("knd", "kind"),
        ("certianty", "certainty"),
        ("stats", "status"),
        ("zzz", ""),
        ("", ""),
    ],
)
def test_a_slip_of_the_fingers_is_known_for_what_was_meant(typed: str, meant: str) -> None:
    assert nearest_name(typed, KNOWN, 0.8) == meant


class CountedText(str):
    """A text that counts how often a part of it is taken."""

    __slots__ = ("taken",)

    def __init__(self, _text: str) -> None:
        self.taken = 0

    def __getitem__(self, key: SupportsIndex | slice[Any, Any, Any]) -> str:
        self.taken += 1
        return super().__getitem__(key)


@pytest.mark.parametrize("length", [6, 100, 20_000])
def test_a_word_of_any_length_is_cut_up_for_no_name_of_another_length(length: int) -> None:
    typed = CountedText("x" * length)
    assert not nearest_name(typed, KNOWN, 0.8)
    assert typed.taken <= 2 * len(KNOWN)


def test_a_name_as_long_as_likeness_allows_is_still_known_for_what_was_meant() -> None:
    # Two letters of each are in common: four of five, and four of six.
    assert nearest_name("byx", ["by"], 0.8) == "by"
    assert not nearest_name("byxx", ["by"], 0.8)
