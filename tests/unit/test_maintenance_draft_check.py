# ruff: noqa: RUF001 - the marks of many scripts look like those of this one
from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memento_tui.maintenance.consolidation.draft_check import find_problem, find_reasoning_tag
from memento_tui.text.sentences import ends_like_a_sentence, sentences
from tests.steps import grows_in_proportion

SOURCES = [
    "We moved the database to PostgreSQL 15.2 in March, because MySQL lost writes.",
    "Deploys run from CI with `make deploy`; the timeout is 30 seconds and 1,200 rows are copied.",
    "See docs/deploy.md and https://ci.example.com/run, and ask alice@example.com. The flag is --dry-run.",
    "Alice owns the billing service, and retries it twice.",
]


@pytest.mark.parametrize(
    "answer",
    [
        "The database is PostgreSQL 15.2, since MySQL lost writes. Deploys run from CI with `make deploy`.",
        "Deployments use CI, with a timeout of 30s and 1200 rows. Alice's billing service is retried 2 times.",
        "See docs/deploy.md, https://ci.example.com/run and alice@example.com. Use --dry-run.",
        "Always deploy from CI, and never by hand. The timeout is a 30-second one.",
        "Although the team uses read/write locks, the service is retried two times.",
    ],
)
def test_a_note_that_says_what_the_sources_say_stands(answer: str) -> None:
    assert find_problem(answer, SOURCES) == ""


@pytest.mark.parametrize(
    "answer",
    [
        "<think>The user wants one note.</think> Deploys run from CI.",
        "</think> Deploys run from CI.",
        "Deploys run from CI.\n<reasoning>",
        "[THINK] Deploys run from CI.",
        "<|channel|>analysis Deploys run from CI.",
        "◁think▷ Deploys run from CI.",
        "Okay, the user wants a summary of the deploys.",
        "Let me think about the deploys. Deploys run from CI.",
        "Deploys run from CI. Wait, let me check the timeout again.",
        "**Hmm**, the deploys run from CI.",
        "So the user asks for the deploys.",
        "We need to write one note about deploys.",
        "First, I look at the deploys.",
        "Here is the note: deploys run from CI.",
        "Sure! Deploys run from CI.",
        "I'm sorry, the deploys run from CI.",
        "Based on the notes, deploys run from CI.",
        "Summary: deploys run from CI.",
    ],
)
def test_a_models_thoughts_are_refused(answer: str) -> None:
    problem = find_problem(answer, SOURCES)

    assert "reasoning" in problem or "talks about its task" in problem


def test_words_of_the_sources_are_no_thoughts() -> None:
    source = "We need to rotate the keys. Let me know when it’s done."

    assert find_problem("We need to rotate the keys. Let me know when it's done.", [source]) == ""


@pytest.mark.parametrize(
    "answer",
    [
        "The database was moved to Postg",
        "Deploys run from",
        "The steps are:",
        "The database was moved...",
        "It is, 30,",
    ],
)
def test_a_note_that_is_cut_within_a_word_or_sentence_is_refused(answer: str) -> None:
    assert "truncated" in find_problem(answer, SOURCES)


@pytest.mark.parametrize("answer", ["", "  \n"])
def test_an_empty_note_is_refused(answer: str) -> None:
    assert "empty" in find_problem(answer, SOURCES)


def test_a_note_far_longer_than_asked_for_is_refused() -> None:
    assert "4,000" in find_problem("Deploys run from CI. " * 200, SOURCES)


@pytest.mark.parametrize(
    "answer",
    [
        "La base de données est passée à PostgreSQL 15.2 en mars.",
        "Wir haben die Datenbank im März umgestellt.",
        "数据库迁移到了 PostgreSQL 15.2。",
        "データベースを PostgreSQL 15.2 に移行しました。",
        "База данных перенесена на другой сервер.",
        "La base de datos se ha movido a otro servidor.",
        "Il database è stato spostato perché perdeva dati.",
        "De database is verplaatst naar een andere server.",
        "Databasen flyttades till en annan server.",
        "Veritabanı başka bir sunucuya taşındı.",
        "Baza danych została przeniesiona na inny serwer.",
        "데이터베이스를 다른 서버로 옮겼습니다.",
        "تم نقل قاعدة البيانات إلى خادم آخر.",
        "The database was moved to PostgreSQL 15.2 in March. Les déploiements sont lancés depuis le serveur.",
    ],
)
def test_a_note_in_another_language_is_refused(answer: str) -> None:
    assert "another language" in find_problem(answer, SOURCES)


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        ("Wir haben die Datenbank auf PostgreSQL 15 umgestellt.", "Die Datenbank läuft auf PostgreSQL 15."),
        ("Nous avons déplacé la base de données.", "La base de données est déplacée."),
        ("我们把数据库迁移到了 PostgreSQL 15。", "数据库现在用 PostgreSQL 15。"),
        ("データベースを PostgreSQL 15 に移行しました。", "今は PostgreSQL 15 を使う。"),
        ("Мы перенесли базу данных.", "База данных перенесена."),
    ],
)
def test_a_note_in_the_sources_language_stands(source: str, answer: str) -> None:
    assert find_problem(answer, [source]) == ""


