"""The file of what each rule for prompt injection needs says what the patterns say."""

from __future__ import annotations

from memento_tui.policy.prompt_injection_languages import language_rules
from memento_tui.policy.prompt_injection_needs import NEEDS_FILE, needs_as_json, needs_of_patterns, stored_needs
from memento_tui.policy.prompt_injection_rules import INJECTION_RULES


def test_the_file_is_what_make_reference_writes() -> None:
    assert NEEDS_FILE.read_text(encoding="utf-8") == needs_as_json(), "run `make reference`"


def test_each_rule_in_its_turn_has_in_the_file_what_its_pattern_needs() -> None:
    rules = [*INJECTION_RULES, *(rule for rule, _parts in language_rules())]
    stored = stored_needs()
    assert [needs.name for needs in stored] == [rule.name for rule in rules]
    for kept, read in zip(stored, needs_of_patterns(), strict=True):
        assert (kept.name, kept.ways) == (read.name, read.ways)
        assert set(kept.starts) == set(read.starts)
