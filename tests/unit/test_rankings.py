"""The measures of retrieval are the usual ones."""

from __future__ import annotations

import math

import pytest

from tests.benchmarks.rankings import interval, measures

ANSWERS = frozenset("ab")


def test_both_answers_first_is_perfect() -> None:
    assert measures(["b", "a", "x"], ANSWERS) == (1, 1, 1, 1)


def test_an_answer_counts_less_the_later_it_stands() -> None:
    found = measures(["x", "a", "y", "z", "v", "b"], ANSWERS)
    assert (found.recall, found.any, found.all) == (0.5, 1, 0)
    gain, best = 1 / math.log2(3) + 1 / math.log2(7), 1 + 1 / math.log2(3)
    assert found.ndcg == pytest.approx(gain / best)


def test_a_session_counts_at_the_place_of_its_first_turn() -> None:
    assert measures(["x", "x", "x", "x", "x", "a"], frozenset("a")).ndcg == pytest.approx(1 / math.log2(3))


def test_nothing_right_among_the_first_is_nothing() -> None:
    assert measures([*"0123456789", "a"], ANSWERS) == (0, 0, 0, 0)


def test_the_mean_lies_between_the_bounds_of_its_interval() -> None:
    low, high = interval([0.0] * 50 + [1.0] * 50)
    assert 0.38 < low < 0.5 < high < 0.62
    assert interval([0.7, 0.7]) == pytest.approx((0.7, 0.7))
