"""What several threads of a program share is made once, on every version of Python."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property

import pytest

from memento_tui.api import Workspace
from memento_tui.api.search import SearchEngine
from memento_tui.locked_property import locked_property


class Holder:
    def __init__(self, compute: Callable[[], object]) -> None:
        self._compute = compute

    @locked_property
    def value(self) -> object:
        """The value."""
        return self._compute()


def test_a_value_that_threads_ask_for_at_once_is_computed_by_the_first_and_given_to_all() -> None:
    computed, given = list[object](), list[object]()
    others = [threading.Thread(target=lambda: given.append(holder.value)) for _ in range(8)]

    def compute() -> object:
        computed.append(object())
        if len(computed) == 1:
            for thread in others:
                thread.start()
        return computed[-1]

    holder = Holder(compute)
    given.append(holder.value)
    for thread in others:
        thread.join()
    assert given == computed * 9
    assert len(computed) == 1


def test_a_value_whose_computation_failed_is_computed_again() -> None:
    outcomes = iter([ZeroDivisionError(), 7])

    def compute() -> object:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    holder = Holder(compute)
    with pytest.raises(ZeroDivisionError):
        _ = holder.value
    assert holder.value == 7
    assert Holder.value.__doc__ == "The value."


@pytest.mark.parametrize("shared", [Workspace, SearchEngine])
def test_a_workspace_which_several_threads_use_has_no_property_that_each_of_them_may_make(shared: type) -> None:
    assert [name for name, value in vars(shared).items() if isinstance(value, cached_property)] == []
    assert any(isinstance(value, locked_property) for value in vars(shared).values())
