from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memento_tui.policy.prompt_injection_rules import INJECTION_RULES, RULE_FLAGS, InjectionRule
from memento_tui.text.literals import Literals, StartedPattern, find_matches, match_starts
from tests.depth import examples


@pytest.mark.parametrize(
    ("pattern", "starts"),
    [
        (r"\b(?:when|whenever|once)\W", {"when", "once"}),
        (r"(?<![a-z])rm[ ](?:-\w{1,4}[ ]){1,3}", {"rm -"}),
        (r"(?:please )?delete (?:it|all)", {"please delete it", "please delete all", "delete it", "delete all"}),
        (r"(?:very ){1,3}urgent", {"very "}),
        (r"(?:very ){0,3}urgent", {"very ", "urgent"}),
        (r"[sp]end\w+", {"send", "pend"}),
        (r"(?>see|hear)++ this", {"see", "hear"}),
        (r"(?=.*x)now", {"now"}),
        (r"an?[ ]\w+", {"an ", "a "}),
        (r"a\b|be\b", {"a", "be"}),
    ],
)
def test_what_a_match_begins_with_is_read_from_the_pattern(pattern: str, starts: set[str]) -> None:
    assert set(match_starts(pattern, 0)) == starts


@pytest.mark.parametrize(
    "pattern",
    [r"\w+ing", r"(?i)word", r"(?:(?i:w)ord)", r"", r"(?:to)?", r"a|b", r"(a|b)\1", r"[^a]bc", r".*x", r"(?:x|)y*"],
)
def test_a_pattern_that_may_begin_with_nearly_anything_has_no_starts(pattern: str) -> None:
    assert match_starts(pattern, 0) == ()


def test_many_starts_are_told_by_fewer_characters() -> None:
    words = [f"{first}{second}{third}word" for first in "abcd" for second in "efgh" for third in "ijklm"]
    assert set(match_starts(f"(?:{'|'.join(words)})", 0)) == {word[:2] for word in words}


_RULES = [rule for rule in INJECTION_RULES if match_starts(rule.source, RULE_FLAGS)]


def test_most_rules_for_prompt_injection_are_tried_only_where_they_can_begin() -> None:
    assert len(_RULES) > len(INJECTION_RULES) * 3 // 4


def _spans_where_it_can_begin(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    starts = match_starts(pattern.pattern, pattern.flags)
    literals = Literals()
    literals.add("never asked for", *starts)
    return [match.span() for match in find_matches(pattern, starts, text, literals.places_in(text))]


@settings(max_examples=examples(80), suppress_health_check=list(HealthCheck))
@given(st.sampled_from(_RULES), st.data())
def test_the_same_is_found_as_where_a_rule_is_tried_everywhere(rule: InjectionRule, data: st.DataObject) -> None:
    found = data.draw(st.from_regex(rule.pattern))
    text = f"{data.draw(st.text(max_size=20))}{found}{data.draw(st.sampled_from(('', ' ', found)))}{found[:30]}"
    everywhere = [match.span() for match in rule.pattern.finditer(text)]
    assert _spans_where_it_can_begin(rule.pattern, text) == everywhere


_SMALL = (r"ab|abab", r"\bab(?:ab)*", r"(?<!a)b+a?", r"(?m:^ab)|ba\b", r"a(?=b)|bb", r"(?:ab)?ba")


@settings(max_examples=examples(300))
@given(st.sampled_from(_SMALL), st.text("ab \n", max_size=24))
def test_matches_that_could_overlap_are_those_of_finditer(pattern: str, text: str) -> None:
    compiled = re.compile(pattern)
    assert match_starts(pattern, 0)
    assert _spans_where_it_can_begin(compiled, text) == [match.span() for match in compiled.finditer(text)]


@given(st.text("wordWORDkey\u212a =\n", max_size=40))
def test_a_pattern_that_is_blind_to_case_is_found_wherever_it_begins_in_lower_case(text: str) -> None:
    pattern = StartedPattern(re.compile(r"(?<!\w)(?:word|key)[ ]?=|ok", re.IGNORECASE | re.ASCII))
    assert set(pattern.starts) == {"word =", "word=", "key =", "key=", "ok"}
    found = [match.span() for match in pattern.finditer(text, text.lower())]
    assert found == [match.span() for match in pattern.pattern.finditer(text)]


def test_a_pattern_that_begins_with_a_sign_is_tried_as_a_whole() -> None:
    pattern = StartedPattern(re.compile(r"[?&](?:key|token)="))
    assert pattern.starts == ()
    assert [match[0] for match in pattern.finditer("?key=1&token=2")] == ["?key=", "&token="]
