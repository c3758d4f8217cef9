"""The order in which the workers of pytest take the files of tests."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.files_in_turn import FilesInTurn, next_file

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


def test_the_time_of_a_long_file_is_not_that_of_another_folders_file_of_its_name() -> None:
    waiting = {"tests/journeys/test_policy_secrets.py": 2, "tests/journeys/test_web.py": 24}
    assert next_file(waiting, journeys=True) == "tests/journeys/test_web.py"


class _Worker:
    """What a scheduler asks of a worker: its name, and to be given the places of tests."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.given: list[int] = []

    def send_runtest_some(self, places: list[int]) -> None:
        self.given += places


def test_workers_take_turns_in_their_order_whatever_they_are_called(
    pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pytestconfig.option, "tx", ["popen"])
    tests = ["tests/journeys/test_a.py::x", "tests/unit/test_b.py::x", "tests/journeys/test_c.py::x"]
    turns = FilesInTurn(pytestconfig, None)
    turns.workqueue.update({test.partition("::")[0]: {test: False} for test in tests})
    workers = [_Worker("gw3"), _Worker("another"), _Worker("gw5")]
    for worker in workers:
        turns.add_node(worker)
        turns.registered_collections[worker] = tests
    for worker in workers:
        turns._assign_work_unit(worker)
    assert [worker.given for worker in workers] == [[0], [1], [2]]
