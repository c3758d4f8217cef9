from __future__ import annotations

import pytest

from memento_tui.api import Workspace
from memento_tui.operations.recall import plain_query, recall
from memento_tui.operations.sessions import brief
from memento_tui.search.prompt_index import PromptIndex

NOTES = (
    "The staging proxy listens on port 8080.",
    "Deploys go through the blue pipeline; never push to prod by hand.",
    "Invoices are exported to DATEV on the first working day of a month, with the totals looked at by Dana.",
    "Please run the tests of the billing service before you go on: yes, all of them.",
    "The poem on the landing page is by Rilke; the sea in it stays.",
)
NONSENSE = (
    "yes, go on with that please",
    "thanks, that looks good",
    "quibble frotz zanzibar",
    "purple monkeys wash dishes beside the server of nobody",
)
POEM = (
    "The winter sea is grey and wide, / it carries all the light away; / the gulls go out upon the tide / and I stay."
)


@pytest.fixture
def notes(workspace: Workspace) -> dict[str, str]:
    return {text: workspace.remember(text).id for text in NOTES}


@pytest.mark.parametrize("query", NONSENSE)
def test_nonsense_finds_nothing_whether_asked_or_not(notes: dict[str, str], agent: Workspace, query: str) -> None:
    assert notes
    assert recall(agent, plain_query(query), 10)[0] == []
    assert brief(agent, query, "", 10).hits == []


def test_a_poem_calls_for_nothing(notes: dict[str, str], agent: Workspace) -> None:
    assert notes
    assert brief(agent, POEM, "", 10).hits == []


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("staging proxy port", NOTES[0]),
        ("proxy", NOTES[0]),
        ("which port does the proxy of staging use?", NOTES[0]),
        ("how do we deploy to prod", NOTES[1]),
        ("tests", NOTES[3]),
        ('"blue pipeline"', NOTES[1]),
    ],
)
def test_what_answers_is_found(notes: dict[str, str], agent: Workspace, query: str, text: str) -> None:
    assert notes[text] in [hit.id for hit in recall(agent, query, 10)[0]]


def test_what_is_told_is_judged_by_the_index_that_the_workspace_has_open(
    notes: dict[str, str], agent: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PromptIndex, "__init__", lambda *_: pytest.fail("the index was opened anew"))
    assert notes[NOTES[1]] in [hit.id for hit in recall(agent, "how do we deploy to prod", 10)[0]]
    assert brief(agent, "thanks, that looks good", "", 10).hits == []


def test_a_long_note_that_holds_the_words_of_a_question_is_found(workspace: Workspace, agent: Workspace) -> None:
    long = workspace.remember("The quarterly report is kept in the archive. " + "Nothing else is said here. " * 300)
    assert [hit.id for hit in recall(agent, "quarterly report archive", 10)[0]] == [long.id]


def test_a_list_by_filters_alone_is_whole(notes: dict[str, str], agent: Workspace) -> None:
    assert {hit.id for hit in recall(agent, "ns:global", 10)[0]} == set(notes.values())


def test_what_took_the_place_of_an_answer_is_told_with_it(workspace: Workspace, agent: Workspace) -> None:
    old = workspace.remember("The staging proxy listens on port 8080.")
    new = workspace.remember("The proxy moved to the gateway.")
    workspace.relate(new.id, old.id, "supersedes")
    assert {hit.id for hit in recall(agent, "staging proxy port 8080", 10)[0]} == {old.id, new.id}


@pytest.mark.parametrize("message", ["请告诉我测试环境的数据库端口是多少", "测试环境的数据库端口" * 30])
def test_a_sentence_in_chinese_finds_what_answers_it(workspace: Workspace, agent: Workspace, message: str) -> None:
    answer = workspace.remember("测试环境的数据库端口是5433，不是默认的那个。").id  # noqa: RUF001 - Chinese marks
    workspace.remember("发布之前必须先在预发布环境里跑完全部的迁移脚本。")
    assert [hit.id for hit in recall(agent, plain_query(message), 10)[0]] == [answer]
    assert [hit.id for hit in brief(agent, message, "", 10).hits] == [answer]
