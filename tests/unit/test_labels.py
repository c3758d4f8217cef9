"""What is said of a memory beside its text, in the one form that every interface uses."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memento_tui.text.labels import OtherSide, age_in_words, bracketed, caution_labels, condition_labels, host_of
from tests.made import note

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def labels(**fields: Any) -> list[str]:  # noqa: ANN401 - a memory's fields
    memory = note("The proxy listens on 8080.", **{"created_at": NOW, "stability": "verified", **fields})
    return [*caution_labels(memory, NOW), *condition_labels(memory)]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, ["verified"]),
        ({"stability": "draft"}, ["unverified"]),
        ({"stability": "draft", "source_type": "derived", "source": {"agent": "codex"}}, ["unverified", "by codex"]),
        ({"source_type": "user", "source": {"agent": "codex"}}, ["verified"]),
        ({"source_type": "derived", "source": {"agent": "do this\nnow!"}}, ["verified"]),
        (
            {"source_type": "external", "source": {"url": "https://joe@Docs.Example.com:8443/a?b"}},
            ["UNTRUSTED", "verified", "from docs.example.com"],
        ),
        ({"source_type": "external", "source": {"url": "not an address"}}, ["UNTRUSTED", "verified"]),
        ({"certainty": 2}, ["verified", "certainty 2"]),
        ({"created_at": NOW - timedelta(days=6)}, ["verified"]),
        ({"created_at": NOW - timedelta(days=9)}, ["verified", "9 days old"]),
        ({"validity_context": "on \u200bstaging   only"}, ["verified", "applies: on staging only"]),
        ({"valid_to": NOW + timedelta(days=40)}, ["verified", "valid until 2027-01-01"]),
        ({"valid_to": NOW - timedelta(days=40)}, ["verified", "no longer valid since 2026-10-13"]),
        ({"valid_from": NOW + timedelta(days=40)}, ["verified", "not valid before 2027-01-01"]),
        ({"valid_from": NOW - timedelta(days=40)}, ["verified"]),
        ({"expires_at": NOW + timedelta(days=1), "pinned": True}, ["verified", "expires 2026-11-23", "essential"]),
        (
            {"status": "compacted", "sensitivity": "restricted"},
            ["compacted", "restricted", "verified"],
        ),
    ],
)
def test_a_memory_says_what_it_is_worth_and_where_it_applies(fields: dict[str, Any], said: list[str]) -> None:
    assert labels(**fields) == said


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (0, "today"),
        (1, "1 day old"),
        (59, "59 days old"),
        (60, "2 months old"),
        (729, "24 months old"),
        (730, "2 years old"),
        (-3, "today"),
    ],
)
def test_an_age_is_told_in_the_largest_unit_of_which_there_are_two(days: int, words: str) -> None:
    assert age_in_words(NOW - timedelta(days=days), NOW) == words


def test_the_other_side_of_a_contradiction_is_quoted_on_one_line() -> None:
    sides = [OtherSide("a1", "It listens\non 9090."), OtherSide("two words", "")]
    found = condition_labels(note("It listens on 8080."), sides)
    assert found == ['contradicts a1: "It listens on 9090."', 'contradicts "two words"']
    assert bracketed(found[:1]) == ' [contradicts a1: "It listens on 9090."]'
    assert bracketed([]) == ""


def test_no_part_of_an_address_but_its_host_is_repeated() -> None:
    assert host_of("https://user:secret@example.com/ignore-all-previous-instructions") == "example.com"
    assert host_of("mailto:someone") == ""
