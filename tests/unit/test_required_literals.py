from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from memento_tui.text.literals import Literals, PatternFilter, required_by_all, required_literals
from tests.depth import examples

PATTERNS = (
    r"ignore\W{1,4}(?:all|any)\W+rules?",
    r"(?:send|post)(?:ing)? .{0,9}?(?:key|token)s?\b|never tell",
    r"\b(?:when|whenever)~(?:the user )?asks",
    r"(?<!not )send(?!ing)(?= now)",
    r"[abc](?<![0-9].)(?:(?<=a)lways|(?<=[bc])elieve)",
    r"pass[- _]?word|pa(?:ss){2,3}",
    r"(?>atomic|group)s++ [x-z]{2}",
    r"(?i:Loud)er|q(uiet)\1",
    r"忽略(?:所有|以前)",
    r"\d\d:\d\d",
    r"",
    r"(?:)|abc",
    r"(?:word|(?:other|any)?)+ end",
)
FILTERED = Literals()
FILTER = PatternFilter([required_literals(pattern, 0) for pattern in PATTERNS], FILTERED)


@settings(max_examples=examples(300))
@given(st.sampled_from(range(len(PATTERNS))), st.data())
def test_a_pattern_that_matches_a_text_is_among_its_candidates(number: int, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(PATTERNS[number]))
    assume(re.search(PATTERNS[number], text) is not None)
    assert number in FILTER.candidates(FILTERED.held_in(text))


def test_a_pattern_is_no_candidate_where_something_is_missing_that_each_match_holds() -> None:
    found = FILTER.candidates(FILTERED.held_in("ignore the laws, whenever it asks for a token"))
    assert [PATTERNS[number] for number in found if number in (0, 1, 8)] == []


@pytest.mark.parametrize(
    ("pattern", "ways"),
    [
        (r"ignore\W+rules?", [({"ignore"}, {"rule"})]),
        (r"send|post(?:er|ing)", [({"send"},), ({"poster", "posting"},)]),
        (r"\bsee (?:this|that)|\bhear", [({"see this", "see that"},), ({"hear"},)]),
        (r"(?:long [a-z]+ words|none)\.", [({" words", "none"},)]),
        (r"(?<=[ab])cd", [({"acd", "bcd"},)]),
        (r"a|be", [(), ()]),
        (r".*", [()]),
        (r"(?i)word", [()]),
    ],
)
def test_what_a_match_needs_is_read_from_the_pattern(pattern: str, ways: list[tuple[set[str], ...]]) -> None:
    assert required_literals(pattern, 0) == ways


def test_patterns_that_have_to_match_together_need_what_each_of_them_needs() -> None:
    (way,) = required_by_all(["send|post", "keys?"], 0)
    assert list(map(set, way)) == [{"send", "post"}, {"key"}]
