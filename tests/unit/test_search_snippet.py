from __future__ import annotations

import pytest

from memento_tui.search.query_language import parse
from memento_tui.search.snippets import find_query_matches, make_snippet


def marked(query: str, text: str, *, typing: bool = False, width: int = 200) -> list[str]:
    snippet = make_snippet(parse(query, typing=typing), text, width=width)
    return [snippet.text[start:end] for start, end in snippet.marks]


@pytest.mark.parametrize(
    ("query", "text", "words"),
    [
        ("deploy", "We deployed. Deploying is a deployment.", ["deployed", "Deploying", "deployment"]),
        ("keys", "The key is no keynote", ["key"]),
        ("relLangURL", "reads relLangURL first", ["relLangURL"]),
        ("lang", "reads relLangURL first", ["relLangURL"]),
        ("/v2/users", "call /v2/users now", ["v2", "users"]),
        ("Navier-Stokes", "the Navier-Stokes case", ["Navier", "Stokes"]),
        ("max_retry", "set max_retry to 5", ["max", "retry"]),
        ("CVE-2024-1234", "fixed CVE-2024-1234", ["CVE", "2024", "1234"]),
        ("café", "das CAFÉ und cafe", ["CAFÉ", "cafe"]),
        ("東京", "私は東京に住む", ["東京"]),
        ("東京タワー", "東京タワーに行く、東京", ["東京タワー", "東京"]),
        ("redis 猫", "猫用Redis缓存", ["猫", "Redis"]),
        ("0 1", "0猫1", ["0", "1"]),
        ("é café", "用café缓é存", ["café", "é"]),
        ("Tür", "die Tu\u0308r", ["Tu\u0308r"]),
        ('"two words"', "the two words here", ["two", "words"]),
        ("how do we deploy", "how do we deploy", ["deploy"]),
        ("alpha -beta", "alpha beta", ["alpha"]),
        ("tag:alpha", "alpha", []),
        ("", "alpha", []),
        ("?", "alpha?", []),
    ],
)
def test_marks_point_at_the_words_that_were_looked_for(query: str, text: str, words: list[str]) -> None:
    assert marked(query, text) == words
    assert [text[start:end] for start, end in find_query_matches(parse(query), text)] == words


def test_the_word_being_typed_marks_what_begins_so() -> None:
    assert marked("key", "the keynote", typing=True) == ["keynote"]
    assert marked("key", "the keynote") == []


def test_a_short_text_is_shown_whole_on_one_line() -> None:
    snippet = make_snippet(parse("beta"), " alpha\n\n\tbeta \r\n gamma ")
    assert (snippet.text, snippet.marks) == ("alpha beta gamma", ((6, 10),))


def test_the_passage_with_most_of_the_words_is_shown() -> None:
    text = f"alpha {'filler ' * 100}alpha beta gamma {'filler ' * 100}beta"
    snippet = make_snippet(parse("alpha beta gamma"), text, width=80)
    assert "alpha beta gamma" in snippet.text
    assert snippet.text.startswith("... filler")
    assert snippet.text.endswith("filler ...")
    assert len(snippet.text) <= 88


def test_a_text_without_the_words_is_shown_from_its_beginning() -> None:
    snippet = make_snippet(parse("absent"), "word " * 100, width=50)
    assert snippet.text == "word word word word word word word word word word ..."
    assert snippet.marks == ()


def test_a_word_as_long_as_the_passage_is_cut_and_nothing_else() -> None:
    assert make_snippet(parse("x"), "a" * 500, width=100).text == "a" * 100 + " ..."
    text = "see https://example.org/" + "path/" * 60 + "end needle here"
    snippet = make_snippet(parse("needle"), text, width=100)
    assert "needle here" in snippet.text
    assert [snippet.text[start:end] for start, end in snippet.marks] == ["needle"]


def test_an_identifier_that_is_marked_inside_is_shown_whole() -> None:
    text = "filler " * 50 + "/api/v2/users/list " + "filler " * 50
    snippet = make_snippet(parse("users"), text, width=60)
    assert "/api/v2/users/list" in snippet.text
