from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.errors import InvalidInput
from memento_tui.model.filters import AllOf
from memento_tui.operations import recall
from memento_tui.operations.recall import plain_query, timed_query
from memento_tui.search.query_language import FIELDS, Word, parse
from memento_tui.text.keywords import unspaced_words


def test_a_message_is_searched_for_by_its_words_whatever_operators_it_seems_to_hold() -> None:
    message = 'Fix "tag:api" -- do -not use kind:decision, see https://x.org/a:b and is:pinned tag:tag:web'

    query = parse(plain_query(message))

    assert query.filter == AllOf()
    assert query.excluded == ()
    assert query.phrases == ()
    words = [word.text for word in query.words]
    assert {"Fix", "not", "decision,", "https://x.org/a:b", "pinned", "web"} <= set(words)
    assert words == list(dict.fromkeys(words))


@given(st.text(alphabet=st.sampled_from('-": ntagskidbyeforcpul><=1')) | st.text())
def test_no_message_becomes_an_operator(message: str) -> None:
    query = parse(plain_query(message))

    assert query.filter == AllOf()
    assert query.excluded == ()
    assert all(isinstance(word, Word) for word in query.words)
    assert query.problems == ()


def test_a_very_long_message_is_searched_for_by_its_first_words() -> None:
    words = parse(plain_query(" ".join(f"w{i}" for i in range(10_000)))).words

    assert [word.text for word in words][:2] == ["w0", "w1"]
    assert len(words) < 100


def test_what_is_too_long_to_be_a_word_is_not_searched_for() -> None:
    assert plain_query(f"see {'a' * 100_000} there") == "see there"


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("数据库端口" * 30, "端口"),
        ("请告诉我测试环境的数据库端口是多少", "端口"),
        ("ステージング環境のデータベースのポートは何番でしたか。" * 10, "データベース"),
        ("พอร์ตฐานข้อมูลของเซิร์ฟเวอร์ทดสอบคืออะไร" * 10, "พอ"),
        ("请告诉我怎样在测试环境里升级Redis缓存", "Redis"),
    ],
)
def test_a_sentence_in_a_script_without_spaces_is_searched_for_by_its_words(message: str, word: str) -> None:
    query = parse(plain_query(message))

    words = [part.text for part in query.words]
    assert word in words
    assert words == list(dict.fromkeys(words))
    assert max(map(len, words)) < 10
    assert (query.filter, query.excluded, query.problems) == (AllOf(), (), ())


def test_a_short_word_in_a_script_without_spaces_is_searched_for_as_it_stands() -> None:
    assert plain_query("数据库端口 see") == "数据库端口 see"


def test_however_long_a_sentence_without_spaces_is_only_its_beginning_is_searched_for() -> None:
    characters = "".join(map(chr, range(0x4E00, 0x9000)))
    words = plain_query(characters * 50).split()
    assert words[:2] == ["一丁", "丁丂"]
    assert len(words) < 100


def test_of_sentences_that_repeat_without_end_only_the_first_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def reading(text: str) -> Iterator[str]:
        read.append(text)
        return unspaced_words(text)

    monkeypatch.setattr(recall, "unspaced_words", reading)
    assert plain_query(f"{'数据库端口' * 200} " * 1_000).split() == ["数据", "据库", "库端", "端口", "口数"]
    assert len(read) < 50


@pytest.mark.parametrize(
    "name",
    [*FIELDS, "type", "tags", "since", "until", "namespace", "certainity", "ids", "uid", "pid", "tire", "expire"],
)
def test_what_is_a_field_or_looks_like_one_is_only_words_in_a_message(name: str) -> None:
    query = parse(plain_query(f"We set {name}:module and {name.upper()}:y, -{name}:z and x-{name}:v"))

    assert (query.filter, query.excluded, query.problems) == (AllOf(), (), ())
    assert {"set", name, "module", name.upper(), "y,", "z"} <= {word.text for word in query.words}


@pytest.mark.parametrize("query", ["-service", "at:2026-03-01 -service -port"])
def test_a_query_of_unwanted_words_alone_is_answered_with_a_sentence(query: str) -> None:
    with pytest.raises(InvalidInput, match="-service only leaves out what is found"):
        timed_query(query)
    assert plain_query("-service") == "service", "a message has no unwanted words"


def test_a_query_may_ask_what_held_at_a_time_and_nothing_else() -> None:
    asked = timed_query("at:2026-03-01 staging port tag:api")
    assert asked == "at:2026-03-01 staging port tag api"
    assert timed_query("meet at:noon") == plain_query("meet at:noon")
    assert timed_query('at:"x tag:y') == plain_query('at:"x tag:y')
