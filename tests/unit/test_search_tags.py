"""Tags are words: whoever searches for one finds what is tagged with it."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memento_tui.api import Workspace
from memento_tui.model.validation import fold_tag
from memento_tui.operations.recall import recall
from memento_tui.search.query_language import parse
from tests.made import NOW, note, put

FILLER = " ".join(f"filler{number}" for number in range(30))


def found(workspace: Workspace, query: str, *, typing: bool = False) -> list[str]:
    """Return the ids that a keyword search finds, best first."""
    answer = workspace.search_engine.search(query, mode="keyword", limit=50, now=NOW, typing=typing)
    return [hit.id for hit in answer.results]


@pytest.fixture
def tagged(workspace: Workspace) -> Workspace:
    """Return a workspace with a decision that only its tags say is about logins, and others."""
    put(
        workspace._store,
        note("Sessions live in Redis", id="it", kind="decision", tags=("auth", "login-flow", "relLangURL")),
        note("Pages are cached for an hour", id="other", kind="decision", tags=("cache",)),
        note("The authors of the guide", id="alike"),
    )
    return workspace


@pytest.mark.parametrize(
    "query",
    [
        "kind:decision auth",
        "auth",
        "AUTH",
        "login",
        "login-flow",
        '"login flow"',
        "lang",
        "relLangURL",
        "kind:decision redis auth",
    ],
)
def test_words_find_what_is_tagged_with_them(tagged: Workspace, query: str) -> None:
    assert found(tagged, query) == ["it"]


def test_an_unwanted_word_leaves_out_what_is_tagged_with_it(tagged: Workspace) -> None:
    assert found(tagged, "sessions pages -auth") == ["other"]


def test_a_tag_is_one_however_its_accents_are_written(workspace: Workspace) -> None:
    forms = [unicodedata.normalize(form, "Café") for form in ("NFC", "NFD")]
    put(workspace._store, *(note("Where we met", id=f"m{n}", tags=(form,)) for n, form in enumerate(forms)))
    for form in forms:
        assert sorted(memory.id for memory in workspace.list(f"tag:{form.lower()}").items) == ["m0", "m1"]
        assert sorted(found(workspace, f"met tag:{form}")) == ["m0", "m1"]
    assert [count for _, count in workspace.tags()] == [2]


@given(st.text(max_size=6))
@example("\u0391\u0345\u0301")
def test_every_form_of_a_tag_is_compared_as_one(text: str) -> None:
    forms = {fold_tag(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")} | {fold_tag(fold_tag(text))}
    assert forms == {fold_tag(text)}


def test_a_tag_with_a_comma_is_asked_for_in_quotation_marks(workspace: Workspace) -> None:
    put(
        workspace._store,
        note("Where we met", id="it", tags=("Paris, France",)),
        note("Where we met", id="one", tags=("Paris",)),
        note("Where we met", id="two", tags=("a b",)),
    )
    assert found(workspace, 'met tag:"Paris, France"') == ["it"]
    assert sorted(found(workspace, 'met tag:"Paris, France",paris')) == ["it", "one"]
    assert sorted(found(workspace, 'met tag:Paris,"a b"')) == ["one", "two"]
    assert sorted(found(workspace, 'met -tag:"Paris, France","a b"')) == ["one"]


def test_a_tag_being_typed_is_found_by_its_beginning(tagged: Workspace) -> None:
    assert found(tagged, "sess auth logi", typing=True)[0] == "it"
    assert found(tagged, "kind:decision cac", typing=True) == ["other"]


def test_a_word_of_the_text_and_the_tags_counts_more_than_one_of_the_text_alone(workspace: Workspace) -> None:
    put(
        workspace._store,
        note(f"cache eviction {FILLER}", id="text"),
        note(f"cache eviction {FILLER}", id="both", tags=("eviction",)),
    )
    assert found(workspace, "eviction cache") == ["both", "text"]


def test_a_word_that_many_are_tagged_with_is_not_rare_because_no_text_holds_it(workspace: Workspace) -> None:
    put(workspace._store, *(note(f"Number {number}", id=f"m{number}", tags=("auth",)) for number in range(40)))
    put(workspace._store, note("The zebra", id="zebra"))
    keyword = workspace.search_engine.keyword
    common, rare = (keyword.search(q, q.filter, 1).ceiling for q in map(parse, ("auth", "zebra")))
    assert common < rare / 3


def test_tags_do_not_move_the_scores_of_words_that_are_none(tmp_path: Path) -> None:
    query = parse("cache eviction")
    answers = []
    for name, tags in (("tagged", ("giraffe", "zoo")), ("bare", ())):
        with Workspace(tmp_path / name) as workspace:
            put(workspace._store, note("cache eviction", id="a"), note("the cache", id="b", tags=tags))
            answers.append(workspace.search_engine.keyword.search(query, query.filter, 9, beside=()))
    assert answers[0].hits
    assert answers[0] == answers[1]


def test_an_agent_is_told_what_is_tagged_with_what_it_asks_for(tagged: Workspace) -> None:
    hits, _ = recall(tagged, "kind:decision auth", 5)
    assert [hit.id for hit in hits] == ["it"]
