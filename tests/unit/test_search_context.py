"""What a session wrote before a memory helps to find it."""

from __future__ import annotations

from typing import Any

import pytest
import tantivy

from memento_tui.api import Workspace
from memento_tui.search.keyword_fields import register_analyzers
from tests.made import note, put

QUESTION = "which bakery does anna work for"
ANSWER = "the bakery on elm street, since may"


def said(text: str, memory_id: str, **fields: Any) -> Any:  # noqa: ANN401 - a memory
    return note(text, id=memory_id, source={"session": fields.pop("session", "s1")}, **fields)


def found(workspace: Workspace, query: str = QUESTION) -> list[str]:
    return [hit.id for hit in workspace.search(query, mode="keyword").results]


def coverage(workspace: Workspace, memory_id: str) -> float:
    hits = {hit.id: hit.explain() for hit in workspace.search(QUESTION, mode="keyword").results}
    return float(hits[memory_id]["coverage"])


def test_an_answer_is_found_by_the_question_that_its_session_wrote_before(workspace: Workspace) -> None:
    put(
        workspace._store,
        said(ANSWER, "aside", session=""),
        said("where does anna work?", "asked"),
        said(ANSWER, "answered"),
    )
    assert found(workspace).index("answered") < found(workspace).index("aside")
    assert coverage(workspace, "answered") == pytest.approx(1, abs=0.01)
    assert coverage(workspace, "aside") < 1


def test_only_what_may_be_found_with_a_memory_is_its_context(workspace: Workspace) -> None:
    asked = "where does anna work?"
    put(
        workspace._store,
        said(asked, "elsewhere", namespace="other"),
        said(asked, "hidden", sensitivity="restricted"),
        said(asked, "waiting", status="pending"),
        said(asked, "stranger", session="s2"),
        said(ANSWER, "answered"),
        said(asked, "later"),
        said(ANSWER, "alone", session=""),
    )
    assert coverage(workspace, "answered") == coverage(workspace, "alone")


def test_the_context_is_the_end_of_what_was_written_before(workspace: Workspace) -> None:
    put(workspace._store, said("anna " + "filler " * 100, "long"), said("works from home", "last"), said("why", "it"))
    (it,) = workspace._store.memories.get_many(["it"]).values()
    context = workspace._store.memories.session_context([it], 60)["it"]
    assert context.text == "filler filler filler filler filler filler \nworks from home"
    assert context.ids == ("long", "last")
    assert len(context.text) <= 60


def test_a_purge_takes_the_words_out_of_the_context_of_others(workspace: Workspace) -> None:
    put(workspace._store, said("the zanzibar password", "leak"), said(ANSWER, "answered"), said("ok", "last"))
    assert found(workspace)
    assert holding(workspace, "zanzibar") > 0
    workspace.purge("leak", "a leak")
    assert holding(workspace, "zanzibar") == 0
    assert found(workspace) == ["answered"]


def holding(workspace: Workspace, stem: str) -> int:
    """Return how many documents of the files have a word in their context, deleted ones too."""
    index = tantivy.Index.open(str(workspace.paths.keyword_index))
    register_analyzers(index)
    return index.searcher().doc_freq("context", stem)
