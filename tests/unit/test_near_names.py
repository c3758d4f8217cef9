"""The name that was probably meant by one that is misspelled."""

from __future__ import annotations

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