def test_a_note_may_be_in_any_language_that_a_source_is_in() -> None:
    sources = [*SOURCES, "Nous avons déplacé la base de données sur un autre serveur."]

    assert find_problem("La base de données est sur un autre serveur.", sources) == ""
    assert "another language" in find_problem("Wir haben die Datenbank im März umgestellt.", sources)


@pytest.mark.parametrize(
    "stray",
    [
        "It has 3 replicas.",
        "It has three replicas.",
        "The database is PostgreSQL 16.",
        "The database is PostgreSQL 15.",  # 15.2 was said
        "The timeout is 30 minutes.",  # 30 seconds were said
        "The timeout is 30%.",
        "The database was moved in 2024-03-01.",
        "It copies 12,000 rows.",
        "The release is v2.0.",
        "Half the rows are copied.",
        "It copies ３０００ rows.",
    ],
)
def test_a_number_that_no_source_holds_is_refused(stray: str) -> None:
    assert "states a number" in find_problem(stray, SOURCES)


@pytest.mark.parametrize(
    "stray",
    [
        "Redis stores the rows.",
        "The rows are in Redis.",
        "Bob owns the billing service.",
        "Ask Alice Miller.",
        "The data is in AWS.",
        "It calls get_user_id.",
        "It calls getUserId.",
        "See docs/other.md.",
        "See /etc/passwd.",
        "See .env for it.",
        "It is at https://evil.example.com/run.",
        "Ask mallory@example.com.",
        "Run `make test`.",
        "Run `rm -rf /`.",
        "The flag is --force.",
        "It is deployed with Postgres-Operator.",
    ],
)
def test_a_name_that_no_source_holds_is_refused(stray: str) -> None:
    assert "states a name" in find_problem(stray, SOURCES)


@pytest.mark.parametrize("stray", ["数据库现在用 redis。", "データベースはオラクルです。", "三个服务器。"])
def test_a_stray_name_or_number_is_found_in_a_script_without_capitals(stray: str) -> None:
    sources = ["我们把数据库迁移到了 PostgreSQL 15，服务器很快。", "データベースを移行しました。"]

    assert "that no source holds" in find_problem(stray, sources)


@given(st.lists(st.sampled_from(SOURCES), min_size=1, max_size=4))
def test_what_the_sources_say_themselves_is_never_refused(lines: list[str]) -> None:
    assert find_problem(" ".join(lines), SOURCES) == ""


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_answer_is_judged_without_a_fault(answer: str, source: str) -> None:
    problem = find_problem(answer, [source])

    assert problem == "" or problem.endswith(".")


@pytest.mark.deep
@pytest.mark.parametrize("unit", ["a", "1", "a.", "`", "<think ", "ok, ", "a ", "二", "ア", "--", "a/", "1,111", "Z"])
def test_the_steps_of_a_hostile_answer_and_source_are_in_proportion_to_their_length(unit: str) -> None:
    answer = (unit * 600)[:600] + "."
    grows_in_proportion(lambda size: find_problem(answer, [(unit * size)[:size]] * 2), 400)
    grows_in_proportion(lambda size: find_problem((unit * size)[:size] + ".", [answer]), 400)
    grows_in_proportion(lambda size: find_reasoning_tag((unit * size)[:size]), 400)


@pytest.mark.real_data
def test_the_sentences_of_real_memories_pass_beside_the_whole_memory(real_data: Path) -> None:
    passed, refused = 0, []
    for path in sorted(real_data.rglob("*.md"))[::3]:
        text = path.read_text(encoding="utf-8", errors="replace")
        ended = [text[start:end] for start, end in sentences(text) if ends_like_a_sentence(text[start:end])]
        if not ended:
            continue
        if problem := find_problem("\n".join(ended[:4]), [text]):
            refused.append((path.name, problem))
        passed += not problem
    assert passed > 20
    # The language of a few words among many names cannot always be told.
    assert len(refused) <= 0.02 * passed, refused
