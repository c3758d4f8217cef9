"""The difference of two sequences, whatever they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.text.diff import diff_steps, unified_diff
from tests.steps import count_steps

SEQUENCES = st.lists(st.sampled_from("abc"), max_size=30)


@given(SEQUENCES, SEQUENCES)
def test_the_steps_lead_from_the_one_to_the_other(old: list[str], new: list[str]) -> None:
    made: list[str] = []
    done_old = done_new = 0
    for tag, a1, a2, b1, b2 in diff_steps(old, new):
        assert (a1, b1) == (done_old, done_new)
        assert (tag == "equal") == (old[a1:a2] == new[b1:b2])
        made += new[b1:b2]
        done_old, done_new = a2, b2
    assert made == new
    assert done_old == len(old)


@given(SEQUENCES, SEQUENCES)
def test_the_unified_difference_leads_from_the_one_text_to_the_other(old: list[str], new: list[str]) -> None:
    before, after = "\n".join(old), "\n".join(new)
    assert _patched(before.split("\n"), unified_diff(before, after)) == after.split("\n")


def _patched(lines: list[str], told: str) -> list[str]:
    """Apply a unified difference as `patch` does."""
    made: list[str] = []
    place = 0
    for line in told.split("\n") if told else []:
        if line.startswith("@@"):
            first, _, count = line.split(" ")[1][1:].partition(",")
            start = int(first) - (count != "0")
            made += lines[place:start]
            place = start
        elif line[:1] == "+":
            made.append(line[1:])
        else:
            assert lines[place] == line[1:]
            if line[:1] == " ":
                made.append(line[1:])
            place += 1
    return made + lines[place:]


_LIMIT = 3_000


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["a"] * 2_000, ["a", "b"] * 1_000),
        (["a", " "] * 1_000, ["a", " ", "b", " "] * 500),
        ([str(n) for n in range(2_000)], [str(n) for n in range(0, 4_000, 2)]),
        (["x"] * 400 + ["y"] * 400, ["y"] * 400 + ["x"] * 400),
        ([str(n % 97) for n in range(2_000)], [str(n * 31 % 97) for n in range(2_000)]),
    ],
)
def test_texts_made_to_keep_it_busy_take_no_more_steps_than_the_limit_allows(old: list[str], new: list[str]) -> None:
    lines, _ = count_steps(lambda: diff_steps(old, new, limit=_LIMIT))
    assert lines < 10 * (_LIMIT + len(old) + len(new)), lines
