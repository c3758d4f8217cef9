"""The strings that a text must hold for a prompt injection rule to match, and those with which its matches begin.

Both are read from the rules' own patterns. That takes a tenth of a second, for which the first write of every program
would wait, so they are kept in a file (``prompt_injection_needs.json``), which ``make reference`` makes; a test holds
it to the patterns.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from memento_tui.policy.prompt_injection_languages import language_rules
from memento_tui.policy.prompt_injection_rules import INJECTION_RULES, RULE_FLAGS
from memento_tui.text.literals import Way, match_starts, required_by_all, required_literals

__all__ = ["NEEDS_FILE", "needs_as_json", "needs_of_patterns", "stored_needs"]

NEEDS_FILE = Path(__file__).with_name("prompt_injection_needs.json")


class RuleNeeds(msgspec.Struct, frozen=True, array_like=True):
    """The needs of one rule."""

    name: str
    """The rule's name, for whoever reads the file; a rule has one of each language too."""
    ways: tuple[Way, ...]
    """The ways in which it can match; see `memento_tui.text.literals.Way`."""
    starts: tuple[str, ...] = ()
    """The strings with one of which each match begins; none where it is tried everywhere."""


def stored_needs() -> list[RuleNeeds]:
    """Return the needs of each rule from the file: of those in English first, then of those of each language."""
    return msgspec.json.decode(NEEDS_FILE.read_bytes(), type=list[RuleNeeds])


def needs_of_patterns() -> list[RuleNeeds]:
    """Return the same as it is read from the patterns."""
    needs = [
        RuleNeeds(rule.name, tuple(required_literals(rule.source, RULE_FLAGS)), match_starts(rule.source, RULE_FLAGS))
        for rule in INJECTION_RULES
    ]
    # Those of the languages begin with a set of letters, which the regular expressions' engine looks for fast.
    needs += [RuleNeeds(rule.name, tuple(required_by_all(parts, 0))) for rule, parts in language_rules()]
    return needs


def needs_as_json() -> str:
    """Return the content of the file: a line for each rule, its literals in alphabetical order."""
    lines = []
    for needs in needs_of_patterns():
        ways = [[sorted(clause) for clause in way] for way in needs.ways]
        lines.append(msgspec.json.encode([needs.name, ways, sorted(needs.starts)]).decode())
    return "[\n" + ",\n".join(lines) + "\n]\n"
