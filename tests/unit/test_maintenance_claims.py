"""How a text becomes sentences, weighted words and values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.maintenance.contradictions.alignment import align_sentences, analyze_text
from memento_tui.text.tokens import Sentence, read_sentences, stem
from memento_tui.text.values import values


def _texts(text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in read_sentences(text)]


def _only(text: str) -> Sentence:
    (sentence,) = read_sentences(text)
    return sentence


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The API is up. It answers.", ["The API is up", "It answers"]),
        ("I see Dr. Smith every week.", ["I see Dr. Smith every week"]),
        ("Use Node.js 20. Avoid e.g. Deno.", ["Use Node.js 20", "Avoid e.g. Deno"]),
        ("- first item\n- second item", ["first item", "second item"]),
        ("a line that is\nwrapped here", ["a line that is\nwrapped here"]),
        ("# Ports\nThe API has one.\n\n```\nport = 1\n```", ["The API has one"]),
        ("1. Install it\n2. Run it", ["Install it", "Run it"]),
        ("It lives at /v2; /v1 is gone", ["It lives at /v2", "/v1 is gone"]),
        ("", []),
        ("... --- !!!", []),
    ],
)
def test_a_text_falls_into_its_sentences(text: str, sentences: list[str]) -> None:
    assert _texts(text) == sentences


def test_a_question_is_told_from_a_statement() -> None:
    assert [sentence.asks for sentence in read_sentences("Is it up? It is up.")] == [True, False]


def test_names_weigh_more_than_words_and_words_more_than_phrases_of_course() -> None:
    weights = {token.low: token.weight for token in _only("We think the scheduler on Kubernetes is good").tokens}

    assert weights["kubernetes"] > weights["scheduler"] > weights["think"] > weights["the"] == 0


def test_a_contraction_denies_and_a_possessive_does_not() -> None:
    tokens = _only("The team's cache doesn't expire and can\u2019t grow").tokens

    assert [token.low for token in tokens if token.denies] == ["does", "can"]
    assert "team" in [token.low for token in tokens]


@pytest.mark.parametrize(("one", "other"), [("took", "take"), ("deployments", "deploy"), ("postgres", "postgresql")])
def test_irregular_forms_and_near_synonyms_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(
    ("text", "kind", "amount", "words"),
    [
        ("It has 25 new postcards", "count", 25.0, "25"),
        ("A set of 1,200 files", "count", 1200.0, "1,200"),
        ("The port is 8080", "count", 8080.0, "8080"),
        ("It costs $350,000 in all", "money", 350_000.0, "$350,000"),
        ("It costs $3.5 million", "money", 3_500_000.0, "$3.5 million"),
        ("It takes 40% of it", "percent", 40.0, "40%"),
        ("The limit is 512MB", "size", 512 * 1024.0**2, "512MB"),
        ("It waits 30 s for it", "duration", 30.0, "30 s"),
        ("It took 5-6 hours", "duration", (18_000.0, 21_600.0), "5-6 hours"),
        ("About an hour of it", "duration", 3600.0, "an hour"),
        ("I get up at 8:30 am", "clock", 510.0, "8:30 am"),
        ("It runs at 5pm", "clock", 1020.0, "5pm"),
        ("It was on May 29th", "date", "5-29", "May 29th"),
        ("It was on the 17th of June", "date", "6-17", "17th of June"),
        ("It was on 2024-03-01", "date", "2024-03-01", "2024-03-01"),
        ("We meet on Fridays", "weekday", "friday", "Fridays"),
        ("We meet twice a week", "rate", pytest.approx(2 / 7, abs=1e-4), "twice a week"),
        ("We meet every two weeks", "rate", pytest.approx(1 / 14, abs=1e-4), "every two weeks"),
        ("It is at v1.4.2", "version", "1.4.2", "v1.4.2"),
        ("It needs Python 3.11", "version", "3.11", "3.11"),
        ("We met ten times", "times", 10.0, "ten times"),
    ],
)
def test_a_value_is_read_with_its_kind_and_amount(text: str, kind: str, amount: object, words: str) -> None:
    sentence = _only(text)
    (value,) = values(sentence)

    assert (value.kind, value.amount) == (kind, amount)
    assert text[sentence.tokens[value.first].start : sentence.tokens[value.last].end] == words


@pytest.mark.parametrize(
    "text",
    [
        "It broke three weeks ago",
        "PR #12 is merged",
        "Phase 3 is done",
        "This one is better",
        "I took the Canon EOS 80D along",
        "The F-150 is red",
    ],
)
def test_what_names_a_thing_or_a_day_states_no_value(text: str) -> None:
    assert [value for value in values(_only(text)) if value.kind != "count" or value.units] == []


def test_the_sentences_that_share_most_are_compared_first() -> None:
    older = analyze_text("The sky is grey. Deploys go through Jenkins.")
    newer = analyze_text("Deploys moved to Actions. The tea is hot.")

    assert align_sentences(older, newer)[0] == (1, 0)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=400))
def test_every_word_stands_where_it_says_and_in_order(text: str) -> None:
    before = 0
    for sentence in read_sentences(text):
        for token in sentence.tokens:
            assert before <= token.start < token.end <= len(text)
            assert not text[token.start].isspace()
            before = token.end
        assert all(0 <= value.first <= value.last < len(sentence.tokens) for value in values(sentence))
