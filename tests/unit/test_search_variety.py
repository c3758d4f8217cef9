from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memento_tui.search.scoring import diversify

SCORED = st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.01, 1.0)), max_size=40)


def ranked(scored: list[tuple[str, float]]) -> tuple[list[tuple[str, float]], dict[str, str]]:
    ordered = sorted(((f"{kind}{place}", score) for place, (kind, score) in enumerate(scored)), key=lambda e: -e[1])
    return ordered, {name: name[0] for name, _ in ordered}


def test_one_kind_leaves_room_for_others_that_answer_nearly_as_well() -> None:
    ordered, kinds = ranked([("a", 0.9)] * 20 + [("b", 0.8)] * 5)
    found = diversify(ordered, kinds, 10)
    assert Counter(name[0] for name, _ in found) == {"a": 6, "b": 4}


def test_what_answers_much_worse_displaces_nothing() -> None:
    ordered, kinds = ranked([("a", 0.9)] * 20 + [("b", 0.5)] * 5)
    assert diversify(ordered, kinds, 10) == ordered[:10]


@given(SCORED, st.integers(1, 15))
def test_the_best_stays_first_and_the_scores_fall(scored: list[tuple[str, float]], limit: int) -> None:
    ordered, kinds = ranked(scored)
    found = diversify(ordered, kinds, limit)
    assert len(found) == min(limit, len(ordered)) == len({name for name, _ in found})
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
    assert found[:1] == ordered[:1]
    # What was left out for the sake of variety was never much better than what was taken.
    left = [score for name, score in ordered[:limit] if name not in dict(found)]
    taken = [score for name, score in found if (name, score) not in ordered[:limit]]
    assert not left or min(taken) >= 0.7 * max(left)
