"""The order in which the workers of pytest take the files of tests."""

from __future__ import annotations

import pytest

from tests.files_in_turn import next_file

_TESTS_OF = {
    "tests/journeys/test_web.py": 24,
    "tests/journeys/test_hostile_screens.py": 2,
    "tests/tui/test_review.py": 34,
    "tests/unit/test_gate.py": 100,
}


@pytest.mark.parametrize(
    ("journeys", "order"),
    [
        (True, ["hostile_screens", "web", "review", "gate"]),
        (False, ["review", "gate", "hostile_screens", "web"]),
    ],
)
def test_a_worker_takes_the_longest_file_of_its_kind_and_then_of_the_other(journeys: bool, order: list[str]) -> None:  # noqa: FBT001 - a parameter of the test
    waiting, taken = dict(_TESTS_OF), []
    while waiting:
        taken.append(next_file(waiting, journeys=journeys))
        del waiting[taken[-1]]
    assert [file.rpartition("/test_")[2].removesuffix(".py") for file in taken] == order
