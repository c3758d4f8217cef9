"""What a prompt is taken to be about, in several languages, with pasted output, and in the words of everyday."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import memento_tui
from memento_tui.hooks.events import context_for_call
from memento_tui.hooks.host_events import parse_call
from memento_tui.hooks.settings import HookSettings
from memento_tui.paths import DataPaths
from memento_tui.search.prompt_index import WeightedPart, stems_of
from memento_tui.text.keywords import content_words, prompt_parts
from memento_tui.text.skip_matching import mentions_of, skip_matches
from tests.made import without_engine


@pytest.mark.parametrize(
    "text",
    [
        "why does it fail?",
        "what’s that?",  # noqa: RUF001 - as telephones write it
        "and how many more of those are there, maybe another one?",
        "mach das bitte nochmal, danke",
        "warum muss ich das machen?",
        "pourquoi pas ?",
        "y qué puedo hacer",
        "ありがとう、続けてください",
    ],
)
def test_what_people_say_whatever_the_subject_has_no_words_to_look_for(text: str) -> None:
    assert content_words(text) == []


def test_the_subject_of_a_german_question_is_left_when_its_grammar_is_gone() -> None:
    assert content_words("Wie werden die Rechnungen jetzt nach DATEV exportiert?") == [
        "Rechnungen",
        "DATEV",
        "exportiert",
    ]


def test_words_of_a_script_without_spaces_are_told_apart() -> None:
    assert content_words("本番環境にデプロイするときの注意点は。") == ["本番環境", "デプロイ", "注意点"]
    assert content_words("数据库密码") == ["数据", "据库", "库密", "密码"]
    assert content_words("배포 절차") == ["배포", "절차"]


def test_sentences_end_with_the_marks_of_each_script() -> None:
    prompt = (
        "本番環境のデプロイ手順を確認したい。"
        + "請求書の消費税の計算方法を教えて。" * 2
        + "倉庫の在庫管理と注文履歴の同期処理も見て。"
    )
    assert ["請求書", "消費税", "計算方法"] in prompt_parts(prompt).sentences


def test_a_line_with_nothing_but_a_path_is_about_that_file() -> None:
    trace = (
        "Traceback, deep in the nightly report of invoices for accountants everywhere:\n"
        '  File "/home/dana/site/src/parser.py", line 88, in\n'
        "Unrelated remark concerning holidays, weather and lunch tomorrow afternoon."
    )
    assert prompt_parts(trace).names == ["/home/dana/site/src/parser.py"]


@pytest.mark.parametrize("joined", ["step-by-step", "and/or", "up-to-date", "built-in"])
def test_plain_words_that_are_joined_mean_no_more_than_one_word(joined: str) -> None:
    assert WeightedPart((joined,), (1.0,)).words_in(stems_of([joined, "release"])) == []


@pytest.mark.parametrize("name", ["fly.io", "src/parser.py", "relLangURL", "Navier-Stokes", "snake_case", "v2/ready"])
def test_a_name_alone_may_be_what_a_prompt_is_about(name: str) -> None:
    assert WeightedPart((name,), (1.0,)).words_in(stems_of([name, "release"])) == [name]


def test_two_words_are_enough_where_they_carry_enough_of_what_is_asked() -> None:
    words = WeightedPart(("learn", "Haskell", "weeks", "plan"), (1.0, 7.0, 4.0, 2.0))
    assert words.words_in(stems_of(["learn", "plan"]), stems_of(["plan"])) == []
    assert words.words_in(stems_of(["Haskell", "plan"])) == ["Haskell", "plan"]
    assert words.words_in(stems_of(["learn", "weeks", "plan"])) == ["learn", "weeks", "plan"]


def test_a_word_without_spaces_is_held_only_whole() -> None:
    words = WeightedPart(("本番環境", "デプロイ"), (1.0, 1.0))
    assert words.words_in(stems_of(["本番環境のデプロイは金曜日に行わない"])) == ["本番環境", "デプロイ"]
    assert words.words_in(stems_of(["本番の開発環境でデプスを測る"])) == []


@pytest.mark.parametrize(
    ("asked", "item", "matches"),
    [
        ("E2Eテストを実行して", "E2Eテスト", True),
        ("単体テストを実行して", "E2Eテスト", False),
        ("run the tests again", "the tests", True),
        ("continue", "continue the migration", False),
        ("ok", "OK button", False),
    ],
)
def test_what_is_said_in_passing_meets_a_skip_only_if_it_names_it_in_full(
    asked: str,
    item: str,
    matches: bool,  # noqa: FBT001 - a table
) -> None:
    assert skip_matches(mentions_of(asked), item, in_passing=True) is matches


OTHERS = (
    "The office has a coffee machine that needs descaling every second Monday.",
    "Use tabs in Go files, spaces in Python files.",
    "The customer Meyer pays by invoice, never by card.",
    "Retry failed webhooks five times with exponential backoff.",
    "The nightly backup runs at 03:00 and lands in the bucket backups-eu.",
    "CI is red when the coverage falls under 85 percent.",
    "Dana reviews everything that touches billing.",
)


@pytest.mark.parametrize("others", [0, 1, 4, 7])
@pytest.mark.parametrize(
    ("memory", "prompt"),
    [
        ("The staging proxy listens on port 8080.", "On which port does the staging proxy listen?"),
        ("Deploys go through the blue pipeline; never push to prod by hand.", "how do we deploy to prod?"),
        ("Deploy with `make ship` from main only, never from a branch.", "How do we deploy a release from main?"),
    ],
)
def test_from_the_first_memory_on_a_question_about_it_is_answered(
    tmp_path: Path, others: int, memory: str, prompt: str
) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as person:
        for text in (memory, *OTHERS[:others]):
            person.remember(text)
    call = parse_call("claude-code", "UserPromptSubmit", json.dumps({"session_id": "s", "prompt": prompt}).encode())
    assert call is not None
    told = context_for_call(call, DataPaths(data_dir), HookSettings())
    assert memory[:30] in told
    assert told.count("\n") == 3


def test_a_single_word_is_enough_where_it_is_the_subject(tmp_path: Path) -> None:
    data_dir = without_engine(tmp_path / "data")
    with memento_tui.open(data_dir) as person:
        person.remember("Run `make ship` from main.", title="How we deploy")
        person.remember("The kiosk shows the queue.", tags=["kiosk"])
        person.remember("The printer on floor 2 jams.")
    for prompt, found in (("how do we deploy?", "make ship"), ("kiosk?", "the queue"), ("and the printer?", "")):
        call = parse_call(
            "claude-code", "UserPromptSubmit", json.dumps({"session_id": prompt, "prompt": prompt}).encode()
        )
        assert call is not None
        told = context_for_call(call, DataPaths(data_dir), HookSettings())
        assert (found in told) if found else told == ""
