from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import memento_tui
from memento_tui.api import Workspace
from memento_tui.errors import InvalidInput
from memento_tui.search.query_language import FIELDS, Phrase, Word, parse
from memento_tui.search.snippets import make_snippet
from tests.depth import examples
from tests.made import NOW, without_engine

ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=40)
PIECES = st.sampled_from(
    [
        *(f"{field}:" for field in FIELDS),
        '"',
        "-",
        ":",
        ",",
        " ",
        "<",
        ">=",
        "..",
        "/",
        "#",
        "*",
        "(",
        ")",
        "~",
        "^",
        "\\",
        "[/nope]",
        "\x00",
        "\ud800",
        "7d",
        "3000y",
        "99999mo",
        "9" * 30,
        "2026-01-01",
        "9999-12-31",
        "0001-01-01T00:00+14:00",
        "never",
        "pinned",
        "api",
        "alpha",
        "relLangURL",
        "/v2/users",
        "snake_case",
        "東京タワー",
        "é",
        "the",
        "AND",
        "OR",
        "NOT",
        "\n",
        "\u202e",
    ]
)
QUERIES = st.lists(PIECES | ANY_TEXT, max_size=8).map("".join)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with memento_tui.open(without_engine(tmp_path_factory.mktemp("language") / "data")) as workspace:
        workspace.remember("alpha beta relLangURL at /v2/users", tags=["api"], expires_at="900d", pinned=True)
        workspace.remember("snake_case 東京タワー é AND OR NOT (nothing)")
        yield workspace


@given(QUERIES, st.booleans())
@example("before:3000y", False)  # noqa: FBT003 - an example of the two arguments
@example("before:" + "9" * 5000 + "d", False)  # noqa: FBT003 - same
@example("expires:9999-12-31", False)  # noqa: FBT003 - same
@example("kind:tag:", True)  # noqa: FBT003 - same
@example("after:7d alpha certainty:>=2", True)  # noqa: FBT003 - same
@settings(max_examples=examples(300))
def test_every_text_is_a_query_that_both_indexes_answer_or_one_that_is_refused_in_a_sentence(
    filled: Workspace,
    source: str,
    typing: bool,  # noqa: FBT001 - drawn
) -> None:
    query = parse(source, now=NOW, typing=typing)
    for problem in query.problems:
        assert problem[-1] == "."
        assert len(problem) < 400
    assert all(part.text.strip() for part in (*query.words, *query.excluded))
    assert sum(part.typing for part in query.words if isinstance(part, Word)) <= int(typing)
    if query.error and not typing:
        assert query.error[-1] == "."
        with pytest.raises(InvalidInput) as refused:
            filled.search_engine.search(source, mode="keyword", limit=5, now=NOW)
        assert query.error in str(refused.value)
        return
    answer = filled.search_engine.search(source, mode="keyword", limit=5, now=NOW, typing=typing)
    assert answer.problems == query.problems
    assert answer.total >= len(answer.results)
    for hit in answer.results:
        assert 0 <= hit.score <= 1.15
        assert all(0 <= start < end <= len(hit.snippet) for start, end in hit.marks)
    if parse(source, now=NOW).error:  # somebody who has stopped typing is told
        with pytest.raises(InvalidInput):
            filled.list(source)
    else:
        filled.list(source)


@given(QUERIES)
def test_reading_a_query_again_gives_the_same(source: str) -> None:
    assert parse(source, now=NOW) == parse(source, now=NOW)


WORDS = st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=30)


@given(st.lists(WORDS, min_size=1, max_size=120), st.integers(0, 119), st.integers(60, 220))
@settings(max_examples=examples(300))
def test_a_snippet_is_bounded_cuts_no_word_and_marks_what_was_asked_for(
    words: list[str], place: int, width: int
) -> None:
    asked = words[place % len(words)] + "zq"
    words[place % len(words)] = asked
    text = " ".join(words)
    snippet = make_snippet(parse(asked), text, width=width)
    assert len(snippet.text) <= width + len("... ") + len(" ...")
    shown = snippet.text.removeprefix("... ").removesuffix(" ...")
    assert shown in text
    assert shown.split() == [word for word in shown.split() if word in words]
    if parse(asked).words != (Phrase(asked),):
        assert asked in [snippet.text[start:end] for start, end in snippet.marks]


@given(ANY_TEXT, ANY_TEXT.map(lambda text: text * 20), st.integers(20, 300))
@settings(max_examples=examples(300))
def test_a_snippet_of_any_text_is_one_line_with_marks_within(asked: str, text: str, width: int) -> None:
    snippet = make_snippet(parse(asked), text, width=width)
    assert len(snippet.text) <= width + 8
    assert snippet.text == " ".join(snippet.text.split())
    ends = [0, *(place for mark in snippet.marks for place in mark), len(snippet.text)]
    assert ends == sorted(ends)
