"""Tags as a person types them for one memory or for several."""

from __future__ import annotations

import pytest

from memento_tui.tui.sections.tag_line import parse_tag_changes


@pytest.mark.parametrize(
    ("typed", "one", "many"),
    [
        ("api, gate", ["api", "gate"], ["old", "api", "gate"]),
        ("#api", ["api"], ["old", "api"]),
        ("+api -old", ["api"], ["api"]),
        ("+api,-old", ["api"], ["api"]),
        ("+api", ["old", "api"], ["old", "api"]),
        ("old, api, -OLD +x", ["api", "x"], ["api", "x"]),
        ("two words, api", ["two words", "api"], ["old", "two words", "api"]),
        ("", [], ["old"]),
        ("+ - #", [], ["old"]),
        ("+ , -", [], ["old"]),
    ],
)
def test_commas_and_signs_are_understood_for_one_and_for_many(typed: str, one: list[str], many: list[str]) -> None:
    changes = parse_tag_changes(typed)
    assert changes.applied_to(["old"], listed=True) == one
    assert changes.applied_to(["old"], listed=False) == many
